"""Measures the ways to the shares of responses that fit into ten windows, over the raw column and over the distributions."""

from __future__ import annotations

import statistics
import time
from collections.abc import Callable, Sequence
from typing import Any

import duckdb

from benchmarks.service.servers import BenchError
from releases.catalogue import Release
from releases.cdf import read_cdfs
from releases.measures import ARRIVED, open_database, view_tables
from releases.slow_start import MSS_FIG1

WINDOWS = (1, 2, 3, 4, 6, 10, 16, 24, 32, 64)
"""Initial windows whose shares are asked for, in segments."""

RUNS = 3
"""Runs of each query, in turn."""


def coverage(found: Sequence[Release]) -> dict[str, Any]:
    """Seconds of the ways to the shares that fit; BenchError if their counts differ."""
    ways: dict[str, Callable[[Sequence[Release]], list[tuple[int, ...]]]] = {
        "bare": _bare,
        "bare_known": _bare_known,
        "ours": raw_counts,
        "by_segment": counts_by_segment,
        "distribution": _distribution,
    }
    seconds: dict[str, list[float]] = {}
    for _ in range(RUNS):
        counts = {}
        for name, way in ways.items():
            began = time.monotonic()
            counts[name] = way(found)
            seconds.setdefault(name, []).append(time.monotonic() - began)
        if len(set(map(tuple, counts.values()))) > 1:
            raise BenchError("the bare scans, our query and the distributions count differently")
    ratios = [ours / bare for ours, bare in zip(seconds["ours"], seconds["bare"], strict=True)]
    middle = {name: round(statistics.median(taken), 3) for name, taken in seconds.items()}
    return {
        "coverage_scan_ratio": round(statistics.median(ratios), 2),
        "coverage_seconds": middle["ours"],
        "coverage_by_segment_seconds": middle["by_segment"],
        "coverage_bare_seconds": middle["bare"],
        "coverage_bare_known_seconds": middle["bare_known"],
        "coverage_distribution_seconds": middle["distribution"],
    }


def _counts(column: str) -> str:
    return ", ".join(f"count(*) FILTER ({column} <= {iw * MSS_FIG1})" for iw in WINDOWS)


def _bare(found: Sequence[Release], condition: str = "is_complete IS NOT FALSE") -> list[tuple[int, ...]]:
    """Counts of each release by DuckDB alone over the column as it lies in the file, without what did not arrive whole."""
    with duckdb.connect(":memory:") as database:
        return [
            database.execute(
                f"SELECT count(wire_bytes), {_counts('wire_bytes')} FROM read_parquet(?, hive_partitioning = false) "  # noqa: S608  # numbers alone
                f"WHERE {condition}",
                [str(one.file("response"))],
            ).fetchall()[0]
            for one in found
        ]


def _bare_known(found: Sequence[Release]) -> list[tuple[int, ...]]:
    """The same, with sizes that are not known left out before they are compared, as our query does."""
    return _bare(found, "is_complete IS NOT FALSE AND wire_bytes IS NOT NULL")


def raw_counts(found: Sequence[Release]) -> list[tuple[int, ...]]:
    """The same counts by our views of a release: of its final visits, without what did not arrive whole."""
    query = (
        f"SELECT count(*), {_counts('wire_bytes')} FROM ({ARRIVED}) WHERE is_whole AND wire_bytes IS NOT NULL"  # noqa: S608  # constants
    )
    with open_database() as database:
        return [row for one in found for row in _rows(database, one, query)]


def counts_by_segment(found: Sequence[Release]) -> list[tuple[int, ...]]:
    """The same counts by the same views: responses by the segment in which they end, which all windows are summed from."""
    ends_in = f"least((wire_bytes + {MSS_FIG1 - 1}) // {MSS_FIG1}, {max(WINDOWS) + 1})"
    query = f"SELECT {ends_in} AS segment, count(*) FROM ({ARRIVED}) WHERE is_whole AND wire_bytes IS NOT NULL GROUP BY segment"  # noqa: S608  # constants
    counts = []
    with open_database() as database:
        for one in found:
            ends = dict(_rows(database, one, query))
            fitting = (sum(count for segment, count in ends.items() if segment <= iw) for iw in WINDOWS)
            counts.append((sum(ends.values()), *fitting))
    return counts


def _rows(database: duckdb.DuckDBPyConnection, release: Release, query: str) -> list[tuple[Any, ...]]:
    view_tables(database, release.path)
    return database.execute(query).fetchall()


def _distribution(found: Sequence[Release]) -> list[tuple[int, ...]]:
    """The same counts from the released distributions."""
    cdfs = [read_cdfs(one.file("distribution"))["responses"] for one in found]
    return [(cdf.known, *(cdf.fit(iw, mss=MSS_FIG1).count for iw in WINDOWS)) for cdf in cdfs]
