"""Measures the ways to the shares of responses that fit into ten windows,
over the raw column and over the distributions."""

import re
import statistics
import time
from collections.abc import Callable, Iterable, Sequence
from pathlib import Path
from typing import Any

import duckdb

from benchmarks.service.servers import BenchError
from releases.catalogue import Release
from releases.measures import ARRIVED, open_database, view_tables
from releases.slow_start import MSS_FIG1

WINDOWS = (1, 2, 3, 4, 6, 10, 16, 24, 32, 64)
"""Initial windows whose shares are asked for, in segments."""

RUNS = 3

PAGE = Path(__file__).parents[2] / "docs" / "recipes.md"
RECIPE = re.compile(r"^### DuckDB, raw rows by any filter$.*?^```sql\n(.*?)^```$", re.DOTALL | re.MULTILINE)
STORE = "s3://bucket/releases"
"""The folder of releases in the page's recipes."""


def coverage(releases: Sequence[Release]) -> dict[str, Any]:
    """Return the seconds of the ways to the shares that fit; BenchError if their counts differ."""
    ways: dict[str, Callable[[Sequence[Release]], list[tuple[int, ...]]]] = {
        "bare": _bare,
        "bare_known": _bare_known,
        "bare_by_segment": _bare_by_segment,
        "recipe": counts_of_recipe,
        "views": raw_counts,
        "distribution": _distribution,
    }
    seconds: dict[str, list[float]] = {}
    for _ in range(RUNS):
        counts = {}
        for name, way in ways.items():
            began = time.monotonic()
            counts[name] = way(releases)
            seconds.setdefault(name, []).append(time.monotonic() - began)
        if len(set(map(tuple, counts.values()))) > 1:
            raise BenchError("the bare scans, the recipe, our views and the distributions count differently")
    middle = {name: round(statistics.median(taken), 3) for name, taken in seconds.items()}
    return {
        "coverage_scan_ratio": _ratio(seconds["recipe"], seconds["bare"]),
        "coverage_scan_by_segment_ratio": _ratio(seconds["recipe"], seconds["bare_by_segment"]),
        "coverage_seconds": middle["recipe"],
        "coverage_views_seconds": middle["views"],
        "coverage_bare_seconds": middle["bare"],
        "coverage_bare_known_seconds": middle["bare_known"],
        "coverage_bare_by_segment_seconds": middle["bare_by_segment"],
        "coverage_distribution_seconds": middle["distribution"],
    }


def _ratio(taken: Sequence[float], beside: Sequence[float]) -> float:
    """Return the median over the runs of one way's time as a multiple of another's in the same run."""
    return round(statistics.median(own / other for own, other in zip(taken, beside, strict=True)), 2)


def _counts(column: str) -> str:
    return ", ".join(f"count(*) FILTER ({column} <= {iw * MSS_FIG1})" for iw in WINDOWS)


def _bare(releases: Sequence[Release], condition: str = "is_complete IS NOT FALSE") -> list[tuple[int, ...]]:
    """Return counts of each release by DuckDB alone over the column as it lies in the file,
    without what did not arrive whole."""
    with duckdb.connect(":memory:") as database:
        return [
            database.execute(
                f"SELECT count(wire_bytes), {_counts('wire_bytes')} FROM read_parquet(?, "  # noqa: S608
                "hive_partitioning = false) "
                f"WHERE {condition}",
                [str(release.file("response"))],
            ).fetchall()[0]
            for release in releases
        ]


def _bare_known(releases: Sequence[Release]) -> list[tuple[int, ...]]:
    """Return the same, with sizes that are not known left out before they are compared, as our query does."""
    return _bare(releases, "is_complete IS NOT FALSE AND wire_bytes IS NOT NULL")


def raw_counts(releases: Sequence[Release]) -> list[tuple[int, ...]]:
    """Return the same counts by our views of a release: of its final visits, without what did not arrive
    whole."""
    query = (
        f"SELECT count(*), {_counts('wire_bytes')} FROM ({ARRIVED}) WHERE is_whole "  # noqa: S608
        "AND wire_bytes IS NOT NULL"
    )
    with open_database() as database:
        return [row for release in releases for row in _rows(database, release, query)]


ENDS_IN = f"least((wire_bytes + {MSS_FIG1 - 1}) // {MSS_FIG1}, {max(WINDOWS) + 1})"
"""The segment in which a response ends, which all windows are summed from;
those beyond the largest window are one."""


def _bare_by_segment(releases: Sequence[Release]) -> list[tuple[int, ...]]:
    """Return the same counts by DuckDB alone over the file, each response counted once,
    by the segment in which it ends."""
    with duckdb.connect(":memory:") as database:
        return [
            _sum_segments(
                database.execute(
                    f"SELECT {ENDS_IN} AS segment, count(*) FROM read_parquet(?, "  # noqa: S608
                    "hive_partitioning = false) "
                    "WHERE is_complete IS NOT FALSE AND wire_bytes IS NOT NULL GROUP BY segment",
                    [str(release.file("response"))],
                ).fetchall()
            )
            for release in releases
        ]


def _sum_segments(ends: Iterable[tuple[int, int]]) -> tuple[int, ...]:
    """Return the count of all responses and of those that fit each window, from those that end in each
    segment."""
    counts = dict(ends)
    return sum(counts.values()), *(sum(n for segment, n in counts.items() if segment <= iw) for iw in WINDOWS)


def counts_of_recipe(releases: Sequence[Release]) -> list[tuple[int, ...]]:
    """Return the same counts by the recipe of docs/recipes.md for raw rows, in one statement over all
    releases."""
    recipe = RECIPE.search(PAGE.read_text(encoding="utf-8"))
    if recipe is None:
        raise BenchError(f"{PAGE} has no recipe for raw rows")
    folder = releases[0].path.parents[len(releases[0].crawl.path(Path(), version=1).parts) - 1]
    with duckdb.connect(":memory:") as database:
        rows = database.execute(recipe[1].replace(STORE, str(folder))).fetchall()
    fitting = {(month, iw): count for month, iw, count, _, _ in rows}
    known = {month: count for month, _, _, count, _ in rows}
    months = [release.crawl.month for release in releases]
    return [(known[month], *(fitting[month, iw] for iw in WINDOWS)) for month in months]


def _rows(database: duckdb.DuckDBPyConnection, release: Release, query: str) -> list[tuple[Any, ...]]:
    view_tables(database, release.path)
    return database.execute(query).fetchall()


def _distribution(releases: Sequence[Release]) -> list[tuple[int, ...]]:
    """Return the same counts from the released distributions."""
    fitting = ", ".join(
        f"coalesce(max(cumulative) FILTER (size_bytes <= {iw * MSS_FIG1}), 0)" for iw in WINDOWS
    )
    query = (
        f"SELECT coalesce(max(cumulative), 0), {fitting} FROM read_parquet(?, hive_partitioning = false) "  # noqa: S608
        "WHERE measure = 'responses'"
    )
    with duckdb.connect(":memory:") as database:
        return [
            row
            for release in releases
            for row in database.execute(query, [str(release.file("distribution"))]).fetchall()
        ]
