"""Measures what each page of the service weighs in Chromium, and when the page is first painted.

python -m benchmarks.pages.loads [--loads 5]
"""

import argparse
import dataclasses
import datetime
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from fastapi.testclient import TestClient
from playwright.sync_api import Browser

from api.app import create_app
from api.documents.shelved import sources, text
from benchmarks import results
from benchmarks.markdown import describe_measurement, table
from benchmarks.pages.addresses import find_addresses
from benchmarks.pages.browser import launch_browser
from benchmarks.service.servers import serve
from firstflight.recorded import import_once, import_pages
from firstflight.settings import from_environment
from recordings.pages.sets import SETS
from storage.progress import Hour, Progress, write_progress
from studies.recorded_pages.rows import page_host

FIRSTFLIGHT = (sys.executable, "-m", "firstflight")

MOST_BYTES = 150_000
"""Bound of a page without its data and the library that draws, in bytes as transferred."""

LIBRARY = "/explore/vega-embed-"
"""Beginning of the path of the library that draws: Vega-Lite and Vega, which a browser keeps for ever."""

REFERENCE = "/docs"
"""The reference of the API: Swagger UI, a program of half a megabyte, which has a bound of its own."""

MOST_REFERENCE_BYTES = 700_000
"""Bound of the reference with the document that it shows, in bytes as transferred."""

MOST_MS = 500.0
"""Bound of the first paint on two cores."""

LONGEST = 3
"""Documents that are loaded beside the pages of the routes."""

YEAR = "2026"
"""Year of the report that is built of the recorded pages."""

PAGE = 488
"""Page of the bundled recording whose site and waterfall are loaded: some thirty responses."""

DATA = frozenset({"img", "image", "fetch", "xmlhttprequest"})
"""Initiators (Resource Timing) of data: figures and pictures, and what scripts ask for."""

TRANSFERS = """() => ["navigation", "resource"].flatMap(type => performance.getEntriesByType(type))
    .map(entry => [new URL(entry.name).pathname, entry.initiatorType, entry.transferSize])"""

PAINTED = """() => new Promise(resolve => new PerformanceObserver(list => {
    const found = list.getEntriesByName("first-contentful-paint");
    if (found.length) resolve(found[0].startTime);
}).observe({type: "paint", buffered: true}))"""

HEAD = """## Pages of the service

`scripts/bench pages`: every page of the service over the recorded pages of all years and a report of those of 2025, loaded {loads} times by Chromium with an empty cache, {width:,} px wide,
from a service on loopback that had answered before. Bytes are those of Resource Timing's `transferSize`: as transferred, with
300 for header fields. Data are figures and pictures; rows of tables
count as the page. Vega, which draws, loads after them, stays in a browser's cache and is not counted. The first paint is the median of the loads, from the start of the navigation to the first content.
"""  # noqa: E501


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Load:
    """One load of a page with an empty cache."""

    page_bytes: int
    """Bytes of the document, its styles and its scripts: as transferred, with 300 each for header fields."""
    data_bytes: int
    """Bytes of figures, pictures and what scripts asked for, counted alike."""
    first_paint_ms: float
    """From the start of the navigation to the first content."""


def load(browser: Browser, url: str) -> Load:
    """Load a page with an empty cache, until its load event and its first paint."""
    with browser.new_context() as context:
        page = context.new_page()
        page.goto(url, wait_until="load")
        first_paint_ms = float(page.evaluate(PAINTED))
        transfers = page.evaluate(TRANSFERS)
    own = [(initiator, int(size)) for path, initiator, size in transfers if not path.startswith(LIBRARY)]
    data_bytes = sum(size for initiator, size in own if initiator in DATA)
    whole = sum(size for _, size in own)
    return Load(page_bytes=whole - data_bytes, data_bytes=data_bytes, first_paint_ms=first_paint_ms)


def documents() -> list[str]:
    longest = sorted(sources(), key=lambda name: -len(text(name)))
    return [f"/documents/{name}" for name in longest[:LONGEST]]


def write_pages(folder: Path, environment: Mapping[str, str]) -> list[str]:
    """Write the recorded pages and a report of them to `folder`;
    the paths of the service's pages over these."""
    settings = dataclasses.replace(from_environment(), data_dir=folder)
    for recorded_set in SETS.values():
        import_pages(settings, recorded_set)
    release = import_once(settings).release
    crawl = str(release.crawl)
    build = ("report", "build", "--year", YEAR, "--crawl", crawl, "--without-replay")
    subprocess.run([*FIRSTFLIGHT, *build], env={**os.environ, **environment}, check=True)
    page = f"/releases/{crawl}/v{release.manifest.version}"
    examples = {
        "crawl": crawl,
        "year": YEAR,
        "version": "1",
        "/releases/{crawl}/v{version}": page,
        "name": "index",
        "path": "style.css",
        "host": page_host(PAGE),
        "/releases/{crawl}/v{version}/pages/{visit}": f"{page}/pages/{PAGE}",
        "figure": "cdf",
        "measure": "responses",
        "/documents/{name:path}": "/documents/forms",
    }
    write_progress(settings.progress, ten_days(crawl))
    app = create_app(settings.releases, settings.reports, progress=settings.progress)
    with TestClient(app, raise_server_exceptions=False) as client:
        return find_addresses(app, client, examples=examples, others=documents())


def ten_days(crawl: str) -> Progress:
    """Return the progress of a crawl of ten days, as its page shows it."""
    began = datetime.datetime(2026, 11, 1, tzinfo=datetime.UTC)
    hour = datetime.timedelta(hours=1)
    outcomes = {"ok": 3000, "http_error": 200, "dns": 300}
    return Progress(
        crawl=crawl,
        at=began + 240 * hour,
        planned=1_000_000,
        done=800_000,
        visits=840_000,
        received_bytes=1_600_000_000_000,
        visits_per_hour=3500.0,
        minutes_left=3400,
        outcomes={name: 240 * count for name, count in outcomes.items()},
        hours=tuple(Hour(at=began + place * hour, outcomes=outcomes) for place in range(240)),
    )


def measure(folder: Path, *, loads: int) -> list[dict[str, Any]]:
    """Return the median load of every page, over a service with its data in `folder`."""
    environment = {"FIRSTFLIGHT_DATA_DIR": str(folder), "FIRSTFLIGHT_CACHE_DIR": str(folder / "cache")}
    paths = write_pages(folder, environment)
    rows = []
    with serve(folder, folder) as (_, base), launch_browser() as browser:
        address = base.removesuffix("/")
        for path in paths:
            load(browser, address + path)  # the service has the answer in memory from here on
            done = [load(browser, address + path) for _ in range(loads)]
            medians = {
                field.name: statistics.median(getattr(load, field.name) for load in done)
                for field in dataclasses.fields(Load)
            }
            rows.append({"path": path, **medians})
            print(
                f"{path}: {medians['page_bytes'] / 1000:.0f} kB, {medians['first_paint_ms']:.0f} ms",
                flush=True,
            )
    return rows


def section(facts: dict[str, Any]) -> str:
    rows = [
        [
            f"`{page['path']}`",
            f"{page['page_bytes'] / 1000:.1f}",
            f"{page['data_bytes'] / 1000:.1f}",
            f"{page['first_paint_ms']:.0f}",
        ]
        for page in facts["pages"]
    ]
    head = HEAD.format(loads=facts["loads"], width=1280)
    shown = table(["page", "kB of its own", "kB of data", "first paint, ms"], rows)
    return "\n".join([head, shown, describe_measurement(facts)])


def most_bytes(path: str) -> int:
    """Return the bound of the page at a path, in bytes as transferred."""
    return MOST_REFERENCE_BYTES if path == REFERENCE else MOST_BYTES


def find_misses(pages: Sequence[Mapping[str, Any]]) -> list[str]:
    heavy = [
        f"{page['path']} is heavier than {most_bytes(page['path']) / 1000:.0f} kB"
        for page in pages
        if page["page_bytes"] > most_bytes(page["path"])
    ]
    slow = [
        f"{page['path']} paints after {MOST_MS:.0f} ms" for page in pages if page["first_paint_ms"] > MOST_MS
    ]
    return heavy + slow


def main() -> int:
    """Measure, and write build/bench/pages.json; returns 1 if a bound is missed."""
    parser = argparse.ArgumentParser(description=__doc__, prog="scripts/bench pages")
    parser.add_argument("--loads", type=int, default=5, help="measured loads of each page [default: 5]")
    asked = parser.parse_args()
    facts = results.provenance() | {"loads": asked.loads}
    with tempfile.TemporaryDirectory() as folder:
        facts["pages"] = measure(Path(folder), loads=asked.loads)
    print(section(facts))
    print(results.write("pages", facts))
    for line in find_misses(facts["pages"]):
        print(f"missed: {line}", file=sys.stderr)
    return 1 if find_misses(facts["pages"]) else 0


if __name__ == "__main__":
    sys.exit(main())
