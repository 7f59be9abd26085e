"""QUIC's initial window by the arithmetic of RFC 9002 beside TCP's."""

from collections.abc import Mapping, Sequence

from releases import quic
from releases.cdf import Cdf
from releases.formatting import grouped
from releases.slow_start import MSS_TIMESTAMPS
from reports.sections.shape import Column, Figure, Row, Section, Table

MEASURES = ("responses", "responses_iw_limited", "first_flights_after_tls")
"""Measures whose items wait for the initial window."""

ROUNDS = (1, 2, 3, 4)
TCP_SEGMENTS = 10


def quic_section(
    cdfs: Mapping[str, Cdf],
    *,
    labels: Mapping[str, str],
    source: str,
) -> Section:
    """The share of each measure's items that arrive within so many rounds."""
    window = quic.initial_window()
    query = (
        f"SELECT measure, max(cdf) FILTER (size_bytes <= {quic.sent_within(1)}) AS one_round FROM "  # noqa: S608
        "'distribution.parquet' GROUP BY measure"
    )
    stated = [name for name in MEASURES if name in cdfs and cdfs[name].is_stated]
    return Section(
        id="quic",
        title="QUIC, by arithmetic",
        lead=f"A QUIC sender begins with ten datagrams, at most {grouped(quic.MOST_INITIAL_BYTES)} bytes or "
        f"two datagrams (RFC 9002 §7.2): {grouped(window)} bytes at datagrams of {grouped(quic.DATAGRAM)} "
        f"bytes, of which a response gets {grouped(quic.sent_within(1))}. TCP's ten segments carry "
        f"{grouped(TCP_SEGMENTS * MSS_TIMESTAMPS)}. This is arithmetic over the measured sizes, without "
        "loss; QUIC was not replayed.",
        figures=(
            (rounds_figure(labels.get(stated[0], stated[0]), cdfs[stated[0]], source, query),)
            if stated
            else ()
        ),
        tables=(
            rounds_table(labels, cdfs, source, query),
            datagram_table(labels, cdfs, source),
        ),
    )


def rounds_table(labels: Mapping[str, str], cdfs: Mapping[str, Cdf], source: str, query: str) -> Table:
    """The share of each measure's items that arrives within so many rounds, over QUIC and over TCP."""
    return Table(
        id="quic-rounds",
        title="Share that arrives within so many rounds of slow start",
        columns=(
            Column(id="measure", title="measure", kind="text"),
            Column(id="protocol", title="transport", kind="text"),
            *(Column(id=f"rounds{count}", title=rounds_name(count), unit="%") for count in ROUNDS),
        ),
        rows=tuple(
            row for measure in MEASURES for row in rows_of(labels.get(measure, measure), cdfs.get(measure))
        ),
        source=source,
        query=query,
        notes=(
            "A window doubles in each round. Sizes are those inside TLS, without the transport's own "
            "framing: over TCP, TLS records cost 22 bytes each beside. "
            "Unknown where most sizes of a measure are.",
        ),
    )


def datagram_table(labels: Mapping[str, str], cdfs: Mapping[str, Cdf], source: str) -> Table:
    """The initial window at each size of datagrams in use,
    and the share of each measure's items that it holds."""
    return Table(
        id="quic-datagrams",
        title="The initial window by the size of datagrams",
        columns=(
            Column(id="datagram", title="datagrams", unit="bytes", kind="count"),
            Column(id="window", title="initial window", unit="bytes", kind="count"),
            Column(id="stream", title="of which a response gets", unit="bytes", kind="count"),
            *(
                Column(id=measure, title=f"{labels.get(measure, measure)} in 1 round", unit="%")
                for measure in MEASURES
            ),
        ),
        rows=tuple(
            {
                "datagram": size,
                "window": quic.initial_window(size),
                "stream": quic.sent_within(1, size),
                **{
                    measure: percent_within(cdfs.get(measure), quic.sent_within(1, size))
                    for measure in MEASURES
                },
            }
            for size in quic.DATAGRAMS
        ),
        source=source,
        query="SELECT measure, max(cdf) FILTER (size_bytes <= "  # noqa: S608
        f"{quic.sent_within(1, quic.DATAGRAMS[-1])}) AS one_round FROM "
        "'distribution.parquet' GROUP BY measure",
        notes=(
            "The least that every path carries (RFC 9000 §14), the default of Chromium's sender today and "
            f"its earlier one, and the most that a packet of {grouped(1500)} bytes holds over IPv4. A "
            "release does not have the datagrams of its crawl one by one.",
        ),
    )


def rounds_name(count: int) -> str:
    """A number of rounds in words.

    >>> rounds_name(1), rounds_name(2)
    ('1 round', '2 rounds')
    """
    return f"{count} round{'s' if count > 1 else ''}"


def rounds_figure(label: str, cdf: Cdf, source: str, query: str) -> Figure:
    """The share of a measure's items that arrives within so many rounds, over QUIC and over TCP."""
    shares: Sequence[Row] = rows_of(label, cdf)
    return Figure(
        id="fig-quic",
        title=f"Share that arrives within so many rounds: {label}.",
        caption=f"QUIC with {quic.INITIAL_DATAGRAMS} datagrams of {grouped(quic.DATAGRAM)} bytes, TCP with "
        f"IW {TCP_SEGMENTS} of {grouped(MSS_TIMESTAMPS)} bytes; by arithmetic, without loss.",
        drawing="intervals",
        x="rounds",
        y="share",
        series="transport",
        columns=(
            Column(id="rounds", title="rounds of slow start", kind="text"),
            Column(id="transport", title="transport", kind="text"),
            Column(id="share", title="share that arrives", unit="%"),
        ),
        rows=tuple(
            {"rounds": rounds_name(count), "transport": transport, "share": row[f"rounds{count}"]}
            for count in ROUNDS
            for transport, row in zip(("QUIC", "TCP"), shares, strict=True)
        ),
        source=source,
        query=query,
    )


def rows_of(label: str, cdf: Cdf | None) -> tuple[Row, ...]:
    """A measure's shares in percent over QUIC and over TCP; None where they cannot be stated."""
    tcp = {count: MSS_TIMESTAMPS * TCP_SEGMENTS * (2**count - 1) for count in ROUNDS}
    return (
        {
            "measure": label,
            "protocol": f"QUIC, {quic.INITIAL_DATAGRAMS} datagrams of {grouped(quic.DATAGRAM)} bytes",
            **{f"rounds{count}": percent_within(cdf, quic.sent_within(count)) for count in ROUNDS},
        },
        {
            "measure": label,
            "protocol": f"TCP, IW {TCP_SEGMENTS}, segments of {grouped(MSS_TIMESTAMPS)} bytes",
            **{f"rounds{count}": percent_within(cdf, most) for count, most in tcp.items()},
        },
    )


def percent_within(cdf: Cdf | None, most_bytes: int) -> float | None:
    """Percentage of sizes up to a number of bytes; None where it cannot be stated."""
    if cdf is None or not cdf.is_stated:
        return None
    share = cdf.fit(1, mss=most_bytes).share
    return None if share is None else 100 * share
