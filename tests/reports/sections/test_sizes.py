"""Sizes that are mostly unknown have one sentence, and a report of sizes alone has
the sections that need no replay."""

import dataclasses
from pathlib import Path

import pytest

from reports.sections.sizes.counts import FittingShare, Measure, Sizes
from reports.sections.sizes.shares import measures_table, quantiles_table, shares_table
from tests.factories.made_up_crawl import NAME
from tests.factories.made_up_report import build_report, crawl, read_data_folder, write_release
from tests.factories.undrawn import undrawn


def measure(name: str, *, known: int, unknown: int) -> Measure:
    is_stated = known > unknown
    percent = 60.0 if is_stated else None
    share: FittingShare = {
        "iw": 10,
        "window_bytes": 14_300,
        "fitting": 0,
        "percent": percent,
        "lower_percent": percent,
        "upper_percent": percent,
    }
    return {
        "id": name,
        "definition": f"what {name} are",
        "known": known,
        "unknown": unknown,
        "is_stated": is_stated,
        "shares": [share],
        "quantiles_bytes": {"p50": 1000},
    }


SIZES: Sizes = {
    "mss_bytes": 1430,
    "windows": [10],
    "headline": [],
    "incomplete_responses": {"count": 0, "percent": None},
    "measures": [
        measure("responses", known=5_000, unknown=10),
        measure("first_flights", known=2, unknown=1_000),
        measure("tls_flights", known=0, unknown=0),
    ],
}


def test_a_measure_of_which_most_sizes_are_unknown_is_told_in_a_sentence() -> None:
    shares = shares_table(SIZES)
    for table in (shares, quantiles_table(SIZES)):
        assert [row["measure"] for row in table.rows] == ["all responses"]
    (note_on_unknown,) = (note for note in shares.notes if "unknown" in note)
    assert note_on_unknown.endswith("first flights (2 of 1\u202f002).")
    assert "TLS flights" not in note_on_unknown


def test_what_each_measure_counts_is_a_table_of_every_form() -> None:
    table = measures_table(SIZES)
    assert table.rows[1] == {"measure": "first flights", "definition": "what first_flights are"}


@pytest.mark.process
def test_a_report_of_sizes_alone_has_no_section_that_needs_a_replay(tmp_path: Path) -> None:
    write_release(tmp_path, crawl(), dataclasses.replace(NAME, kind="web"))
    inputs = read_data_folder(tmp_path, with_replay=False)
    with undrawn():
        content = build_report(inputs, tmp_path / "reports" / "2026")
    names = {section["id"] for section in content["sections"]}
    assert names == {"sizes"}
    assert "by a replay" in content["fuller"]
