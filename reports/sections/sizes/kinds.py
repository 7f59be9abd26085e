"""Shares that fit into the window by what a response is, and by the protocol that it came over."""

from collections.abc import Iterator

import duckdb
import numpy as np

from releases.catalogue import Release
from releases.distributions import ratio_intervals
from releases.formatting import grouped, quantity
from releases.strata.bootstrap import LEAST_SITES
from reports.sections.shape import Column, Figure, Row, Table, interval

QUERY = """
SELECT coalesce({by}, 'unknown') AS kind, rank, count(*) AS known, count(*) FILTER (size_bytes <= {window}) AS fitting
FROM 'item.parquet' WHERE measure = 'responses' AND page_kind = 'home' AND size_bytes IS NOT NULL GROUP BY ALL
"""  # noqa: E501

DIMENSIONS = {"resource_type": "type of response", "protocol": "protocol"}

NAMES = {
    "h2": "HTTP/2",
    "h3": "HTTP/3",
    "http/1.1": "HTTP/1.1",
    "document": "documents",
    "fetch": "fetches by scripts",
    "font": "fonts",
    "iframe": "frames",
    "image": "images",
    "script": "scripts",
    "style": "style sheets",
    "media": "audio and video",
}

LEAST_PERCENT = 1.0
"""Least part of the responses that a kind is stated of."""

COLUMNS = (
    Column(id="kind", title="responses", kind="text"),
    Column(id="by", title="by", kind="text"),
    Column(id="known", title="of known size", kind="count"),
    Column(id="share", title="share that fits", unit="%", kind="interval"),
)


def kinds_of(release: Release, *, iw: int, mss: int) -> Iterator[tuple[Figure, Table]]:
    """Yield the figure and the table of shares by kind; nothing if no kind has enough sites."""
    window = iw * mss
    rows = [row for by in DIMENSIONS for row in kind_rows(release, by, window=window)]
    types = [row for row in rows if row["by"] == DIMENSIONS["resource_type"]]
    if len(types) < 2:
        return
    most, least = types[0], types[-1]
    query = QUERY.format(by="resource_type", window=window).strip()
    yield (
        Figure(
            id="fig-kinds",
            title=f"IW {iw} holds {quantity(most['share']['estimate'], '%', 2)} of {most['kind']}, but "
            f"{quantity(least['share']['estimate'], '%', 2)} of {least['kind']}",
            caption=f"Share of responses of at most {grouped(window)} bytes, with 95 % interval.",
            drawing="dots",
            x="share",
            y="kind",
            series="by",
            columns=COLUMNS,
            rows=tuple(rows),
            query=query,
            domain=(0.0, 100.0),
        ),
        Table(
            id="kinds",
            is_folded=True,
            title=f"Share that fits into IW {iw}, by type and protocol",
            columns=COLUMNS,
            rows=tuple(rows),
            query=query,
        ),
    )


def kind_rows(release: Release, by: str, *, window: int) -> list[Row]:
    """Return the share of each kind's responses that fits into a window of so many bytes, the largest
    first."""
    counted: dict[tuple[str, int], tuple[int, int]] = {}
    with duckdb.connect(":memory:") as database:
        database.execute(f"SET file_search_path = '{release.path}'")
        for kind, rank, known, fitting in database.execute(QUERY.format(by=by, window=window)).fetchall():
            name = NAMES.get(kind, kind)
            before = counted.get((name, rank), (0, 0))
            counted[name, rank] = (before[0] + known, before[1] + fitting)
    every = sum(known for known, _ in counted.values())
    ranks = sorted({rank for _, rank in counted})
    rows = []
    for name in sorted({name for name, _ in counted} - {"unknown", "other"}):
        of_sites = np.array([counted.get((name, rank), (0, 0)) for rank in ranks], np.float64)
        known = int(of_sites[:, 0].sum())
        if 100 * known < LEAST_PERCENT * every or np.count_nonzero(of_sites[:, 0]) < LEAST_SITES:
            continue
        (share,) = ratio_intervals(of_sites[:, 1:], of_sites[:, :1], confidence=0.95, replicates=2000, seed=1)
        rows.append({"kind": name, "by": DIMENSIONS[by], "known": known, "share": interval(share.times(100))})
    return sorted(rows, key=lambda row: -row["share"]["estimate"])
