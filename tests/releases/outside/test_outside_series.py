"""What others counted: its published values, its breaks, and files that are none."""

import csv
import json
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

from releases.outside import httparchive
from releases.outside.lines import draw_lines
from releases.outside.points import OutsideError, Point, from_text, load_points, to_text
from releases.outside.series import BREAKS, KINDS

REPORT = {"date": "2023_01_01", "timestamp": "1", "client": "desktop", "p10": "1", "p25": "2", "p50": "3", "p75": "4", "p90": "5"}  # fmt: skip  # noqa: E501


@pytest.fixture(scope="module")
def bundled() -> list[Point]:
    return load_points()


PUBLISHED = [
    ("page-weight", "desktop", "2010-11-15", 467.7),
    ("page-weight", "mobile", "2012-11-15", 390),
    ("page-weight", "desktop", "2022-10-01", 2283.98),
    ("page-weight", "mobile", "2022-10-01", 2010.05),
    ("almanac-requests", "desktop", "2022-06", 76),
    ("almanac-page_bytes", "mobile", "2020-08", 1915),
]
"""Medians as HTTP Archive and the Web Almanac printed them."""


@pytest.mark.parametrize(("series", "client", "date", "median"), PUBLISHED)
def test_the_bundled_points_are_those_that_were_published(
    bundled: list[Point], series: str, client: str, date: str, median: float
) -> None:
    (point,) = [
        candidate
        for candidate in bundled
        if (candidate.series, candidate.client, candidate.date) == (series, client, date)
    ]
    assert point.values["p50"] == pytest.approx(median, abs=0.5)


def test_the_bundled_points_reach_from_2010_to_2026(bundled: list[Point]) -> None:
    counts = {name: sum(point.series == name for point in bundled) for name in KINDS}
    assert all(counts.values())
    assert (counts["page-weight"], counts["javascript-bytes"], counts["pervasive-sizes"]) == (457, 291, 13)
    assert (min(point.date for point in bundled), max(point.date for point in bundled)) == (
        "2010-11-15",
        "2026-01",
    )


def test_the_share_of_pervasive_resources_that_fit_is_counted_by_occurrence(bundled: list[Point]) -> None:
    shares = {point.date: point.values["share"] for point in bundled if point.series == "pervasive-sizes"}
    assert shares["2025-01"] == pytest.approx(0.477, abs=5e-4)
    assert shares["2026-01"] == pytest.approx(0.525, abs=5e-4)


def test_values_that_the_publisher_lost_are_missing_and_not_zero(bundled: list[Point]) -> None:
    lost = [
        point
        for point in bundled
        if point.series.startswith("javascript") and "2016-12-15" <= point.date <= "2017-01-15"
    ]
    assert {point.client for point in lost} == {"mobile"}


def test_no_piece_of_a_line_crosses_a_break_of_the_publisher(bundled: list[Point]) -> None:
    for series in KINDS:
        for line in draw_lines(bundled, series):
            assert sum(map(len, line.pieces)) == sum(
                (point.series, point.client, point.scope) == (series, line.client, line.scope)
                for point in bundled
            )
            for piece in line.pieces:
                for flag in line.breaks:
                    assert not piece[0].date < flag.date <= piece[-1].date


def test_yearly_points_are_never_joined(bundled: list[Point]) -> None:
    yearly = [line for name, kind in KINDS.items() if kind.is_yearly for line in draw_lines(bundled, name)]
    assert yearly
    assert all(len(piece) == 1 for line in yearly for piece in line.pieces)


def test_breaks_are_in_order_and_part_the_median_page(bundled: list[Point]) -> None:
    assert [event.date for event in BREAKS] == sorted(event.date for event in BREAKS)
    (desktop,) = [line for line in draw_lines(bundled, "page-weight") if line.client == "desktop"]
    assert {flag.date[:4] for flag in desktop.breaks} == {"2012", "2016", "2017", "2018"}


def test_points_survive_being_written(bundled: list[Point]) -> None:
    assert from_text(to_text(bundled)) == sorted(bundled, key=lambda point: point.key)


def write(path: Path, content: Any) -> Path:
    path.write_text(content if isinstance(content, str) else json.dumps(content))
    return path


def test_a_report_is_read_in_each_of_its_forms(tmp_path: Path) -> None:
    array = httparchive.read(write(tmp_path / "bytesTotal.json", [REPORT]))
    one_a_line = httparchive.read(write(tmp_path / "bytesTotal.2.json", f"{json.dumps(REPORT)}\n"))
    table = tmp_path / "bytes_total.csv"
    with table.open("w", newline="") as file:
        writer = csv.DictWriter(file, ["measure", *REPORT])
        writer.writeheader()
        writer.writerow({"measure": "bytesTotal", **REPORT})
    assert array == one_a_line == httparchive.read(table)
    assert array == [
        Point(
            series="page-weight",
            date="2023-01-01",
            client="desktop",
            scope="home",
            values={"p10": 1, "p25": 2, "p50": 3, "p75": 4, "p90": 5},
        )
    ]


def pervasive(path: Path, *rows: tuple[str, int | None, int]) -> Path:
    names = ("month", "size_bytes", "occurrences")
    pq.write_table(pa.Table.from_pylist([dict(zip(names, row, strict=True)) for row in rows]), path)
    return path


def test_quantiles_of_pervasive_resources_are_weighted_by_occurrence(tmp_path: Path) -> None:
    rows = [("2026-02", 1_000, 60), ("2026-02", 14_600, 20), ("2026-02", 14_601, 20), ("2026-02", None, 500)]
    (point,) = httparchive.read(pervasive(tmp_path / "x.parquet", *rows))
    assert point.values == {
        "p10": 1_000,
        "p25": 1_000,
        "p50": 1_000,
        "p75": 14_600,
        "p90": 14_601,
        "share": 0.8,
    }


@pytest.mark.parametrize(
    ("name", "content"),
    [
        ("bytesTotal.json", "[{"),
        ("bytesTotal.json", "[" * 100_000),
        ("bytesTotal.json", "[]"),
        ("bytesTotal.json", [7]),
        ("bytesTotal.json", [{**REPORT, "p50": "NaN"}]),
        ("bytesTotal.json", [{**REPORT, "p50": "1e300"}]),
        ("bytesTotal.json", [{**REPORT, "p50": "-3"}]),
        ("bytesTotal.json", [{**REPORT, "p50": "1.5"}]),
        ("bytesTotal.json", [{**REPORT, "client": "fridge"}]),
        ("bytesTotal.json", [{**REPORT, "date": "yesterday"}]),
        ("speedIndex.json", [REPORT]),
        ("bytes_total.csv", "measure,date\nspeedIndex,2020_01_01\n"),
        ("bytes_total.csv", "a,b\n1,2\n"),
        ("x.parquet", "no Parquet"),
        ("x.xlsx", "other"),
    ],
)
def test_a_file_that_is_none_is_one_error(name: str, content: Any, tmp_path: Path) -> None:
    with pytest.raises(OutsideError, match=name.replace(".", r"\.")):
        httparchive.read(write(tmp_path / name, content))


def test_a_file_that_is_too_large_is_not_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(httparchive, "MOST_BYTES", 10)
    with pytest.raises(OutsideError, match="more than 0 MiB"):
        httparchive.read(write(tmp_path / "bytesTotal.json", [REPORT]))
