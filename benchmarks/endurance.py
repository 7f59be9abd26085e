"""Thousands of local pages in a row: what the memory of crawler, driver and browsers does over them.

    python -m benchmarks.endurance [--pages 3000] [--browsers 2]

The claim loop of `firstflight crawl run` with its default limits, an embedded PostgreSQL of its own, and the
smaller of the local web's pages in turn. Writes build/bench/endurance.json and draws docs/images/endurance.svg.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmarks import results
from crawler.browser import processes
from crawler.browser.browser import Browser
from crawler.browser.driver import ARGUMENT, Drivers
from crawler.campaign.plan import Plan, plan
from crawler.sites.lists import Entry, Sites
from crawler.visit.observation import BrowserDied
from crawler.visit.visit import visit
from crawler.worker.limits import DEFAULTS
from crawler.worker.run import Loop
from firstflight.commit import code_commit
from firstflight.settings import from_environment
from localweb import recipes
from localweb.modes import SUFFIX
from reports.document.theme import svg
from schema.crawls import CrawlName
from storage import embedded, migrate
from storage.engine import connect

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Iterator

    from crawler.visit.observation import Observation

FIGURE = Path("docs/images/endurance.svg")

LARGEST_PAGE_OBJECTS = 45
SAMPLE_S = 10.0
WEB_STARTS_WITHIN_S = 60.0
BUDGET_S = 60.0

ROLES = {
    "crawler": "crawler (Python)",
    "driver": "Playwright's driver (Node)",
    "browsers": "browsers, together",
}


def pss_bytes(pid: int) -> int:
    """Proportional set size (proc(5)); 0 once the process has ended. Root may read everybody's."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text(encoding="utf-8").splitlines()
    except (FileNotFoundError, ProcessLookupError):
        return 0
    return next((int(line.split()[1]) * 1024 for line in lines if line.startswith("Pss:")), 0)


def memory() -> dict[str, int]:
    """PSS in bytes by role."""
    us = os.getpid()
    tree = processes.parents()
    drivers = [pid for pid in processes.descendants(us, tree) if ARGUMENT in processes.arguments(pid)]
    browsers = [pid for driver in drivers for pid in processes.descendants(driver, tree)]
    pids = {"crawler": [us], "driver": drivers, "browsers": browsers}
    return {role: sum(map(pss_bytes, found)) for role, found in pids.items()}


@contextlib.contextmanager
def local_web(folder: Path) -> Iterator[tuple[str, ...]]:
    """The local web in a process of its own; the browser's flags for it."""
    state = folder / "web.json"
    call = [sys.executable, "-m", "firstflight", "localweb", "serve", "--state", str(state)]
    web = subprocess.Popen(call)
    try:
        deadline = time.monotonic() + WEB_STARTS_WITHIN_S
        while not state.exists():
            if web.poll() is not None or time.monotonic() > deadline:
                sys.exit("the local web does not start")
            time.sleep(0.2)
        yield tuple(json.loads(state.read_text(encoding="utf-8"))["browser_flags"])
    finally:
        web.terminate()
        web.wait()


async def crawl(url: str, flags: tuple[str, ...], *, pages: int, browsers: int) -> dict[str, Any]:
    """Every page in turn, each visit stored; samples of memory on the way."""
    chromium = from_environment().chromium
    played = [page.site + SUFFIX for page in recipes.bundled() if len(page.objects) <= LARGEST_PAGE_OBJECTS]
    entries = tuple(Entry(rank, f"{rank}.visit.test") for rank in range(1, pages + 1))
    at = {entry.host: played[entry.rank % len(played)] for entry in entries}
    sites = Sites(id="endurance:1", source="endurance", checksum="0" * 64, entries=entries)
    engine = connect(url)
    migrate.upgrade(engine)
    commit = code_commit(from_environment().commit)
    name = CrawlName(month="2026-01", kind="localweb")
    planned, _ = plan(
        engine, Plan(name=name, sites=sites, top=None, attempts=1, budget_s=BUDGET_S, commit=commit)
    )
    samples: list[dict[str, float]] = []
    outcomes: Counter[str] = Counter()
    not_ok: list[dict[str, Any]] = []
    began = time.monotonic()

    async def one(browser: Browser, host: str, *, budget_s: float) -> Observation:
        try:
            seen = await visit(browser, at[host], budget_s=budget_s)
        except BrowserDied as exc:
            not_ok.append({"site": at[host], "died": str(exc)})
            raise
        if seen.visit["outcome"] != "ok":
            why = {name: seen.visit[name] for name in ("outcome", "stop_reason", "error")}
            not_ok.append({"site": at[host], **why})
        return seen

    async def sample() -> None:
        while True:
            used = await asyncio.to_thread(memory)
            samples.append({"pages": outcomes.total(), "s": round(time.monotonic() - began, 1), **used})
            if len(samples) % 6 == 0:
                print(samples[-1], flush=True)
            await asyncio.sleep(SAMPLE_S)

    async with Drivers(print) as drivers:

        @contextlib.asynccontextmanager
        async def launch() -> AsyncIterator[Browser]:
            async with (
                drivers.lend() as playwright,
                Browser.launch(chromium, flags=flags, playwright=playwright) as browser,
            ):
                yield browser

        sampling = asyncio.ensure_future(sample())
        tally = await Loop(
            engine=engine,
            crawl=planned,
            launch=launch,
            visit=one,
            browsers=browsers,
            minutes=24 * 60.0,
            stop=asyncio.Event(),
            stored=lambda _claim, _seen, stored: outcomes.update([stored.outcome]),
            say=print,
        ).run()
        sampling.cancel()
        await asyncio.gather(sampling, return_exceptions=True)
    engine.dispose()
    elapsed_s = time.monotonic() - began
    return {
        "pages": tally.visits,
        "outcomes": dict(outcomes),
        "not_ok": not_ok,
        "browsers_replaced": tally.browsers_replaced,
        "browsers": browsers,
        "limits": dataclasses.asdict(DEFAULTS),
        "sites": played,
        "elapsed_s": round(elapsed_s, 1),
        "pages_per_second": round(tally.visits / elapsed_s, 3),
        "samples": samples,
    }


def quarters(samples: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Mean MB of each role in the second quarter and in the last one of the pages: flat memory is the same twice."""
    last = max(sample["pages"] for sample in samples)
    found = {}
    for role in ROLES:
        parts: list[list[float]] = [[], [], [], []]
        for sample in samples:
            parts[min(3, int(4 * sample["pages"] / last))].append(sample[role] / 1e6)
        second, fourth = (sum(one) / len(one) if one else 0.0 for one in (parts[1], parts[3]))
        found[role] = {"second_quarter_mb": round(second, 1), "last_quarter_mb": round(fourth, 1)}
    return found


def figure(facts: dict[str, Any]) -> alt.Chart:
    """PSS over pages, a line each role."""
    rows = [
        {"pages": sample["pages"], "MB": round(sample[role] / 1e6, 1), "process": shown}
        for sample in facts["samples"]
        for role, shown in ROLES.items()
    ]
    chart: alt.Chart = (
        alt.Chart({"values": rows})
        .mark_line(strokeWidth=1.2)
        .encode(
            x=alt.X("pages:Q", title="pages visited", axis=alt.Axis(grid=False)),
            y=alt.Y("MB:Q", title="memory (PSS), MB"),
            color=alt.Color(
                "process:N",
                title=None,
                sort=list(ROLES.values()),
                scale=alt.Scale(range=["#1b6ca8", "#c1440e", "#555555"]),
                legend=alt.Legend(orient="top"),
            ),
        )
        .properties(width=620, height=240)
        .configure_view(stroke=None)
    )
    return chart


def main() -> int:
    """Measure, write, draw, print; 1 if a visit did not end well."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    asked.add_argument("--pages", type=int, default=3000)
    asked.add_argument("--browsers", type=int, default=2)
    given = asked.parse_args()
    measured = results.provenance()
    with tempfile.TemporaryDirectory(prefix="ff-", dir="/tmp") as made:  # a socket's path is short
        folder = Path(made)
        folder.chmod(0o755)  # the database has a user of its own
        data = folder / "postgres"
        try:
            with local_web(folder) as flags:
                url = embedded.start(data)
                found = asyncio.run(crawl(url, flags, pages=given.pages, browsers=given.browsers))
        finally:
            embedded.stop(data)
    facts = {**measured, "memory": quarters(found["samples"]), **found}
    results.write("endurance", facts)
    FIGURE.write_text(svg(figure(facts)), encoding="utf-8")
    print(json.dumps({key: value for key, value in facts.items() if key != "samples"}, indent=2))
    return 0 if found["outcomes"] == {"ok": given.pages} else 1


if __name__ == "__main__":
    sys.exit(main())
