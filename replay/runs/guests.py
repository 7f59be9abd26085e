"""A guest and its share of a replay: what it is told, what it answers,
and what a failure leaves to the next guest."""

import threading
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Protocol

from releases.slow_start import MSS_TIMESTAMPS, WINDOWS
from replay.errors import GuestFailed
from replay.lab.guest_process import SILENCE_S, GuestAnswer, Lab, run_guest
from replay.networks.populations import PROFILES
from replay.networks.profiles import Profile
from replay.recipes.page_recipe import Recipe
from replay.runs.calibration import CalibrationCheck, Flight, calibration_checks
from replay.runs.cells import Cell
from replay.runs.conditions import ALIAS, BACKGROUND_IW
from replay.runs.network_jobs import FIRST_ORIGIN, network_job
from replay.runs.origins import origin_commands

MOST_ORIGINS = 250
"""Server hosts in a guest; beyond them, origins share a host's address."""

SELFTEST_ORIGINS = 4


class GuestProgress(Protocol):
    """A counter of finished cells, such as tqdm."""

    def update(self, n: float = 1, /) -> object: ...


@dataclass(kw_only=True, slots=True)
class NetworkJob:
    """The work of one guest over one network: calibration flights, cells, and the answers to both."""

    profile: Profile
    flights: list[Flight]
    cells: list[Cell]
    answers: dict[str, GuestAnswer] = field(default_factory=dict)
    checks: list[CalibrationCheck] = field(default_factory=list)


@dataclass(kw_only=True, slots=True)
class Guest:
    """One guest's share of a replay, and the outcome."""

    jobs: list[NetworkJob]
    recipes: list[Recipe]
    origins: int
    failure: GuestFailed | None = None
    offloads_on: int = -1
    """Interfaces with an offload on; -1 until the guest has started."""

    def run(
        self,
        lab: Lab,
        *,
        cpus: Sequence[int] | None = None,
        progress: GuestProgress | None = None,
        shaper: str = "tbf",
        silence_s: float = SILENCE_S,
        congestion_control: str = "cubic",
        responses: bool = False,
    ) -> None:
        """Boot the guest and do its jobs; a failure is stored, not raised.

        `congestion_control` applies to calibration flights; cells have their own.
        """
        numbers = {recipe: number for number, recipe in enumerate(self.recipes)}
        work = {
            "origins": self.origins,
            "windows": self.windows(),
            "jobs": [
                network_job(
                    job.profile,
                    shaper=shaper,
                    congestion_control=congestion_control,
                    flights=[f"flight {fl.id} {fl.host} {fl.iw} {fl.bytes}" for fl in job.flights],
                    loads=[*(["responses"] if responses else []), *load_commands(job.cells, numbers)],
                )
                for job in self.jobs
            ],
        }
        try:
            run_guest(
                lab,
                work,
                [recipe.to_text() for recipe in self.recipes],
                GuestListener(self, progress).take,
                cpus=cpus,
                silence_s=silence_s,
            )
        except GuestFailed as exc:
            self.failure = exc

    def windows(self) -> list[int]:
        """Return every initial window of any sender, and aliases: each is a route in the guest."""
        flights = {flight.iw for job in self.jobs for flight in job.flights}
        competitions = (cell.conditions.competition for job in self.jobs for cell in job.cells)
        aliased = {cell.policy.window for job in self.jobs for cell in job.cells if cell.conditions.alias}
        aliases = {ALIAS + iw for iw in (*aliased, BACKGROUND_IW) if aliased}  # HTTP/3's is the background's
        return sorted(
            {BACKGROUND_IW}
            | flights
            | aliases
            | {competition.iw for competition in competitions if competition}
        )

    def leave_to_another(self) -> list[Cell]:
        """Return, after a failure, the cells that were not begun; the cell in progress fails.

        If a network could not be calibrated, or the guest never started, all its cells stay.
        """
        if not self.failure or self.offloads_on < 0:
            return []
        left: list[Cell] = []
        is_begun = False
        for job in self.jobs:
            waiting = [cell for cell in job.cells if cell.id not in job.answers]
            if not is_begun and waiting:
                is_begun = True
                calibrated = all(flight.facts for flight in job.flights)
                waiting = waiting[1:] if calibrated else []
            left += waiting
            leaving = {cell.id for cell in waiting}
            job.cells = [cell for cell in job.cells if cell.id not in leaving]
        # A network that is wholly left was not calibrated here.
        self.jobs = [job for job in self.jobs if job.cells]
        return left


def guest_for(share: Sequence[Cell]) -> Guest:
    """Return a guest for these cells, with a job for each network."""
    recipes = list(dict.fromkeys(cell.recipe for cell in share))
    windows = sorted({cell.policy.window for cell in share})
    origins = min(max(len(recipe.origins) for recipe in recipes), MOST_ORIGINS)
    networks: dict[Profile, list[Cell]] = {}
    for cell in share:
        networks.setdefault(cell.network, []).append(cell)
    return Guest(jobs=make_jobs(networks, windows, origins), recipes=recipes, origins=origins)


def make_jobs(
    networks: Mapping[Profile, list[Cell]], windows: Sequence[int], origins: int
) -> list[NetworkJob]:
    """Return each network's job: first of all a byte from every host, then a full flight at every window."""
    hosts = range(1, FIRST_ORIGIN + origins)
    greetings = [Flight(id=f"host-{host}", host=host, iw=BACKGROUND_IW, bytes=1) for host in hosts]
    jobs = []
    for network, cells in networks.items():
        full = [Flight(id=f"iw-{iw}", host=FIRST_ORIGIN, iw=iw, bytes=iw * MSS_TIMESTAMPS) for iw in windows]
        jobs.append(NetworkJob(profile=network, flights=greetings + full, cells=cells))
        greetings = []
    return jobs


def measure_flights(
    lab: Lab, profile: Profile, flights: list[Flight], *, congestion_control: str = "cubic"
) -> list[Flight]:
    """Transfer `flights` over a network, and return them with their arrivals; GuestFailed."""
    guest = Guest(jobs=[NetworkJob(profile=profile, flights=flights, cells=[])], recipes=[], origins=1)
    guest.run(lab, congestion_control=congestion_control)
    if guest.failure:
        raise guest.failure
    return flights


def selftest(lab: Lab, profiles: Sequence[Profile] = PROFILES) -> dict[str, list[CalibrationCheck]]:
    """Return each profile's checks by id; GuestFailed."""
    guest = Guest(
        jobs=make_jobs({profile: [] for profile in profiles}, WINDOWS, SELFTEST_ORIGINS),
        recipes=[],
        origins=SELFTEST_ORIGINS,
    )
    guest.run(lab)
    if guest.failure:
        raise guest.failure
    return {
        job.profile.id: calibration_checks(job.profile, job.flights, offloads_on=guest.offloads_on)
        for job in guest.jobs
    }


def load_commands(cells: Sequence[Cell], numbers: Mapping[Recipe, int]) -> Iterator[str]:
    """Yield the cells' commands; a condition is sent when it changes."""
    in_force: list[str] = []
    for cell in cells:
        conditions = [*cell.conditions.commands(cell.profile, cell.policy), *origin_commands(cell.origins)]
        yield from (line for line in conditions if line not in in_force)
        in_force = conditions
        yield cell.command(numbers[cell.recipe])


class GuestListener:
    """Assigns a guest's answers to its jobs."""

    lock = threading.Lock()

    def __init__(self, guest: Guest, progress: GuestProgress | None) -> None:
        self.guest = guest
        self.progress = progress
        self.jobs = iter(guest.jobs)
        self.job: NetworkJob | None = None
        self.arrivals: list[tuple[int, int]] = []
        self.each: list[list[int]] = []

    def take(self, answer: GuestAnswer) -> None:
        if "ready" in answer:
            self.guest.offloads_on = answer["offloads_on"]
        elif "profile" in answer:
            self.job = next(self.jobs)
        elif "arrived" in answer:
            self.arrivals.append((answer["arrived"], answer["ns"]))
        elif "flight" in answer and self.job:
            self.flight(self.job, answer)
        elif "each" in answer:
            self.each = answer["each"]
        elif "cell" in answer and self.job:
            cell = answer.pop("cell")
            self.job.answers[cell] = answer | {"each": self.each} if self.each else answer
            self.each = []
            if self.progress:
                with self.lock:
                    self.progress.update(1)

    def flight(self, job: NetworkJob, answer: GuestAnswer) -> None:
        flight = next(flight for flight in job.flights if flight.id == answer["flight"])
        flight.facts, flight.arrivals = answer, self.arrivals
        self.arrivals = []
