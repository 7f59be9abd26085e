"""The times of each page, by Chromium and by the replay: page_times.csv."""

import csv
import statistics
from collections.abc import Iterator
from pathlib import Path

from studies.csv_table import write_table
from studies.page_loads.comparing import Measured

TABLE = Path(__file__).with_name("page_times.csv")
FIELDS = ("network", "measure", "page", "iw", "loads", "least_ms", "median_ms", "most_ms", "replayed_ms")
"""Least, median and most of Chromium's loads in milliseconds, and the replay's median load."""


def write(path: Path, measured: Measured) -> None:
    """Write a row for each network, measure, page and window that was loaded and replayed,
    rounded to microseconds."""
    write_table(path, FIELDS, rows(measured))


def rows(measured: Measured) -> Iterator[tuple[str | int, ...]]:
    for (network, measure), (real, replayed) in measured.items():
        for page, iw in sorted(real.keys() & replayed.keys()):
            theirs = real[page, iw]
            times = (
                min(theirs),
                statistics.median(theirs),
                max(theirs),
                statistics.median(replayed[page, iw]),
            )
            yield (network, measure, page, iw, len(theirs), *(f"{time:.3f}" for time in times))


def read(path: Path) -> Measured:
    """Read what was written: of Chromium's loads the least, the median and the most,
    whose median is that of all."""
    measured: dict[tuple[str, str], tuple[dict[tuple[str, int], list[float]], ...]] = {}
    with path.open(encoding="utf-8", newline="") as file:
        for row in csv.DictReader(file):
            real, replayed = measured.setdefault((row["network"], row["measure"]), ({}, {}))
            key = (row["page"], int(row["iw"]))
            real[key] = [float(row[name]) for name in ("least_ms", "median_ms", "most_ms")]
            replayed[key] = [float(row["replayed_ms"])]
    return {key: (real, replayed) for key, (real, replayed) in measured.items()}
