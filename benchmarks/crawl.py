"""Compares the crawler with other crawlers on the local web: CPU time, pages per second, memory; and measures writing alone.

python -m benchmarks.crawl --peers FOLDER [--runs 3] [--pages 30] [--tools bare,firstflight,...]
"""

from __future__ import annotations

import argparse
import dataclasses
import json
import os
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

import playwright
from tqdm import tqdm

from benchmarks import copying, counting, results
from benchmarks.local_web import serving
from benchmarks.tools import MONTH, Bare, Browsertime, Ours, Puppeteer, ToolError, Web
from crawler.campaign.plan import Plan, plan
from crawler.sites.lists import Entry, Sites
from firstflight.connect import database, embedded_folder
from firstflight.settings import from_environment
from schema.crawls import CrawlName
from storage import embedded
from storage.crawls import crawls
from storage.engine import DatabaseError

if TYPE_CHECKING:
    from benchmarks.tools import Tool
    from firstflight.settings import Settings

OURS = "firstflight"
BROWSERS = 2
MODE = "h2"
"""Mode of the local web: HTTP/2 and TLS for all, as most of the web, and the most work to record."""

COPY_BOUND = 0.5
WARM_UP_PAGES = 10
PAGE_TIMEOUT_S = 40.0
ATTEMPTS = 3
"""Attempts for a run, since Chromium drops its requests when a network interface of the machine appears or goes."""


def measure(tool: Tool, web: Web, folder: Path, *, weigh: bool = False) -> dict[str, Any]:
    """Run a tool once over all pages. A run that lost a page is repeated, with a message."""
    for attempt in range(1, ATTEMPTS + 1):
        try:
            return {"attempt": attempt} | once(tool, web, folder / str(attempt), weigh=weigh)
        except ToolError as exc:
            if attempt == ATTEMPTS:
                raise
            print(f"made again: {exc}", file=sys.stderr)
    raise AssertionError


def once(tool: Tool, web: Web, folder: Path, *, weigh: bool) -> dict[str, Any]:
    """Make one attempt at a run; raises ToolError if a page was not loaded."""
    folder.mkdir(parents=True)
    spec = counting.Spec(
        commands=tool.prepare(web, folder, BROWSERS),
        environment=tool.environment
        | {"PYTHONDONTWRITEBYTECODE": ""},  # an installed program does not compile Python at every start
        folder=str(folder),
        timeout_s=PAGE_TIMEOUT_S * len(web.sites),
        browser=str(from_environment().chromium),
        weigh=weigh,
    )
    files = [str(folder / "spec.json"), str(folder / "report.json")]
    Path(files[0]).write_text(json.dumps(dataclasses.asdict(spec)), encoding="utf-8")
    subprocess.run([sys.executable, "-m", "benchmarks.counting", *files], check=False)
    report = counting.Report(**json.loads(Path(files[1]).read_text(encoding="utf-8")))
    if any(report.exits):
        said = "".join(log.read_text(errors="replace")[-1000:] for log in sorted(folder.glob("*.log")))
        raise ToolError(f"{tool.name} failed:\n{said}")
    done = tool.done(folder)
    if done.pages != len(web.sites):
        raise ToolError(f"{tool.name} loaded {done.pages} of {len(web.sites)} pages; see {folder}")
    cpu_s = report.cpu_s + done.database_cpu_s
    return {
        "tool": tool.id,
        "pages": done.pages,
        "requests": done.requests,
        "wall_s": round(report.wall_s, 3),
        "cpu_s": round(cpu_s, 3),
        "database_cpu_s": done.database_cpu_s,
        "browser_mb": round(report.browser_mb / BROWSERS, 1),
        "other_mb": round(report.other_mb, 1),
        "killed": report.killed,
    }


def summary(samples: list[dict[str, Any]], cpus: int) -> dict[str, dict[str, Any]]:
    """Median and range of each tool's runs.

    >>> one = dict(tool="a", pages=10, requests=7, wall_s=5.0, cpu_s=4.0, database_cpu_s=0.0)
    >>> found = summary([one, one | {"wall_s": 10.0}], cpus=2)["a"]
    >>> found["cpu_ms_a_page"]["median"], found["pages_per_second"]["max"], found["busy_share"]
    (400.0, 2.0, 0.3)
    """
    found = {}
    for tool in dict.fromkeys(sample["tool"] for sample in samples):
        runs = [sample for sample in samples if sample["tool"] == tool]
        found[tool] = {
            "cpu_ms_a_page": results.spread([1e3 * run["cpu_s"] / run["pages"] for run in runs], 1),
            "database_cpu_ms_a_page": results.spread(
                [1e3 * run["database_cpu_s"] / run["pages"] for run in runs], 1
            ),
            "pages_per_second": results.spread([run["pages"] / run["wall_s"] for run in runs]),
            "busy_share": round(statistics.median(run["cpu_s"] / run["wall_s"] / cpus for run in runs), 3),
            "requests": runs[-1]["requests"],
        }
    return found


def ratio(samples: list[dict[str, Any]], tool: str) -> dict[str, float]:
    """Ratio of a tool's CPU time to that of Playwright alone, run by run: interleaved runs share their disturbances.

    >>> ratio([{"tool": "bare", "cpu_s": 2.0}, {"tool": "a", "cpu_s": 3.0}], "a")["median"]
    1.5
    """
    by_run = [[sample["cpu_s"] for sample in samples if sample["tool"] == each] for each in ("bare", tool)]
    return results.spread([theirs / bare for bare, theirs in zip(*by_run, strict=True)])


def crawl(tools: list[Tool], web: Web, folder: Path, runs: int) -> dict[str, Any]:
    """Run the tools in turn, `runs` times; before that, each once to warm up and to measure its memory."""
    memory, samples = {}, []
    few = dataclasses.replace(web, sites=web.sites[:WARM_UP_PAGES])
    steps = [(run, tool) for run in range(runs + 1) for tool in tools]
    for run, tool in tqdm(steps, unit="run", disable=None):
        place = folder / f"{tool.id}-{run}"
        if run:
            samples.append({"run": run} | measure(tool, web, place))
        else:
            sample = measure(tool, few, place, weigh=True)
            memory[tool.id] = {"a_browser_mb": sample["browser_mb"], "others_mb": sample["other_mb"]}
    return {
        "pages": len(web.sites),
        "browsers": BROWSERS,
        "mode": MODE,
        "browser": str(from_environment().chromium),
        "warm_up": len(few.sites),
        "tools": summary(samples, os.cpu_count() or 1),
        "recording_cpu_ratio": ratio(samples, OURS) if OURS in memory and Bare.id in memory else None,
        "memory": memory,
        "samples": samples,
    }


def chosen(names: list[str], peers: Path | None, data: Path) -> list[Tool]:
    """The chosen tools; all use the Node that comes with Playwright."""
    node = Path(playwright.__file__).parent / "driver/node"
    folder = peers or Path()
    tools: list[Tool] = [
        Bare(),
        Ours(data),
        Ours(data, capture=False),
        Puppeteer(node, folder),
        Puppeteer(node, folder, until_idle=True),
        Browsertime(node, folder),
    ]
    unknown = set(names) - {tool.id for tool in tools}
    if unknown:
        raise ToolError(f"no such tools: {', '.join(sorted(unknown))}")
    return [tool for tool in tools if tool.id in names]


def writing(settings: Settings, count: int, runs: int) -> dict[str, Any]:
    """Measure the writing of rows from the crawls before, into a crawl without rows."""
    with database(settings) as engine:
        with engine.connect() as connection:
            made = crawls(connection)
        like = next((crawl for crawl in made if crawl.kind == "localweb"), None)
        if like is None:
            raise ToolError("writing needs rows: let firstflight crawl too, or pass --responses 0")
        sites = Sites(id="bench", source="bench", checksum="0", entries=(Entry(rank=1, host="a.test"),))
        name = CrawlName(month=MONTH, device="desktop", vantage="copy", arm="tcp", kind="localweb")
        empty, _ = plan(
            engine, Plan(name=name, sites=sites, top=None, attempts=1, budget_s=1, commit="bench")
        )
        return copying.measure(engine, empty, like=like.id, count=count, runs=runs)


def table(facts: dict[str, Any]) -> str:
    """The printed table."""
    lines = [
        f"{'':<18}{'CPU ms a page':>26}{'pages a second':>24}{'busy':>7}{'MB a browser':>14}{'MB besides':>12}"
    ]
    for tool, found in facts["tools"].items():
        memory = facts["memory"][tool]
        cpu, pages = found["cpu_ms_a_page"], found["pages_per_second"]
        lines.append(
            f"{tool:<18}"
            f"{cpu['median']:>10.0f} ({cpu['min']:>6.0f}-{cpu['max']:>6.0f})"
            f"{pages['median']:>10.2f} ({pages['min']:.2f}-{pages['max']:.2f})"
            f"{found['busy_share']:>7.0%}{memory['a_browser_mb']:>14.0f}{memory['others_mb']:>12.0f}"
        )
    lines += [
        f"{name:<26}{found['median']:.3f} ({found['min']:.3f}-{found['max']:.3f})"
        for name in ("recording_cpu_ratio", "copy_ratio")
        if (found := facts.get(name))
    ]
    return "\n".join(lines)


def missed(facts: dict[str, Any]) -> list[str]:
    """The missed bounds."""
    speeds = {tool: found["pages_per_second"]["median"] for tool, found in facts["tools"].items()}
    found = []
    if (facts["recording_cpu_ratio"] or {"median": 0})["median"] > results.RECORDING_CPU_BOUND:
        found.append(f"recording may cost {results.RECORDING_CPU_BOUND} times the bare CPU")
    if facts.get("copy_ratio", {"median": 1})["median"] < COPY_BOUND:
        found.append(f"writing must reach {COPY_BOUND} of the raw COPY rate")
    found += [
        f"firstflight must be faster than {tool}"
        for tool, speed in speeds.items()
        if OURS in speeds and tool != Bare.id and not tool.startswith(OURS) and speed >= speeds[OURS]
    ]
    return found


def arguments() -> argparse.Namespace:
    """The command line."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--peers", type=Path, help="folder with puppeteer.js and node_modules")
    parser.add_argument("--runs", type=int, default=3)
    parser.add_argument("--pages", type=int, default=30)
    parser.add_argument(
        "--tools", default="bare,firstflight,firstflight-log,puppeteer,puppeteer-idle,browsertime"
    )
    parser.add_argument("--responses", type=int, default=200_000, help="rows that are written alone")
    return parser.parse_args()


def main() -> int:
    """Measure, write and print; returns 1 if a bound is missed."""
    asked = arguments()
    facts = results.provenance()
    with tempfile.TemporaryDirectory(prefix="ff-bench-") as name:
        folder = Path(name)
        folder.chmod(0o755)  # the database runs as another user
        settings = dataclasses.replace(from_environment(), data_dir=folder / "data", database_url=None)
        try:
            state = folder / "web.json"
            with serving(state, "--mode", MODE) as served:
                web = Web(sites=served["sites"][: asked.pages], flags=served["browser_flags"], state=state)
                tools = chosen(asked.tools.split(","), asked.peers, settings.data_dir)
                facts |= crawl(tools, web, folder, asked.runs)
                if asked.responses:
                    facts |= writing(settings, asked.responses, asked.runs)
        except (ToolError, DatabaseError) as exc:
            print(exc, file=sys.stderr)
            return 1
        finally:
            embedded.stop(embedded_folder(settings))
    path = results.write("crawl", facts)
    print(table(facts))
    print(path)
    for line in missed(facts):
        print(f"missed: {line}", file=sys.stderr)
    return 1 if missed(facts) else 0


if __name__ == "__main__":
    sys.exit(main())
