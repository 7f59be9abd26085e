"""Hold the plan of a replay against its runs: core-time of page loads, planned and taken,
by rate and condition.

python -m studies.plan_prices [--runs 3]
"""

import argparse
import dataclasses
import statistics
import sys
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from benchmarks.replay import PAGES, measure_cost, real_page
from firstflight.commands.replay.lab import find_lab
from firstflight.recorded import import_once
from firstflight.settings import from_environment
from replay.lab.guest_process import Lab
from replay.networks.profiles import Profile, symmetric
from replay.recipes.page_recipe import Recipe, read_recipes
from replay.runs.cells import make_cells, sample
from replay.runs.conditions import Competition, Conditions, Neighbours, OtherQueue
from replay.runs.policy import at_once
from replay.runs.price import core_seconds
from replay.runs.run import replay
from studies.csv_table import write_table

ROUND_TRIPS_MS: Mapping[float, int] = {2.7: 151, 12: 100, 49: 60, 158: 40, 375: 25, 1000: 15}
"""Round trip in ms by rate in Mbps; the queue holds one bandwidth-delay product."""

CONDITIONS: Mapping[str, Conditions] = {
    "ordinary": Conditions(),
    "half of the rate asked for by others": Conditions(
        queue=OtherQueue(bdp=1), neighbours=Neighbours(load=0.5)
    ),
    "beside a bulk flow": Conditions(
        queue=OtherQueue(bdp=1), competition=Competition(flows=1, congestion_control="cubic", iw=10)
    ),
}
RECORDED_PAGES = 6
WINDOWS = (10, 30)
TOLERANCE = 0.2
ORDINARY_MS, SHARED_MS = 60.0, 150.0
"""Bounds of a load's CPU time in the ordinary cells and on a line shared with other traffic."""

TABLE = Path(__file__).with_name("loads.csv")


def network(mbps: float) -> Profile:
    profile = symmetric(
        f"{mbps:g}mbps".replace(".", "-"),
        bps=round(mbps * 1e6),
        rtt_us=ROUND_TRIPS_MS[mbps] * 1000,
        source="studies",
    )
    return dataclasses.replace(profile, queue_bytes=max(65_536, profile.bdp_bytes))


def pages() -> list[Recipe]:
    """Return the pages: bundled ones of ordinary size, and a sample of the recorded ones."""
    every = read_recipes(import_once(from_environment()).release)
    ordinary = [page for page in every if 20 <= len(page.objects) <= 150 and page.response_bytes <= 6_000_000]
    return [*map(real_page, PAGES), *sample(ordinary, RECORDED_PAGES)]


def measure_price(lab: Lab, recipes: Sequence[Recipe], mbps: float, name: str) -> dict[str, Any]:
    """Return the planned and measured CPU time in ms of a load at one rate under one condition."""
    cells = make_cells(
        recipes, [network(mbps)], policies=at_once(*WINDOWS), seeds=1, conditions=[CONDITIONS[name]]
    )
    with measure_cost() as first:
        replay(lab, cells[:1], guests=1)
    with measure_cost() as all_of_them:
        result = replay(lab, cells, guests=1)
    loads = len(cells) - 1
    return {
        "mbps": mbps,
        "condition": name,
        "planned_ms": 1e3 * core_seconds(cells[1:]) / loads,
        "taken_ms": 1e3 * (all_of_them.cpu_s - first.cpu_s) / loads,
        "not_done": sum(row["state"] != "done" for row in result.rows),
    }


def medians(runs: Sequence[Mapping[str, Any]]) -> list[dict[str, Any]]:
    """Return the runs of each rate and condition as one: the median of the time taken."""
    prices = []
    for mbps in ROUND_TRIPS_MS:
        for name in CONDITIONS:
            alike = [run for run in runs if (run["mbps"], run["condition"]) == (mbps, name)]
            taken = statistics.median(run["taken_ms"] for run in alike)
            prices.append({**alike[0], "taken_ms": taken, "ratio": alike[0]["planned_ms"] / taken})
    return prices


def misses(prices: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Yield the missed bounds in words.

    >>> price = {"mbps": 12, "condition": "ordinary", "planned_ms": 90.0, "taken_ms": 70.0, "ratio": 1.29}
    >>> list(misses([price]))
    ['12 Mbps, ordinary: the plan is 1.29 times the run', '12 Mbps, ordinary: a load takes 70 ms']
    """
    for price in prices:
        cell = f"{price['mbps']:g} Mbps, {price['condition']}"
        if abs(price["ratio"] - 1) > TOLERANCE:
            yield f"{cell}: the plan is {price['ratio']:.2f} times the run"
        if price["taken_ms"] > (ORDINARY_MS if price["condition"] == "ordinary" else SHARED_MS):
            yield f"{cell}: a load takes {price['taken_ms']:.0f} ms"


def main() -> int:
    """Measure, write loads.csv and print; returns 1 if a bound is missed or a load failed."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.plan_prices", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--runs", type=int, default=3, choices=range(1, 101), metavar="N")
    runs = parser.parse_args().runs
    lab = find_lab(from_environment().cache_dir)
    recipes = pages()
    every = [
        measure_price(lab, recipes, mbps, name)
        for _ in range(runs)
        for mbps in ROUND_TRIPS_MS
        for name in CONDITIONS
    ]
    prices = medians(every)
    for price in prices:
        print(
            f"{price['mbps']:>6g} Mbps  {price['condition']:<38} {price['planned_ms']:6.1f} / "
            f"{price['taken_ms']:6.1f} ms  {price['ratio']:.2f}"
        )
    columns = ("planned_ms", "taken_ms", "ratio")
    rows = (
        (f"{price['mbps']:g}", price["condition"], *(f"{price[name]:.2f}" for name in columns))
        for price in prices
    )
    write_table(TABLE, ("mbps", "condition", *columns), rows)
    missed = [*misses(prices), *(f"{run['not_done']} loads not done" for run in every if run["not_done"])]
    for line in missed:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed else 0


if __name__ == "__main__":
    sys.exit(main())
