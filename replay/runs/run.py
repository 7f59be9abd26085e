"""A replay: cells are divided among guests, and their answers become rows."""

import functools
import heapq
import itertools
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field

import pyarrow as pa
import pyarrow.compute as pc

from replay.errors import GuestFailed
from replay.lab.guest_process import SILENCE_S, GuestAnswer, Lab, usable_cpus
from replay.runs.calibration import CalibrationCheck, calibration_checks
from replay.runs.cells import Cell, CellRow, row
from replay.runs.conditions import Conditions
from replay.runs.guests import Guest, GuestProgress, guest_for
from replay.runs.policy import Policy
from schema.computed_tables import CELL

ROWS_AT_ONCE = 1_000


@dataclass(kw_only=True, slots=True)
class ReplayResult:
    """The outcome of a replay."""

    table: pa.Table
    guests: list[Guest]
    programs: dict[str, str] = field(default_factory=dict)

    @property
    def rows(self) -> list[CellRow]:
        """Made anew: a dict takes some thirty times the memory of its row of the table."""
        return list(self.table.to_pylist())

    @property
    def virtual_s(self) -> float:
        return float(pc.sum(self.table["page_ms"]).as_py() or 0) / 1e3


def replay(
    lab: Lab,
    cells: Sequence[Cell],
    *,
    guests: int,
    progress: GuestProgress | None = None,
    shaper: str = "tbf",
    silence_s: float = SILENCE_S,
    responses: bool = False,
    cpus: Sequence[int] | None = None,
) -> ReplayResult:
    """Run all cells on at most `guests` guests, each on its own CPU; rows are sorted by cell.

    Loads by an alias route run in guests of their own, in reverse order: what equals is then not due to guest
    or order. `cpus` are the CPUs to use, in order of preference, by default all usable ones. A guest that
    fails costs the cell in progress; a new guest does the rest. With `responses`, answers include each
    response (replay/runs/responses.py).
    """
    cpus = cpus or usable_cpus()
    most = min(guests, len(cpus))
    shares = share_out([cell for cell in cells if not cell.conditions.alias], most)
    aliases = share_out([cell for cell in reversed(cells) if cell.conditions.alias], most)

    def work(number: int) -> list[Guest]:
        ended: list[Guest] = []
        for left in (kind[number] for kind in (shares, aliases) if number < len(kind)):
            ended += work_off(left, [*cpus[number:], *cpus[:number]])
        return ended

    def work_off(left: list[Cell], cpus: Sequence[int]) -> list[Guest]:
        ended: list[Guest] = []
        while left:
            guest = guest_for(left)
            guest.run(
                lab, cpus=cpus, progress=progress, shaper=shaper, silence_s=silence_s, responses=responses
            )
            ended.append(guest)
            left = guest.leave_to_another()
        return ended

    with ThreadPoolExecutor(max_workers=guests) as pool:
        ended_guests = [guest for ended in pool.map(work, range(most)) for guest in ended]
    return result_of(ended_guests, programs=lab.sums())


def result_of(guests: list[Guest], *, programs: dict[str, str]) -> ReplayResult:
    check_calibrations(guests)
    rows = (row for row, _, _ in judge_cells(guests))
    batches = [
        pa.RecordBatch.from_pylist(batch, schema=CELL)
        for batch in iter(lambda: list(itertools.islice(rows, ROWS_AT_ONCE)), [])
    ]
    table = pa.Table.from_batches(batches, schema=CELL).combine_chunks()
    return ReplayResult(table=table, guests=guests, programs=programs)


def check_calibrations(guests: Sequence[Guest]) -> None:
    for guest in guests:
        for job in guest.jobs:
            job.checks = calibration_checks(job.profile, job.flights, offloads_on=guest.offloads_on)


def judge_cells(guests: Sequence[Guest]) -> Iterator[tuple[CellRow, Cell, GuestAnswer | None]]:
    """Yield each cell's row with the cell and the answer, in order, after `check_calibrations`."""
    cells = [(cell, guest, job) for guest in guests for job in guest.jobs for cell in job.cells]
    for cell, guest, job in sorted(cells, key=lambda cell: cell_key(cell[0])):
        broken = next((check for check in job.checks if not check.passed), None)
        answer = job.answers.get(cell.id)
        yield judge_cell(cell, answer, guest.failure, broken), cell, answer


SortKey = tuple[bytes, bytes, Policy, tuple[bytes, ...], int]


def sort_key(row: CellRow) -> SortKey:
    """Return a row's key columns; text is compared bytewise."""
    return (
        row["page"].encode(),
        row["profile"].encode(),
        Policy.parse(row["policy"]),
        tuple(str(row[name]).encode() for name in Conditions().columns()),
        row["seed"],
    )


def cell_key(cell: Cell) -> SortKey:
    page, profile = cell.recipe.page.encode(), cell.profile.id.encode()
    return page, profile, cell.policy, conditions_key(cell.conditions), cell.seed


@functools.cache
def conditions_key(conditions: Conditions) -> tuple[bytes, ...]:
    return tuple(str(value).encode() for value in conditions.columns().values())


def share_out(cells: Sequence[Cell], guests: int) -> list[list[Cell]]:
    """Divide whole pages among guests, the heaviest first, each to the one with the least work."""
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
    """Return a page's rough cost: bytes, and a fixed price for each response."""
    return sum(cell.recipe.response_bytes + 5_000 * len(cell.recipe.requested) for cell in page)


def judge_cell(
    cell: Cell, answer: GuestAnswer | None, failure: GuestFailed | None, broken: CalibrationCheck | None
) -> CellRow:
    """Return a cell's row: failed without an answer, refused after a failed check, else done or failed."""
    if answer is None:
        return row(cell, "failed", str(failure) if failure else "the guest gave no answer", None)
    if broken:
        return row(cell, "refused", str(broken), None)
    if "failed" in answer:
        return row(cell, "failed", answer["failed"], None)
    return row(cell, "done", None, answer)
