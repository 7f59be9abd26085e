"""Distributions of a release computed from its observations: the exact CDFs, and confidence intervals of shares."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from releases.catalogue import Release
from releases.interval import Interval
from releases.measures import open_measures
from releases.slow_start import MSS_FIG1
from schema.computed_tables import DISTRIBUTION, MEASURES

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

STEPS = """
WITH step AS (SELECT measure, size_bytes, count(*) AS items FROM item GROUP BY measure, size_bytes)
SELECT measure, size_bytes, items AS count,
       CASE WHEN size_bytes IS NOT NULL THEN sum(items) OVER sizes END::BIGINT AS cumulative,
       CASE WHEN size_bytes IS NOT NULL THEN (sum(items) OVER sizes)::DOUBLE / sum(items) OVER known END AS cdf
FROM step
WINDOW sizes AS (PARTITION BY measure, size_bytes IS NULL ORDER BY size_bytes),
       known AS (PARTITION BY measure, size_bytes IS NULL)
ORDER BY measure, size_bytes NULLS LAST
"""


def compute(folder: Path) -> pa.Table:
    """Compute the table `distribution` (schema.computed_tables.DISTRIBUTION) from a release's observation files."""
    with open_measures(folder) as database:
        found: pa.Table = database.sql(STEPS).to_arrow_table()
    return found.cast(DISTRIBUTION)


PER_SITE = """
SELECT count(size_bytes) AS known, count(*) FILTER (size_bytes <= ?) AS fitting
FROM studied LEFT JOIN (FROM item WHERE measure = ?) USING (visit_id) GROUP BY visit_id ORDER BY visit_id
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

    The interval is a bootstrap over sites: the responses of one site are alike, so an interval that drew them
    individually would be several times too narrow.
    """
    found = {}
    with open_measures(release.path) as database:
        for measure in measures:
            if measure not in MEASURES:
                raise ValueError(f"no measure {measure!r}; there are {', '.join(MEASURES)}")
            for iw in windows:
                columns = database.execute(PER_SITE, [iw * mss, measure]).fetchnumpy()
                known, fitting = (np.asarray(columns[name], np.float64) for name in ("known", "fitting"))
                if known.sum():
                    found[measure, iw] = ratio_interval(
                        fitting, known, confidence=confidence, replicates=replicates, seed=seed
                    )
    return found


CHUNK = 100
"""Replicates drawn at once, which bounds memory. Another value draws differently, and so changes past reports."""


def ratio_interval(
    part: NDArray[np.float64], whole: NDArray[np.float64], *, confidence: float, replicates: int, seed: int
) -> Interval:
    """The ratio of two sums over clusters, with the percentile interval of a bootstrap over the clusters."""
    drawn = np.concatenate(list(_ratios(part, whole, replicates=replicates, seed=seed)))
    tail = (1 - confidence) / 2
    # A replicate may draw only clusters without an item: it says nothing about the ratio.
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
