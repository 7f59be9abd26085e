"""A stage in parts, which are stored as they end, so that a stopped run goes on from its whole parts.

replays/2026-11.desktop.local.tcp.web.0e5c2f1a/stage-01.parts/2-of-8/
    cells.parquet part.json manifest.json SHA256SUMS, and responses.parquet on request

A part holds whole pages, and states its plan. A part of a different plan (another version of the release,
other code, another file) or with damaged files does not count as done, and is never joined to others.
"""

import hashlib
import heapq
import json
import math
import shutil
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path

import pyarrow as pa

from replay.errors import ReplayError
from replay.lab.guest_process import Lab, usable_cpus
from replay.runs.cells import Cell
from replay.runs.facts import GuestFacts, LoadsPlan, StageFacts
from replay.runs.guests import GuestProgress
from replay.runs.price import core_seconds
from replay.runs.replay_folder import count_states, guest_facts, read_cells, store_loads
from replay.runs.responses import read_responses, response_tables
from replay.runs.run import ReplayResult, replay, share_out, sort_key
from schema.computed_tables import CELL_KEY
from storage.signatures import Signer
from storage.sums import broken_sums

PART_S = 60.0
"""Planned seconds of a core: a stopped run loses the parts in progress."""

MOST = 1000

Replayer = Callable[[Sequence[Cell], int], ReplayResult]


class PartError(ReplayError):
    """A part is missing, damaged, or of a different plan."""


def parts_folder(stage: Path) -> Path:
    return stage.with_name(f"{stage.name}.parts")


def part_folders(stage: Path, total: int) -> list[Path]:
    return [parts_folder(stage) / f"{number}-of-{total}" for number in range(1, total + 1)]


def count_parts(cells: Sequence[Cell], *, guests: int) -> int:
    """Return enough parts for all guests, about PART_S each; a page is never cut."""
    pages = len({cell.recipe.visit_id for cell in cells})
    parts = max(guests, math.ceil(core_seconds(cells) / PART_S))
    return max(1, min(parts, pages, MOST))


def plan_of(facts: LoadsPlan, cells: Sequence[Cell], *, responses: bool) -> LoadsPlan:
    """Return the plan that all parts state, as read back from JSON."""
    ids = hashlib.sha256("\n".join(cell.id for cell in cells).encode()).hexdigest()
    common: LoadsPlan = json.loads(json.dumps({**facts, "cells_planned": ids, "responses": responses}))
    return common


def fault_of(folder: Path, plan: LoadsPlan) -> str | None:
    """Return why a folder is no undamaged part of this plan."""
    try:
        stored = json.loads((folder / "part.json").read_text(encoding="utf-8"))["plan"]
        differing = sorted(name for name in {*plan, *stored} if stored.get(name) != plan.get(name))
    except (FileNotFoundError, ValueError, LookupError, TypeError, AttributeError):
        return "is not there"
    if differing:
        return f"is of another replay, by its {', '.join(differing)}"
    broken = broken_sums(folder)
    return f"is damaged ({', '.join(broken)})" if broken else None


def count_whole_parts(stage: Path, plan: LoadsPlan, total: int) -> int:
    return sum(fault_of(folder, plan) is None for folder in part_folders(stage, total))


def write_part(folder: Path, result: ReplayResult, plan: LoadsPlan) -> None:
    """Write a part, in place of an older one."""
    responses = response_tables(result) if plan["responses"] else None
    store_loads(folder, "part", result.table, {"plan": plan, **guest_facts(result)}, responses)


def replay_parts(
    cells: Sequence[Cell],
    stage: Path,
    plan: LoadsPlan,
    total: int,
    *,
    guests: int,
    replayer: Replayer,
) -> None:
    """Replay the parts that are not stored, `guests` at a time.

    On KeyboardInterrupt, parts in progress are finished and stored.
    """
    folders, shares = part_folders(stage, total), share_out(cells, total)

    def work(number: int) -> None:
        write_part(folders[number], replayer(shares[number], number), plan)

    with ThreadPoolExecutor(max_workers=guests) as pool:
        running = [
            pool.submit(work, number) for number in range(len(shares)) if fault_of(folders[number], plan)
        ]
        try:
            for future in as_completed(running):
                future.result()
        finally:
            for future in running:
                future.cancel()  # those that have ended are left as they are


def replay_part(
    lab: Lab,
    cells: Sequence[Cell],
    number: int,
    *,
    progress: GuestProgress | None = None,
    responses: bool = False,
) -> ReplayResult:
    cpus = usable_cpus()
    first = number % len(cpus)
    turned = [*cpus[first:], *cpus[:first]]
    return replay(lab, cells, guests=1, progress=progress, responses=responses, cpus=turned)


def join_parts(
    stage: Path,
    plan: LoadsPlan,
    total: int,
    *,
    core_s: float | None = None,
    signer: Signer | None = None,
) -> None:
    """Write a stage from its parts, and remove them; `core_s` is what the loads took.

    PartError if a part is missing or damaged, ReplayError if no load was done.
    """
    folders = part_folders(stage, total)
    for number, folder in enumerate(folders, start=1):
        if fault := fault_of(folder, plan):
            raise PartError(f"part {number}/{total} {fault}: replay again")
    cells = _sort_cells(pa.concat_tables(map(read_cells, folders)))
    if not count_states(cells)["done"]:
        remove_parts(stage)
        raise ReplayError(f"no load was done: {cells['reason'][0]}")
    guests = _merge_facts([json.loads((folder / "part.json").read_text("utf-8")) for folder in folders])
    facts: StageFacts = {"plan": plan, **guests}
    if core_s is not None:
        facts["core_s"] = core_s
    responses = _responses(folders) if plan["responses"] else None
    store_loads(stage, "stage", cells, facts, responses, signer=signer)
    remove_parts(stage)


def remove_parts(stage: Path) -> None:
    shutil.rmtree(parts_folder(stage), ignore_errors=True)


def _sort_cells(table: pa.Table) -> pa.Table:
    keys = [sort_key(row) for row in table.select(list(CELL_KEY)).to_pylist()]
    return table.take(sorted(range(len(keys)), key=keys.__getitem__)).combine_chunks()


def _responses(folders: Sequence[Path]) -> Iterator[pa.Table]:
    return heapq.merge(
        *map(read_responses, folders), key=lambda load: sort_key(load.slice(0, 1).to_pylist()[0])
    )


def _merge_facts(facts: Sequence[GuestFacts]) -> GuestFacts:
    before = [sum(part["guests"] for part in facts[:place]) for place in range(len(facts))]
    return {
        "gates": [
            {**check, "guest": check["guest"] + guests}
            for part, guests in zip(facts, before, strict=True)
            for check in part["gates"]
        ],
        "failures": [failure for part in facts for failure in part["failures"]],
        "guests": sum(part["guests"] for part in facts),
        "programs": [
            dict(pairs)
            for pairs in dict.fromkeys(tuple(ran.items()) for part in facts for ran in part["programs"])
        ],
    }
