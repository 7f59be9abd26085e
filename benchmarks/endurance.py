"""Measures the memory of crawler, driver and browsers over thousands of local pages in a row.

    python -m benchmarks.endurance [--pages 3000] [--browsers 2]

It runs the claim loop of `firstflight crawl run` with its default limits, an embedded PostgreSQL of its own, and the
smaller pages of the local web in turn. Writes build/bench/endurance.json and draws docs/images/endurance.svg.
"""

from __future__ import annotations

import argparse
import asyncio
import contextlib
import dataclasses
import json
import os
import sys
import tempfile
import time
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Any

import altair as alt

from benchmarks import results
from benchmarks.counting import pss_kb
from benchmarks.local_web import serving
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
    from collections.abc import AsyncIterator

    from sqlalchemy import Engine

    from crawler.visit.observation import Observation
    from crawler.worker.run import Tally
    from schema.tables import Crawl

FIGURE = Path("docs/images/endurance.svg")

LARGEST_PAGE_OBJECTS = 45
SAMPLE_S = 10.0
BUDGET_S = 60.0

ROLES = {
    "crawler": "crawler (Python)",
    "driver": "Playwright's driver (Node)",
    "browsers": "browsers, together",
}


def memory() -> dict[str, int]:
    """Proportional set size in bytes by role."""
    us = os.getpid()
    tree = processes.parents()
    drivers = [pid for pid in processes.descendants(us, tree) if ARGUMENT in processes.arguments(pid)]
    browsers = [pid for driver in drivers for pid in processes.descendants(driver, tree)]
    pids = {"crawler": [us], "driver": drivers, "browsers": browsers}
    return {role: 1024 * sum(map(pss_kb, found)) for role, found in pids.items()}


class Endurance:
    """A crawl of local pages in turn, with memory sampled beside it."""

    def __init__(self) -> None:
        self.pages = [
            page.site + SUFFIX for page in recipes.bundled() if len(page.objects) <= LARGEST_PAGE_OBJECTS
        ]
        self.samples: list[dict[str, float]] = []
        self.outcomes: Counter[str] = Counter()
        self.not_ok: list[dict[str, Any]] = []
        self.began = time.monotonic()

    async def visit(self, browser: Browser, host: str, *, budget_s: float) -> Observation:
        """Visit the page that stands for `host`, and note every visit that does not end well."""
        page = self.pages[int(host.partition(".")[0]) % len(self.pages)]
        try:
            seen = await visit(browser, page, budget_s=budget_s)
        except BrowserDied as exc:
            self.not_ok.append({"site": page, "died": str(exc)})
            raise
        if seen.visit["outcome"] != "ok":
            why = {name: seen.visit[name] for name in ("outcome", "stop_reason", "error")}
            self.not_ok.append({"site": page, **why})
        return seen

    async def sample(self) -> None:
        """Sample memory until cancelled."""
        while True:
            used = await asyncio.to_thread(memory)
            elapsed_s = round(time.monotonic() - self.began, 1)
            self.samples.append({"pages": self.outcomes.total(), "s": elapsed_s, **used})
            if len(self.samples) % 6 == 0:
                print(self.samples[-1], flush=True)
            await asyncio.sleep(SAMPLE_S)

    async def run(self, engine: Engine, crawl: Crawl, flags: tuple[str, ...], *, browsers: int) -> Tally:
        """Run the crawl to its end."""
        chromium = from_environment().chromium
        async with Drivers(print) as drivers:

            @contextlib.asynccontextmanager
            async def launch() -> AsyncIterator[Browser]:
                async with (
                    drivers.lend() as playwright,
                    Browser.launch(chromium, flags=flags, playwright=playwright) as browser,
                ):
                    yield browser

            sampling = asyncio.ensure_future(self.sample())
            tally = await Loop(
                engine=engine,
                crawl=crawl,
                launch=launch,
                visit=self.visit,
                browsers=browsers,
                minutes=24 * 60.0,
                stop=asyncio.Event(),
                stored=lambda _claim, _seen, stored: self.outcomes.update([stored.outcome]),
                say=print,
            ).run()
            sampling.cancel()
            await asyncio.gather(sampling, return_exceptions=True)
        return tally

    def report(self, tally: Tally, browsers: int) -> dict[str, Any]:
        """The measured figures."""
        elapsed_s = time.monotonic() - self.began
        return {
            "pages": tally.visits,
            "outcomes": dict(self.outcomes),
            "not_ok": self.not_ok,
            "browsers_replaced": tally.browsers_replaced,
            "browsers": browsers,
            "limits": dataclasses.asdict(DEFAULTS),
            "sites": self.pages,
            "elapsed_s": round(elapsed_s, 1),
            "pages_per_second": round(tally.visits / elapsed_s, 3),
            "samples": self.samples,
        }


def planned(engine: Engine, pages: int) -> Crawl:
    """Plan a crawl of `pages` sites, each of which stands for a local page."""
    entries = tuple(Entry(rank, f"{rank}.visit.test") for rank in range(1, pages + 1))
    sites = Sites(id="endurance:1", source="endurance", checksum="0" * 64, entries=entries)
    name = CrawlName(month="2026-01", kind="localweb")
    commit = code_commit(from_environment().commit)
    crawl, _ = plan(
        engine, Plan(name=name, sites=sites, top=None, attempts=1, budget_s=BUDGET_S, commit=commit)
    )
    return crawl


def measure(url: str, flags: tuple[str, ...], *, pages: int, browsers: int) -> dict[str, Any]:
    """Crawl into the database at `url`; the figures."""
    engine = connect(url)
    migrate.upgrade(engine)
    crawl = planned(engine, pages)
    endurance = Endurance()
    tally = asyncio.run(endurance.run(engine, crawl, flags, browsers=browsers))
    engine.dispose()
    return endurance.report(tally, browsers)


def quarters(samples: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Mean MB of each role in the second and in the last quarter of the pages; they are equal if memory does not grow."""
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
    """Draw memory over pages, with a line for each role."""
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
    """Measure, write and draw; returns 1 if a visit did not end well."""
    asked = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    asked.add_argument("--pages", type=int, default=3000)
    asked.add_argument("--browsers", type=int, default=2)
    given = asked.parse_args()
    measured = results.provenance()
    with tempfile.TemporaryDirectory(
        prefix="ff-", dir="/tmp"
    ) as made:  # the path of a socket has to be short
        folder = Path(made)
        folder.chmod(0o755)  # the database runs as another user
        data = folder / "postgres"
        try:
            with serving(folder / "web.json") as web:
                url = embedded.start(data)
                flags = tuple(web["browser_flags"])
                found = measure(url, flags, pages=given.pages, browsers=given.browsers)
        finally:
            embedded.stop(data)
    facts = {**measured, "memory": quarters(found["samples"]), **found}
    results.write("endurance", facts)
    FIGURE.write_text(svg(figure(facts)), encoding="utf-8")
    print(json.dumps({key: value for key, value in facts.items() if key != "samples"}, indent=2))
    return 0 if found["outcomes"] == {"ok": given.pages} else 1


if __name__ == "__main__":
    sys.exit(main())
