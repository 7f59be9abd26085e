"""Many months: how start, pages and checks grow with the number of releases, each made by
the product's code."""

import json
import os
import shutil
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from benchmarks.counting import tree_cpu_s
from benchmarks.made_up_release import host_of
from benchmarks.scale import queries
from benchmarks.scale.bare import processor_s
from benchmarks.scale.steps import Spent, crawl_sites, plan_crawl
from benchmarks.scale.web import Web
from benchmarks.service.over_a_year import wait_until_checked
from benchmarks.service.servers import READY_WITHIN_S, BenchError, Memory, serve, wait_until_prepared
from crawler.browser.processes import list_descendants
from crawler.campaign.seal import seal
from releases.build import build
from releases.catalogue import releases
from schema.crawls import CrawlName
from storage import embedded
from storage.engine import connect
from storage.migrate import upgrade

FIRST_YEAR = 2022
DEVICES = ("desktop", "mobile")
SITES = 25
"""Sites of a release: at least as many as an interval needs."""

COUNTS = (6, 12, 30)
"""Numbers of months after which everything is measured, besides all of them."""

PAGES = {
    "home": "",
    "explorer": "explore",
    "shares over months": "explore/months.svg",
    "releases": "releases",
    "sites": "sites",
    "a site": f"sites/{host_of(7)}",
    "search": "search?q=site-7",
    "crawls": "crawls",
    "list of crawls": "v1/crawls",
    "a site's history": f"v1/sites/{host_of(7)}",
}
"""Pages and answers of the service that have to do with several releases, by what they show."""


def measure(folder: Path, months: int, python: str) -> list[dict[str, Any]]:
    """Return the figures after some months and after all of them; what was made or measured is kept.

    `python` has DuckDB with httpfs.
    """
    data = folder.absolute() / "data"
    data.mkdir(parents=True, exist_ok=True)
    figures = []
    try:
        for count in (*(count for count in COUNTS if count < months), months):
            done = folder / f"{count}.json"
            if not done.exists():
                _make(data, list(_names(count)))
                facts = {"months": count, "releases": count * len(DEVICES), **_measure(data, python)}
                done.write_text(json.dumps(facts, indent=2) + "\n", encoding="utf-8")
            figures.append(json.loads(done.read_text(encoding="utf-8")))
    finally:
        embedded.stop(data / "postgres")
    return figures


def _names(months: int) -> Iterator[CrawlName]:
    for number in range(months):
        month = f"{FIRST_YEAR + number // 12}-{number % 12 + 1:02}"
        yield from (CrawlName(month=month, device=device) for device in DEVICES)


def _make(data: Path, names: list[CrawlName]) -> None:
    """Make a data folder of the crawls and releases of `names` that it lacks."""
    there = {release.crawl for release in releases(data / "releases")}
    lacking = [name for name in names if name not in there]
    if not lacking:
        embedded.start(data / "postgres")
        return
    engine = connect(embedded.start(data / "postgres"))
    upgrade(engine)
    web = Web.read()
    for number, name in enumerate(lacking, start=1):
        crawl = plan_crawl(engine, SITES, name)
        crawl_sites(engine, web, crawl, Spent(), workers=4)
        seal(engine, crawl)
        build(engine, str(name), data / "releases")
        print(f"made {name}, {number} of {len(lacking)}", file=sys.stderr, flush=True)
    engine.dispose()


def _measure(data: Path, python: str) -> dict[str, Any]:
    count = sum(1 for _ in releases(data / "releases"))
    with tempfile.TemporaryDirectory(prefix="firstflight-bench-") as temporary:
        folder = Path(temporary)
        prepared = folder / "cache" / "prepared"
        with serve(data, folder) as (pid, address):
            start_s = tree_cpu_s(pid)
            with Memory(pid) as memory:
                wait_until_checked(address)
                wait_until_prepared(prepared, pid, count)
                preparing_s = tree_cpu_s(pid)
                pages = {what: _cpu_ms(pid, address + path) for what, path in PAGES.items()}
        with serve(data, folder) as (pid, _):
            again_s = tree_cpu_s(pid)
    verify_s, verify_mb = _command(data, "verify")
    backup_s, backup_mb = _command(data, "database", "backup")
    files = sum(path.stat().st_size for path in (data / "backups").rglob("*") if path.is_file())
    shutil.rmtree(data / "backups")
    return {
        "start_s": round(start_s, 2),
        "start_again_s": round(again_s, 2),
        "preparing_cpu_s": round(preparing_s, 1),
        "peak_mb": round(memory.peak_mb, 1),
        "pages_ms": pages,
        "verify_cpu_s": verify_s,
        "verify_mb": verify_mb,
        "backup_cpu_s": backup_s,
        "backup_mb": backup_mb,
        "backup_bytes": files,
        "questions_s": queries.measure(data / "releases", python),
    }


def _cpu_ms(pid: int, address: str) -> float:
    """Return the processor time of the first answer of a service, in ms."""
    began = _threads_s(pid)
    with urllib.request.urlopen(address, timeout=READY_WITHIN_S) as answer:  # noqa: S310  # http
        answer.read()
    return round(1000 * (_threads_s(pid) - began), 1)


def _threads_s(pid: int) -> float:
    """Return the processor time of all threads of a process and of its descendants, in seconds; it is finer
    than the ticks of `tree_cpu_s`."""
    tasks = (Path(f"/proc/{each}/task").iterdir() for each in (pid, *list_descendants(pid)))
    return sum(processor_s(int(task.name)) for each in tasks for task in each)


def _command(data: Path, *arguments: str) -> tuple[float, float]:
    """Return the processor time of a command of firstflight over a data folder, PostgreSQL's included, and
    its highest memory, in MB.

    The kernel's own record of the highest would begin with what this process had when it started the command.
    """
    program = Path(sys.executable).with_name("firstflight")
    server = embedded.postmaster(data / "postgres")
    assert server is not None  # `_make` has started it
    before = tree_cpu_s(server)
    environment = os.environ | {"FIRSTFLIGHT_DATA_DIR": str(data)}
    with (
        subprocess.Popen([program, *arguments], env=environment, stdout=subprocess.DEVNULL) as process,
        Memory(process.pid) as memory,
    ):
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        raise BenchError(f"firstflight {' '.join(arguments)} failed over {data}")
    cpu_s = used.ru_utime + used.ru_stime + tree_cpu_s(server) - before
    return round(cpu_s, 2), round(memory.peak_mb, 1)
