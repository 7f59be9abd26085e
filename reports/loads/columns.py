"""Columns of the loads that a report carries: all that the rule and its tables read of a load,
and a third of a replay's size.

What identifies a load is as in schema.computed_tables.CELL, without the queue that follows from network and
condition. Differently stored are:

NAME_us     a time in whole microseconds, in which the replay measures; NAME_ms where a time has other digits
dropped     whether the bottleneck's queue dropped a packet: of bottleneck_drops the rule asks no more
stage       the number of the stage, for a replay in stages
"""

from collections.abc import Collection
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from reports.recommendation.estimands import ESTIMANDS
from reports.statistics.paired_loads import NUMERIC_COLUMNS
from schema.computed_tables import CELL, CELL_KEY

STAGE = "stage"

DROPS, DROPPED = "bottleneck_drops", "dropped"

KEY = tuple(name for name in CELL_KEY if name != "queue_bytes")

OF_OTHER_ESTIMANDS = frozenset(one.column for one in ESTIMANDS if not one.is_primary)

MEASURED = frozenset({*NUMERIC_COLUMNS, "first_byte_ms"})
"""What a report reads of the loads of a full replay that decides."""

DECIDING = frozenset(NUMERIC_COLUMNS) - OF_OTHER_ESTIMANDS
"""What a report reads of the loads of stages, and of a full replay beside them."""

LEVEL = 22
"""Level of zstd: the highest, for loads are written once and read often."""


def write_loads(path: Path, cells: pa.Table, measured: Collection[str]) -> None:
    """Write the loads in `cells` with these columns of what was measured,
    in an order and an encoding that make them small."""
    table = pa.table(_stored(cells, measured))
    order = [
        name for name in ("visit_id", "profile", "seed", "iw", *KEY, STAGE) if name in table.column_names
    ]
    table = table.sort_by([(name, "ascending") for name in dict.fromkeys(order)])
    numbers = [
        name
        for name, column in zip(table.column_names, table.columns, strict=True)
        if name not in (*KEY, STAGE)
        and (pa.types.is_integer(column.type) or pa.types.is_floating(column.type))
    ]
    split = [*numbers, "visit_id", "iw", "seed"]
    pq.write_table(
        table,
        path,
        compression="zstd",
        compression_level=LEVEL,
        row_group_size=table.num_rows or 1,
        data_page_size=1 << 26,
        write_statistics=False,
        store_schema=False,
        use_dictionary=[name for name in table.column_names if name not in split],
        column_encoding=dict.fromkeys(split, "BYTE_STREAM_SPLIT"),
    )


def read_loads(path: Path) -> pa.Table:
    """The loads as cells of a replay, with their stage if they have one; what was not stored is null."""
    stored = pq.ParquetFile(path).read()
    columns = {name: stored[name] for name in stored.column_names if name == STAGE or name in CELL.names}
    for name in stored.column_names:
        if name.endswith("_us"):
            columns[f"{name.removesuffix('_us')}_ms"] = pc.divide(stored[name].cast(pa.float64()), 1e3)
    if DROPPED in stored.column_names:
        columns[DROPS] = stored[DROPPED].cast(pa.int64())
    fields = [*CELL, *([pa.field(STAGE, pa.int32())] if STAGE in columns else [])]
    return pa.table(
        [
            columns[field.name].cast(field.type)
            if field.name in columns
            else pa.nulls(stored.num_rows, field.type)
            for field in fields
        ],
        schema=pa.schema(fields),
    )


def _stored(cells: pa.Table, measured: Collection[str]) -> dict[str, pa.ChunkedArray]:
    """The columns as they are stored, by name."""
    found = {}
    for name in cells.column_names:
        column = cells[name]
        if name in (STAGE, *KEY, "state", "reason"):
            found[name] = column
        elif name == DROPS and name in measured:
            found[DROPPED] = pc.greater(column, 0)
        elif name in measured:
            whole = _microseconds(column) if name.endswith("_ms") else None
            found[name if whole is None else f"{name.removesuffix('_ms')}_us"] = (
                column if whole is None else whole
            )
    return found


def _microseconds(column: pa.ChunkedArray) -> pa.ChunkedArray | None:
    """Milliseconds as whole microseconds; None if they would not be read back to the last digit."""
    times = column.to_numpy()
    is_known = np.isfinite(times)
    whole = np.round(np.where(is_known, times, 0.0) * 1e3).astype(np.int64)
    if not (whole[is_known] / 1e3 == times[is_known]).all():
        return None
    return pa.chunked_array([pa.array(whole, mask=~is_known)])
