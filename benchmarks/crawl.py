"""Compares the crawler with other crawlers on the local web: CPU time, pages per second, memory;
and measures writing alone.

python -m benchmarks.crawl --peers FOLDER [--runs 3] [--pages 60] [--browsers 2,3,4,5,6]
[--tools bare,firstflight,...]
"""

import argparse
import dataclasses
import json
import os
import subprocess
import sys
import tempfile
from pathlib import Path

import playwright
from tqdm import tqdm

from benchmarks import copying, counting, results
from benchmarks.crawl_figures import OURS, PEER, Copy, Crawled, Sample, best_trials, find_misses, section
from benchmarks.local_web import multiply_sites, serve_local_web
from benchmarks.tools import MONTH, Bare, Logged, Ours, Puppeteer, Tool, ToolError, Web
from crawler.campaign.plan import CrawlPlan, plan
from crawler.sites.lists import Entry, Sites
from firstflight.connect import database, embedded_folder
from firstflight.settings import Settings, from_environment
from schema.crawls import CrawlName
from storage import embedded
from storage.crawls import crawls
from storage.engine import DatabaseError

MODE = "h2"
"""Mode of the local web: HTTP/2 and TLS for all, as most of the web, and the most work to record."""

PAGE_TIMEOUT_S = 40.0
ATTEMPTS = 3
"""Attempts for a run, since Chromium drops its requests when a network interface
of the machine appears or goes."""


def measure(tool: Tool, web: Web, folder: Path, browsers: int, *, weigh: bool = False) -> Sample:
    """Run a tool once over all pages. A run that lost a page is repeated, with a message."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return run_once(tool, web, folder / str(attempt), browsers, weigh=weigh)
        except ToolError as exc:
            if attempt == ATTEMPTS:
                raise
            print(f"made again: {exc}", file=sys.stderr)
    raise AssertionError


def run_once(tool: Tool, web: Web, folder: Path, browsers: int, *, weigh: bool) -> Sample:
    """Make one attempt at a run; raises ToolError if a page was not loaded."""
    folder.mkdir(parents=True)
    spec = counting.Spec(
        commands=tool.prepare(web, folder, browsers),
        environment=tool.environment
        | {"PYTHONDONTWRITEBYTECODE": ""},  # an installed program does not compile Python at every start
        folder=str(folder),
        timeout_s=PAGE_TIMEOUT_S * len(web.sites),
        browser=str(from_environment().chromium),
        weigh=weigh,
    )
    files = [str(folder / "spec.json"), str(folder / "report.json")]
    Path(files[0]).write_text(json.dumps(dataclasses.asdict(spec)), encoding="utf-8")
    counted = subprocess.run([sys.executable, "-m", "benchmarks.counting", *files], check=False)
    if not Path(files[1]).exists():
        raise ToolError(f"the cost of {tool.name} was not counted (exit code {counted.returncode})")
    report = counting.Report(**json.loads(Path(files[1]).read_text(encoding="utf-8")))
    if any(report.exits):
        logs = "".join(log.read_text(errors="replace")[-1000:] for log in sorted(folder.glob("*.log")))
        raise ToolError(f"{tool.name} failed:\n{logs}")
    done = tool.done(folder)
    if done.pages != len(web.sites):
        raise ToolError(f"{tool.name} loaded {done.pages} of {len(web.sites)} pages; see {folder}")
    return Sample(
        tool=tool.id,
        browsers=browsers,
        pages=done.pages,
        wall_s=round(report.wall_s, 3),
        cpu_s=round(report.cpu_s + done.database_cpu_s, 3),
        database_cpu_s=done.database_cpu_s,
        browser_mb=round(report.browser_mb / browsers, 1),
        other_mb=round(report.other_mb, 1),
    )


def trials(tools: list[Tool], web: Web, folder: Path, counts: list[int]) -> list[Sample]:
    """Run each tool once with each number of browsers, and measure its memory."""
    steps = [(count, tool) for count in counts for tool in tools]
    return [
        measure(tool, web, folder / f"{tool.id}-with-{count}", count, weigh=True)
        for count, tool in tqdm(steps, unit="trial", disable=None)
    ]


def crawl(tools: list[Tool], web: Web, folder: Path, runs: int, counts: list[int]) -> Crawled:
    """Run the tools in turn, `runs` times, each with the number of browsers that served it best."""
    tried = trials(tools, web, folder, counts)
    browsers = {tool: trial.browsers for tool, trial in best_trials(tried).items()}
    steps = [(run, tool) for run in range(1, runs + 1) for tool in tools]
    samples = [
        measure(tool, web, folder / f"{tool.id}-{run}", browsers[tool.id])
        for run, tool in tqdm(steps, unit="run", disable=None)
    ]
    return Crawled(
        pages=len(web.sites),
        mode=MODE,
        browser=str(from_environment().chromium),
        cpus=os.cpu_count() or 1,
        tried=counts,
        trials=tried,
        samples=samples,
        copies=[],
    )


def choose_tools(names: list[str], peers: Path | None, data: Path) -> list[Tool]:
    node = Path(playwright.__file__).parent / "driver/node"
    folder = peers or Path()
    tools: list[Tool] = [
        Bare(),
        Logged(),
        Ours(data),
        Puppeteer(node, folder),
    ]
    unknown = set(names) - {tool.id for tool in tools}
    if unknown:
        raise ToolError(f"no such tools: {', '.join(sorted(unknown))}")
    return [tool for tool in tools if tool.id in names]


def measure_writing(settings: Settings, count: int, runs: int) -> list[Copy]:
    """Measure the writing of rows from the crawls before, into a crawl without rows."""
    with database(settings) as engine:
        with engine.connect() as connection:
            started = crawls(connection)
        like = next((crawl for crawl in started if crawl.kind == "localweb"), None)
        if like is None:
            raise ToolError("writing needs rows: let firstflight crawl too, or pass --responses 0")
        sites = Sites(id="bench", source="bench", checksum="0", entries=(Entry(rank=1, host="a.test"),))
        name = CrawlName(month=MONTH, device="desktop", vantage="copy", arm="tcp", kind="localweb")
        empty, _ = plan(
            engine, CrawlPlan(name=name, sites=sites, top=None, attempts=1, budget_s=1, commit="bench")
        )
        return copying.measure(engine, empty, like=like.id, count=count, runs=runs)


def parse_arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, help="folder with puppeteer.js and node_modules")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pages", type=int, default=60)
    parser.add_argument("--browsers", default="2,3,4,5,6", help="numbers of browsers to try")
    parser.add_argument("--tools", default=f"{Bare.id},{Logged.id},{OURS},{PEER}", help="those to compare")
    parser.add_argument("--responses", type=int, default=200_000, help="rows that are written alone")
    return parser.parse_args()


def main() -> int:
    """Measure, write and print; returns 1 if a bound is missed."""
    asked = parse_arguments()
    facts = results.provenance()
    with tempfile.TemporaryDirectory(prefix="ff-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the database runs as another user
        settings = dataclasses.replace(from_environment(), data_dir=folder / "data", database_url=None)
        try:
            state = folder / "web.json"
            with serve_local_web(state, "--mode", MODE) as served:
                served = multiply_sites(served, served.sites, asked.pages)
                served.write(state)
                web = Web(sites=served.sites, flags=served.browser_flags, state=state)
                tools = choose_tools(asked.tools.split(","), asked.peers, settings.data_dir)
                counts = [int(count) for count in asked.browsers.split(",")]
                crawled = crawl(tools, web, folder, asked.runs, counts)
                if asked.responses:
                    copies = measure_writing(settings, asked.responses, asked.runs)
                    crawled = dataclasses.replace(crawled, copies=copies)
        except (ToolError, DatabaseError) as exc:
            print(exc, file=sys.stderr)
            return 1
        finally:
            embedded.stop(embedded_folder(settings))
    facts |= dataclasses.asdict(crawled)
    print(section(facts))
    print(results.write("crawl", facts))
    misses = find_misses(crawled)
    for line in misses:
        print(f"missed: {line}", file=sys.stderr)
    return 1 if misses else 0


if __name__ == "__main__":
    sys.exit(main())
