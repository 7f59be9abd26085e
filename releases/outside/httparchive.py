"""Reads what HTTP Archive publishes: report JSON, its CSV form, figures of the Almanac,
and pervasive resources.

Files from outside are hostile: size, form and numbers are checked.
"""

import csv
import io
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

import duckdb

from releases.outside.points import OutsideError, Point
from releases.outside.series import FIT_BYTES, QUANTILES, is_lost

MOST_BYTES = 64 * 1024 * 1024
"""Largest file that is read."""

REPORTS = {
    "bytesTotal": "page-weight",
    "bytesJs": "javascript-bytes",
    "reqJs": "javascript-requests",
}
"""Series by the name of HTTP Archive's report."""

WEIGHTED = f"""
WITH sized AS (SELECT month, size_bytes, sum(occurrences) AS n FROM resources
               WHERE size_bytes IS NOT NULL AND occurrences > 0 GROUP BY ALL),
     placed AS (SELECT *, sum(n) OVER (PARTITION BY month ORDER BY size_bytes) / sum(n) OVER (PARTITION BY month) AS cdf FROM sized)
SELECT month, {", ".join(f"min(size_bytes) FILTER (cdf >= 0.{name[1:]}) AS {name}" for name in QUANTILES)},
       coalesce(max(cdf) FILTER (size_bytes <= {FIT_BYTES}), 0) AS share
FROM placed GROUP BY month ORDER BY month
"""  # noqa: E501, S608
"""The smallest size that at least this share of occurrences does not exceed,
and the share up to FIT_BYTES, by month."""


def read(path: Path) -> list[Point]:
    """Return the points of a file, by its name and columns; OutsideError."""
    try:
        check_size(path)
        points = FORMS.get(path.suffix, unknown)(path)
    except OutsideError as exc:
        raise OutsideError(f"{path}: {exc}") from exc
    except (
        OSError,
        ValueError,
        KeyError,
        TypeError,
        AttributeError,
        RecursionError,
        csv.Error,
        duckdb.Error,
    ) as exc:
        raise OutsideError(f"{path} is no file of HTTP Archive that can be read ({exc!r:.200})") from exc
    points = [point for point in points if not is_lost(point.series, point.client, point.date)]
    if not points:
        raise OutsideError(f"{path} holds no point")
    return points


def check_size(path: Path) -> None:
    if path.stat().st_size > MOST_BYTES:
        raise OutsideError(f"more than {MOST_BYTES // 2**20} MiB")


def unknown(path: Path) -> list[Point]:
    raise OutsideError(f"{path.suffix or path.name} is none of {', '.join(FORMS)}")


def read_report(path: Path) -> list[Point]:
    """Return a report's JSON: an array, or an object a line; the file is named after the report."""
    name = path.name.split(".")[0]
    if name not in REPORTS:
        raise OutsideError(f"the name tells no report: one of {', '.join(REPORTS)} is expected")
    text = path.read_text(encoding="utf-8").strip()
    rows = (
        json.loads(text)
        if text.startswith("[")
        else [json.loads(line) for line in text.splitlines() if line.strip()]
    )
    return [of_report(REPORTS[name], row) for row in rows]


def read_csv(path: Path) -> list[Point]:
    """Return a report as CSV with a column `measure`, or the Almanac with a column `crawl`."""
    rows = list(csv.DictReader(io.StringIO(path.read_text(encoding="utf-8"))))
    if rows and "crawl" in rows[0]:
        return [of_almanac(row) for row in rows]
    return [of_report(REPORTS[row["measure"]], row) for row in rows]


def of_report(series: str, row: Mapping[str, Any]) -> Point:
    return Point(
        series=series,
        date=str(row["date"]).replace("_", "-"),
        client=str(row["client"]),
        scope="home",
        values={name: float(row[name]) for name in QUANTILES},
    )


def of_almanac(row: Mapping[str, str]) -> Point:
    return Point(
        series=f"almanac-{row['measure']}",
        date=row["crawl"],
        client=row["client"],
        scope=row["scope"],
        values={name: float(row[name]) for name in QUANTILES if row[name]},
    )


def read_pervasive(path: Path) -> list[Point]:
    """Return pervasive resources: quantiles and the share that fits, by month, weighted by occurrence."""
    with duckdb.connect(":memory:", config={"memory_limit": "1GB"}) as database:
        database.read_parquet(str(path)).project("month, size_bytes, occurrences").create_view("resources")
        months = database.execute(WEIGHTED).fetchall()
    return [
        Point(
            series="pervasive-sizes",
            date=month,
            client="both",
            scope="all",
            values={**dict(zip(QUANTILES, map(float, quantiles), strict=True)), "share": float(share)},
        )
        for month, *quantiles, share in months
    ]


FORMS: dict[str, Callable[[Path], list[Point]]] = {
    ".json": read_report,
    ".csv": read_csv,
    ".parquet": read_pervasive,
}
