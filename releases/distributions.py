"""Distributions of a release computed from its observations: the exact CDFs,
and confidence intervals of shares."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from releases.catalogue import Release
from releases.interval import Interval
from releases.measures import MEMORY, open_tables
from releases.strata.bootstrap import LEAST_SITES
from schema.computed_tables import DISTRIBUTION, MEASURES

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

STEPS = """
WITH step AS (SELECT measure, size_bytes, count(*) AS items FROM home_item GROUP BY measure, size_bytes)
SELECT measure, size_bytes, items AS count,
       CASE WHEN size_bytes IS NOT NULL THEN sum(items) OVER sizes END::BIGINT AS cumulative,
       CASE WHEN size_bytes IS NOT NULL THEN (sum(items) OVER sizes)::DOUBLE / sum(items) OVER known END AS cdf
FROM step
WINDOW sizes AS (PARTITION BY measure, size_bytes IS NULL ORDER BY size_bytes),
       known AS (PARTITION BY measure, size_bytes IS NULL)
ORDER BY measure, size_bytes NULLS LAST
"""  # noqa: E501


def compute(folder: Path) -> pa.Table:
    """Compute the table `distribution` (schema.computed_tables.DISTRIBUTION) of a
    release's home pages from its items."""
    with duckdb.connect(":memory:", config={"memory_limit": MEMORY}) as database:
        _view_home_items(database, folder)
        steps: pa.Table = database.sql(STEPS).to_arrow_table()
    return steps.cast(DISTRIBUTION)


def _view_home_items(database: duckdb.DuckDBPyConnection, folder: Path) -> None:
    """Create the view `home_item`: the items of the home pages of a release, which distributions count."""
    rows = database.read_parquet(str(folder / "item.parquet"), hive_partitioning=False)
    rows.filter("page_kind = 'home'").create_view("home_item")


def share_intervals(
    release: Release, *, sizes: Mapping[str, Sequence[int]]
) -> dict[tuple[str, int], Interval]:
    """Return the share of a measure's items of at most a size in bytes, with its interval, by measure and
    size.

    `sizes` are the sizes asked for by measure. A measure with known sizes of fewer than LEAST_SITES sites is
    left out, since its intervals would be too narrow. The interval is a bootstrap over sites: the responses
    of one site are alike, so an interval that drew them individually would be several times too narrow.
    """
    if unknown := sizes.keys() - MEASURES.keys():
        raise ValueError(f"no measure {min(unknown)!r}; there are {', '.join(MEASURES)}")
    names, parts, wholes = [], [], []
    with open_tables(release.path) as database:
        _view_home_items(database, release.path)
        for measure, asked in sizes.items():
            known, fitting = counts_by_site(database, measure, asked)
            if np.count_nonzero(known) >= LEAST_SITES:
                names += [(measure, size) for size in asked]
                parts.append(fitting)
                wholes.append(np.broadcast_to(known[:, np.newaxis], fitting.shape))
    if not names:
        return {}
    intervals = ratio_intervals(
        np.concatenate(parts, axis=1),
        np.concatenate(wholes, axis=1),
        confidence=0.95,
        replicates=2000,
        seed=1,
    )
    return dict(zip(names, intervals, strict=True))


def counts_by_site(
    database: duckdb.DuckDBPyConnection, measure: str, sizes: Sequence[int]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return items of known size of each visit, and those of at most each size [visit, size];
    visits without an item have none."""
    fitting = ", ".join(f"count(*) FILTER (size_bytes <= {int(size)})" for size in sizes)
    query = (
        f"SELECT count(size_bytes), {fitting} FROM studied JOIN visit ON visit.id = visit_id "  # noqa: S608
        "LEFT JOIN (FROM home_item WHERE measure = ?) USING (rank) GROUP BY visit_id ORDER BY visit_id"
    )
    columns = database.execute(query, [measure]).fetchnumpy()
    known, *others = (np.asarray(column, np.float64) for column in columns.values())
    return known, np.stack(others, axis=1)


CHUNK = 100
"""Replicates drawn at once, which bounds memory.

Another value draws differently, and so changes past reports.
"""


def ratio_intervals(
    parts: NDArray[np.float64],
    wholes: NDArray[np.float64],
    *,
    confidence: float,
    replicates: int,
    seed: int,
) -> list[Interval]:
    """Return ratios of sums over clusters [cluster, ratio], each with the percentile interval of
    a bootstrap over the clusters.

    All ratios are of the same replicates. Counts are summed exactly,
    so that a ratio does not depend on those beside it.
    """
    drawn = np.concatenate(list(_ratios(parts, wholes, replicates=replicates, seed=seed)))
    tail = (1 - confidence) / 2
    # A replicate may draw only clusters without an item: it says nothing about the ratio.
    lower, upper = np.nanquantile(drawn, [tail, 1 - tail], axis=0)
    estimates = parts.sum(axis=0) / wholes.sum(axis=0)
    return [Interval(*map(float, ends)) for ends in zip(estimates, lower, upper, strict=True)]


def _ratios(
    parts: NDArray[np.float64], wholes: NDArray[np.float64], *, replicates: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    clusters = len(parts)
    rng = np.random.Generator(np.random.PCG64(seed))
    even = np.full(clusters, 1 / clusters)
    for begin in range(0, replicates, CHUNK):
        weights = rng.multinomial(clusters, even, size=min(CHUNK, replicates - begin)).astype(np.float64)
        sums = weights @ wholes
        yield np.divide(weights @ parts, sums, out=np.full(sums.shape, np.nan), where=sums > 0)
