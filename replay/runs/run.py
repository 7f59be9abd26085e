"""A replay: cells are divided among guests, and their answers become rows."""

from __future__ import annotations

import heapq
import time
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import Any

from replay.errors import GuestFailed
from replay.lab.guest_process import SILENCE_S, Lab, usable_cpus
from replay.runs.calibration import CalibrationCheck, calibration_checks
from replay.runs.cells import Cell, row
from replay.runs.conditions import Conditions
from replay.runs.guests import Guest, NetworkJob, Progress, guest_for


@dataclass(kw_only=True, slots=True)
class Result:
    """The outcome of a replay."""

    rows: list[dict[str, Any]]
    guests: list[Guest]
    wall_s: float
    programs: dict[str, str] = field(default_factory=dict)
    """SHA-256 of the kernel's image and of the player."""

    @property
    def virtual_s(self) -> float:
        """Total virtual duration of the page loads, in seconds."""
        return sum(float(one["page_ms"]) for one in self.rows if one["page_ms"] is not None) / 1e3


def replay(
    lab: Lab,
    cells: Sequence[Cell],
    *,
    guests: int,
    progress: Progress | None = None,
    shaper: str = "tbf",
    silence_s: float = SILENCE_S,
    responses: bool = False,
    cpus: Sequence[int] | None = None,
) -> Result:
    """Run all cells on at most `guests` guests, each on its own CPU; rows are sorted by cell.

    Loads by an alias route run in guests of their own, in reverse order: what equals is then not due to guest or order.
    `cpus` are the CPUs to use, in order of preference; the default is all usable ones. Guests of other runs keep theirs. A guest that fails costs the
    cell in progress; a new guest does the rest. With `responses`, answers include each response
    (replay/runs/responses.py).
    """
    began = time.monotonic()
    cpus = cpus or usable_cpus()
    most = min(guests, len(cpus))
    shares = share_out([cell for cell in cells if not cell.conditions.alias], most)
    aliases = share_out([cell for cell in reversed(cells) if cell.conditions.alias], most)

    def work(number: int) -> list[Guest]:
        done: list[Guest] = []
        for left in (some[number] for some in (shares, aliases) if number < len(some)):
            done += work_off(left, [*cpus[number:], *cpus[:number]])
        return done

    def work_off(left: list[Cell], wanted: Sequence[int]) -> list[Guest]:
        done: list[Guest] = []
        while left:
            guest = guest_for(left)
            guest.run(
                lab,
                cpus=wanted,
                progress=progress,
                shaper=shaper,
                silence_s=silence_s,
                responses=responses,
            )
            done.append(guest)
            left = guest.leave_to_another()
        return done

    with ThreadPoolExecutor(max_workers=guests) as pool:
        crew = [guest for some in pool.map(work, range(most)) for guest in some]
    rows = [row for guest in crew for job in guest.jobs for row in judge(guest, job)]
    wall_s = time.monotonic() - began
    return Result(rows=sorted(rows, key=sort_key), guests=crew, wall_s=wall_s, programs=lab.sums())


def sort_key(one: dict[str, Any]) -> tuple[bytes, bytes, int, tuple[bytes, ...], int]:
    """Sort key of a row by its cell's key columns; text is compared bytewise."""
    return (
        one["page"].encode(),
        one["profile"].encode(),
        one["iw"],
        tuple(str(one[name]).encode() for name in Conditions().columns()),
        one["seed"],
    )


def share_out(cells: Sequence[Cell], guests: int) -> list[list[Cell]]:
    """Divide whole pages among the guests, the heaviest first, each to the guest with the least work."""
    pages: dict[int, list[Cell]] = {}
    for cell in cells:
        pages.setdefault(cell.recipe.visit_id, []).append(cell)
    shares: list[list[Cell]] = [[] for _ in range(guests)]
    loads = [(0, number) for number in range(guests)]
    for page in sorted(pages.values(), key=weight, reverse=True):
        load, number = heapq.heappop(loads)
        shares[number] += page
        heapq.heappush(loads, (load + weight(page), number))
    return [share for share in shares if share]


def weight(page: list[Cell]) -> int:
    """Rough cost of a page's cells: their bytes, and a fixed price for each response."""
    return sum(cell.recipe.response_bytes + 5_000 * len(cell.recipe.objects) for cell in page)


def judge(guest: Guest, job: NetworkJob) -> list[dict[str, Any]]:
    """The rows of one job; its calibration checks are stored on it."""
    job.checks = calibration_checks(job.profile, job.flights, offloads_on=guest.offloads_on)
    broken = next((check for check in job.checks if not check.passed), None)
    return [judge_cell(cell, job.answers.get(cell.id), guest.failure, broken) for cell in job.cells]


def judge_cell(
    cell: Cell, answer: dict[str, Any] | None, failure: GuestFailed | None, broken: CalibrationCheck | None
) -> dict[str, Any]:
    """The row of one cell: failed without an answer, refused if a calibration check failed, else done or failed."""
    if answer is None:
        return row(cell, "failed", str(failure) if failure else "the guest gave no answer", None)
    if broken:
        return row(cell, "refused", str(broken), None)
    if "failed" in answer:
        return row(cell, "failed", answer["failed"], None)
    return row(cell, "done", None, answer)
