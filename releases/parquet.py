"""Writes Parquet files whose bytes depend only on their rows: fixed row groups, declared types,
no timestamps."""

import itertools
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq

GROUP_ROWS = 131_072
"""Rows of a row group. Another value changes the bytes of every rebuilt release."""


def regroup(pieces: Iterable[pa.Table], schema: pa.Schema, *, rows: int = GROUP_ROWS) -> Iterator[pa.Table]:
    """Yield the same rows in pieces of exactly `rows`; incoming ones depend on network buffers."""
    waiting: list[pa.Table] = []
    count = 0
    for piece in pieces:
        waiting.append(piece)
        count += piece.num_rows
        if count >= rows:
            joined = pa.concat_tables(waiting)
            whole = count - count % rows
            for begin in range(0, whole, rows):
                yield joined.slice(begin, rows).combine_chunks()
            waiting, count = [joined.slice(whole)], count - whole
    if count:
        yield pa.concat_tables([schema.empty_table(), *waiting]).combine_chunks()


def write(
    path: Path,
    pieces: Iterable[pa.Table],
    schema: pa.Schema,
    *,
    sorted_by: Sequence[str],
    wrote: Callable[[int], None] = lambda _: None,
) -> int:
    """Write `pieces`; return the rows. `wrote` is called with each row group's size."""
    order = [pq.SortingColumn(schema.get_field_index(name), nulls_first=False) for name in sorted_by]
    rows = 0
    with pq.ParquetWriter(path, schema, compression="zstd", version="2.6", sorting_columns=order) as writer:
        for group in regroup(pieces, schema):
            writer.write_table(group, row_group_size=GROUP_ROWS)
            rows += group.num_rows
            wrote(group.num_rows)
    return rows


def find_difference(
    path: Path, pieces: Iterable[pa.Table], schema: pa.Schema, *, without: Collection[str] = ()
) -> int | None:
    """Return the first row from which on a file may differ from `pieces`; None if it does not.

    Columns `without` are not compared. Both are read a row group at a time.
    """
    kept = [name for name in schema.names if name not in without]
    with pq.ParquetFile(path) as file:
        if file.schema_arrow.names != schema.names:
            return 0
        stored = (pa.Table.from_batches([batch]) for batch in file.iter_batches())
        groups = itertools.zip_longest(regroup(pieces, schema), regroup(stored, file.schema_arrow))
        for number, (ours, theirs) in enumerate(groups):
            if ours is None or theirs is None:
                return number * GROUP_ROWS
            if not ours.select(kept).equals(theirs.select(kept), check_metadata=False):
                return number * GROUP_ROWS
    return None
