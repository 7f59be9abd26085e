"""Hold the replay's page loads against Chromium's over a real path: `python -m studies.page_loads`.

Loads are kept in build/bench/page-loads as they are made, so a run that was stopped goes on. The times of
each page and the tables that follow from them are written as CSV beside this module. It needs root (network
namespaces, a TUN device, and precedence before other processes).
"""

import argparse
import asyncio
import os
import subprocess
import sys
from collections.abc import Callable, Mapping

from benchmarks import results
from firstflight.commands.replay.lab import find_lab
from firstflight.recorded import import_once
from firstflight.settings import from_environment
from localweb.recipes import Page
from releases.catalogue import read_release
from studies.page_loads import page_times, pages, table
from studies.page_loads.comparing import Load, compare, measure_all
from studies.page_loads.loading import RealLoad, read_loads
from studies.page_loads.networks import NETWORKS
from studies.page_loads.replayed import release_of, replay_release
from studies.page_loads.world import DATABASE, crawl, loads_file, make_loads, world

FOLDER = results.FOLDER / "page-loads"
SETS: Mapping[str, Callable[[], list[Page]]] = {
    "bundled": pages.bundled,
    "recorded": lambda: pages.read_recorded(import_once(from_environment()).release),
}
"""Sets of pages; each has a server, a crawl and loads of its own."""
IN_A_NAMESPACE = ("unshare", "--net", "--fork", "--kill-child")


def arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(prog="python -m studies.page_loads", description=__doc__)
    parser.add_argument("--loads", type=int, default=3, help="loads of each page at each window")
    parser.add_argument("--table", action="store_true", help="make no loads: replay those that were kept")
    parser.add_argument("--guests", type=int, default=2, help="guests of the replay side by side")
    parser.add_argument("--inside", choices=SETS, help=argparse.SUPPRESS)
    return parser.parse_args()


def load_inside(name: str, loads: int) -> None:
    """Make the loads of a set of pages, in a network namespace of this process."""
    folder = FOLDER / name
    with world(SETS[name](), folder) as served:
        crawl(served, folder)
        asyncio.run(make_loads(served, NETWORKS, loads, folder))


def take_precedence() -> None:
    """Run before all ordinary processes, as will every process that this one starts;
    their load is a fraction of a CPU."""
    try:
        os.sched_setscheduler(0, os.SCHED_RR, os.sched_param(1))
    except PermissionError:
        print("without root other processes delay the browser: the times are too long", file=sys.stderr)


def load_all(loads: int) -> None:
    """Make all loads that are left; each set has a network namespace and a browser of its own,
    side by side."""
    command = [*IN_A_NAMESPACE, sys.executable, "-m", "studies.page_loads", "--loads", str(loads)]
    running = [subprocess.Popen([*command, "--inside", name], preexec_fn=take_precedence) for name in SETS]
    try:
        failed = [process.args for process in running if process.wait()]
    finally:
        for process in running:
            process.terminate()
    if failed:
        sys.exit("loads are missing, see above; the same command goes on with them")


def read_all_loads() -> list[RealLoad]:
    return [
        load
        for name in SETS
        for network in NETWORKS
        for load in read_loads(loads_file(FOLDER / name, network))
    ]


def as_load(load: RealLoad) -> Load:
    """Return a load by Chromium in the form in which it is compared."""
    return Load(
        network=load.network,
        page=load.page,
        iw=load.iw,
        page_ms=load.page_ms,
        document_ms=load.document_ms,
        first_byte_ms=load.first_byte_ms,
        responses={url: last_ms - sent_ms for url, sent_ms, _, last_ms in load.responses},
    )


def replayed_loads(guests: int) -> list[Load]:
    """Return all loads of the replay, of the pages that were crawled."""
    lab = find_lab(from_environment().cache_dir)
    releases = [read_release(release_of(FOLDER / name / DATABASE)) for name in SETS]
    return [load for release in releases for load in replay_release(lab, release, NETWORKS, guests)]


def main() -> None:
    options = arguments()
    if options.inside:
        load_inside(options.inside, options.loads)
        return
    if not options.table:
        load_all(options.loads)
    theirs = read_all_loads()
    real = [as_load(load) for load in theirs if load.refused is None]
    networks = [network.id for network in NETWORKS]
    page_times.write(page_times.TABLE, measure_all(real, replayed_loads(options.guests), networks))
    comparisons = compare(page_times.read(page_times.TABLE))
    table.write(comparisons)
    print(f"{len(real)} loads by Chromium; {len(theirs) - len(real)} more did not count.")
    print(table.findings(comparisons))


if __name__ == "__main__":
    main()
