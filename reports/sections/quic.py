"""QUIC by arithmetic: rounds in which the recorded sizes arrive over QUIC and over TCP, without loss."""

from __future__ import annotations

from collections.abc import Mapping

from releases import quic
from releases.cdf import Cdf
from releases.slow_start import MSS_TIMESTAMPS
from reports.sections.shape import Column, Row, Section, Table

MEASURES = ("responses", "responses_iw_limited", "first_flights_after_tls")
"""Measures whose items wait for the initial window."""

ROUNDS = (1, 2, 3, 4)
TCP_SEGMENTS = 10


def quic_section(cdfs: Mapping[str, Cdf], *, labels: Mapping[str, str], source: str) -> Section:
    """The share of each measure's items that arrive within so many rounds."""
    window = quic.initial_window()
    return Section(
        id="quic",
        title="QUIC, by arithmetic",
        lead=f"A QUIC sender begins with ten datagrams, at most 14,720 bytes or two datagrams (RFC 9002 §7.2): {window:,} bytes at datagrams "
        f"of {quic.DATAGRAM:,} bytes, of which a response gets {quic.sent_within(1):,}. TCP's ten segments carry "
        f"{TCP_SEGMENTS * MSS_TIMESTAMPS:,}. This is arithmetic over the measured sizes, without loss; QUIC was not replayed.",
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
