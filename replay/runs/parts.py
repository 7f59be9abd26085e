"""A run in parts: each is a chunk that is stored as it ends,
so that a stopped run goes on from its whole parts."""

import math
import shutil
from collections.abc import Callable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor, as_completed
from pathlib import Path
from typing import Any

import pyarrow as pa

from replay.lab.guest_process import Lab, usable_cpus
from replay.runs.cells import Cell
from replay.runs.chunks import (
    MOST,
    Chunk,
    chunks_folder,
    core_seconds,
    is_done,
    merge,
    read_chunks,
    write_chunk,
)
from replay.runs.guests import Progress
from replay.runs.run import Result, replay, share_out
from storage.signatures import Signer

PART_S = 60.0
"""Planned seconds of a core for a part: a stopped run loses the parts in progress."""

Replayer = Callable[[Sequence[Cell], int], Result]
"""Replays a part on one guest; the number is the part's, from 0."""


def parts_folder(replay: Path) -> Path:
    """The path whose chunks are the parts of a run that writes to `replay`:
    other chunks of the replay are left alone."""
    return replay.with_name(f"{replay.name}.run")


def count_parts(cells: Sequence[Cell], *, guests: int) -> int:
    """Number of parts: enough for all guests, and about PART_S each; a page is never cut."""
    pages = len({cell.recipe.visit_id for cell in cells})
    wanted = max(guests, math.ceil(core_seconds(cells) / PART_S))
    return max(1, min(wanted, pages, MOST))


def whole_parts(replay: Path, plan: Mapping[str, Any], total: int) -> list[Chunk]:
    """The parts of this plan that are stored and undamaged."""
    found = [Chunk(number, total) for number in range(1, total + 1)]
    return [one for one in found if is_done(one.folder(parts_folder(replay)), plan)]


def replay_parts(
    cells: Sequence[Cell],
    replay: Path,
    plan: Mapping[str, Any],
    total: int,
    *,
    guests: int,
    replayer: Replayer,
) -> None:
    """Replay the parts that are not stored, each on one guest, `guests` at a time.

    On KeyboardInterrupt, parts in progress are still finished and stored, and no other is begun.
    """
    done = whole_parts(replay, plan, total)
    shares = {Chunk(number, total): share for number, share in enumerate(share_out(cells, total), start=1)}

    def work(part: Chunk) -> None:
        result = replayer(shares[part], part.number - 1)
        write_chunk(part.folder(parts_folder(replay)), result, plan)

    with ThreadPoolExecutor(max_workers=guests) as pool:
        running = [pool.submit(work, part) for part in shares if part not in done]
        try:
            for one in as_completed(running):
                one.result()
        finally:
            for one in running:
                one.cancel()  # those that have ended are left as they are


def replay_part(
    lab: Lab, cells: Sequence[Cell], number: int, *, progress: Progress | None = None, responses: bool = False
) -> Result:
    """Replay a part on one guest; each number begins to look for a free CPU at another place."""
    cpus = usable_cpus()
    first = number % len(cpus)
    turned = [*cpus[first:], *cpus[:first]]
    return replay(lab, cells, guests=1, progress=progress, responses=responses, cpus=turned)


def join_parts(
    replay: Path,
    plan: Mapping[str, Any],
    facts: Mapping[str, Any],
    total: int,
    *,
    signer: Signer | None = None,
) -> dict[str, Any]:
    """Write the replay from its parts, and remove them."""
    whole = merge(replay, total, plan, facts, signer=signer, chunks_of=parts_folder(replay))
    remove_parts(replay)
    return whole


def read_parts(replay: Path, plan: Mapping[str, Any], total: int) -> tuple[pa.Table, dict[str, Any]]:
    """The cells of all parts, sorted, and the facts of their guests.

    ChunkError if one is missing or damaged.
    """
    return read_chunks(parts_folder(replay), total, plan)


def remove_parts(replay: Path) -> None:
    """Remove the parts of a run that writes to `replay`."""
    shutil.rmtree(chunks_folder(parts_folder(replay)), ignore_errors=True)
