"""Chunks: parts of a replay that run separately and are merged into the files that one run would write.

replays/2026-11.desktop.local.tcp.web.chunks/2-of-8/
    cells.parquet chunk.json manifest.json SHA256SUMS, and responses.parquet on request

A chunk holds whole pages, and states its plan. A chunk of a different plan (another version of the release,
other code, other options) or with damaged files does not count as done, and a merge refuses it.
"""

import dataclasses
import hashlib
import heapq
import json
import math
import shutil
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from replay.errors import ReplayError
from replay.runs.cells import Cell
from replay.runs.price import core_s
from replay.runs.replay_folder import guest_facts, origin, write_cells, write_facts, write_replay
from replay.runs.responses import read_responses, response_tables, write_responses
from replay.runs.run import Result, share_out, sort_key
from schema.computed_tables import CELL, CELL_KEY
from storage.signatures import Signer
from storage.staging import put_in_place
from storage.sums import broken_sums, seal

MOST = 1000
"""Most chunks of a replay: Airflow maps a task at most 1,024 times."""


class ChunkError(ReplayError):
    """A chunk is missing, damaged, or of a different plan."""


@dataclasses.dataclass(frozen=True, slots=True)
class Chunk:
    """A chunk by its number."""

    number: int
    """Number of the chunk, from 1."""
    total: int

    def __str__(self) -> str:
        """The chunk as the command line takes it."""
        return f"{self.number}/{self.total}"

    def folder(self, replay: Path) -> Path:
        """The chunk's folder, for a replay in the folder `replay`."""
        return chunks_folder(replay) / f"{self.number}-of-{self.total}"

    def cells(self, planned: Sequence[Cell]) -> list[Cell]:
        """The cells of this chunk's pages; none if there are more chunks than pages."""
        return dict(enumerate(share_out(planned, self.total), start=1)).get(self.number, [])


def chunks_folder(replay: Path) -> Path:
    """The folder of all chunks, for a replay in the folder `replay`."""
    return replay.with_name(f"{replay.name}.chunks")


def core_seconds(cells: Sequence[Cell]) -> float:
    """Seconds of a core for all cells, as planned; the price does not depend on window and seed,
    and is computed once for these."""
    prices: dict[tuple[int, int, int], float] = {}
    for cell in cells:
        alike = (id(cell.recipe), id(cell.profile), id(cell.conditions))
        if alike not in prices:
            prices[alike] = core_s(cell)
    return math.fsum(prices[id(cell.recipe), id(cell.profile), id(cell.conditions)] for cell in cells)


def how_many(seconds: float, *, minutes: float, at_least: int = 1) -> int:
    """Number of chunks for so many seconds of a core, each of about `minutes` minutes of one guest.

    ChunkError if above MOST.

    >>> how_many(120, minutes=30), how_many(120, minutes=30, at_least=2), how_many(3_600, minutes=30)
    (1, 2, 2)
    """
    found = max(at_least, math.ceil(seconds / 60 / minutes))
    if found > MOST:
        raise ChunkError(f"that is {found:,} chunks: replay fewer pages, or have them take more minutes")
    return found


def plan_of(facts: Mapping[str, Any], cells: Sequence[Cell], *, responses: bool) -> dict[str, Any]:
    """The plan that all chunks of a replay state, as read back from JSON."""
    ids = hashlib.sha256("\n".join(cell.id for cell in cells).encode()).hexdigest()
    common: dict[str, Any] = json.loads(json.dumps({**facts, "cells_planned": ids, "responses": responses}))
    return common


def is_done(folder: Path, plan: Mapping[str, Any]) -> bool:
    """Return whether the folder holds an undamaged chunk of this plan."""
    facts = _read(folder)
    return facts is not None and facts["plan"] == plan and not broken_sums(folder)


def write_chunk(folder: Path, result: Result, plan: Mapping[str, Any]) -> None:
    """Write a chunk; an older one stays until the new one is complete."""
    with put_in_place(folder) as stage:
        write_cells(stage, result.table)
        if plan["responses"]:
            write_responses(stage, response_tables(result))
        facts = guest_facts(result)
        write_facts(stage / "chunk.json", {"plan": plan, **facts})
        seal(stage, {"kind": "chunk", **origin({**plan, **facts})})


def merge(
    replay: Path,
    total: int,
    plan: Mapping[str, Any],
    facts: Mapping[str, Any],
    *,
    signer: Signer | None = None,
    chunks_of: Path | None = None,
) -> dict[str, Any]:
    """Merge the chunks of `plan` into the folder `replay`, and remove all other chunks.

    `facts` are the facts of the whole replay, from `plan_facts`. The merged chunks stay, so a merge can be
    repeated. `chunks_of` is the path whose chunks they are, if it is not `replay`.
    """
    source = chunks_of or replay
    folders = _folders(source, total)
    cells, found = read_chunks(source, total, plan)
    loads = _responses(folders) if plan["responses"] else None
    whole = write_replay(replay, cells, facts, found, loads, signer=signer)
    for other in chunks_folder(source).iterdir():
        if other not in folders:
            shutil.rmtree(other, ignore_errors=True)
    return whole


def read_chunks(replay: Path, total: int, plan: Mapping[str, Any]) -> tuple[pa.Table, dict[str, Any]]:
    """The cells of all chunks of `plan`, sorted, and the facts of their guests.

    ChunkError if one is missing or damaged.
    """
    folders = _folders(replay, total)
    found = [_checked(folder, plan, Chunk(number, total)) for number, folder in enumerate(folders, start=1)]
    tables = [pq.ParquetFile(folder / "cells.parquet").read().cast(CELL) for folder in folders]
    return _sorted(pa.concat_tables(tables)), _together(found)


def _folders(replay: Path, total: int) -> list[Path]:
    return [Chunk(number, total).folder(replay) for number in range(1, total + 1)]


def _read(folder: Path) -> dict[str, Any] | None:
    """The facts of a chunk; None if it is missing or unreadable."""
    try:
        facts = json.loads((folder / "chunk.json").read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return None
    return dict(facts) if isinstance(facts, dict) and isinstance(facts.get("plan"), dict) else None


def _checked(folder: Path, plan: Mapping[str, Any], chunk: Chunk) -> dict[str, Any]:
    facts = _read(folder)
    again = f"run `firstflight replay run` with --chunk {chunk} and the options of this merge"
    if facts is None:
        raise ChunkError(f"chunk {chunk} is not there: {again}")
    differing = [name for name in plan if facts["plan"].get(name) != plan[name]]
    if differing:
        raise ChunkError(f"chunk {chunk} is of another replay, by its {', '.join(differing)}: {again}")
    if broken := broken_sums(folder):
        raise ChunkError(f"chunk {chunk} is damaged ({', '.join(broken)}): {again}")
    return facts


def _sorted(table: pa.Table) -> pa.Table:
    keys = [sort_key(one) for one in table.select(list(CELL_KEY)).to_pylist()]
    return table.take(sorted(range(len(keys)), key=keys.__getitem__)).combine_chunks()


def _responses(folders: Sequence[Path]) -> Iterator[pa.Table]:
    """The loads of all chunks in order; each chunk is sorted."""
    return heapq.merge(
        *map(read_responses, folders), key=lambda load: sort_key(load.slice(0, 1).to_pylist()[0])
    )


def _together(found: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """The facts of all chunks' guests, numbered consecutively; durations are summed."""
    before = [sum(len(one["guests"]) for one in found[:place]) for place in range(len(found))]
    return {
        "gates": [
            {**check, "guest": check["guest"] + guests}
            for one, guests in zip(found, before, strict=True)
            for check in one["gates"]
        ],
        "failures": [failure for one in found for failure in one["failures"]],
        "guests": [guest for one in found for guest in one["guests"]],
        "wall_s": round(sum(one["wall_s"] for one in found), 3),
        "programs": [
            dict(pairs)
            for pairs in dict.fromkeys(tuple(ran.items()) for one in found for ran in one["programs"])
        ],
        **(
            {"core_s": math.fsum(one["core_s"] for one in found)}
            if all("core_s" in one for one in found)
            else {}
        ),
    }
