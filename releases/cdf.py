"""Empirical CDFs of sizes: shares that fit into a window, quantiles, and steps to draw."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Literal, Protocol

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from schema.computed_tables import SIZES

if TYPE_CHECKING:
    from numpy.typing import NDArray

ROWS_AT_ONCE = 65_536

LEAST_KNOWN_SHARE = 0.5
"""Least share of items of known size that may be stated as that of all. Ours."""


@dataclasses.dataclass(frozen=True, slots=True)
class Fit:
    """How many items of a measure fit into one window of full segments."""

    iw: int
    window_bytes: int
    count: int
    share: float | None
    """Of the items of known size; None if there are none."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Cdf:
    """The empirical CDF of one measure: a step for each size that occurs, smallest first."""

    sizes: NDArray[np.integer]
    """In bytes."""
    cumulative: NDArray[np.integer]
    """Items of this size or less."""
    unknown: int

    @property
    def known(self) -> int:
        return int(self.cumulative[-1]) if len(self.cumulative) else 0

    @property
    def is_stated(self) -> bool:
        """True if enough sizes are known to state a share of them as that of all."""
        return is_stated(self)

    @property
    def nbytes(self) -> int:
        return self.sizes.nbytes + self.cumulative.nbytes

    def fit(self, iw: int, *, mss: int) -> Fit:
        """Count the items that fit into `iw` segments of `mss` bytes."""
        steps = _places(self.sizes, iw * mss, side="right")
        count = int(self.cumulative[steps - 1]) if steps else 0
        return Fit(iw, iw * mss, count, count / self.known if self.known else None)

    def quantile(self, percent: int) -> int:
        """Return the smallest size that at least `percent` % of the items do not exceed; one must be
        known.
        """
        # In whole numbers: 0.1 * 30 is not 3 in floating point.
        items = -(-percent * self.known // 100)
        return int(self.sizes[_places(self.cumulative, items, side="left")])

    @property
    def mean(self) -> float:
        counts = np.diff(self.cumulative, prepend=0)
        return float(np.dot(self.sizes.astype(np.int64), counts) / self.known)

    def thinned(self, number: int) -> list[tuple[int, float]]:
        """Return (size, cdf) of the last step in each of `number` slices of probability, and of the first
        step.
        """
        if not self.known:
            return []
        # In whole numbers, as in `quantile`.
        items = np.arange(1, number + 1) * self.known // number
        last = np.searchsorted(self.cumulative, items.astype(self.cumulative.dtype), side="right") - 1
        kept = np.unique(np.append(np.maximum(last, 0), 0))
        shares = self.cumulative[kept] / self.known
        return list(zip(self.sizes[kept].tolist(), shares.tolist(), strict=True))


def _places(sorted_array: NDArray[np.integer], value: int, *, side: Literal["left", "right"]) -> int:
    # A value of another type than the array's would have the whole array converted.
    if value.bit_length() >= 8 * sorted_array.itemsize:  # it has a bit for the sign
        return len(sorted_array)
    return int(sorted_array.searchsorted(sorted_array.dtype.type(value), side=side))


class Counted(Protocol):
    """The items of a measure."""

    @property
    def known(self) -> int: ...

    @property
    def unknown(self) -> int: ...


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Counts:
    """Numbers of items of one measure."""

    known: int = 0
    unknown: int = 0


def is_stated(items: Counted) -> bool:
    """Return whether enough sizes are known to state a share of them as that of all."""
    return items.known > 0 and items.known >= LEAST_KNOWN_SHARE * (items.known + items.unknown)


def count_incomplete(measures: Mapping[str, Counted]) -> tuple[int, float | None]:
    """Return the incomplete responses, and their share of all that crossed the network."""
    apart, others = measures["responses_incomplete"].known, measures["responses"]
    every = apart + others.known + others.unknown
    return apart, apart / every if every else None


def read_counts(path: Path) -> dict[str, Counts]:
    """Return the items of every measure in a distribution.parquet; OSError or ArrowException."""
    counts = dict.fromkeys(SIZES, Counts())
    with pq.ParquetFile(path, read_dictionary=["measure"]) as file:
        for batch in file.iter_batches(batch_size=ROWS_AT_ONCE, columns=["measure", "size_bytes", "count"]):
            for measure in pc.unique(batch["measure"]).to_pylist():
                steps = batch.filter(pc.equal(batch["measure"], measure))
                items = pc.sum(steps["count"]).as_py()
                unknown = pc.sum(steps.filter(pc.is_null(steps["size_bytes"]))["count"], min_count=0).as_py()
                before = counts[measure]
                counts[measure] = Counts(
                    known=before.known + items - unknown, unknown=before.unknown + unknown
                )
    return counts


def compact(values: NDArray[np.int64]) -> NDArray[np.integer]:
    """Return ascending values in 32 bits if they fit, as a copy."""
    fits = not len(values) or values[-1] <= np.iinfo(np.int32).max
    return values.astype(np.int32 if fits else np.int64)
