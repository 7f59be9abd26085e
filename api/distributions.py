"""What a release's distributions say: shares that fit, quantiles, and CDFs thin enough to draw. DuckDB over Parquet."""

from __future__ import annotations

import contextlib
import dataclasses
from typing import TYPE_CHECKING

import duckdb

from schema.derived import MEASURES

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence
    from pathlib import Path

PERCENTS = (5, 10, 25, 50, 75, 90, 95, 99)


@dataclasses.dataclass(frozen=True, slots=True)
class Fit:
    """What fits into one window."""

    iw: int
    window_bytes: int
    count: int
    share: float | None
    """Of the members whose size is known; None where there are none."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Distribution:
    """One measure of one release."""

    measure: str
    known: int
    unknown: int
    fits: tuple[Fit, ...]
    quantiles: tuple[tuple[int, int], ...]
    """(percent, size in bytes): the least size that at least so many percent of the known do not exceed."""
    points: tuple[tuple[int, float], ...]
    """(size in bytes, cdf): true steps of the CDF, the first and the last among them."""

    @property
    def definition(self) -> str:
        """What the measure counts."""
        return MEASURES[self.measure]


STEPS = "CREATE TEMP TABLE steps AS SELECT * FROM read_parquet(?) WHERE list_contains(?, measure)"
TOTALS = """
SELECT measure, coalesce(max(cumulative), 0)::BIGINT, coalesce(sum("count") FILTER (size_bytes IS NULL), 0)::BIGINT
FROM steps GROUP BY measure
"""
FITS = """
SELECT measure, bytes, coalesce(max(cumulative) FILTER (size_bytes <= bytes), 0)::BIGINT
FROM steps, (SELECT unnest(?::BIGINT[]) AS bytes) GROUP BY measure, bytes
"""
# In whole numbers: 0.1 * 30 is not 3 in floating point.
QUANTILES = """
SELECT measure, percent, min(size_bytes) FROM steps
JOIN (SELECT measure, max(cumulative) AS known FROM steps GROUP BY measure) USING (measure),
     (SELECT unnest(?::BIGINT[]) AS percent)
WHERE cumulative * 100 >= percent * known GROUP BY measure, percent ORDER BY measure, percent
"""
# The last step within each slice of probability, and the very first of all.
POINTS = """
SELECT measure, size_bytes, cdf FROM steps WHERE size_bytes IS NOT NULL
QUALIFY row_number() OVER (PARTITION BY measure, ceil(cdf * ?) ORDER BY size_bytes DESC) = 1
     OR row_number() OVER (PARTITION BY measure ORDER BY size_bytes) = 1
ORDER BY measure, size_bytes
"""


@contextlib.contextmanager
def _steps(path: Path, measures: Sequence[str]) -> Iterator[duckdb.DuckDBPyConnection]:
    with duckdb.connect(":memory:", config={"threads": 1, "memory_limit": "1GB"}) as connection:
        connection.execute(STEPS, [str(path), list(measures)])
        yield connection


def distributions(
    path: Path, *, measures: Sequence[str], windows: Sequence[int], mss: int, points: int
) -> list[Distribution]:
    """The `measures` of a release's distribution.parquet, held against `windows` of full segments."""
    window_bytes = [iw * mss for iw in windows]
    with _steps(path, measures) as connection:
        totals = {name: (known, unknown) for name, known, unknown in connection.execute(TOTALS).fetchall()}
        fits = {
            (name, size): count for name, size, count in connection.execute(FITS, [window_bytes]).fetchall()
        }
        quantiles = connection.execute(QUANTILES, [list(PERCENTS)]).fetchall()
        steps = connection.execute(POINTS, [points]).fetchall()

    def one(name: str) -> Distribution:
        known, unknown = totals.get(name, (0, 0))
        counts = [fits.get((name, size), 0) for size in window_bytes]
        return Distribution(
            measure=name,
            known=known,
            unknown=unknown,
            fits=tuple(
                Fit(iw, size, count, count / known if known else None)
                for iw, size, count in zip(windows, window_bytes, counts, strict=True)
            ),
            quantiles=tuple((percent, size) for measure, percent, size in quantiles if measure == name),
            points=tuple((size, cdf) for measure, size, cdf in steps if measure == name),
        )

    return [one(name) for name in measures]
