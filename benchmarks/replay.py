"""Measures the replay's speed, boot included: CS244's whole grid, page loads, megabytes and requests,
on one core and two."""

import contextlib
import resource
import statistics
import sys
import time
from collections.abc import Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

from benchmarks import results
from firstflight.commands.replay.lab import find_lab
from firstflight.settings import from_environment
from localweb.recipes import choose, load_bundled
from releases.slow_start import WINDOWS
from replay.errors import LabMissing, ReplayError
from replay.lab import debian
from replay.lab.guest_process import Lab, run_guest, usable_cpus
from replay.networks.copula import PAPER_PROFILES
from replay.networks.profiles import Profile
from replay.published import cs244
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.cells import plan
from replay.runs.run import replay
from replay.runs.transfers import Transfer, transfer

RUNS = 3
REPEATS = 10
"""Transfers of each file, as in the original experiment."""

PAGES = ("www.lansstyrelsen.se", "www.vercel.com")
"""Bundled pages of ordinary size: the first over HTTP/1.1, the second over HTTP/2 and TLS."""

SEEDS = 5
ORIGINS = 8
HEADER_BYTES, TLS_FLIGHT_BYTES = 400, 3000
MEGABYTES, REQUESTS = 50, 500
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


def describe_page(page: Recipe) -> dict[str, Any]:
    """Return the description of a page's structure."""
    return {
        "site": page.page,
        "protocol": "H2" if page.origins[0].h2 else "H1",
        "objects": len(page.objects),
        "origins": len(page.origins),
        "megabytes": round(page.response_bytes / 1e6, 2),
    }


def boot(lab: Lab) -> tuple[Cost, list[dict[str, Any]]]:
    """Boot a guest without work; the time of each step."""
    steps: list[dict[str, Any]] = []
    began = time.monotonic()

    def take(answer: dict[str, Any]) -> None:
        steps.append({"step": answer.get("step", next(iter(answer))), "wall_s": time.monotonic() - began})

    with measure_cost() as cost:
        run_guest(lab, {"origins": ORIGINS, "windows": [10], "jobs": []}, [], take)
    return cost, steps


def fetch(lab: Lab, wanted: Sequence[Transfer], cpu: int) -> float:
    """Return virtual seconds of the transfers."""
    return sum(
        load.seconds for load in transfer(lab, wanted, shaper="netem", congestion_control="cubic", cpu=cpu)
    )


def grid(lab: Lab) -> dict[str, Any]:
    """Run CS244's grid in one guest, each file ten times."""
    cells = cs244.whole_grid()
    wanted = [load for cell in cells for load in cell for _ in range(REPEATS)]
    with measure_cost() as cost:
        virtual_s = fetch(lab, wanted, usable_cpus()[-1])
    return {
        "cells": len(cells),
        "transfers": len(wanted),
        "payload_mb": sum(load.response_bytes for load in wanted) / 1e6,
        "virtual_s": virtual_s,
        "wall_s": cost.wall_s,
        "cpu_s": cost.cpu_s,
        "times_real_time": virtual_s / cost.wall_s,
    }


def two_guests(lab: Lab) -> dict[str, float]:
    """Return the speed-up of two guests at once over one guest, on a part of the grid."""
    wanted = [load for cell in cs244.whole_grid() for load in cell for _ in range(2)]
    first, *_, last = usable_cpus()
    with measure_cost() as usage:
        fetch(lab, wanted, last)
    with measure_cost() as two, ThreadPoolExecutor(max_workers=2) as pool:
        list(pool.map(lambda cpu: fetch(lab, wanted, cpu), (first, last)))
    return {
        "one_wall_s": usage.wall_s,
        "two_wall_s": two.wall_s,
        "one_cpu_s": usage.cpu_s,
        "two_cpu_s": two.cpu_s,
        "speedup": 2 * usage.wall_s / two.wall_s,
    }


def measure_prices(lab: Lab, boot_cpu_s: float) -> dict[str, float]:
    """Return the CPU time of a megabyte and of a request, over the fastest profile, without the boot."""
    fast = max(PAPER_PROFILES, key=lambda paper_profile: paper_profile.down_bps)

    def cpu_s(response_bytes: int, count: int) -> float:
        download = Transfer(profile=fast, iw=10, request_bytes=400, response_bytes=response_bytes)
        with measure_cost() as cost:
            fetch(lab, [download] * count, usable_cpus()[-1])
        return cost.cpu_s - boot_cpu_s

    return {
        "megabyte_cpu_ms": 1e3 * cpu_s(10_000_000, MEGABYTES // 10) / MEGABYTES,
        "request_cpu_ms": 1e3 * cpu_s(1_000, REQUESTS) / REQUESTS,
    }


def page_loads(lab: Lab, profile: Profile, boot_cpu_s: float) -> dict[str, Any]:
    """Run forty page loads over one profile."""
    cells = plan([real_page(site) for site in PAGES], [profile], windows=WINDOWS, seeds=SEEDS)
    with measure_cost() as cost:
        result = replay(lab, cells, guests=1)
    return {
        "profile": profile.id,
        "loads": sum(row["state"] == "done" for row in result.rows),
        "loads_refused_or_failed": sum(row["state"] != "done" for row in result.rows),
        "virtual_s": result.virtual_s,
        "wall_s": cost.wall_s,
        "cpu_s": cost.cpu_s,
        "load_cpu_ms": 1e3 * (cost.cpu_s - boot_cpu_s) / len(cells),
        "times_real_time": result.virtual_s / cost.wall_s,
    }


def second_opinion(lab: Lab) -> dict[str, Any]:
    """Repeat some transfers under Debian's kernel in real time; the reason if there is no kernel."""
    wanted = [cell.transfer for cell in cs244.read_cells() if cell.experiment == "segments"]
    try:
        theirs = debian.locate(lab.player)
    except LabMissing as exc:
        return {"missing": str(exc)}
    opinion: dict[str, Any] = {"cells": len(wanted)}
    seconds = {}
    for name, which in (("virtual", lab), ("real", theirs)):
        with measure_cost() as cost:
            times = transfer(which, wanted, shaper="netem", congestion_control="cubic")
        seconds[name] = [time.seconds for time in times]
        opinion[name] = {
            "seconds": seconds[name],
            "wall_s": cost.wall_s,
            "cpu_s": cost.cpu_s,
            "times_real_time": sum(seconds[name]) / cost.wall_s,
        }
    apart = [real / virtual - 1 for virtual, real in zip(seconds["virtual"], seconds["real"], strict=True)]
    return {**opinion, "median_difference": statistics.median(apart)}


def measure(lab: Lab) -> dict[str, Any]:
    """Make all measurements."""
    boots = [boot(lab) for _ in range(RUNS)]
    boot_cpu_s = statistics.median(cost.cpu_s for cost, _ in boots)
    return {
        "pages": [describe_page(real_page(site)) for site in PAGES],
        "boots": [{"cpu_s": cost.cpu_s, "wall_s": cost.wall_s, "steps": steps} for cost, steps in boots],
        "grids": [grid(lab) for _ in range(RUNS)],
        "two_guests": [two_guests(lab) for _ in range(RUNS)],
        "prices": [measure_prices(lab, boot_cpu_s) for _ in range(RUNS)],
        "page_loads": [
            page_loads(lab, paper_profile, boot_cpu_s)
            for paper_profile in PAPER_PROFILES
            for _ in range(RUNS)
        ],
        "second_opinion": second_opinion(lab),
    }


def figures(samples: dict[str, Any]) -> dict[str, Any]:
    """Return figures that are compared over time: medians of the runs; for page loads,
    the profile with the highest cost."""
    boot_cpu_s = statistics.median(sample["cpu_s"] for sample in samples["boots"])
    loads = {
        profile.id: statistics.median(
            page_load["load_cpu_ms"]
            for page_load in samples["page_loads"]
            if page_load["profile"] == profile.id
        )
        for profile in PAPER_PROFILES
    }

    def of(name: str, key: str) -> float:
        return float(statistics.median(sample[key] for sample in samples[name]))

    return {
        "cs244_times_real_time": round(of("grids", "times_real_time"), 1),
        "cs244_times_its_cpu": round(
            statistics.median(sample["virtual_s"] / sample["cpu_s"] for sample in samples["grids"]), 1
        ),
        "transfer_cpu_ms": round(
            statistics.median(
                1e3 * (sample["cpu_s"] - boot_cpu_s) / sample["transfers"] for sample in samples["grids"]
            ),
            2,
        ),
        "page_load_cpu_ms": round(max(loads.values()), 1),
        "page_load_cpu_ms_by_profile": {name: round(value, 1) for name, value in loads.items()},
        "two_guest_speedup": round(of("two_guests", "speedup"), 2),
        "megabyte_cpu_ms": round(of("prices", "megabyte_cpu_ms"), 2),
        "request_cpu_ms": round(of("prices", "request_cpu_ms"), 2),
        "boot_cpu_s": round(boot_cpu_s, 3),
        "boot_wall_s": round(of("boots", "wall_s"), 3),
    }


def find_misses(facts: dict[str, Any], samples: dict[str, Any]) -> Iterator[str]:
    """Yield the missed bounds and failed loads."""
    if facts["cs244_times_real_time"] < TIMES_REAL_TIME:
        yield f"at least {TIMES_REAL_TIME:.0f} times real time"
    if facts["page_load_cpu_ms"] > PAGE_LOAD_CPU_MS:
        yield f"at most {PAGE_LOAD_CPU_MS:.0f} ms of CPU a page load"
    if facts["two_guest_speedup"] < TWO_GUEST_SPEEDUP:
        yield f"two guests at least {TWO_GUEST_SPEEDUP} times one"
    if any(page_load["loads_refused_or_failed"] for page_load in samples["page_loads"]):
        yield "every load done"


def main() -> int:
    """Measure, write and print; returns 1 if a bound is missed or a load failed."""
    before = results.provenance()
    cache = from_environment().cache_dir
    try:
        samples = measure(find_lab(cache))
    except ReplayError as exc:
        print(exc, file=sys.stderr)
        return 1
    facts = figures(samples)
    path = results.write("replay", before | facts | {"samples": samples})
    for name, value in facts.items():
        print(f"{name:<28} {value}")
    print(path)
    for missed in find_misses(facts, samples):
        print(f"missed: {missed}", file=sys.stderr)
    return 1 if any(find_misses(facts, samples)) else 0


if __name__ == "__main__":
    sys.exit(main())
