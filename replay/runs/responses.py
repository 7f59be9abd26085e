"""Responses of replayed pages, a row each. They are many, so they are only stored on request."""

from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from replay.runs.cells import Cell, milliseconds
from replay.runs.run import ReplayResult, judge_cells
from schema.computed_tables import CELL_KEY, REPLAYED_RESPONSE

FILE = "responses.parquet"


def write_responses(folder: Path, loads: Iterable[pa.Table]) -> None:
    with pq.ParquetWriter(folder / FILE, REPLAYED_RESPONSE, compression="zstd") as writer:
        for table in loads:
            writer.write_table(table)


def read_responses(folder: Path) -> Iterator[pa.Table]:
    with pq.ParquetFile(folder / FILE) as file:
        for number in range(file.num_row_groups):
            yield file.read_row_group(number)


def response_tables(result: ReplayResult) -> Iterator[pa.Table]:
    """Yield the responses of each done load, in the order of the cells."""
    for row, cell, answer in judge_cells(result.guests):
        if row["state"] == "done" and answer is not None:
            key = {name: row[name] for name in CELL_KEY}
            loads = of_load(cell, answer["each"])
            yield pa.Table.from_pylist([key | facts for facts in loads], schema=REPLAYED_RESPONSE)


def of_load(cell: Cell, each: list[list[int]]) -> Iterator[dict[str, Any]]:
    """Yield a row for each response but the cached ones."""
    for object_, measured in zip(cell.recipe.requested, each, strict=True):
        wanted, sent, first, last, flights, retransmitted = measured
        yield {
            "response_id": object_.response_id,
            "is_document": object_.is_document,
            "response_bytes": object_.response_bytes,
            "wanted_ms": milliseconds(wanted),
            "sent_ms": milliseconds(sent),
            "first_byte_ms": milliseconds(first),
            "last_byte_ms": milliseconds(last),
            "flights": flights,
            "retransmitted": bool(retransmitted),
        }
