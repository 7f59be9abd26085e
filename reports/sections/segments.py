"""Segments and datagrams by arithmetic: what a window holds over IPv4, IPv6 and smaller paths, and QUIC's rounds beside TCP's."""

from __future__ import annotations

from collections.abc import Mapping

from releases import quic
from releases.cdf import Cdf
from releases.slow_start import MSS_TIMESTAMPS
from reports.sections.evidence import Evidence, level_percent, saved_percent
from reports.sections.shape import Column, Row, Section, Table, interval

PATHS: dict[str, int] = {
    "Ethernet, IPv4": 1460,
    "Ethernet, IPv4, timestamps": 1448,
    "Ethernet, IPv6": 1440,
    "Ethernet, IPv6, timestamps": 1428,
    "PPPoE, IPv6, timestamps": 1420,
    "least MTU of IPv6 (1280 B), timestamps": 1208,
}
"""Payload of a full segment by path: the MTU less 40 or 60 bytes of headers, and 12 of timestamps."""

SHOWN = ("responses", "first_flights")
"""Measures whose shares the tables have."""


MEASURES = ("responses", "responses_iw_limited", "first_flights_after_tls")
"""Measures whose items wait for the initial window."""

ROUNDS = (1, 2, 3, 4)
TCP_SEGMENTS = 10


def segments_section(cdfs: Mapping[str, Cdf], *, iw: int, source: str) -> Section:
    """What a window of `iw` segments holds by path."""
    return Section(
        id="segments",
        title="IPv6 and smaller segments",
        lead="A window counts segments, and a segment holds fewer bytes over IPv6, with timestamps and through tunnels. Arithmetic: the sizes of this "
        f"release against IW {iw} at each segment size.",
        tables=(
            share_table(
                "segment-sizes",
                f"What IW {iw} holds",
                {name: (mss, iw * mss) for name, mss in PATHS.items()},
                cdfs,
                source=source,
            ),
        ),
    )


def share_table(
    name: str, title: str, windows: Mapping[str, tuple[int, int]], cdfs: Mapping[str, Cdf], *, source: str
) -> Table:
    """Shares of sizes that fit into windows, given as (packet payload, window) in bytes by path."""
    stated = [measure for measure in SHOWN if cdfs[measure].is_stated]
    rows: list[Row] = [
        {
            "path": path,
            "payload": payload,
            "window": window,
            **{
                measure: 100 * cdfs[measure].fit(1, mss=window).count / cdfs[measure].known
                for measure in stated
            },
        }
        for path, (payload, window) in windows.items()
    ]
    return Table(
        id=name,
        title=title,
        columns=(
            Column(id="path", title="path", kind="text"),
            Column(id="payload", title="payload of a packet", unit="B", kind="count"),
            Column(id="window", title="window", unit="B", kind="count"),
            *(Column(id=one, title=f"{one.replace('_', ' ')} that fit", unit="%") for one in SHOWN),
        ),
        rows=tuple(rows),
        source=source,
        query="SELECT max(cdf) FILTER (size_bytes <= 14600) FROM 'distribution.parquet' WHERE measure = 'responses'",
    )


def quic_section(
    cdfs: Mapping[str, Cdf],
    *,
    labels: Mapping[str, str],
    source: str,
    bursts: Evidence | None,
    paced: Evidence | None,
    crawl: str,
) -> Section:
    """The share of each measure's items that arrive within so many rounds, and the replay's paced senders beside the others.

    `bursts` and `paced` are the same congestion control without and with pacing, each None where it was not replayed.
    """
    window = quic.initial_window()
    return Section(
        id="quic",
        title="QUIC, by arithmetic",
        lead=f"A QUIC sender begins with ten datagrams, at most 14,720 bytes or two datagrams (RFC 9002 §7.2): {window:,} bytes at datagrams "
        f"of {quic.DATAGRAM:,} bytes, of which a response gets {quic.sent_within(1):,}. TCP's ten segments carry "
        f"{TCP_SEGMENTS * MSS_TIMESTAMPS:,}. This is arithmetic over the measured sizes, without loss; QUIC was not replayed.",
        notes=()
        if paced
        else (
            "A QUIC sender paces its first flight (RFC 9002 §7.7). The nearest that the replay has, TCP with pacing, was not replayed; "
            f"`firstflight replay run --crawl {crawl} --pacing off,on` does.",
        ),
        tables=(
            Table(
                id="quic-rounds",
                title="Share that arrives within so many rounds of slow start",
                columns=(
                    Column(id="measure", title="measure", kind="text"),
                    Column(id="protocol", title="transport", kind="text"),
                    *(
                        Column(
                            id=f"rounds{count}", title=f"{count} round{'s' if count > 1 else ''}", unit="%"
                        )
                        for count in ROUNDS
                    ),
                ),
                rows=tuple(
                    row
                    for measure in MEASURES
                    for row in rows_of(labels.get(measure, measure), cdfs.get(measure))
                ),
                source=source,
                query=f"SELECT measure, max(cdf) FILTER (size_bytes <= {quic.sent_within(1)}) AS one_round FROM 'distribution.parquet' GROUP BY measure",  # noqa: S608  # shown, not run
                notes=(
                    "A window doubles in each round. Sizes are those inside TLS, without the transport's own framing: over TCP, TLS records "
                    "cost 22 bytes each beside. Unknown where most sizes of a measure are.",
                ),
            ),
            *((paced_table(bursts, paced),) if bursts and paced else ()),
        ),
    )


def paced_table(bursts: Evidence, paced: Evidence) -> Table:
    """Page time saved and payload sent again at each window, of paced senders beside senders of bursts."""
    arms = {"paced": paced, "bursts": bursts}
    return Table(
        id="quic-paced",
        title=f"TCP with the pacing that RFC 9002 asks of QUIC, each against IW {paced.incumbent} of its own kind",
        columns=(
            Column(id="window", title="window", kind="text"),
            *(
                Column(
                    id=f"saved_{name}", title=f"page time saved, {name}", unit="%", kind="interval", digits=2
                )
                for name in arms
            ),
            *(
                Column(
                    id=f"sent_again_{name}",
                    title=f"payload sent again, {name}",
                    unit="%",
                    kind="interval",
                    digits=2,
                )
                for name in arms
            ),
        ),
        rows=tuple(
            {
                "window": f"IW {window}",
                **{
                    f"saved_{name}": interval(saved_percent(one, window, one.weights["average"]))
                    for name, one in arms.items()
                    if window != one.incumbent
                },
                **{
                    f"sent_again_{name}": interval(
                        level_percent(
                            one, "bytes_retransmitted", "payload_bytes", window, one.weights["average"]
                        )
                    )
                    for name, one in arms.items()
                },
            }
            for window in sorted({*paced.windows, paced.incumbent} & {*bursts.windows, bursts.incumbent})
        ),
        source=paced.source,
        query=paced.query,
        notes=(
            "A paced sender spreads its window over the round trip as Linux does; a QUIC server may send the first ten datagrams at once.",
        ),
    )


def rows_of(label: str, cdf: Cdf | None) -> tuple[Row, ...]:
    """A measure's shares in percent over QUIC and over TCP; None where they cannot be stated."""

    def within(most_bytes: int) -> float | None:
        if cdf is None or not cdf.is_stated:
            return None
        share = cdf.fit(1, mss=most_bytes).share
        return None if share is None else 100 * share

    tcp = {count: MSS_TIMESTAMPS * TCP_SEGMENTS * (2**count - 1) for count in ROUNDS}
    return (
        {
            "measure": label,
            "protocol": f"QUIC, {quic.INITIAL_DATAGRAMS} datagrams of {quic.DATAGRAM:,} bytes",
            **{f"rounds{count}": within(quic.sent_within(count)) for count in ROUNDS},
        },
        {
            "measure": label,
            "protocol": f"TCP, IW {TCP_SEGMENTS}, segments of {MSS_TIMESTAMPS:,} bytes",
            **{f"rounds{count}": within(most) for count, most in tcp.items()},
        },
    )
