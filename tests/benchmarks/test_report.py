"""The benchmark of the report: its release is one that a report can be made of, and its section says whether the bounds hold."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from benchmarks.report import BEFORE, MOST_S, NOW, RESPONSES_A_PAGE, made_up_release, section
from benchmarks.results import spread
from releases.cdf import read_cdfs
from reports.document.report import compose
from tests.factories.made_up_report import read_data_folder

RESPONSES = 20 * RESPONSES_A_PAGE


def facts(wall_s: float) -> dict[str, Any]:
    one = {"wall_s": spread([wall_s]), "cpu_s": spread([9.0]), "peak_mb": spread([600.0])}
    return {
        "commit": "0123456789abcdef",
        "measured_at": "2026-11-23T12:00:00+00:00",
        "machine": {"cpu": "CPU", "cpus": 2, "kernel": "6.1", "load_before": 0.25},
        "runs": 1,
        "responses": 999_936,
        "pages": 7_936,
        "cases": {"one release": one},
    }


@pytest.mark.process
def test_a_report_can_be_made_of_the_made_up_releases(tmp_path: Path) -> None:
    for seed, crawl in enumerate((NOW, BEFORE)):
        release = made_up_release(tmp_path / "releases", crawl, responses=RESPONSES, seed=seed)
        cdfs = read_cdfs(release.file("distribution"))
        assert (cdfs["responses"].known, cdfs["responses"].unknown) == (RESPONSES, 0)
        assert cdfs["first_flights"].is_stated
    content = compose(read_data_folder(tmp_path, with_replay=False))
    sections = {one["id"]: one for one in content["sections"]}
    assert sections["since-last-year"]["missing"] is None
    assert {"fits-last-year", "tail-hosts", "by-protocol"} <= {
        table["id"] for one in sections.values() for table in one["tables"]
    }


def test_the_section_says_whether_the_bounds_hold() -> None:
    written = section(facts(24.0))
    assert "| one release | 24.0 (24.0 to 24.0) | 9.0 (9.0 to 9.0) | 600 (600 to 600) |" in written
    assert "The bounds are held." in written
    assert "The bounds are missed (61 s of 60)." in section(facts(MOST_S + 1))
