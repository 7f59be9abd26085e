"""A sample, the items of one measure and stratum: the exact CDF, with intervals at any threshold."""

from __future__ import annotations

import dataclasses
import functools
import itertools
from typing import TYPE_CHECKING, Self

import numpy as np

from releases.cdf import Cdf, compact
from releases.interval import Interval
from releases.strata.bootstrap import GROUPS, LEAST_SITES, beyond, draw_sums, groups_of, intervals
from schema.computed_tables import SIZES

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from numpy.typing import NDArray

DIMENSION_LABELS = {
    "page_kind": "kind of page",
    "rank_stratum": "ranks",
    "protocol": "protocol",
    "resource_type": "type of response",
    "party": "party",
}
"""Columns of the table `item` that a stratum may fix, and what they are called where people read them."""

DIMENSIONS = tuple(DIMENSION_LABELS)

BLOCK = 4096
"""Items between two stored sums of the groups."""


OF_CONNECTIONS = ("page_kind", "rank_stratum", "protocol", "party")
DIMENSIONS_OF = {
    "pages": ("page_kind", "rank_stratum"),
    "hosts": ("page_kind", "rank_stratum", "party"),
    "requests": ("rank_stratum",),
    **{measure: DIMENSIONS for measure in SIZES if measure.startswith("responses")},
}


def dimensions_of(measure: str) -> tuple[str, ...]:
    """Return the dimensions that items of a measure have.

    >>> dimensions_of("tls_flights")
    ('page_kind', 'rank_stratum', 'protocol', 'party')
    """
    return DIMENSIONS_OF.get(measure, OF_CONNECTIONS)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Stratum:
    """Values that the items of a sample have; None is any."""

    page_kind: str = "home"
    rank_stratum: int | None = None
    protocol: str | None = None
    resource_type: str | None = None
    party: str | None = None

    @property
    def fixed(self) -> tuple[str, ...]:
        """Dimensions of one value; the page kind only where it is not `home`."""
        return tuple(name for name in DIMENSIONS if getattr(self, name) != getattr(WHOLE, name))

    @property
    def is_whole(self) -> bool:
        """True if it is what the release's distribution counts."""
        return not self.fixed


WHOLE = Stratum()


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """The items of one measure and stratum, and the groups of sites that they are of."""

    sizes: NDArray[np.integer]
    groups: NDArray[np.uint8]
    group_count: int
    sites: int
    """Registrable domains with an item of known size."""
    unknown: int

    @classmethod
    def of(cls, sizes: NDArray[np.int64], sites: NDArray[np.int32]) -> Self:
        """Return the sample of items of known size, by sizes and sites."""
        order = np.argsort(sizes, kind="stable")
        count = len(np.unique(sites))
        return cls(
            sizes=compact(sizes[order]),
            groups=groups_of(sites)[order],
            group_count=min(count, GROUPS),
            sites=count,
            unknown=0,
        )

    @property
    def nbytes(self) -> int:
        return self.sizes.nbytes + self.groups.nbytes + self.cdf.nbytes + self._blocks.nbytes

    @property
    def has_intervals(self) -> bool:
        return self.sites >= LEAST_SITES

    @functools.cached_property
    def cdf(self) -> Cdf:
        is_last = np.ones(len(self.sizes), bool)
        np.not_equal(self.sizes[1:], self.sizes[:-1], out=is_last[:-1])
        ends = np.flatnonzero(is_last)
        return Cdf(sizes=self.sizes[ends], cumulative=ends + 1, unknown=self.unknown)

    def share_intervals(self, counts: list[int]) -> list[tuple[float, float]]:
        """Return the intervals of the shares of the `counts` smallest items; there must be enough sites."""
        return share_intervals([(self, counts)])[0]

    def shares_up_to(self, sizes: Iterable[int]) -> list[Interval]:
        """Return the share of items up to each of `sizes`, in bytes; there must be enough sites."""
        counts = [self.cdf.fit(1, mss=size).count for size in sizes]
        return [
            Interval(count / len(self.sizes), *ends)
            for count, ends in zip(counts, self.share_intervals(counts), strict=True)
        ]

    def intervals_of(self, counts: list[int], sums: NDArray[np.float64]) -> list[tuple[float, float]]:
        lower, upper = intervals(sums, self._drawn)
        alone = beyond(self.sites)
        return [
            (0.0, alone) if count == 0 else (1 - alone, 1.0) if count == len(self.sizes) else (low, high)
            for count, low, high in zip(counts, lower.tolist(), upper.tolist(), strict=True)
        ]

    def quantile_intervals(self, percents: list[int]) -> list[tuple[int, int]]:
        """Return the intervals of quantiles: those of the share there, looked up in the CDF (Woodruff
        1952).
        """
        known = len(self.sizes)
        counts = [self.cdf.fit(self.cdf.quantile(percent), mss=1).count for percent in percents]
        ends = []
        for percent, count, (low, high) in zip(percents, counts, self.share_intervals(counts), strict=True):
            below = percent / 100 - (high - count / known)
            above = percent / 100 + (count / known - low)
            places = (max(int(np.floor(below * known)), 0), min(int(np.ceil(above * known)), known - 1))
            ends.append((int(self.sizes[places[0]]), int(self.sizes[places[1]])))
        return ends

    def mean_interval(self) -> tuple[float, float]:
        sums = np.bincount(self.groups, self.sizes, minlength=GROUPS).astype(np.float64)
        lower, upper = intervals(draw_sums(sums[:, np.newaxis], groups=self.group_count), self._drawn)
        return float(lower[0]), float(upper[0])

    @functools.cached_property
    def _drawn(self) -> NDArray[np.float64]:
        return draw_sums(self.count_in_groups(len(self.sizes)), groups=self.group_count)

    def count_in_groups(self, count: int) -> NDArray[np.float64]:
        block = count // BLOCK
        rest = np.bincount(self.groups[block * BLOCK : count], minlength=GROUPS)
        counts: NDArray[np.float64] = (self._blocks[block] + rest).astype(np.float64)
        return counts

    @functools.cached_property
    def _blocks(self) -> NDArray[np.int64]:
        whole = len(self.groups) // BLOCK
        counts = np.zeros((whole + 1, GROUPS), np.int64)
        for number, block in enumerate(self.groups[: whole * BLOCK].reshape(whole, BLOCK), start=1):
            counts[number] = np.bincount(block, minlength=GROUPS)
        return np.cumsum(counts, axis=0)


def share_intervals(asked: Sequence[tuple[Sample, list[int]]]) -> list[list[tuple[float, float]]]:
    """Return the intervals of the shares of each sample's `counts` smallest items; there must be enough
    sites.

    Samples of as many groups are drawn at once, in hardly more time than one.
    """
    ends = []
    for groups, samples in itertools.groupby(asked, key=lambda pair: pair[0].group_count):
        alike = list(samples)
        parts = [sample.count_in_groups(count) for sample, counts in alike for count in counts]
        sums = iter(draw_sums(np.column_stack(parts), groups=groups).T)
        for sample, counts in alike:
            own = np.column_stack(list(itertools.islice(sums, len(counts))))
            ends.append(sample.intervals_of(counts, own))
    return ends
