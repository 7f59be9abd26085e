"""Measures the service and its queries over a made-up year of releases,
beside a bare DuckDB scan of the same column."""

import dataclasses
import itertools
import json
import os
import statistics
import tempfile
import time
import urllib.request
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

from benchmarks.made_up_release import host_of
from benchmarks.markdown import table
from benchmarks.service.coverage import RUNS, coverage
from benchmarks.service.servers import READY_WITHIN_S, BenchError, Memory, serve, wait_until_prepared
from benchmarks.service.year import MONTHS, year
from firstflight.recorded import import_once
from firstflight.settings import from_environment
from releases.catalogue import Release

YEARS = Path("build/years")

STRATA = (
    *("protocol=h2&party=third", "resource_type=script", "resource_type=image&party=first", "protocol=h3"),
    *("resource_type=style", "party=first", "rank_stratum=1000", "protocol=http/1.1&resource_type=fetch"),
)
HOSTS = 12

MOST_SCAN_RATIO = 1.2
"""Maximum time of a query of ours over the raw column, as a multiple of the bare scan."""
MOST_COVERAGE_S = 2.0
MOST_STRATUM_MS = 50.0
MOST_KEPT_MS = 3.0
MOST_HISTORY_MS = 50.0

TEXT = """A made-up year (`--responses {year_responses_asked}`): {year_releases} releases with {year_responses:,} responses, {year_mb:,.0f} MB in all, {bytes_a_response:.1f} bytes a response with every file of its release, whose page loads are the bundled recorded pages drawn
anew, each size multiplied by a random factor. The shares of responses that fit into ten windows, in each of the releases, {year_runs} times in turn; all ways give
the same counts. Raw column: `wire_bytes` of every response that arrived whole. The recipe is the one of [recipes](recipes.md) for raw rows by any filter, in its own words: one statement over all releases, which leaves out what
is of no home page, and counts each response once, by the segment in which it ends. Ten conditions are ten passes over a column in memory; the other bare scan counts by segment too, and is the one that the recipe is like.
"""  # noqa: E501

WAYS = (
    ("a bare DuckDB scan of the raw column, ten conditions", "coverage_bare_seconds"),
    ("the same, unknown sizes left out first", "coverage_bare_known_seconds"),
    ("a bare scan counted by segment, unknown sizes left out first", "coverage_bare_by_segment_seconds"),
    ("the recipe: home pages alone, counted by segment", "coverage_seconds"),
    ("our views, which tell home pages too, ten conditions", "coverage_views_seconds"),
    ("the released distributions", "coverage_distribution_seconds"),
)
"""Ways to the shares, with the names of their times."""

BARE = ("coverage_bare_seconds", "coverage_bare_by_segment_seconds")

ANSWERS = """Answers of the service over that year, one request at a time: median, and the slowest. Before, the service prepared each release once, in its cache folder (decision 18): {prepared_s:,.0f} s
from its start, checksums included, with {prepared_peak_mb:,.0f} MB of memory at most, the service included, and {prepared_mb:,.0f} MB of files. From the disk: after the kernel was told to forget these files.
"""  # noqa: E501


def find_misses(facts: dict[str, Any]) -> list[str]:
    wrong = {
        f"coverage above {MOST_SCAN_RATIO:g} times a bare scan": facts["coverage_scan_ratio"]
        > MOST_SCAN_RATIO,
        f"coverage above {MOST_COVERAGE_S:g} s": facts["coverage_seconds"] > MOST_COVERAGE_S,
        f"a stratum above {MOST_STRATUM_MS:g} ms": facts["stratum_ms"]["median"] > MOST_STRATUM_MS,
        f"a kept answer above {MOST_KEPT_MS:g} ms": facts["kept_ms"]["median"] > MOST_KEPT_MS,
        f"a site's history above {MOST_HISTORY_MS:g} ms": facts["history_ms"]["median"] > MOST_HISTORY_MS,
    }
    return [miss for miss, is_so in wrong.items() if is_so]


def measure_answers(root: Path, folder: Path, releases: Sequence[Release]) -> dict[str, Any]:
    """Return the milliseconds of the service's answers over the releases in the data folder `root`.

    `folder` is for its log and its cache.
    """
    prepared = folder / "cache" / "prepared"
    began = time.monotonic()
    with serve(root, folder) as (pid, address):
        with Memory(pid) as preparing:
            wait_until_checked(address)
            wait_until_prepared(prepared, pid, len(releases))
        prepared_s = time.monotonic() - began
        asked = f"{address}v1/distributions?measure=responses&iw=10&crawl="
        pairs = list(zip(releases, itertools.cycle(STRATA), strict=False))
        others = list(zip(releases, itertools.cycle(STRATA[1:]), strict=False))
        sites = releases[0].manifest.rows["visit"]
        hosts = [host_of(1 + number * sites // HOSTS) for number in range(HOSTS)]
        first = [_ms(f"{asked}{release.crawl}&{stratum}") for release, stratum in pairs]
        again = [_ms(f"{asked}{release.crawl}&{stratum}") for release, stratum in pairs]
        another = [_ms(f"{asked}{release.crawl}&{stratum}&mss=1448") for release, stratum in pairs]
        history = [_ms(f"{address}v1/sites/{host}") for host in hosts]
        from_disk = [
            _ms_from_disk(prepared, f"{asked}{release.crawl}&{stratum}") for release, stratum in others
        ]
        neighbours = [host_of(2 + number * sites // HOSTS) for number in range(HOSTS)]
        history_from_disk = [_ms_from_disk(prepared, f"{address}v1/sites/{host}") for host in neighbours]
    (folder / "no_folder").touch()
    with serve(root, folder, cache="no_folder") as (_, address):
        wait_until_checked(address)
        asked = f"{address}v1/distributions?measure=responses&iw=10&crawl="
        unprepared = [_ms(f"{asked}{release.crawl}&{stratum}") for release, stratum in pairs]
        history_unprepared = [_ms(f"{address}v1/sites/{host}") for host in hosts]
    return {
        "stratum_unprepared_ms": _spread(unprepared),
        "history_unprepared_ms": _spread(history_unprepared),
        "prepared_s": round(prepared_s, 1),
        "prepared_peak_mb": round(preparing.peak_mb, 1),
        "prepared_mb": round(_bytes_of(prepared) / 1e6, 1),
        "stratum_ms": _spread(first),
        "stratum_from_disk_ms": _spread(from_disk),
        "stratum_of_held_items_ms": _spread(another),
        "kept_ms": _spread(again),
        "history_ms": _spread(history),
        "history_from_disk_ms": _spread(history_from_disk),
    }


def _bytes_of(folder: Path) -> int:
    return sum(path.stat().st_size for path in folder.rglob("*") if path.is_file())


def _ms_from_disk(folder: Path, address: str) -> float:
    """Return the milliseconds of an answer after the kernel dropped its copies of the files in a folder."""
    for path in folder.rglob("*"):
        if path.is_file():
            with path.open("rb") as file:
                os.posix_fadvise(file.fileno(), 0, 0, os.POSIX_FADV_DONTNEED)
    return _ms(address)


def wait_until_checked(address: str) -> None:
    """Wait until the service has compared every file with its checksum."""
    deadline = time.monotonic() + 10 * READY_WITHIN_S
    while time.monotonic() < deadline:
        with urllib.request.urlopen(f"{address}v1/crawls", timeout=10 * READY_WITHIN_S) as answer:  # noqa: S310  # http
            crawls = json.load(answer)["crawls"]
        if crawls and all(crawl["provenance"]["is_checked"] for crawl in crawls):
            return
        time.sleep(0.5)
    raise BenchError("the service did not compare the releases with their checksums in time")


def _ms(address: str) -> float:
    began = time.monotonic()
    with urllib.request.urlopen(address, timeout=READY_WITHIN_S) as answer:  # noqa: S310  # http
        answer.read()
    return 1000 * (time.monotonic() - began)


def _spread(values: Iterable[float]) -> dict[str, float]:
    ordered = sorted(values)
    return {"median": round(statistics.median(ordered), 1), "max": round(ordered[-1], 1)}


def make_year(responses: int, months: Sequence[str] = MONTHS) -> tuple[Path, list[Release]]:
    """Return the data folder of a made-up year and its releases, which are made of the bundled recorded pages
    unless they are in build/ already."""
    settings = from_environment()

    def source() -> Release:
        return import_once(dataclasses.replace(settings, data_dir=YEARS / "recorded")).release

    root = YEARS / (str(responses) if len(months) == len(MONTHS) else f"{len(months)}-{responses}")
    return root, year(root, source, responses=responses, months=months)


def measure_year(*, responses: int) -> dict[str, Any]:
    root, releases = make_year(responses)
    with tempfile.TemporaryDirectory(prefix="firstflight-bench-") as temporary:
        return measure(root, Path(temporary), releases, asked=responses)


def measure(root: Path, folder: Path, releases: Sequence[Release], *, asked: int) -> dict[str, Any]:
    """Return all figures of the year, whose releases are in the data folder `root`."""
    paths = [path for release in releases for path in release.path.iterdir()]
    return (
        {
            "year_responses_asked": asked,
            "year_releases": len(releases),
            "year_responses": sum(release.manifest.rows["response"] for release in releases),
            "year_mb": round(sum(path.stat().st_size for path in paths) / 1e6, 1),
            "year_runs": RUNS,
        }
        | coverage(releases)
        | measure_answers(root, folder, releases)
    )


def section(facts: dict[str, Any]) -> str:
    ways = [
        [label, f"{facts[name]:.2f}", *(f"{facts[name] / facts[bare]:.2f}" for bare in BARE)]
        for label, name in WAYS
    ]
    ratios = (
        f"Recipe, median of the ratios within each run: {facts['coverage_scan_ratio']:.2f} times the first "
        f"bare scan, {facts['coverage_scan_by_segment_ratio']:.2f} times the one by segment."
    )
    times = [
        [label, f"{facts[name]['median']:,.1f}", f"{facts[name]['max']:,.1f}"]
        for label, name in (
            ("distribution of a stratum", "stratum_ms"),
            ("that of another stratum, from the disk", "stratum_from_disk_ms"),
            ("that of the first, of a release without prepared files", "stratum_unprepared_ms"),
            ("another segment size of the first stratum", "stratum_of_held_items_ms"),
            ("an answer that was kept", "kept_ms"),
            ("a site over all releases", "history_ms"),
            ("another site, from the disk", "history_from_disk_ms"),
            ("the first, without prepared files", "history_unprepared_ms"),
        )
    ]
    stored = 1e6 * facts["year_mb"] / facts["year_responses"]
    text = TEXT.format(bytes_a_response=stored, **facts)
    return "\n".join(
        [
            text,
            table(["", "seconds", "times the bare scan", "times the bare scan by segment"], ways),
            f"{ratios}\n",
            ANSWERS.format(**facts),
            table(["ms", "median", "slowest"], times),
        ]
    )
