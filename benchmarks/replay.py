"""Measures the replay's speed, boot included: CS244's whole grid and page loads, on one core and two."""

import contextlib
import resource
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import asdict, dataclass

from benchmarks import results
from firstflight.commands.replay.lab import find_lab
from firstflight.settings import from_environment
from localweb.recipes import choose, load_bundled
from releases.slow_start import WINDOWS
from replay.errors import ReplayError
from replay.lab.guest_process import Lab, run_guest, usable_cpus
from replay.networks.copula import PAPER_PROFILES
from replay.networks.profiles import Profile
from replay.published import cs244
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.cells import make_cells
from replay.runs.policy import at_once
from replay.runs.races import Race, race
from replay.runs.run import replay

RUNS = 3
REPEATS = 10
"""Transfers of each file, as in the original experiment."""

PAGES = ("www.lansstyrelsen.se", "www.vercel.com")
"""Bundled pages of ordinary size: the first over HTTP/1.1, the second over HTTP/2 and TLS."""

SEEDS = 5
ORIGINS = 8
HEADER_BYTES, TLS_FLIGHT_BYTES = 400, 3000
TIMES_REAL_TIME, PAGE_LOAD_CPU_MS, TWO_GUEST_SPEEDUP = 300.0, 60.0, 1.8


@dataclass(kw_only=True, slots=True)
class Cost:
    """CPU time of the guests, which are child processes, and wall time of a block."""

    cpu_s: float = 0.0
    wall_s: float = 0.0


@contextlib.contextmanager
def measure_cost() -> Iterator[Cost]:
    """Measure the block; the cost is filled in at its end."""
    cost = Cost()
    before, began = resource.getrusage(resource.RUSAGE_CHILDREN), time.monotonic()
    yield cost
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    cost.wall_s = time.monotonic() - began
    cost.cpu_s = after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def real_page(site: str) -> Recipe:
    """Return the recipe of a recorded page; headers and TLS have common sizes, which the recording lacks."""
    (page,) = choose(load_bundled(), site)
    places = list(dict.fromkeys((thing.scheme, thing.host) for thing in page.objects))
    h2 = any(thing.protocol == "h2" for thing in page.objects)
    origins = tuple(
        Origin(
            host=host,
            port=443 if scheme == "https" else 80,
            h2=h2,
            tls_flight_bytes=TLS_FLIGHT_BYTES if scheme == "https" else 0,
            tls_after_bytes=0,
        )
        for scheme, host in places
    )
    objects = tuple(
        Object(
            response_id=index + 1,
            origin=places.index((thing.scheme, thing.host)),
            parent=-1 if thing.parent is None else thing.parent,
            response_bytes=HEADER_BYTES + (thing.body_bytes or 0),
            is_document=index == page.main,
        )
        for index, thing in enumerate(page.objects)
    )
    return Recipe(page=site, visit_id=page.number, origins=origins, objects=objects, left_out=0)


@dataclass(frozen=True, kw_only=True, slots=True)
class Page:
    """The structure of a page."""

    site: str
    protocol: str
    objects: int
    origins: int
    megabytes: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Grid:
    """CS244's grid in one guest, each file ten times."""

    cells: int
    transfers: int
    payload_mb: float
    virtual_s: float
    cost: Cost


@dataclass(frozen=True, kw_only=True, slots=True)
class PageLoads:
    """Forty page loads over one profile."""

    profile: str
    loads: int
    not_done: int
    cpu_ms: float
    """CPU time of a load, without the boot."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Measured:
    """All measurements, each of several runs."""

    pages: list[Page]
    boots: list[Cost]
    grids: list[Grid]
    two_guest_speedups: list[float]
    page_loads: list[PageLoads]

    @property
    def boot_cpu_s(self) -> float:
        return statistics.median(boot.cpu_s for boot in self.boots)

    def load_cpu_ms(self) -> dict[str, float]:
        profiles = dict.fromkeys(loads.profile for loads in self.page_loads)
        return {
            profile: statistics.median(loads.cpu_ms for loads in self.page_loads if loads.profile == profile)
            for profile in profiles
        }

    def figures(self) -> dict[str, float]:
        """Return the figures that are compared over time: medians of the runs; for page loads, the profile
        with the highest cost."""
        grids, boot_cpu_s = self.grids, self.boot_cpu_s
        return {
            "cs244_times_real_time": statistics.median(grid.virtual_s / grid.cost.wall_s for grid in grids),
            "cs244_times_its_cpu": statistics.median(grid.virtual_s / grid.cost.cpu_s for grid in grids),
            "transfer_cpu_ms": statistics.median(
                1e3 * (grid.cost.cpu_s - boot_cpu_s) / grid.transfers for grid in grids
            ),
            "page_load_cpu_ms": max(self.load_cpu_ms().values()),
            "two_guest_speedup": statistics.median(self.two_guest_speedups),
            "boot_cpu_s": boot_cpu_s,
        }


def describe_page(page: Recipe) -> Page:
    return Page(
        site=page.page,
        protocol="H2" if page.origins[0].h2 else "H1",
        objects=len(page.objects),
        origins=len(page.origins),
        megabytes=round(page.response_bytes / 1e6, 2),
    )


def boot(lab: Lab) -> Cost:
    with measure_cost() as cost:
        run_guest(lab, {"origins": ORIGINS, "windows": [10], "jobs": []}, [], lambda _answer: None)
    return cost


def fetch(lab: Lab, wanted: Sequence[Race], cpu: int) -> float:
    """Return virtual seconds of the transfers."""
    outcomes = race(lab, wanted, shaper="netem", congestion_control="cubic", cpu=cpu)
    return sum(outcome.flows[0].seconds for outcome in outcomes)


def grid(lab: Lab) -> Grid:
    """Run CS244's grid in one guest, each file ten times."""
    cells = cs244.whole_grid()
    wanted = [load for cell in cells for load in cell for _ in range(REPEATS)]
    with measure_cost() as cost:
        virtual_s = fetch(lab, wanted, usable_cpus()[-1])
    return Grid(
        cells=len(cells),
        transfers=len(wanted),
        payload_mb=sum(load.flows[0].response_bytes for load in wanted) / 1e6,
        virtual_s=virtual_s,
        cost=cost,
    )


def two_guest_speedup(lab: Lab) -> float:
    """Return the speed-up of two guests at once over one guest, on a part of the grid."""
    wanted = [load for cell in cs244.whole_grid() for load in cell for _ in range(2)]
    first, *_, last = usable_cpus()
    with measure_cost() as alone:
        fetch(lab, wanted, last)
    with measure_cost() as both, ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(lambda cpu: fetch(lab, wanted, cpu), (first, last)))
    return 2 * alone.wall_s / both.wall_s


def page_loads(lab: Lab, profile: Profile, boot_cpu_s: float) -> PageLoads:
    """Run forty page loads over one profile."""
    cells = make_cells(
        [real_page(site) for site in PAGES], [profile], policies=at_once(*WINDOWS), seeds=SEEDS
    )
    with measure_cost() as cost:
        states = replay(lab, cells, guests=1).table["state"].to_pylist()
    return PageLoads(
        profile=profile.id,
        loads=states.count("done"),
        not_done=len(states) - states.count("done"),
        cpu_ms=1e3 * (cost.cpu_s - boot_cpu_s) / len(cells),
    )


def measure(lab: Lab) -> Measured:
    boots = [boot(lab) for _ in range(RUNS)]
    boot_cpu_s = statistics.median(boot.cpu_s for boot in boots)
    return Measured(
        pages=[describe_page(real_page(site)) for site in PAGES],
        boots=boots,
        grids=[grid(lab) for _ in range(RUNS)],
        two_guest_speedups=[two_guest_speedup(lab) for _ in range(RUNS)],
        page_loads=[page_loads(lab, profile, boot_cpu_s) for profile in PAPER_PROFILES for _ in range(RUNS)],
    )


def find_misses(measured: Measured) -> Iterator[str]:
    figures = measured.figures()
    if figures["cs244_times_real_time"] < TIMES_REAL_TIME:
        yield f"at least {TIMES_REAL_TIME:.0f} times real time"
    if figures["page_load_cpu_ms"] > PAGE_LOAD_CPU_MS:
        yield f"at most {PAGE_LOAD_CPU_MS:.0f} ms of CPU a page load"
    if figures["two_guest_speedup"] < TWO_GUEST_SPEEDUP:
        yield f"two guests at least {TWO_GUEST_SPEEDUP} times one"
    if any(loads.not_done for loads in measured.page_loads):
        yield "every load done"


def main() -> int:
    """Measure, write and print; returns 1 if a bound is missed or a load failed."""
    before = results.provenance()
    try:
        measured = measure(find_lab(from_environment().cache_dir))
    except ReplayError as exc:
        print(exc, file=sys.stderr)
        return 1
    path = results.write("replay", before | asdict(measured))
    for name, value in measured.figures().items():
        print(f"{name:<28} {value:,.2f}")
    print(path)
    misses = list(find_misses(measured))
    for missed in misses:
        print(f"missed: {missed}", file=sys.stderr)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
