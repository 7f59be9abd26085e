"""The items of one measure in memory, and samples of them by stratum: exact CDFs with intervals at any threshold."""

from __future__ import annotations

import dataclasses
import functools
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np
import pyarrow.parquet as pq

from releases.cdf import Cdf
from releases.strata.bootstrap import GROUPS, LEAST_SITES, beyond, groups_of, intervals
from schema.computed_tables import MEASURES

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

DIMENSIONS = ("page_kind", "rank_stratum", "protocol", "resource_type", "party")
"""Columns of the table `item` that a stratum may fix."""

TEXT = tuple(name for name in DIMENSIONS if name != "rank_stratum")
"""Dimensions that the file holds as dictionaries of text."""

Coded = tuple["NDArray[np.uint8]", list[str | int | None]]
"""A column as codes, and the value of each code."""

BLOCK = 4096
"""Items between two stored sums of the groups: a sum up to any item adds at most so many."""


OF_CONNECTIONS = ("page_kind", "rank_stratum", "protocol", "party")
DIMENSIONS_OF = {
    "pages": ("page_kind", "rank_stratum"),
    "hosts": ("page_kind", "rank_stratum", "party"),
    **{measure: DIMENSIONS for measure in MEASURES if measure.startswith("responses")},
}
"""Dimensions of the measures; OF_CONNECTIONS for the others."""


def dimensions_of(measure: str) -> tuple[str, ...]:
    """The dimensions that items of a measure have.

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
        """Dimensions of which the stratum has one value; the page kind only where it is not `home`."""
        return tuple(name for name in DIMENSIONS if getattr(self, name) != getattr(WHOLE, name))

    @property
    def is_whole(self) -> bool:
        """True if it is every item that the release's distribution counts."""
        return not self.fixed


WHOLE = Stratum()
"""Every item that a release's distribution counts."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Items:
    """Every item of one measure, smallest first, those of unknown size last."""

    sizes: NDArray[np.int64]
    """Of the items of known size."""
    ranks: NDArray[np.int32]
    groups: NDArray[np.uint8]
    codes: dict[str, NDArray[np.uint8]]
    """Place of each item's value in `values`, by dimension."""
    values: dict[str, list[str | int | None]]

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take."""
        return self.sizes.nbytes + (5 + len(self.codes)) * len(self.ranks)

    def sample(self, stratum: Stratum) -> Sample:
        """The items of a stratum."""
        kept = np.ones(len(self.ranks), bool)
        for name in DIMENSIONS:
            value = getattr(stratum, name)
            if value is not None:
                values = self.values[name]
                kept &= self.codes[name] == values.index(value) if value in values else False
        places = np.flatnonzero(kept)
        places, unknown = np.split(places, [np.searchsorted(places, len(self.sizes))])
        return Sample(
            sizes=self.sizes[places],
            groups=self.groups[places],
            group_count=min(GROUPS, int(self.groups.max(initial=0)) + 1),
            sites=int(np.count_nonzero(np.bincount(self.ranks[places]))),
            unknown=len(unknown),
        )


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class Sample:
    """The items of one measure and stratum, and the groups of sites that they are of."""

    sizes: NDArray[np.int64]
    """Of the items of known size, ascending."""
    groups: NDArray[np.uint8]
    group_count: int
    sites: int
    """Sites with an item of known size."""
    unknown: int

    @property
    def nbytes(self) -> int:
        """Memory that the arrays take."""
        return self.sizes.nbytes + self.groups.nbytes + self.cdf.nbytes + self._blocks.nbytes

    @property
    def has_intervals(self) -> bool:
        """True if there are enough sites to state intervals of."""
        return self.sites >= LEAST_SITES

    @functools.cached_property
    def cdf(self) -> Cdf:
        """The exact CDF."""
        ends = np.flatnonzero(np.diff(self.sizes, append=-1))
        cumulative = ends + 1
        return Cdf(sizes=self.sizes[ends], cumulative=cumulative, unknown=self.unknown)

    def share_intervals(self, counts: list[int]) -> list[tuple[float, float]]:
        """The intervals of the shares that the `counts` smallest items are; there must be enough sites."""
        parts = np.column_stack([self._in_groups(count) for count in counts])
        lower, upper = intervals(parts, self._in_groups(len(self.sizes)), groups=self.group_count)
        alone = beyond(self.sites)
        return [
            (0.0, alone) if count == 0 else (1 - alone, 1.0) if count == len(self.sizes) else (low, high)
            for count, low, high in zip(counts, lower.tolist(), upper.tolist(), strict=True)
        ]

    def quantile_intervals(self, percents: list[int]) -> list[tuple[int, int]]:
        """The intervals of quantiles: those of the share at the quantile, looked up in the CDF (Woodruff 1952)."""
        known = len(self.sizes)
        counts = [self.cdf.fit(self.cdf.quantile(percent), mss=1).count for percent in percents]
        found = []
        for percent, count, (low, high) in zip(percents, counts, self.share_intervals(counts), strict=True):
            below = percent / 100 - (high - count / known)
            above = percent / 100 + (count / known - low)
            places = (max(int(np.floor(below * known)), 0), min(int(np.ceil(above * known)), known - 1))
            found.append((int(self.sizes[places[0]]), int(self.sizes[places[1]])))
        return found

    def mean_interval(self) -> tuple[float, float]:
        """The interval of the mean size."""
        sums = np.bincount(self.groups, self.sizes, minlength=GROUPS).astype(np.float64)
        lower, upper = intervals(
            sums[:, np.newaxis], self._in_groups(len(self.sizes)), groups=self.group_count
        )
        return float(lower[0]), float(upper[0])

    def _in_groups(self, count: int) -> NDArray[np.float64]:
        """Number of the `count` smallest items in each group."""
        block = count // BLOCK
        rest = np.bincount(self.groups[block * BLOCK : count], minlength=GROUPS)
        counts: NDArray[np.float64] = (self._blocks[block] + rest).astype(np.float64)
        return counts

    @functools.cached_property
    def _blocks(self) -> NDArray[np.int64]:
        """Number of items in each group before each block."""
        whole = len(self.groups) // BLOCK
        places = np.repeat(np.arange(whole), BLOCK) * GROUPS + self.groups[: whole * BLOCK]
        counts = np.bincount(places, minlength=whole * GROUPS).reshape(whole, GROUPS)
        return np.concatenate([np.zeros((1, GROUPS), np.int64), np.cumsum(counts, axis=0)])


def read_items(path: Path, measure: str) -> Items:
    """The items of a measure in an item.parquet; OSError or ArrowException if it cannot be read."""
    with pq.ParquetFile(path, read_dictionary=["measure", *TEXT]) as file:
        table = file.read_row_groups(
            _row_groups(file.metadata, measure), ["measure", "size_bytes", "rank", *DIMENSIONS]
        )
    table = table.unify_dictionaries().combine_chunks()
    measures, named = _coded(table["measure"].combine_chunks())
    of_measure = measures == named.index(measure) if measure in named else np.zeros(len(measures), bool)
    # The file is sorted by measure, so that its items are one slice.
    table = table.slice(int(of_measure.argmax()) if len(of_measure) else 0, int(of_measure.sum()))
    ranks = table["rank"].to_numpy()
    coded = {name: _coded(table[name].combine_chunks()) for name in TEXT}
    coded["rank_stratum"] = _coded_by_site(table["rank_stratum"].fill_null(0).to_numpy(), ranks)
    return Items(
        sizes=table["size_bytes"].drop_null().to_numpy(),
        ranks=ranks,
        groups=groups_of(ranks),
        codes={name: codes for name, (codes, _) in coded.items()},
        values={name: values for name, (_, values) in coded.items()},
    )


def _row_groups(metadata: pq.FileMetaData, measure: str) -> list[int]:
    """Row groups that may hold the measure."""
    column = metadata.schema.names.index("measure")
    bounds = [
        metadata.row_group(number).column(column).statistics for number in range(metadata.num_row_groups)
    ]
    return [
        number
        for number, bound in enumerate(bounds)
        if bound is None or not bound.has_min_max or bound.min <= measure <= bound.max
    ]


def _coded(column: pa.DictionaryArray) -> Coded:
    """Codes of a column of text, with None as the last value."""
    values = [*column.dictionary.to_pylist(), None]
    return column.indices.fill_null(len(values) - 1).to_numpy().astype(np.uint8), values


def _coded_by_site(column: NDArray[np.int32], ranks: NDArray[np.int32]) -> Coded:
    """Codes of a column that is the same in all items of a site, with None for 0."""
    by_rank = np.zeros(int(ranks.max(initial=0)) + 1, np.int32)
    by_rank[ranks] = column
    values, codes = np.unique(by_rank, return_inverse=True)
    return codes.astype(np.uint8)[ranks], [value or None for value in values.tolist()]
