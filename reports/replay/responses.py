"""Responses of the replayed pages, a row each: asked for only where somebody wants them, for there are many."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pyarrow as pa
import pyarrow.parquet as pq

from reports.replay.cells import milliseconds
from reports.replay.run import judge, sort_key
from schema.derived import CELL_KEY, REPLAYED_RESPONSE

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

    from reports.replay.cells import Cell
    from reports.replay.run import Result


def write_responses(path: Path, result: Result) -> None:
    """All of the loads that are done, in the order of their cells."""
    with pq.ParquetWriter(path, REPLAYED_RESPONSE, compression="zstd") as writer:
        for rows in response_rows(result):
            writer.write_table(pa.Table.from_pylist(rows, schema=REPLAYED_RESPONSE))


def response_rows(result: Result) -> Iterator[list[dict[str, Any]]]:
    """Those of one load after the other."""
    loads = [
        (judged, cell, shift.answers[cell.id]["each"])
        for guest in result.guests
        for shift in guest.shifts
        for judged, cell in zip(judge(guest, shift), shift.cells, strict=True)
        if judged["state"] == "done"
    ]
    for judged, cell, each in sorted(loads, key=lambda load: sort_key(load[0])):
        key = {name: judged[name] for name in CELL_KEY}
        yield [key | facts for facts in of_load(cell, each)]


def of_load(cell: Cell, each: list[list[int]]) -> Iterator[dict[str, Any]]:
    """What the player said of each object (lab/guest/load.c)."""
    for one, said in zip(cell.recipe.objects, each, strict=True):
        wanted, sent, first, last, flights, retransmitted = said
        yield {
            "response_id": one.response_id,
            "is_document": one.is_document,
            "response_bytes": one.response_bytes,
            "wanted_ms": milliseconds(wanted),
            "sent_ms": milliseconds(sent),
            "first_byte_ms": milliseconds(first),
            "last_byte_ms": milliseconds(last),
            "flights": flights,
            "retransmitted": bool(retransmitted),
        }
