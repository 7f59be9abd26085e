"""Compares two Parquet files: columns by name and type, rows by key, and every value."""

from __future__ import annotations

import collections
import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pyarrow.parquet as pq

from scripts.comparison.values import Findings, is_equal

if TYPE_CHECKING:
    import pyarrow as pa

Row = tuple[Any, ...]


def compare_tables(old_path: Path, new_path: Path, found: Findings) -> None:
    """Compare two Parquet files."""
    old_file, new_file = pq.ParquetFile(old_path), pq.ParquetFile(new_path)
    old, new = old_file.read(), new_file.read()
    pairs = found.names(old.column_names, new.column_names, "columns")
    compare_schemas(old.schema, new.schema, pairs, found)
    old_rows, new_rows = (
        list(zip(*(table[pair[side]].to_pylist() for pair in pairs), strict=True))
        for side, table in enumerate((old, new))
    )
    sorted_by = (
        [old.column_names[one.column_index] for one in old_file.metadata.row_group(0).sorting_columns]
        if old_rows
        else []
    )
    compare_rows(
        old_rows,
        new_rows,
        [new for _, new in pairs],
        key_of(old_rows, [old for old, _ in pairs], sorted_by),
        found,
    )


def compare_schemas(old: pa.Schema, new: pa.Schema, pairs: list[tuple[str, str]], found: Findings) -> None:
    """Compare types, nullability, metadata and the order of columns; comments on columns may be reworded."""
    found.json(told(old.metadata), told(new.metadata), "metadata")
    found.order([renamed for _, renamed in pairs], new.names, "columns")
    for name, renamed in pairs:
        before, after = old.field(name), new.field(renamed)
        found.json(told(before.metadata), told(after.metadata), renamed)
        for what, one, other in (
            ("type", before.type, after.type),
            ("nullable", before.nullable, after.nullable),
        ):
            if one != other:
                found.differences.append(f"{renamed}: {what} {one} is now {other}")


def told(metadata: dict[bytes, bytes] | None) -> dict[str, Any]:
    """Metadata of a schema or of a field as plain values."""
    return {key.decode(): value.decode() for key, value in (metadata or {}).items() if key != b"ARROW:schema"}


def key_of(rows: list[Row], names: list[str], sorted_by: list[str]) -> list[int]:
    """Places of the columns that tell all rows apart: those the file is sorted by, or the first so many columns.

    >>> key_of([("a", 1, 5), ("a", 2, 5)], ["page", "seed", "ms"], [])
    [0, 1]
    """
    declared = [names.index(name) for name in sorted_by if name in names]
    for places in (declared, *([*range(width)] for width in range(1, len(names)))):
        if places and len({tuple(row[place] for place in places) for row in rows}) == len(rows):
            return places
    return [*range(len(names))]


def compare_rows(old: list[Row], new: list[Row], names: list[str], key: list[int], found: Findings) -> None:
    """Compare rows by key, and each of their values."""

    def by_key(rows: list[Row]) -> dict[Row, Row]:
        seen: collections.Counter[Row] = collections.Counter()
        keyed = {}
        for row in rows:
            named = tuple(row[place] for place in key)
            keyed[*named, seen[named]] = row
            seen[named] += 1
        return keyed

    before, after = by_key(old), by_key(new)
    found.rows += len(before)
    found.differences += [f"row {spelt(key)} is missing" for key in before if key not in after]
    found.differences += [f"row {spelt(key)} was not there" for key in after if key not in before]
    for named in before.keys() & after.keys():
        for name, one, other in zip(names, before[named], after[named], strict=True):
            found.values += 1
            if not is_equal(one, other):
                found.differences.append(f"row {spelt(named)}, {name}: {one!r} is now {other!r}")
    if [*before] != [*after] and before.keys() == after.keys():
        found.differences.append("rows: they come in another order")


def spelt(named: Row) -> str:
    """A row's key without its count of repetitions."""
    return json.dumps(named[:-1], default=str)
