"""The items of one measure by cell, in memory or in files that are mapped:
a stratum is read without what is not in it."""

from __future__ import annotations

import dataclasses
import json
from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import pyarrow.compute as pc
import pyarrow.parquet as pq

from releases.cdf import compact
from releases.strata.bootstrap import GROUPS, groups_of, number_sites
from releases.strata.sample import DIMENSIONS, Sample, Stratum

if TYPE_CHECKING:
    import pyarrow as pa
    from numpy.typing import NDArray

TEXT = tuple(name for name in DIMENSIONS if name != "rank_stratum")

Value = str | int | None
Coded = tuple["NDArray[np.uint8]", list[Value]]

COUNTED = {"requests": ("responses", "responses_incomplete")}
"""Measures that are numbers, with the measures that they count of a home page."""

ARRAYS = ("sizes", "groups", "sites")

EMPTY: dict[str, NDArray[Any]] = {
    "size_bytes": np.empty(0, np.int32),
    "rank": np.empty(0, np.int32),
    "rank_stratum": np.empty(0, np.int32),
    **dict.fromkeys(TEXT, np.empty(0, np.uint8)),
}

GROUP_BITS = 8

LARGE = 1 << 32 - GROUP_BITS
"""Least size that does not fit into 32 bits with its group: 16 MiB."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Items:
    """Every item of one measure. A cell's items are alike in every dimension, smallest first."""

    cells: list[list[Value]]
    ends: list[int]
    unknown: list[int]
    group_count: int
    sizes: NDArray[np.integer]
    """One cell after the other."""
    groups: NDArray[np.uint8]
    """Group of each item's site."""
    sites: NDArray[np.uint8]
    """For each cell, a bit for each site: whether it has an item of known size there."""

    @property
    def nbytes(self) -> int:
        return self.sizes.nbytes + self.groups.nbytes + self.sites.nbytes

    def strata_by(self, dimension: str) -> dict[str, Stratum]:
        place = DIMENSIONS.index(dimension)
        values = sorted({value for cell in self.cells if isinstance(value := cell[place], str)})
        named: list[dict[str, Any]] = [{dimension: value} for value in values]
        return {value: Stratum(**fixed) for value, fixed in zip(values, named, strict=True)}

    def count_by(self, dimension: str, stratum: Stratum) -> dict[str | int, int]:
        place = DIMENSIONS.index(dimension)
        begins = [0, *self.ends]
        counts: dict[str | int, int] = {}
        for number in self._cells_of(stratum):
            value, count = self.cells[number][place], self.ends[number] - begins[number]
            if value is not None and count:
                counts[value] = counts.get(value, 0) + count
        return counts

    def _cells_of(self, stratum: Stratum) -> list[int]:
        wanted = [getattr(stratum, name) for name in DIMENSIONS]
        return [
            number
            for number, cell in enumerate(self.cells)
            if all(value is None or value == has for value, has in zip(wanted, cell, strict=True))
        ]

    def sample(self, stratum: Stratum) -> Sample:
        """Return a stratum's items, merged by size."""
        chosen = self._cells_of(stratum)
        begins = [0, *self.ends]
        places = [slice(begins[number], begins[number + 1]) for number in chosen]
        sizes, groups = _merge(self.sizes, self.groups, places)
        return Sample(
            sizes=sizes,
            groups=groups,
            group_count=self.group_count,
            sites=int(np.bitwise_count(np.bitwise_or.reduce(self.sites[chosen], axis=0)).sum()),
            unknown=sum(self.unknown[number] for number in chosen),
        )

    def save(self, folder: Path) -> None:
        folder.mkdir()
        for name in ARRAYS:
            np.save(folder / f"{name}.npy", getattr(self, name), allow_pickle=False)
        others = {
            field.name: getattr(self, field.name)
            for field in dataclasses.fields(self)
            if field.name not in ARRAYS
        }
        (folder / "items.json").write_text(json.dumps(others), encoding="utf-8")

    @classmethod
    def load(cls, folder: Path) -> Self:
        """Return what `save` wrote, mapped; OSError or ValueError."""
        others = json.loads((folder / "items.json").read_text(encoding="utf-8"))
        arrays = {name: np.load(folder / f"{name}.npy", mmap_mode="r") for name in ARRAYS}
        return cls(**others, **{name: array.view(np.ndarray) for name, array in arrays.items()})


def _merge(
    sizes: NDArray[np.integer], groups: NDArray[np.uint8], places: list[slice]
) -> tuple[NDArray[np.integer], NDArray[np.uint8]]:
    if len(places) == 1:
        return sizes[places[0]], groups[places[0]]
    # Nearly all sizes fit into half of the bits, with their groups, and are sorted in half of the time.
    begins_large = [place.start + int(np.searchsorted(sizes[place], LARGE)) for place in places]
    small = [slice(place.start, end) for place, end in zip(places, begins_large, strict=True)]
    large = [slice(begin, place.stop) for place, begin in zip(places, begins_large, strict=True)]
    count = sum(place.stop - place.start for place in small)
    total = count + sum(place.stop - place.start for place in large)
    merged = np.empty(total, sizes.dtype), np.empty(total, np.uint8)
    for places, part, kind in ((small, slice(count), np.uint32), (large, slice(count, total), np.uint64)):
        packed = _pack(sizes, groups, places, kind)
        packed.sort()
        merged[1][part] = packed.astype(np.uint8)
        packed >>= GROUP_BITS
        merged[0][part] = packed
    return merged


def _pack(
    sizes: NDArray[np.integer],
    groups: NDArray[np.uint8],
    places: list[slice],
    kind: type[np.unsignedinteger],
) -> NDArray[np.unsignedinteger]:
    """Return a number for each size and group, which sorts several times as fast as places."""
    packed = np.empty(sum(place.stop - place.start for place in places), kind)
    end = 0
    for place in places:
        begin, end = end, end + place.stop - place.start
        packed[begin:end] = sizes[place]
        packed[begin:end] <<= GROUP_BITS
        packed[begin:end] |= groups[place]
    return packed


def read_items(path: Path, measure: str, names: pa.Table) -> Items:
    """Return the items of a measure in an item.parquet, or the numbers of COUNTED; OSError or
    ArrowException.

    `names` are of sites, by rank.
    """
    values: dict[str, dict[Value, int]] = {name: {} for name in TEXT}
    pieces = [_counts(path, measure, values)] if measure in COUNTED else list(_pieces(path, measure, values))
    whole = (
        {name: np.concatenate([piece[name] for piece in pieces]) for name in pieces[0]} if pieces else EMPTY
    )
    pieces.clear()
    coded = {name: (whole[name], list(values[name])) for name in TEXT}
    coded["rank_stratum"] = _coded_by_site(whole["rank_stratum"], whole["rank"])
    cell_of, cells = _cross([coded[name] for name in DIMENSIONS])
    return _by_cell(whole["size_bytes"], number_sites(whole["rank"], names), cell_of, cells)


def _pieces(
    path: Path, measure: str, values: dict[str, dict[Value, int]]
) -> Iterator[dict[str, NDArray[Any]]]:
    """Yield the columns of a measure's items, a row group at a time; `values` takes each text's code.

    Items of unknown size, which come last, shorten the column of sizes.
    """
    columns = ["measure", "size_bytes", "rank", *DIMENSIONS]
    with pq.ParquetFile(path, read_dictionary=["measure", *TEXT]) as file:
        for number in _row_groups(file.metadata, measure):
            for every in file.read_row_group(number, columns).combine_chunks().to_batches():
                batch = every.filter(pc.equal(every["measure"], measure))
                yield {
                    "size_bytes": compact(batch["size_bytes"].drop_null().to_numpy()),
                    "rank": batch["rank"].to_numpy(),
                    "rank_stratum": batch["rank_stratum"].fill_null(0).to_numpy(),
                    **{name: _codes(batch[name], values[name]) for name in TEXT},
                }


def _counts(path: Path, measure: str, values: dict[str, dict[Value, int]]) -> dict[str, NDArray[Any]]:
    is_counted = pc.field("measure").isin(COUNTED[measure]) & (pc.field("page_kind") == "home")
    items = pq.read_table(path, columns=["rank", "rank_stratum"], filters=is_counted, partitioning=None)
    pages = items.group_by(["rank", "rank_stratum"]).aggregate([([], "count_all")])
    pages = pages.sort_by([("count_all", "ascending"), ("rank", "ascending")])
    for name in TEXT:
        values[name]["home" if name == "page_kind" else None] = 0
    return {
        "size_bytes": compact(pages["count_all"].to_numpy()),
        "rank": pages["rank"].to_numpy(),
        "rank_stratum": pages["rank_stratum"].fill_null(0).to_numpy(),
        **dict.fromkeys(TEXT, np.zeros(len(pages), np.uint8)),
    }


def _by_cell(
    sizes: NDArray[np.integer],
    sites: NDArray[np.int32],
    cell_of: NDArray[np.uint16],
    cells: list[list[Value]],
) -> Items:
    """Return the items, smallest first, those of unknown size last."""
    # The file is in the order of sizes, which a stable sorting by cell keeps within each.
    order = np.argsort(cell_of[: len(sizes)], kind="stable")
    ends = np.cumsum(np.bincount(cell_of[: len(sizes)], minlength=len(cells))).tolist()
    groups = groups_of(sites)
    return Items(
        cells=cells,
        ends=ends,
        unknown=np.bincount(cell_of[len(sizes) :], minlength=len(cells)).tolist(),
        group_count=min(GROUPS, int(groups.max(initial=0)) + 1),
        sizes=sizes[order],
        groups=groups[order],
        sites=_sites(sites, order, ends),
    )


def _sites(sites: NDArray[np.int32], order: NDArray[np.int64], ends: list[int]) -> NDArray[np.uint8]:
    known = np.bincount(sites).astype(bool)
    place_of = np.cumsum(known) - 1
    count = int(known.sum())
    bits = np.zeros((len(ends), -(-count // 8)), np.uint8)
    for row, begin, end in zip(bits, [0, *ends], ends, strict=False):
        is_there = np.zeros(count, bool)
        is_there[place_of[sites[order[begin:end]]]] = True
        row[:] = np.packbits(is_there)
    return bits


def _cross(columns: list[Coded]) -> tuple[NDArray[np.uint16], list[list[Value]]]:
    shape = [len(values) for _, values in columns]
    crossed = np.zeros(len(columns[0][0]), np.uint32)
    for codes, values in columns:
        crossed *= len(values)
        crossed += codes
    occurring = np.flatnonzero(np.bincount(crossed))
    number_of = np.zeros(int(np.prod(shape)), np.uint16)
    number_of[occurring] = np.arange(len(occurring))
    places = zip(*np.unravel_index(occurring, shape), strict=True)
    cells = [[values[code] for code, (_, values) in zip(place, columns, strict=True)] for place in places]
    return number_of[crossed], cells


def _row_groups(metadata: pq.FileMetaData, measure: str) -> list[int]:
    column = metadata.schema.names.index("measure")
    bounds = [
        metadata.row_group(number).column(column).statistics for number in range(metadata.num_row_groups)
    ]
    return [
        number
        for number, bound in enumerate(bounds)
        if bound is None or not bound.has_min_max or bound.min <= measure <= bound.max
    ]


def _codes(column: pa.DictionaryArray, known: dict[Value, int]) -> NDArray[np.uint8]:
    values = [*column.dictionary.to_pylist(), None]
    codes = np.array([known.setdefault(value, len(known)) for value in values], np.uint8)
    item_codes: NDArray[np.uint8] = codes[column.indices.fill_null(len(values) - 1).to_numpy()]
    return item_codes


def _coded_by_site(column: NDArray[np.int32], ranks: NDArray[np.int32]) -> Coded:
    by_rank = np.zeros(int(ranks.max(initial=0)) + 1, np.int32)
    by_rank[ranks] = column
    values, codes = np.unique(by_rank, return_inverse=True)
    return codes.astype(np.uint8)[ranks], [value or None for value in values.tolist()]
