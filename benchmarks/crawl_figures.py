"""The figures of the crawler beside others: printed, in the document, and held against their bounds."""

from typing import Any

from benchmarks.markdown import describe_measurement, format_range, table
from benchmarks.results import RECORDING_CPU_BOUND, SPEED_BOUND

COPY_BOUND = 0.5

NAMES = {
    "bare": "Playwright alone, nothing recorded",
    "logged": "Playwright and Chromium's log, unread",
    "firstflight": "firstflight, rows in PostgreSQL",
    "puppeteer": "Puppeteer with HAR",
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


def format_table(facts: dict[str, Any]) -> str:
    """Return the printed table."""
    lines = [
        f"{'':<12}{'browsers':>9}{'CPU ms a page':>26}{'pages a second':>24}{'busy':>7}{'MB a browser':>14}{'MB besides':>12}"  # noqa: E501
    ]
    for tool, measures in facts["tools"].items():
        memory = facts["memory"][tool]
        cpu, pages = measures["cpu_ms_a_page"], measures["pages_per_second"]
        lines.append(
            f"{tool:<12}{measures['browsers']:>9}"
            f"{cpu['median']:>10.0f} ({cpu['min']:>6.0f}-{cpu['max']:>6.0f})"
            f"{pages['median']:>10.2f} ({pages['min']:.2f}-{pages['max']:.2f})"
            f"{measures['busy_share']:>7.0%}{memory['a_browser_mb']:>14.0f}{memory['others_mb']:>12.0f}"
        )
    lines += [
        f"{name:<26}{measures['median']:.3f} ({measures['min']:.3f}-{measures['max']:.3f})"
        for name in ("recording_cpu_ratio", "log_cpu_ratio", "speed_ratio", "log_speed_ratio", "copy_ratio")
        if (measures := facts.get(name))
    ]
    return "\n".join(lines)


def find_misses(facts: dict[str, Any]) -> list[str]:
    """Return the missed bounds."""

    def median(name: str, otherwise: float) -> float:
        return float((facts.get(name) or {"median": otherwise})["median"])

    bounds = {
        f"recording may cost {RECORDING_CPU_BOUND} times the bare CPU": (
            median("recording_cpu_ratio", 0) <= RECORDING_CPU_BOUND
        ),
        f"{SPEED_BOUND} of the pages a second of puppeteer": (median("speed_ratio", 1) >= SPEED_BOUND),
        f"writing must reach {COPY_BOUND} of the raw COPY rate": median("copy_ratio", 1) >= COPY_BOUND,
    }
    return [bound for bound, holds in bounds.items() if not holds]


def describe_floor(cpu: dict[str, float], speed: dict[str, float]) -> str:
    """Return what writing the log costs by itself, as ratios to the bare browser and to Puppeteer."""
    return LOG.format(cpu=format_range(cpu, 2), speed=format_range(speed, 2))


def section(facts: dict[str, Any]) -> str:
    """Return the section from crawl.json."""
    runs = max(sample["run"] for sample in facts["samples"])
    rows = []
    for tool, measures in facts["tools"].items():
        memory = facts["memory"][tool]
        rows.append(
            [
                NAMES.get(tool, tool),
                str(measures["browsers"]),
                format_range(measures["cpu_ms_a_page"]),
                format_range(measures["pages_per_second"], 2),
                f"{measures['busy_share']:.0%}",
                f"{memory['a_browser_mb']:.0f}",
                f"{memory['others_mb']:.0f}",
            ]
        )
    head = ["", "browsers", "CPU ms a page", "pages a second", "busy", "MB a browser", "MB besides"]
    tried = ", ".join(map(str, facts["tried"]))
    parts = [CRAWL.format(**facts | {"runs": runs, "tried": tried}), table(head, rows)]
    if ratio := facts["recording_cpu_ratio"]:
        database = facts["tools"]["firstflight"]["database_cpu_ms_a_page"]["median"]
        parts.append(
            f"Recording and writing cost **{format_range(ratio, 2)} times** the CPU of Playwright alone; "
            f"{database:.0f} ms a page of it are PostgreSQL's.\n"
        )
    if ratio := facts["speed_ratio"]:
        parts.append(
            f"firstflight visits **{format_range(ratio, 2)} times** as many pages a second as Puppeteer "
            "with HAR.\n"
        )
    if (cpu := facts.get("log_cpu_ratio")) and (speed := facts.get("log_speed_ratio")):
        parts.append(describe_floor(cpu, speed))
    if copied := facts.get("copy_samples"):
        head = ["", "rows a second", "of raw COPY"]
        row = [
            "firstflight",
            format_range(facts["copy_rows_per_second"]),
            format_range(facts["copy_ratio"], 2),
        ]
        parts += [COPY.format(rows=copied[0]["rows"]), table(head, [row])]
    return "\n".join([*parts, describe_measurement(facts)])
