"""Crawl thousands of local pages with several crawlers that are killed on the way, and measure their memory.

    python -m studies.endurance [--pages 3000] [--crawlers 3] [--kills 20] [--minutes 120] [--folder FOLDER]

It runs `firstflight crawl run` with its default limits, an embedded PostgreSQL, and the smaller pages of the
local web in turn, each site under a name of its own. Crawlers, browsers, drivers and the database are killed
during the first two fifths of the crawl; then it runs undisturbed, which shows whether memory grows. When the
minutes are over it stops, and the same command goes on. At the end it writes build/bench/endurance.json and
draws memory.svg beside this module.
"""

import argparse
import dataclasses
import json
import secrets
import shutil
import sys
import time
from pathlib import Path
from typing import Any

import altair as alt

from benchmarks import results
from benchmarks.local_web import serve_local_web
from crawler.worker.run import DEFAULTS
from firstflight.settings import from_environment
from reports.document.theme import LABELS, svg
from studies.endurance.killed_crawl import KilledCrawl

FIGURE = Path(__file__).with_name("memory.svg")

SAMPLE_S = 10.0
KINDS = ["crawler"] * 8 + ["browser"] * 7 + ["driver"] * 2 + ["database"] * 3
"""What is killed, in these proportions."""
KILLED_UNTIL = 0.4
"""Share of the sites after which nothing is killed."""
UNFINISHED = 75
"""Exit code if sites are left: EX_TEMPFAIL of sysexits.h."""

ROLES = {"crawlers": "crawlers (Python)", "drivers": "Playwright's drivers (Node)", "browsers": "browsers"}


def go(crawl: KilledCrawl, crawlers: int, kills: int, *, until: float) -> float:
    """Crawl until all sites are done or the time is over; the seconds that it took,
    those of earlier calls included."""
    before = (
        [json.loads(line) for line in crawl.samples.read_text().splitlines()]
        if crawl.samples.exists()
        else []
    )
    began = time.monotonic() - (before[-1]["s"] if before else 0.0)
    done = before[-1]["pages"] if before else 0
    points = [int(crawl.pages * KILLED_UNTIL * (number + 1) / kills) for number in range(kills)]
    points = [point for point in points if point > done]
    crawl.running = [crawl.run() for _ in range(crawlers)]
    sampled = 0.0
    while time.monotonic() < until and any(crawler.poll() != 0 for crawler in crawl.running):
        done = max(done, crawl.done())
        if points and done >= points[0]:
            points.pop(0)
            crawl.kill(secrets.choice(KINDS))
        crawl.restart()
        if time.monotonic() - sampled >= SAMPLE_S:
            sampled = time.monotonic()
            crawl.sample(sampled - began, done)
        time.sleep(0.5)
    return time.monotonic() - began


def report(crawl: KilledCrawl, crawlers: int, kills: int, elapsed_s: float) -> dict[str, Any]:
    """Return the figures of a crawl that is done."""
    samples = [json.loads(line) for line in crawl.samples.read_text(encoding="utf-8").splitlines()]
    outcomes = "SELECT outcome, count(*) FROM visit WHERE {} GROUP BY outcome"
    visits = crawl.ask("SELECT count(*) FROM visit")[0][0]
    return {
        "pages": crawl.pages,
        "visits": visits,
        "outcomes": dict(crawl.ask(outcomes.format("is_final"))),
        "tried_again": dict(crawl.ask(outcomes.format("NOT is_final"))),
        "left": crawl.leftovers(),
        "crawlers": crawlers,
        "browsers": crawl.browsers,
        "kills": kills,
        "limits": dataclasses.asdict(DEFAULTS),
        "elapsed_s": round(elapsed_s, 1),
        "pages_per_second": round(visits / elapsed_s, 3),
        "memory": quarters(samples),
        "samples": samples,
    }


def quarters(samples: list[dict[str, float]]) -> dict[str, dict[str, float]]:
    """Return the mean MB of each role in the third and in the last quarter of the pages; they are equal if
    memory does not grow.

    >>> roles = dict.fromkeys(ROLES, 3e6)
    >>> quarters([{"pages": pages, **roles} for pages in (1, 2, 3, 4)])["drivers"]
    {'third_quarter_mb': 3.0, 'last_quarter_mb': 3.0}
    """
    samples = [
        sample for sample in samples if all(sample[role] for role in ROLES)
    ]  # not while they start or end
    last = max(sample["pages"] for sample in samples)
    means = {}
    for role in ROLES:
        parts: list[list[float]] = [[], [], [], []]
        for sample in samples:
            parts[min(3, int(4 * sample["pages"] / max(last, 1)))].append(sample[role] / 1e6)
        third, fourth = (sum(part) / len(part) if part else 0.0 for part in parts[2:])
        means[role] = {"third_quarter_mb": round(third, 1), "last_quarter_mb": round(fourth, 1)}
    return means


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
        .configure_axis(**LABELS)
        .configure_legend(**LABELS)
    )
    return chart


def arguments() -> argparse.Namespace:
    """Return the command line."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.endurance", description=__doc__.splitlines()[0] if __doc__ else None
    )
    parser.add_argument("--pages", type=int, default=3000)
    parser.add_argument("--crawlers", type=int, default=3)
    parser.add_argument("--browsers", type=int, default=1, help="browsers of each crawler")
    parser.add_argument("--kills", type=int, default=20)
    parser.add_argument(
        "--minutes", type=float, default=120.0, help="time after which it stops, to be gone on with"
    )
    parser.add_argument("--folder", type=Path, help="where the crawl is kept until it is done")
    return parser.parse_args()


def main() -> int:
    """Crawl, and report if it is done; returns 1 if a site did not end well or something is left,
    75 if sites are left."""
    options = arguments()
    until = time.monotonic() + 60 * options.minutes
    facts = results.provenance()
    folder = (options.folder or from_environment().data_dir / f"endurance-{options.pages}").absolute()
    crawl = KilledCrawl(folder=folder, pages=options.pages, browsers=options.browsers)
    try:
        (folder / "served.json").unlink(missing_ok=True)
        with serve_local_web(folder / "served.json") as web:
            crawl.plan(web)
            elapsed_s = go(crawl, options.crawlers, options.kills, until=until)
            if (done := crawl.done()) < options.pages:
                print(f"{done} of {options.pages} sites are done: the same command goes on", file=sys.stderr)
                return UNFINISHED
            facts |= report(crawl, options.crawlers, options.kills, elapsed_s)
    finally:
        crawl.stop()
    results.write("endurance", facts)
    FIGURE.write_text(svg(figure(facts)), encoding="utf-8")
    print(json.dumps({key: value for key, value in facts.items() if key != "samples"}, indent=2))
    shutil.rmtree(folder)
    return 0 if facts["outcomes"] == {"ok": options.pages} and not any(facts["left"].values()) else 1


if __name__ == "__main__":
    sys.exit(main())
