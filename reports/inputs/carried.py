"""The loads that a report carries, so that its numbers can be computed again without a replay.

loads/loads.parquet     every load, with the number of its stage
loads/facts.parquet     what each stage says of itself, and the back-cast, as JSON
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from reports.inputs.replays import Replay
from schema.computed_tables import CELL, CELL_KEY
from verdict.evidence import COLUMNS

FOLDER = "loads"
"""Name of the folder beside the page."""

LOADS, FACTS = "loads.parquet", "facts.parquet"

STAGE = "stage"

BACKCAST = "back-cast"

KEPT = (*(name for name in CELL_KEY if name != "queue_bytes"), "state", *COLUMNS)
"""Columns of loads that the rule reads."""


def carry_loads(folder: Path, replay: Replay | None, backcast: Mapping[str, Any] | None) -> None:
    """Write the loads of a report's replay into its new folder; nothing without a replay."""
    if replay is None:
        return
    place = folder / FOLDER
    place.mkdir()
    tables = [
        table.select(list(KEPT)).append_column(STAGE, pa.array([number] * len(table), pa.int32()))
        for number, table in enumerate(replay.loads, start=1)
    ]
    order = [(name, "ascending") for name in (STAGE, "visit_id", "profile", "seed", "iw")]
    whole = pa.concat_tables(tables).sort_by(order)
    pq.write_table(whole, place / LOADS, compression="zstd", compression_level=22, store_schema=False)
    facts = [
        (str(number), {name: value for name, value in one.items() if name != "guests"})
        for number, one in enumerate(replay.facts, start=1)
    ]
    if backcast is not None:
        facts.append((BACKCAST, dict(backcast)))
    written = {
        "of": [name for name, _ in facts],
        "json": [json.dumps(one, sort_keys=True) for _, one in facts],
    }
    pq.write_table(pa.table(written), place / FACTS, compression="zstd", store_schema=False)


def read_carried(folder: Path, *, checksum: str, name: str) -> tuple[Replay, Mapping[str, Any] | None] | None:
    """The replay and the back-cast that the report in `folder` carries; None if it carries no loads.

    `checksum` and `name` are the replay's, as the report's manifest has them.
    """
    place = folder / FOLDER
    if not (place / FACTS).is_file():
        return None
    facts = {one["of"]: json.loads(one["json"]) for one in pq.ParquetFile(place / FACTS).read().to_pylist()}
    stored = pq.ParquetFile(place / LOADS).read()
    numbers = sorted(int(one) for one in facts if one != BACKCAST)
    tables = [stored.filter(pc.field(STAGE) == number) for number in numbers]
    replay = Replay(
        loads=tuple(map(_cells, tables)),
        facts=tuple(facts[str(number)] for number in numbers),
        checksum=checksum,
        name=name,
    )
    return replay, facts.get(BACKCAST)


def _cells(stored: pa.Table) -> pa.Table:
    """Loads with every column of a replay's; what is not carried is null."""
    return pa.table(
        [
            stored[field.name].cast(field.type)
            if field.name in stored.column_names
            else pa.nulls(len(stored), field.type)
            for field in CELL
        ],
        schema=CELL,
    )
