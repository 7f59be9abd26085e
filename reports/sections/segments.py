"""Smaller segments by arithmetic: what a window holds over IPv4, IPv6 and paths with smaller packets."""

from collections.abc import Mapping, Sequence

from releases.cdf import Cdf
from reports.sections.shape import Column, Figure, Row, Section, Table

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
"""Measures whose shares the table has."""

COLUMNS = (
    Column(id="path", title="path", kind="text"),
    Column(id="payload", title="payload of a packet", unit="B", kind="count"),
    Column(id="window", title="window", unit="B", kind="count"),
    *(Column(id=one, title=f"{one.replace('_', ' ')} that fit", unit="%") for one in SHOWN),
)

QUERY = "SELECT max(cdf) FILTER (size_bytes <= 14600) FROM 'distribution.parquet' WHERE measure = 'responses'"


def segments_section(cdfs: Mapping[str, Cdf], *, iw: int, source: str) -> Section:
    """What a window of `iw` segments holds by path."""
    windows = {name: (mss, iw * mss) for name, mss in PATHS.items()}
    rows = share_rows(windows, cdfs)
    return Section(
        id="segments",
        title="IPv6 and smaller segments",
        lead="A window counts segments, and a segment holds fewer bytes over IPv6, with timestamps and "
        f"through tunnels. Arithmetic: the sizes of this release against IW {iw} at each segment size.",
        figures=(share_figure(rows, iw=iw, source=source),),
        tables=(
            Table(
                id="segment-sizes",
                title=f"What IW {iw} holds",
                columns=COLUMNS,
                rows=rows,
                source=source,
                query=QUERY,
            ),
        ),
    )


def share_figure(rows: Sequence[Row], *, iw: int, source: str) -> Figure:
    """Shares that fit at each size of a segment, the smallest first; `rows` are the table's."""
    names = {one.id: one.title for one in COLUMNS}
    return Figure(
        id="fig-segments",
        title=f"What IW {iw} holds, by the size of a segment.",
        caption="Share of the sizes that fit into the window; the table names the path of each size.",
        drawing="intervals",
        x="payload",
        y="share",
        series="measure",
        columns=(
            *(one for one in COLUMNS if one.id in ("path", "payload")),
            Column(id="measure", title="measure", kind="text"),
            Column(id="share", title="share that fits", unit="%"),
        ),
        rows=tuple(
            {
                "path": row["path"],
                "payload": row["payload"],
                "measure": names[measure],
                "share": row[measure],
            }
            for row in reversed(rows)
            for measure in SHOWN
            if measure in row
        ),
        source=source,
        query=QUERY,
    )


def share_rows(windows: Mapping[str, tuple[int, int]], cdfs: Mapping[str, Cdf]) -> tuple[Row, ...]:
    """Shares of sizes that fit into windows, given as (packet payload, window) in bytes by path."""
    stated = [measure for measure in SHOWN if cdfs[measure].is_stated]
    return tuple(
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
    )
