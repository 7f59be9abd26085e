"""Segment sizes: what a window holds over IPv4, IPv6 and smaller paths."""

from __future__ import annotations

from collections.abc import Mapping

from releases.cdf import Cdf
from reports.sections.shape import Column, Row, Section, Table

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
