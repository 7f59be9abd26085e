"""Runs the steps of made-up crawls of several sizes, each step once, and then those of many months.

python -m benchmarks.scale.run --python PYTHON [--sizes 10000,100000] [--full] [--months 60]
"""

import argparse
import json
import subprocess
import sys
import time
import urllib.request
from pathlib import Path
from typing import Any

from benchmarks.counting import tree_cpu_s
from benchmarks.results import provenance, write
from benchmarks.scale import figures, months
from benchmarks.scale.steps import NAME, PROCESSES, STEPS
from benchmarks.service.over_a_year import wait_until_checked
from benchmarks.service.servers import READY_WITHIN_S, BenchError, Memory, serve, wait_until_prepared
from storage import embedded

FOLDER = Path("build/scale")

SIZES = (10_000, 100_000)
FULL = 1_000_000

ANSWERS = {
    "home_ms": "",
    "distribution_ms": f"v1/distributions?measure=responses&iw=10&party=third&crawl={NAME}",
    "site_ms": "v1/sites/site-7.example",
}
"""First answers of the service, by the name of their time."""


def measure_size(sites: int) -> dict[str, Any]:
    """Return the facts of every step of a crawl of so many sites; what is done is not repeated."""
    folder = FOLDER / str(sites)
    (folder / "steps").mkdir(parents=True, exist_ok=True)
    data = folder.absolute() / "postgres"
    try:
        facts = {step: _once(step, folder, sites) for step in STEPS}
        done = folder / "steps" / "serve.json"
        if not done.exists():
            _keep(done, measure_service(folder))
        return facts | {"serve": json.loads(done.read_text(encoding="utf-8"))}
    finally:
        embedded.stop(data)


def _once(step: str, folder: Path, sites: int) -> dict[str, Any]:
    done = folder / "steps" / f"{step}.json"
    if not done.exists():
        print(f"{sites:,} sites: {step}", file=sys.stderr, flush=True)
        part = _run(step, folder, sites)
        before = sorted(done.parent.glob(f"{step}.part*"))
        if part.get("failed"):
            _keep(done.with_suffix(f".part{len(before)}"), part)
            raise BenchError(f"{sites:,} sites: {step} is half done: run it again, and it goes on")
        _keep(done, add_up([json.loads(path.read_text(encoding="utf-8")) for path in before] + [part]))
    facts: dict[str, Any] = json.loads(done.read_text(encoding="utf-8"))
    return facts


def add_up(parts: list[dict[str, Any]]) -> dict[str, Any]:
    """Return the cost of a step from those of its parts, side by side or one after the other."""
    if len(parts) == 1:
        return parts[0]
    peak_mb = max(part["peak_mb"] for part in parts)
    return {key: sum(part[key] for part in parts) for key in parts[0]} | {"peak_mb": peak_mb}


def _keep(done: Path, facts: dict[str, Any]) -> None:
    half = done.with_suffix(".new")
    half.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
    half.rename(done)


def _run(step: str, folder: Path, sites: int) -> dict[str, Any]:
    """Run a step in processes of its own; BenchError with what it said if it fails."""
    data = folder.absolute() / "postgres"
    url = embedded.start(data)
    server = embedded.postmaster(data)
    assert server is not None  # it has just been started
    before, began = tree_cpu_s(server), time.monotonic()
    call = [sys.executable, "-m", "benchmarks.scale.steps", step, str(folder.absolute()), str(sites), url]
    count = PROCESSES if step == "crawl" else 1
    running = [subprocess.Popen(call, stdout=subprocess.PIPE, text=True) for _ in range(count)]
    facts: list[dict[str, Any]] = []
    for process in running:
        assert process.stdout is not None  # it is a pipe
        said = process.stdout.read()
        if process.wait():
            raise BenchError(f"the step {step} of {sites:,} sites failed: what it said stands above")
        facts.append(json.loads(said))
    return add_up(facts) | {
        "database_s": round(tree_cpu_s(server) - before, 3),
        "wall_s": round(time.monotonic() - began, 1),
    }


def measure_service(folder: Path) -> dict[str, Any]:
    """Return what the service's start over the release costs until everything is prepared, and its first
    answers, in ms."""
    with serve(folder.absolute(), folder.absolute() / "steps", cache="cache") as (pid, address):
        began = time.monotonic()
        with Memory(pid) as memory:
            wait_until_checked(address)
            wait_until_prepared(folder / "steps" / "cache" / "prepared", pid, 1)
        cpu_s, wall_s = tree_cpu_s(pid), time.monotonic() - began
        answers = {name: _ms(address + path) for name, path in ANSWERS.items()}
    return {"cpu_s": cpu_s, "wall_s": round(wall_s, 1), "peak_mb": round(memory.peak_mb, 1), **answers}


def _ms(address: str) -> float:
    began = time.monotonic()
    with urllib.request.urlopen(address, timeout=READY_WITHIN_S) as answer:  # noqa: S310  # http
        answer.read()
    return round(1000 * (time.monotonic() - began), 1)


def main() -> int:
    """Measure and write; returns 1 if a bound is missed."""
    parser = argparse.ArgumentParser(
        prog="scripts/bench scale",
        description="Goes on where it was stopped; remove build/scale/SITES, or a file of its folder steps, "
        "to measure anew.",
    )
    sizes = ",".join(map(str, SIZES))
    parser.add_argument(
        "--sizes", default=sizes, help="numbers of sites, comma-separated [default: %(default)s]"
    )
    parser.add_argument("--full", action="store_true", help=f"and {FULL:,} sites: 250 GB, and a night")
    parser.add_argument("--python", required=True, help="a Python that has DuckDB with httpfs")
    parser.add_argument("--months", type=int, default=60, help="months of two devices each; 0 for none")
    options = parser.parse_args()
    wanted = sorted({*map(int, options.sizes.split(",")), *([FULL] if options.full else [])})
    facts = provenance()
    facts["sizes"] = {str(sites): measure_size(sites) for sites in wanted}
    if options.months:
        facts["months"] = months.measure(FOLDER / "months", options.months, options.python)
    print(figures.section(facts))
    print(write("scale", facts), file=sys.stderr)
    misses = figures.find_misses(facts)
    for miss in misses:
        print(f"missed: {miss}", file=sys.stderr)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
