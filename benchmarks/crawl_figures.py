"""The runs of the crawler beside others: in the document, and held against their bounds."""

import statistics
from dataclasses import dataclass
from typing import Any, Literal

import msgspec

from benchmarks.markdown import describe_measurement, format_range, table
from benchmarks.results import RECORDING_CPU_BOUND, SPEED_BOUND, spread

COPY_BOUND = 0.5

BARE, LOGGED, OURS, PEER = "bare", "logged", "firstflight", "puppeteer"

NAMES = {
    BARE: "Playwright alone, nothing recorded",
    LOGGED: "Playwright and Chromium's log, unread",
    OURS: "firstflight, rows in PostgreSQL",
    PEER: "Puppeteer with HAR",
}

CRAWL = """## The crawler compared with others

`scripts/bench crawl`: {pages} visits to real pages over the local web ({mode}), {runs} interleaved runs. Each tool runs with as many browsers
side by side as gave it the most pages a second in a first run ({tried} were tried).
All tools drive the same binary, `{browser}`, with the same flags and viewport; CPU time includes all their processes and
the database, but not the local web; the kernel counts it while they run. Busy is the share of the machine's cores that a tool used; the rest is waiting.

- Every tool leaves a page when its network has been quiet for 0.5 s after its load event.
- Memory is the highest proportional set size seen in the first run: of a browser with its processes, and of everything else
  (driver, crawler).
"""  # noqa: E501

LOG = """What Chromium needs to write the log, which has all bytes (decision 1), no reader can save: Playwright with the log written to
`/dev/null` takes **{cpu} times** the CPU of Playwright alone, and visits {speed} times as many pages a second as Puppeteer. These two are the floor of
the CPU and the ceiling of the pages a second: no crawler that reads the log can do better.
"""  # noqa: E501

COPY = """## Writing alone

{rows:,} rows of responses by `storage/bulk_copy.py`, compared with a raw binary COPY of the same rows, encoded beforehand, into the
same empty partition:
"""  # noqa: E501


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One run of a tool over all pages."""

    tool: str
    browsers: int
    pages: int
    wall_s: float
    cpu_s: float
    database_cpu_s: float
    browser_mb: float
    """Highest memory of a browser, measured in trials alone, like that of the other processes."""
    other_mb: float

    @property
    def pages_per_second(self) -> float:
        return self.pages / self.wall_s


@dataclass(frozen=True, kw_only=True, slots=True)
class Copy:
    """Rows written by firstflight, and their bytes by a raw COPY."""

    rows: int
    bytes: int
    ours_s: float
    raw_s: float


@dataclass(frozen=True, kw_only=True, slots=True)
class Crawled:
    """All runs of a benchmark."""

    pages: int
    mode: str
    browser: str
    cpus: int
    tried: list[int]
    trials: list[Sample]
    samples: list[Sample]
    copies: list[Copy]

    def runs(self, tool: str) -> list[Sample]:
        return [sample for sample in self.samples if sample.tool == tool]

    def ratio(self, tool: str, other: str, name: Literal["cpu_s", "wall_s"]) -> dict[str, float] | None:
        """Return the ratio of a tool's value to that of another, run by run: interleaved runs share their
        disturbances. None if either was not run."""
        pairs = zip(self.runs(tool), self.runs(other), strict=False)
        ratios = [getattr(run, name) / getattr(its_run, name) for run, its_run in pairs]
        return spread(ratios) if ratios else None

    def copy_ratio(self) -> dict[str, float] | None:
        """Return the speed of writing as a share of the raw COPY's."""
        return spread([copy.raw_s / copy.ours_s for copy in self.copies]) if self.copies else None


def best_trials(trials: list[Sample]) -> dict[str, Sample]:
    return {trial.tool: trial for trial in sorted(trials, key=lambda trial: trial.pages_per_second)}


def find_misses(crawled: Crawled) -> list[str]:
    def median(ratio: dict[str, float] | None, otherwise: float) -> float:
        return ratio["median"] if ratio else otherwise

    bounds = {
        f"recording may cost {RECORDING_CPU_BOUND} times the bare CPU": (
            median(crawled.ratio(OURS, BARE, "cpu_s"), 0) <= RECORDING_CPU_BOUND
        ),
        f"{SPEED_BOUND} of the pages a second of puppeteer": (
            median(crawled.ratio(PEER, OURS, "wall_s"), 1) >= SPEED_BOUND
        ),
        f"writing must reach {COPY_BOUND} of the raw COPY rate": (
            median(crawled.copy_ratio(), 1) >= COPY_BOUND
        ),
    }
    return [bound for bound, holds in bounds.items() if not holds]


def section(facts: dict[str, Any]) -> str:
    crawled = msgspec.convert(facts, Crawled)
    rows = []
    for tool, trial in best_trials(crawled.trials).items():
        runs = crawled.runs(tool)
        busy = statistics.median(run.cpu_s / run.wall_s / crawled.cpus for run in runs)
        rows.append(
            [
                NAMES[tool],
                str(trial.browsers),
                format_range(spread([1e3 * run.cpu_s / run.pages for run in runs], 1)),
                format_range(spread([run.pages_per_second for run in runs]), 2),
                f"{busy:.0%}",
                f"{trial.browser_mb:.0f}",
                f"{trial.other_mb:.0f}",
            ]
        )
    rows.sort(key=lambda row: [*NAMES.values()].index(row[0]))
    head = ["", "browsers", "CPU ms a page", "pages a second", "busy", "MB a browser", "MB besides"]
    tried = ", ".join(map(str, crawled.tried))
    extent = CRAWL.format(
        pages=crawled.pages,
        mode=crawled.mode,
        browser=crawled.browser,
        runs=len(crawled.samples) // len(rows),
        tried=tried,
    )
    parts = [extent, table(head, rows)]
    if ratio := crawled.ratio(OURS, BARE, "cpu_s"):
        database_ms = statistics.median(1e3 * run.database_cpu_s / run.pages for run in crawled.runs(OURS))
        parts.append(
            f"Recording and writing cost **{format_range(ratio, 2)} times** the CPU of Playwright alone; "
            f"{database_ms:.0f} ms a page of it are PostgreSQL's.\n"
        )
    if ratio := crawled.ratio(PEER, OURS, "wall_s"):
        parts.append(
            f"firstflight visits **{format_range(ratio, 2)} times** as many pages a second as Puppeteer "
            "with HAR.\n"
        )
    cpu, speed = crawled.ratio(LOGGED, BARE, "cpu_s"), crawled.ratio(PEER, LOGGED, "wall_s")
    if cpu and speed:
        parts.append(LOG.format(cpu=format_range(cpu, 2), speed=format_range(speed, 2)))
    if copy_ratio := crawled.copy_ratio():
        rates = spread([copy.rows / copy.ours_s for copy in crawled.copies], 0)
        row = ["firstflight", format_range(rates), format_range(copy_ratio, 2)]
        parts += [
            COPY.format(rows=crawled.copies[0].rows),
            table(["", "rows a second", "of raw COPY"], [row]),
        ]
    return "\n".join([*parts, describe_measurement(facts)])
