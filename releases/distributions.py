"""Distributions of a release: exact CDFs, the shares that fit into a window, quantiles, intervals. DuckDB over Parquet."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

import duckdb
import numpy as np

from releases.interval import Interval
from releases.measures import members
from releases.slow_start import MSS_FIG1, MSS_TIMESTAMPS
from schema.computed_tables import DISTRIBUTION, MEASURES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

    import pyarrow as pa
    from numpy.typing import NDArray

    from releases.catalogue import Release

MODEL_IW = 10
"""Segments: the initial window by which responses count as IW-limited. RFC 6928, and Linux's default."""

MODEL_MSS = MSS_TIMESTAMPS
"""What a segment of that window holds: Linux's senders use timestamps."""

PERCENTS = (10, 20, 30, 40, 50, 60, 70, 80, 90, 95, 99)

STEPS = """
WITH step AS (SELECT measure, size_bytes, count(*) AS members FROM member GROUP BY measure, size_bytes)
SELECT measure, size_bytes, members AS count,
       CASE WHEN size_bytes IS NOT NULL THEN sum(members) OVER sizes END::BIGINT AS cumulative,
       CASE WHEN size_bytes IS NOT NULL THEN (sum(members) OVER sizes)::DOUBLE / sum(members) OVER known END AS cdf
FROM step
WINDOW sizes AS (PARTITION BY measure, size_bytes IS NULL ORDER BY size_bytes),
       known AS (PARTITION BY measure, size_bytes IS NULL)
ORDER BY measure, size_bytes NULLS LAST
"""


def compute(folder: Path) -> pa.Table:
    """The table `distribution` (schema.computed_tables.DISTRIBUTION) from a release's visit, connection and response files."""
    with members(folder, iw=MODEL_IW, mss=MODEL_MSS) as database:
        found: pa.Table = database.sql(STEPS).to_arrow_table()
    return found.cast(DISTRIBUTION)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Share:
    """How many members of a measure fit into one window."""

    measure: str
    iw: int
    window_bytes: int
    fitting: int
    known: int
    """Members whose size is known."""
    unknown: int

    @property
    def share(self) -> float | None:
        """Of the members whose size is known; None where there are none."""
        return self.fitting / self.known if self.known else None


FITTING = """
SELECT coalesce(max(cumulative) FILTER (size_bytes <= ?), 0)::BIGINT,
       coalesce(max(cumulative), 0)::BIGINT,
       coalesce(sum("count") FILTER (size_bytes IS NULL), 0)::BIGINT
FROM read_parquet(?, hive_partitioning = false) WHERE measure = ?
"""


def share(release: Release, measure: str, *, iw: int, mss: int = MSS_FIG1) -> Share:
    """The share of `measure` that fits into `iw` segments of `mss` bytes."""
    _check(measure)
    window_bytes = iw * mss
    with duckdb.connect(":memory:") as database:
        row = database.execute(FITTING, [window_bytes, str(release.file("distribution")), measure]).fetchone()
    assert row is not None  # an aggregate always answers
    fitting, known, unknown = row
    return Share(
        measure=measure, iw=iw, window_bytes=window_bytes, fitting=fitting, known=known, unknown=unknown
    )


def steps(release: Release, measure: str) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The sizes at which the CDF steps up, and how many members are of that size or less."""
    _check(measure)
    with duckdb.connect(":memory:") as database:
        found = database.execute(
            "SELECT size_bytes, cumulative FROM read_parquet(?, hive_partitioning = false) "
            "WHERE measure = ? AND size_bytes IS NOT NULL ORDER BY size_bytes",
            [str(release.file("distribution")), measure],
        ).fetchnumpy()
    return np.asarray(found["size_bytes"], np.int64), np.asarray(found["cumulative"], np.int64)


def quantiles(release: Release, measure: str, percents: Sequence[int] = PERCENTS) -> dict[int, int]:
    """By percent, the least size that at least so many percent of the known do not exceed; empty without any."""
    sizes, cumulative = steps(release, measure)
    if not len(sizes):
        return {}
    # In whole numbers: 0.1 * 30 is not 3 in floating point.
    return {
        percent: int(sizes[np.searchsorted(cumulative * 100, percent * cumulative[-1])])
        for percent in percents
    }


PER_SITE = """
SELECT count(size_bytes) AS known, count(*) FILTER (size_bytes <= ?) AS fitting
FROM studied LEFT JOIN (FROM member WHERE measure = ?) USING (visit_id) GROUP BY visit_id ORDER BY visit_id
"""


def share_intervals(
    release: Release,
    *,
    measures: Sequence[str],
    windows: Sequence[int],
    mss: int = MSS_FIG1,
    confidence: float = 0.95,
    replicates: int = 2000,
    seed: int = 1,
) -> dict[tuple[str, int], Interval]:
    """The share that fits with its interval, by measure and window; measures without a known size are left out.

    A bootstrap over sites: the responses of one site are alike, so an interval that drew
    them one by one would be several times too narrow.
    """
    found = {}
    with members(release.path, iw=MODEL_IW, mss=MODEL_MSS) as database:
        for measure in measures:
            _check(measure)
            for iw in windows:
                columns = database.execute(PER_SITE, [iw * mss, measure]).fetchnumpy()
                known, fitting = (np.asarray(columns[name], np.float64) for name in ("known", "fitting"))
                if known.sum():
                    found[measure, iw] = ratio_interval(
                        fitting, known, confidence=confidence, replicates=replicates, seed=seed
                    )
    return found


CHUNK = 100
"""Replicates drawn at once: bounds memory. A change of it changes the draws, and so past reports."""


def ratio_interval(
    part: NDArray[np.float64], whole: NDArray[np.float64], *, confidence: float, replicates: int, seed: int
) -> Interval:
    """The ratio of two sums over clusters, with the percentile interval of redrawing the clusters."""
    drawn = np.concatenate(list(_ratios(part, whole, replicates=replicates, seed=seed)))
    tail = (1 - confidence) / 2
    # A replicate may draw no cluster that has a member at all: it says nothing of the ratio.
    lower, upper = np.nanquantile(drawn, [tail, 1 - tail])
    return Interval(float(part.sum() / whole.sum()), float(lower), float(upper))


def _ratios(
    part: NDArray[np.float64], whole: NDArray[np.float64], *, replicates: int, seed: int
) -> Iterator[NDArray[np.float64]]:
    clusters = len(part)
    rng = np.random.Generator(np.random.PCG64(seed))
    even = np.full(clusters, 1 / clusters)
    for begin in range(0, replicates, CHUNK):
        weights = rng.multinomial(clusters, even, size=min(CHUNK, replicates - begin))
        wholes = weights @ whole
        yield np.divide(weights @ part, wholes, out=np.full(len(wholes), np.nan), where=wholes > 0)


def _check(measure: str) -> None:
    if measure not in MEASURES:
        raise ValueError(f"no measure {measure!r}; there are {', '.join(MEASURES)}")
