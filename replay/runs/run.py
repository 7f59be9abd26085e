"""A replay: cells shared out to guests, their answers gathered, gates applied."""

from __future__ import annotations

import heapq
import threading
import time
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Protocol

from replay.errors import GuestFailed
from replay.lab.guest_process import SILENCE_S, run_guest, usable_cpus
from replay.runs.calibration import SEGMENT_BYTES, CalibrationCheck, Flight, calibration_checks
from replay.runs.cells import row
from replay.runs.conditions import BACKGROUND_IW, Conditions
from replay.runs.network_jobs import FIRST_ORIGIN, network_job

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from replay.lab.guest_process import Lab
    from replay.networks.profiles import Profile
    from replay.recipes.page_recipe import Recipe
    from replay.runs.cells import Cell

MOST_ORIGINS = 250
"""Hosts of one guest; a page with more origins has some of them share a host's address."""


class Progress(Protocol):
    """Something that is told of every finished cell (tqdm, a list, nothing)."""

    def update(self, n: float = 1, /) -> object:
        """`n` more are done."""


@dataclass(kw_only=True, slots=True)
class NetworkJob:
    """What one guest found out about one profile."""

    profile: Profile
    flights: list[Flight]
    cells: list[Cell]
    answers: dict[str, dict[str, Any]] = field(default_factory=dict)
    checks: list[CalibrationCheck] = field(default_factory=list)


@dataclass(kw_only=True, slots=True)
class Guest:
    """One guest's share of the cells."""

    jobs: list[NetworkJob]
    recipes: list[Recipe]
    origins: int
    failure: GuestFailed | None = None
    offloads_on: int = -1
    boot_s: float = 0.0
    wall_s: float = 0.0


@dataclass(kw_only=True, slots=True)
class Result:
    """All that a replay yields."""

    rows: list[dict[str, Any]]
    guests: list[Guest]
    wall_s: float
    programs: dict[str, str] = field(default_factory=dict)
    """SHA-256 of the kernel's image and of the player that ran in it."""

    @property
    def virtual_s(self) -> float:
        """Seconds of page loads, in their own time."""
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
    """Run all cells on `guests` guests, each on a CPU of its own; rows come back in their one order.

    `cpus` are those to take, the first ones first; without it all that we may run on. A guest that fails costs the cell
    that it was at; another does what it has left. With `responses` each answer tells of each response
    (replay/runs/responses.py).
    """
    began = time.monotonic()
    cpus = cpus or usable_cpus()
    shares = share_out(cells, min(guests, len(cpus)))

    def work(number: int) -> list[Guest]:
        done: list[Guest] = []
        left = shares[number]
        while left:
            guest = crew_guest(left)
            work_through(lab, guest, cpus[number], progress, shaper, silence_s, responses=responses)
            done.append(guest)
            left = leave_to_another(guest)
        return done

    with ThreadPoolExecutor(max_workers=guests) as pool:
        crew = [guest for some in pool.map(work, range(len(shares))) for guest in some]
    rows = [row for guest in crew for one in guest.jobs for row in judge(guest, one)]
    wall_s = time.monotonic() - began
    return Result(rows=sorted(rows, key=sort_key), guests=crew, wall_s=wall_s, programs=lab.sums())


def sort_key(one: dict[str, Any]) -> tuple[bytes, bytes, int, tuple[bytes, ...], int]:
    """Bytewise, by what names a cell."""
    return (
        one["page"].encode(),
        one["profile"].encode(),
        one["iw"],
        tuple(str(one[name]).encode() for name in Conditions().columns()),
        one["seed"],
    )


def share_out(cells: Sequence[Cell], guests: int) -> list[list[Cell]]:
    """Whole pages to the guests, the heaviest first, each to whoever has least: they end together."""
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
    """What a page's cells cost a guest, roughly: bytes, and a fixed price for each response."""
    return sum(cell.recipe.response_bytes + 5_000 * len(cell.recipe.objects) for cell in page)


def crew_guest(share: list[Cell]) -> Guest:
    """A guest for these cells: as many hosts as its largest page has origins, a job for each profile."""
    recipes = list(dict.fromkeys(cell.recipe for cell in share))
    windows = sorted({cell.iw for cell in share})
    origins = min(max(len(recipe.origins) for recipe in recipes), MOST_ORIGINS)
    networks: dict[Profile, list[Cell]] = {}
    for cell in share:
        networks.setdefault(cell.network, []).append(cell)
    jobs = [
        NetworkJob(profile=network, flights=calibration(windows, origins, first=not number), cells=cells)
        for number, (network, cells) in enumerate(networks.items())
    ]
    return Guest(jobs=jobs, recipes=recipes, origins=origins)


def leave_to_another(guest: Guest) -> list[Cell]:
    """Take from a failed guest what it had not begun; what it was at stays with it, and fails.

    That is a cell, or a network that could not be calibrated, or all of it where nothing ever ran.
    """
    if not guest.failure or guest.offloads_on < 0:
        return []
    left: list[Cell] = []
    found = False
    for one in guest.jobs:
        waiting = [cell for cell in one.cells if cell.id not in one.answers]
        if not found and waiting:
            found = True
            calibrated = all(flight.facts for flight in one.flights)
            waiting = waiting[1:] if calibrated else []
        left += waiting
        one.cells = [cell for cell in one.cells if cell not in waiting]
    return left


def calibration(windows: Sequence[int], origins: int, *, first: bool) -> list[Flight]:
    """A byte from every host, once a guest, and a full flight at every window."""
    hosts = range(1, FIRST_ORIGIN + origins) if first else ()
    greetings = [Flight(id=f"host-{host}", host=host, iw=BACKGROUND_IW, bytes=1) for host in hosts]
    full = [Flight(id=f"iw-{iw}", host=FIRST_ORIGIN, iw=iw, bytes=iw * SEGMENT_BYTES) for iw in windows]
    return greetings + full


def work_through(
    lab: Lab,
    guest: Guest,
    cpu: int | None,
    progress: Progress | None,
    shaper: str,
    silence_s: float,
    congestion_control: str = "cubic",
    responses: bool = False,
) -> None:
    """One guest's life; its failure is kept, not raised: the others go on.

    `congestion_control` is for the flights; cells have their own.
    """
    numbers = {recipe: number for number, recipe in enumerate(guest.recipes)}
    began = time.monotonic()
    listener = Listener(guest, progress, began)
    try:
        run_guest(
            lab,
            {
                "origins": guest.origins,
                "windows": windows_of(guest),
                "shifts": [
                    network_job(
                        one.profile,
                        shaper=shaper,
                        congestion_control=congestion_control,
                        flights=[f"flight {fl.id} {fl.host} {fl.iw} {fl.bytes}" for fl in one.flights],
                        loads=[*(["responses"] if responses else []), *load_commands(one.cells, numbers)],
                    )
                    for one in guest.jobs
                ],
            },
            [recipe.to_text() for recipe in guest.recipes],
            listener.take,
            cpu=usable_cpus()[-1] if cpu is None else cpu,
            silence_s=silence_s,
        )
    except GuestFailed as exc:
        guest.failure = exc
    guest.wall_s = time.monotonic() - began


def windows_of(guest: Guest) -> list[int]:
    """Every window that anybody in it sends with: each is a route."""
    flights = {flight.iw for job in guest.jobs for flight in job.flights}
    competing_flows = {
        cell.conditions.competition.iw
        for job in guest.jobs
        for cell in job.cells
        if cell.conditions.competition
    }
    return sorted({BACKGROUND_IW} | flights | competing_flows)


def load_commands(cells: Sequence[Cell], numbers: Mapping[Recipe, int]) -> Iterator[str]:
    """Cells as the player takes them, each under its own conditions."""
    in_force: list[str] = []
    for cell in cells:
        conditions = list(cell.conditions.commands(cell.profile, cell.iw))
        yield from (line for line in conditions if line not in in_force)
        in_force = conditions
        yield cell.command(numbers[cell.recipe])


class Listener:
    """Sorts a guest's answers into its jobs."""

    lock = threading.Lock()
    """Of the progress, which all guests share."""

    def __init__(self, guest: Guest, progress: Progress | None, began: float) -> None:
        self.guest = guest
        self.progress = progress
        self.began = began
        self.jobs = iter(guest.jobs)
        self.job: NetworkJob | None = None
        self.arrivals: list[tuple[int, int]] = []
        self.each: list[list[int]] = []

    def take(self, answer: dict[str, Any]) -> None:
        """One answer."""
        if "ready" in answer:
            self.guest.offloads_on = answer["offloads_on"]
            self.guest.boot_s = time.monotonic() - self.began
        elif "profile" in answer:
            self.job = next(self.jobs)
        elif "arrived" in answer:
            self.arrivals.append((answer["arrived"], answer["ns"]))
        elif "flight" in answer and self.job:
            self.flight(self.job, answer)
        elif "each" in answer:
            self.each = answer["each"]
        elif "cell" in answer and self.job:
            self.job.answers[answer["cell"]] = {**answer, "each": self.each}
            self.each = []
            if self.progress:
                with self.lock:
                    self.progress.update(1)

    def flight(self, job: NetworkJob, answer: dict[str, Any]) -> None:
        """The end of a flight whose arrivals came before."""
        flight = next(one for one in job.flights if one.id == answer["flight"])
        flight.facts, flight.arrivals = answer, self.arrivals
        self.arrivals = []


def judge(guest: Guest, job: NetworkJob) -> list[dict[str, Any]]:
    """The rows of one job: refused where a check failed, failed where no load came back."""
    job.checks = calibration_checks(job.profile, job.flights, offloads_on=guest.offloads_on)
    broken = next((check for check in job.checks if not check.passed), None)
    return [judge_cell(cell, job.answers.get(cell.id), guest.failure, broken) for cell in job.cells]


def judge_cell(
    cell: Cell, answer: dict[str, Any] | None, failure: GuestFailed | None, broken: CalibrationCheck | None
) -> dict[str, Any]:
    """One row. A guest that failed explains what it did not answer, before any check does."""
    if answer is None:
        return row(cell, "failed", str(failure) if failure else "the guest gave no answer", None)
    if broken:
        return row(cell, "refused", str(broken), None)
    if "failed" in answer:
        return row(cell, "failed", answer["failed"], None)
    return row(cell, "done", None, answer)
