"""What a release's distributions say: shares that fit, quantiles, and CDFs thin enough to draw. Arrays, read once."""

from __future__ import annotations

import dataclasses
import json
from typing import TYPE_CHECKING

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq
from typing_extensions import TypedDict

from api.bounded import Bounded
from schema.computed_tables import MEASURES

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence
    from pathlib import Path

    from numpy.typing import NDArray

PERCENTS = (5, 10, 25, 50, 75, 90, 95, 99)
COLUMNS = ["measure", "size_bytes", "count", "cumulative", "cdf"]
ROWS_AT_ONCE = 65_536

POINTS_HELD = 4000
"""Points of thinned CDFs that a measure keeps."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fit:
    """What fits into one window."""

    iw: int
    window_bytes: int
    count: int
    share: float | None
    """Of the members whose size is known; None where there are none."""


class Point(TypedDict):
    """One step of the empirical CDF."""

    size_bytes: int
    cdf: float


@dataclasses.dataclass(frozen=True, slots=True)
class Points:
    """A thinned CDF: true steps, the first and the last among them."""

    steps: list[Point]
    json: str
    """The same as JSON: an answer has thousands of points, which are the same for every window and segment size."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Distribution:
    """One measure of one release."""

    measure: str
    known: int
    unknown: int
    fits: tuple[Fit, ...]
    quantiles: tuple[tuple[int, int], ...]
    """(percent, size in bytes): the least size that at least so many percent of the known do not exceed."""
    points: Points

    @property
    def definition(self) -> str:
        """What the measure counts."""
        return MEASURES[self.measure]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Steps:
    """Every step of one measure's CDF, smallest size first."""

    sizes: NDArray[np.int64]
    """In bytes."""
    cumulative: NDArray[np.int64]
    """Members of this size or less."""
    cdf: NDArray[np.float64]
    unknown: int
    """Members whose size is not known."""
    _thinned: Bounded[Points] = dataclasses.field(default_factory=lambda: Bounded(POINTS_HELD), repr=False)

    @property
    def known(self) -> int:
        """Members whose size is known."""
        return int(self.cumulative[-1]) if len(self.cumulative) else 0

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take."""
        return self.sizes.nbytes + self.cumulative.nbytes + self.cdf.nbytes

    def fit(self, iw: int, window_bytes: int) -> Fit:
        """The members of at most `window_bytes`."""
        steps = int(np.searchsorted(self.sizes, window_bytes, side="right"))
        count = int(self.cumulative[steps - 1]) if steps else 0
        return Fit(iw, window_bytes, count, count / self.known if self.known else None)

    def quantile(self, percent: int) -> int:
        """The least size that at least `percent` of a hundred members do not exceed."""
        # In whole numbers: 0.1 * 30 is not 3 in floating point.
        members = -(-percent * self.known // 100)
        return int(self.sizes[np.searchsorted(self.cumulative, members)])

    def points(self, number: int) -> Points:
        """The last step within each of `number` slices of probability, and the very first of all."""
        found = self._thinned.get(number)
        if found is None:
            found = self._thin(number)
            self._thinned.put(number, found, size=len(found.steps))
        return found

    def _thin(self, number: int) -> Points:
        ends = np.arange(1, number + 1)
        last = np.searchsorted(self.cdf, ends / number, side="right") - 1
        # A quotient may be rounded past its step: the product decides.
        following = np.minimum(last + 1, len(self.cdf) - 1)
        last = np.where(self.cdf[following] * number <= ends, following, last)
        last -= self.cdf[last] * number > ends
        kept = np.unique(np.maximum(last, 0))
        if kept[0] != 0:
            kept = np.insert(kept, 0, 0)
        steps: list[Point] = [
            {"size_bytes": size, "cdf": cdf}
            for size, cdf in zip(self.sizes[kept].tolist(), self.cdf[kept].tolist(), strict=True)
        ]
        return Points(steps, json.dumps(steps, separators=(",", ":")))


NO_POINTS = Points([], "[]")

NONE = Steps(
    sizes=np.empty(0, np.int64), cumulative=np.empty(0, np.int64), cdf=np.empty(0, np.float64), unknown=0
)
"""Of a measure without members."""


def read_steps(path: Path) -> dict[str, Steps]:
    """The steps of every measure in a distribution.parquet; OSError or ArrowException if it cannot be read."""
    parts: dict[str, list[pa.RecordBatch]] = {}
    # Piece by piece: a whole table in memory takes ten times the arrays that are kept.
    with pq.ParquetFile(path, read_dictionary=["measure"]) as file:
        for batch in file.iter_batches(batch_size=ROWS_AT_ONCE, columns=COLUMNS):
            for measure in pc.unique(batch["measure"]).to_pylist():
                of_measure = pc.equal(batch["measure"], measure)
                parts.setdefault(measure, []).append(batch.select(COLUMNS[1:]).filter(of_measure))
    return {measure: _steps(pa.Table.from_batches(found)) for measure, found in parts.items()}


def _steps(table: pa.Table) -> Steps:
    """Of one measure's rows, which a release has in the order of their sizes."""
    is_known = table["size_bytes"].is_valid()
    known = table.filter(is_known)
    return Steps(
        sizes=known["size_bytes"].to_numpy(),
        cumulative=known["cumulative"].to_numpy(),
        cdf=known["cdf"].to_numpy(),
        unknown=pc.sum(table.filter(pc.invert(is_known))["count"], min_count=0).as_py(),
    )


def distributions(
    steps: Mapping[str, Steps], *, measures: Sequence[str], windows: Sequence[int], mss: int, points: int
) -> list[Distribution]:
    """The `measures` of a release, held against `windows` of full segments."""
    return [
        distribution(name, steps.get(name, NONE), windows=windows, mss=mss, points=points)
        for name in measures
    ]


def distribution(name: str, steps: Steps, *, windows: Sequence[int], mss: int, points: int) -> Distribution:
    """One measure of a release, held against `windows` of full segments."""
    return Distribution(
        measure=name,
        known=steps.known,
        unknown=steps.unknown,
        fits=tuple(steps.fit(iw, iw * mss) for iw in windows),
        quantiles=tuple((percent, steps.quantile(percent)) for percent in PERCENTS) if steps.known else (),
        points=steps.points(points) if steps.known else NO_POINTS,
    )
