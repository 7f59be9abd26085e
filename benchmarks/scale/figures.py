"""The growth of each step's cost: exponents, bounds, the section of the document, and what a month costs."""

import math
import re
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

from benchmarks.markdown import describe_measurement, table

MOST_EXPONENT = 1.05
MOST_MB = 4000
"""Largest memory of the build and of the checks of a release, whatever its size."""
NIGHT_H = 8
"""Longest time of all steps of a million sites, one after the other on one core."""

LEAST_S = 5.0
"""Least cost of a step at the larger size, in seconds, of which an exponent is held against its bound:
below it the start of a process decides."""

MILLION = 1_000_000

BARE: Mapping[str, tuple[str, tuple[str, ...]]] = {
    "write": ("raw COPY", ("copy_in_s",)),
    "build": ("raw COPY out", ("copy_out_s",)),
    "verify": ("DuckDB's scan and sha256sum", ("scan_s", "sha256sum_s")),
    "publish": ("sha256sum", ("sha256sum_s",)),
    "serve": ("DuckDB's scan and sha256sum", ("scan_s", "sha256sum_s")),
}
"""Bare limit of a step, with the names of its times."""

LABELS = {
    "plan": "plan",
    "claim": "claim, by 64 workers",
    "write": "write, by 64 workers",
    "gate": "gate",
    "seal": "seal",
    "build": "build the release",
    "verify": "verify the release",
    "publish": "publish the release to S3",
    "serve": "start of the service, until all is prepared",
}

TEXT = """## How cost grows with sites and months

`scripts/bench scale`: made-up crawls whose sites are the bundled recorded pages drawn anew, each with sizes, hosts and paths of its own ({responses:.0f} responses a site), through the product's own code:
planned, claimed and written by 64 workers in two processes, judged, sealed, released, verified, published and served, over the embedded PostgreSQL. Seconds are of processors, PostgreSQL's included, and memory is the highest
resident size of a process, without PostgreSQL's; that of claim and write is mostly the recorded pages, which are made anew. A cost grows as the number of sites to the power of the exponent, which is that between the two largest crawls. {million}
"""  # noqa: E501

EXTRAPOLATED = """Seconds of a million are not measured: they are extrapolated by that exponent, and at least in proportion."""  # noqa: E501

FLAT_EXPONENT = 0.1
"""Exponent below which a cost counts as the same for any number of months."""

MONTHS = """Months of two devices, of {sites} sites each, over one data folder. Seconds and milliseconds are of processors, PostgreSQL's included; those of a page or an answer are of the first one after a start, which nothing
is remembered for, but for the home page, which was asked for while the service started. Memory of a command is that of its own process. Shares and raw rows are the questions of [recipes.md](recipes.md) to all months of desktops, by the clock, by DuckDB from an S3 server on the same machine and from the folder. The last columns are what each release more adds, and the exponent of growth, both between the two largest numbers of months; below {flat} it is called flat.
"""  # noqa: E501


@dataclass(frozen=True, slots=True)
class Cost:
    """What a step takes."""

    cpu_s: float
    """Processor time, PostgreSQL's included."""
    peak_mb: float | None
    bare_s: float | None
    """Processor time of its bare limit; None if it has none."""


def costs(facts: Mapping[str, Any]) -> dict[str, Cost]:
    """Return the cost of each step of a crawl.

    A crawl that was stopped and went on has its cost for each visit from the last run.
    """
    crawl, bare = facts["crawl"], facts["bare"]
    share = facts["build"]["rows"]["visit"] / crawl["visits"]
    background_s = crawl["database_s"] - crawl["claim_database_s"] - crawl["write_database_s"]
    seconds = {
        "claim": share * (crawl["claim_s"] + crawl["claim_database_s"]),
        "write": share * (crawl["write_s"] + crawl["write_database_s"] + max(0.0, background_s)),
    }
    made = {}
    for step in LABELS:
        own = facts["crawl" if step in seconds else step]
        limit = BARE.get(step)
        made[step] = Cost(
            cpu_s=seconds.get(step, own["cpu_s"] + own.get("database_s", 0.0)),
            peak_mb=own["peak_mb"],
            bare_s=sum(bare[name] for name in limit[1]) if limit else None,
        )
    return made


def exponent(smaller: float, larger: float, *, ratio: float) -> float:
    """Return the power of `ratio` by which a cost grew.

    >>> exponent(2.0, 20.0, ratio=10)
    1.0
    """
    return math.log(larger / smaller) / math.log(ratio)


def _sizes(facts: Mapping[str, Any]) -> list[tuple[int, dict[str, Cost]]]:
    return sorted((int(sites), costs(steps)) for sites, steps in facts["sizes"].items())


def _exponents(sizes: list[tuple[int, dict[str, Cost]]]) -> dict[str, float]:
    found: dict[str, float] = {}
    for (fewer, smaller), (more, larger) in pairwise(sizes[-2:]):
        for step in LABELS:
            found[step] = exponent(smaller[step].cpu_s, larger[step].cpu_s, ratio=more / fewer)
    return found


def at(sizes: list[tuple[int, dict[str, Cost]]], sites: int) -> dict[str, float]:
    """Return the seconds of each step at a number of sites: measured, or extrapolated from the largest."""
    largest, measured = next((size for size in sizes if size[0] == sites), sizes[-1])
    grown = _exponents(sizes)
    return {
        step: cost.cpu_s * (sites / largest) ** max(1.0, grown.get(step, 1.0))
        for step, cost in measured.items()
    }


def find_misses(facts: Mapping[str, Any]) -> list[str]:
    sizes = _sizes(facts)
    largest, measured = sizes[-1]
    wrong = [
        f"{LABELS[step]} grows with exponent {grown:.2f}, above {MOST_EXPONENT}"
        for step, grown in _exponents(sizes).items()
        if grown > MOST_EXPONENT and measured[step].cpu_s >= LEAST_S
    ]
    wrong += [
        f"{LABELS[step]} takes {peak:,.0f} MB at {largest:,} sites, above {MOST_MB:,}"
        for step in ("build", "verify")
        if (peak := measured[step].peak_mb or 0) > MOST_MB
    ]
    hours = sum(at(sizes, MILLION).values()) / 3600
    return wrong + ([f"a million sites take {hours:.1f} hours, above {NIGHT_H}"] if hours > NIGHT_H else [])


def section(facts: dict[str, Any]) -> str:
    sizes = _sizes(facts)
    rows = next(reversed(facts["sizes"].values()))["build"]["rows"]
    grown, million = _exponents(sizes), at(sizes, MILLION)
    is_measured = any(sites == MILLION for sites, _ in sizes)
    head = [""]
    for sites, _ in sizes:
        head += [f"{sites:,} sites, s", "MB"]
    head += ["times the bare limit", "exponent", *([] if is_measured else ["1,000,000 sites, s"])]
    lines = [
        [
            label,
            *(
                text
                for _, by_step in sizes
                for text in (f"{by_step[step].cpu_s:,.1f}", _number(by_step[step].peak_mb))
            ),
            _times_bare(step, sizes[-1][1][step]),
            f"{grown[step]:.2f}" if step in grown else "",
            *([] if is_measured else [f"{million[step]:,.0f}"]),
        ]
        for step, label in LABELS.items()
    ]
    total = sum(million.values()) / 3600
    parts = [
        TEXT.format(responses=rows["response"] / rows["site"], million="" if is_measured else EXTRAPOLATED),
        table(head, lines),
        f"All steps of a million sites: {total:.1f} hours of one core, besides the visits themselves.\n",
        _bounds(facts),
        _answers(facts["sizes"]),
        *([_months(facts["months"])] if facts.get("months") else []),
        describe_measurement(facts),
    ]
    return "\n".join(filter(None, parts))


def _bounds(facts: Mapping[str, Any]) -> str:
    misses = find_misses(facts)
    missed = f"Missed: {'; '.join(misses)}." if misses else "None is missed."
    return (
        f"Bounds: an exponent of {MOST_EXPONENT} of each step of {LEAST_S:g} s or more, {MOST_MB:,} MB of "
        f"build and verify, and {NIGHT_H} hours for a million sites. {missed}\n"
    )


def _number(value: float | None, digits: int = 0) -> str:
    return "" if value is None else f"{value:,.{digits}f}"


def _times_bare(step: str, cost: Cost) -> str:
    return f"{cost.cpu_s / cost.bare_s:.1f} ({BARE[step][0]})" if cost.bare_s else ""


def _answers(sizes: Mapping[str, Mapping[str, Any]]) -> str:
    names = {"home_ms": "home", "distribution_ms": "distribution of a stratum", "site_ms": "a site's history"}
    rows = [
        [label, *(f"{steps['serve'][name]:,.0f}" for steps in sizes.values())]
        for name, label in names.items()
    ]
    return table(["first answer of the service, ms", *(f"{int(sites):,} sites" for sites in sizes)], rows)


def _months(figures: list[dict[str, Any]]) -> str:
    from benchmarks.scale.months import SITES  # it measures, and needs the whole product

    releases = [each["releases"] for each in figures]
    rows = [
        [what, *(_number(value, 1) for value in values), *_growth(releases, values)]
        for what, values in _of_months(figures)
    ]
    head = ["", *(f"{each['months']} months" for each in figures), "each release", "exponent"]
    return "\n".join([MONTHS.format(sites=SITES, flat=FLAT_EXPONENT), table(head, rows)])


def _growth(releases: list[int], values: list[float]) -> list[str]:
    """Return what each release more adds, and the exponent, between the two largest numbers of releases;
    empty texts of only one, or where a value is not known."""
    if len(values) < 2 or None in values[-2:]:
        return ["", ""]
    (fewer, more), (before, after) = releases[-2:], values[-2:]
    grown = exponent(before, after, ratio=more / fewer)
    return [f"{(after - before) / (more - fewer):,.2f}", "flat" if grown < FLAT_EXPONENT else f"{grown:.2f}"]


def _of_months(figures: list[dict[str, Any]]) -> Iterable[tuple[str, list[float]]]:
    """Yield what was measured of many months, by its label."""
    for name, label in {
        "start_s": "first start of the service, s",
        "start_again_s": "start when all is prepared, s",
        "preparing_cpu_s": "until all is prepared, s",
        "peak_mb": "memory until then, MB",
        "verify_cpu_s": "`firstflight verify`, s",
        "verify_mb": "its memory, MB",
        "backup_cpu_s": "`firstflight database backup`, s",
        "backup_mb": "its memory, MB",
    }.items():
        yield label, [each[name] for each in figures]
    yield "size of the backup, MB", [each["backup_bytes"] / 1e6 for each in figures]
    for what in figures[-1]["pages_ms"]:
        yield f"{what}, ms", [each["pages_ms"][what] for each in figures]
    for what in figures[-1]["questions_s"]:
        yield f"{what}, ms", [1000 * each["questions_s"][what] for each in figures]


# The table of docs/operations.md: what a month costs.

MARKS = ("<!-- costs: begin -->\n", "<!-- costs: end -->\n")

VISITED = re.compile(r"^\| firstflight, rows in PostgreSQL \| \d+ \| ([\d,]+) ", re.MULTILINE)
"""The processor time of a visit, in ms, in the table of `scripts/bench crawl`."""

SITES_AN_HOUR = 235
"""Sites that a browser visits in an hour: badger-sett's published rate on the live web."""

COSTS = """Computed by `scripts/bench document` from measured figures ([performance.md](performance.md)): {visit_ms:,} ms of processors for a visit, {attempts:.2f} visits and {responses:.0f} responses for a site, {row:.0f} bytes a response in PostgreSQL and {parquet:.0f} in the release, everything included, {network:.1f} MB a
site from the network; and from {rate} sites an hour for each browser, which no benchmark over loopback can measure. Live sites keep a browser waiting; a month of your own is a better figure. A browser takes 160 MB, and a lane 300 MB besides. Bytes are of recorded
pages, of which some columns are empty: rows of a crawl take more.{beyond}
"""  # noqa: E501

ADVICE = {
    10_000: (4, "nothing; keep every year"),
    100_000: (16, "`FIRSTFLIGHT_LANES=8`, `TASKS_MEMORY=8g`, `PARALLELISM=10`, or workers"),
    1_000_000: (64, "more machines, a PostgreSQL of its own with 16 GB, retention; ask the list's authors and your provider first"),  # noqa: E501
}  # fmt: skip
"""Browsers for a crawl of so many sites, and what to set."""


def write_costs(operations: str, performance: str, facts: Mapping[str, Any]) -> str:
    """Return the text of docs/operations.md with the costs of a month in their place.

    `performance` is the text of docs/performance.md, which has the cost of a visit.
    """
    match = VISITED.search(performance)
    begin, end = (operations.find(mark) for mark in MARKS)
    if match is None or not 0 <= begin < end:
        return operations
    kept = operations[: begin + len(MARKS[0])], operations[end:]
    return kept[0] + "\n" + _costs(facts, int(match[1].replace(",", ""))) + "\n" + kept[1]


def _costs(facts: Mapping[str, Any], visit_ms: int) -> str:
    sizes = _sizes(facts)
    largest = facts["sizes"][str(sizes[-1][0])]
    built = largest["build"]
    count = built["rows"]
    sites = count["site"]
    is_measured = any(size == MILLION for size, _ in sizes)
    rows = []
    for planned, (browsers, advice) in ADVICE.items():
        steps = at(sizes, planned)
        visits_h = planned * count["visit"] / sites * visit_ms / 3.6e6
        hours = planned / (SITES_AN_HOUR * browsers)
        storing = sum(steps[step] for step in ("plan", "claim", "write", "gate", "seal")) / 3600
        releasing = sum(steps[step] for step in ("build", "verify", "publish", "serve")) / 3600
        share = planned / sites
        rows.append(
            [
                f"{planned:,} sites",
                f"{browsers}: {_duration(hours)}",
                f"{visits_h:,.0f} h",
                f"{storing:,.2f} h",
                f"{releasing:,.2f} h",
                _gb(share * built["database_bytes"]),
                _gb(share * built["bytes"]),
                _gb(share * built["received_bytes"]),
                advice,
            ]
        )
    head = ["a month of", "browsers, and duration", "visits", "of it claims and rows"]
    head += ["gate to service", "PostgreSQL", "release", "network", "what to set"]
    return (
        "\n".join(
            [
                COSTS.format(
                    visit_ms=visit_ms,
                    attempts=count["visit"] / sites,
                    responses=count["response"] / sites,
                    row=built["database_bytes"] / count["response"],
                    parquet=built["bytes"] / count["response"],
                    network=built["received_bytes"] / sites / 1e6,
                    rate=SITES_AN_HOUR,
                    beyond="" if is_measured else f" Hours beyond {sizes[-1][0]:,} sites are extrapolated.",
                ),
                table(head, rows),
            ]
        ).rstrip("\n")
        + "\n"
    )


def _duration(hours: float) -> str:
    return f"{hours:,.0f} hours" if hours < 72 else f"{hours / 24:,.1f} days"


def _gb(size: float) -> str:
    return f"{size / 1e9:,.1f} GB" if size < 1e12 else f"{size / 1e12:,.1f} TB"
