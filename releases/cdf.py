"""Empirical CDFs of a release's sizes: shares that fit into a window, quantiles, and steps to draw. Arrays, read once."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Protocol

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schema.computed_tables import COMPLETENESS_SINCE, MEASURES

if TYPE_CHECKING:
    from numpy.typing import NDArray

COLUMNS = ["measure", "size_bytes", "count", "cumulative", "cdf"]
ROWS_AT_ONCE = 65_536

LEAST_KNOWN_SHARE = 0.5
"""Least share of items of known size of which a share may be stated as that of all. Ours."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fit:
    """How many items of a measure fit into one window of full segments."""

    iw: int
    window_bytes: int
    count: int
    share: float | None
    """Share of the items of known size; None if no size is known."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Cdf:
    """The empirical CDF of one measure: a step for each size that occurs, smallest first."""

    sizes: NDArray[np.int64]
    """In bytes."""
    cumulative: NDArray[np.int64]
    """Items of this size or less."""
    cdf: NDArray[np.float64]
    unknown: int
    """Items of unknown size."""

    @property
    def known(self) -> int:
        """Items of known size."""
        return int(self.cumulative[-1]) if len(self.cumulative) else 0

    @property
    def is_stated(self) -> bool:
        """Return whether enough sizes are known to state a share of them as that of all."""
        return self.known > 0 and self.known >= LEAST_KNOWN_SHARE * (self.known + self.unknown)

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take."""
        return self.sizes.nbytes + self.cumulative.nbytes + self.cdf.nbytes

    def fit(self, iw: int, *, mss: int) -> Fit:
        """Count the items that fit into `iw` segments of `mss` bytes."""
        steps = int(np.searchsorted(self.sizes, iw * mss, side="right"))
        count = int(self.cumulative[steps - 1]) if steps else 0
        return Fit(iw, iw * mss, count, count / self.known if self.known else None)

    def quantile(self, percent: int) -> int:
        """The smallest size that at least `percent` % of the items do not exceed; there must be a known size."""
        # In whole numbers: 0.1 * 30 is not 3 in floating point.
        items = -(-percent * self.known // 100)
        return int(self.sizes[np.searchsorted(self.cumulative, items)])

    @property
    def mean(self) -> float:
        """The mean size in bytes of the items of known size; there must be a known size."""
        counts = np.diff(self.cumulative, prepend=0)
        return float(np.dot(self.sizes, counts) / self.known)

    def thinned(self, number: int) -> list[tuple[int, float]]:
        """(size, cdf) of the last step within each of `number` slices of probability, and of the very first step."""
        if not self.known:
            return []
        ends = np.arange(1, number + 1)
        last = np.searchsorted(self.cdf, ends / number, side="right") - 1
        # A quotient may be rounded past its step: the product decides.
        following = np.minimum(last + 1, len(self.cdf) - 1)
        last = np.where(self.cdf[following] * number <= ends, following, last)
        last -= self.cdf[last] * number > ends
        kept = np.unique(np.append(np.maximum(last, 0), 0))
        return list(zip(self.sizes[kept].tolist(), self.cdf[kept].tolist(), strict=True))


class Counts(Protocol):
    """The items of a measure."""

    @property
    def known(self) -> int:
        """Items of known size."""

    @property
    def unknown(self) -> int:
        """Items of unknown size."""


def incomplete(measures: Mapping[str, Counts], *, schema_version: int) -> tuple[int | None, float | None]:
    """Number of incomplete responses, and their share of all that crossed the network.

    Both are None in a release of a schema version that does not tell them apart; the share also if no response crossed it.
    """
    if schema_version < COMPLETENESS_SINCE:
        return None, None
    apart, others = measures["responses_incomplete"].known, measures["responses"]
    every = apart + others.known + others.unknown
    return apart, apart / every if every else None


EMPTY = Cdf(
    sizes=np.empty(0, np.int64), cumulative=np.empty(0, np.int64), cdf=np.empty(0, np.float64), unknown=0
)


def read_cdfs(path: Path) -> dict[str, Cdf]:
    """The CDF of every measure in a distribution.parquet; OSError or ArrowException if it cannot be read."""
    parts: dict[str, list[pa.RecordBatch]] = {}
    # Batch by batch: the whole table in memory takes ten times as much as the arrays that are kept.
    with pq.ParquetFile(path, read_dictionary=["measure"]) as file:
        for batch in file.iter_batches(batch_size=ROWS_AT_ONCE, columns=COLUMNS):
            for measure in pc.unique(batch["measure"]).to_pylist():
                of_measure = pc.equal(batch["measure"], measure)
                parts.setdefault(measure, []).append(batch.select(COLUMNS[1:]).filter(of_measure))
    found = {measure: _cdf(pa.Table.from_batches(batches)) for measure, batches in parts.items()}
    return dict.fromkeys(MEASURES, EMPTY) | found


def _cdf(table: pa.Table) -> Cdf:
    """The CDF from one measure's rows, which a release holds in the order of size."""
    is_known = table["size_bytes"].is_valid()
    known = table.filter(is_known)
    return Cdf(
        sizes=known["size_bytes"].to_numpy(),
        cumulative=known["cumulative"].to_numpy(),
        cdf=known["cdf"].to_numpy(),
        unknown=pc.sum(table.filter(pc.invert(is_known))["count"], min_count=0).as_py(),
    )
