"""The made-up year of the service's benchmark: its releases count the same in three ways, and the service answers from them."""

from __future__ import annotations

import dataclasses
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from benchmarks.service.coverage import counts_of_recipe, coverage, raw_counts
from benchmarks.service.over_a_year import STRATA, missed, section
from benchmarks.service.year import MONTHS, host_of, year
from firstflight.recorded_pages import import_pages
from firstflight.settings import from_environment
from releases.catalogue import Release
from tests.factories.recorded_pages import document, row, write_folder

RESPONSES = 600


@pytest.fixture(scope="module")
def data(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder, elsewhere = tmp_path_factory.mktemp("year"), tmp_path_factory.mktemp("recorded")
    scripts = [row(entry, page=page, transfer_bytes=5_000 * entry) for page in (1, 2) for entry in (1, 2, 3)]
    pages = [document(page=1), *scripts[:3], document(page=2), *scripts[3:5]]
    recorded = write_folder(elsewhere / "pages", pages)

    def source() -> Release:
        settings = dataclasses.replace(from_environment(), data_dir=elsewhere / "source")
        return import_pages(settings, recorded).release

    year(folder, source, responses=RESPONSES)
    return folder


def made(data: Path) -> list[Release]:
    def never() -> Release:
        raise AssertionError("the year is made twice")

    return year(data, never, responses=RESPONSES)


def test_a_year_has_twelve_months_of_the_same_sites_with_other_sizes(data: Path) -> None:
    found = made(data)
    assert [one.crawl.month for one in found] == list(MONTHS)
    assert {one.manifest.rows["visit"] for one in found} == {found[0].manifest.rows["visit"]}
    assert RESPONSES <= sum(one.manifest.rows["response"] for one in found) <= 1.2 * RESPONSES
    assert len(set(raw_counts(found))) > 1
    assert counts_of_recipe(found) == raw_counts(found)


def test_the_raw_column_and_the_distributions_of_a_year_count_the_same(data: Path) -> None:
    seconds = coverage(made(data))
    assert all(value > 0 for value in seconds.values())


def test_the_service_knows_the_strata_and_the_sites_of_a_year(data: Path) -> None:
    with TestClient(create_app(data / "releases", data / "reports")) as client:
        asked = f"/v1/distributions?crawl={made(data)[0].crawl}&measure=responses"
        shares = [client.get(f"{asked}&{stratum}").json() for stratum in STRATA[:2]]
        assert all(one["stratum_unknown"] is None for one in shares)
        assert shares[1]["distributions"][0]["known"] > 0
        history = client.get(f"/v1/sites/{host_of(1)}").json()
    assert [one["crawl"][:7] for one in history["crawls"]] == sorted(MONTHS, reverse=True)


def figures(**found: Any) -> dict[str, Any]:
    few = {"median": 2.0, "max": 4.0}
    return {
        "year_responses_asked": RESPONSES,
        "year_releases": 12,
        "year_responses": RESPONSES,
        "year_mb": 1.0,
        "year_runs": 3,
        "coverage_scan_ratio": 1.1,
        "coverage_seconds": 1.21,
        "coverage_scan_by_segment_ratio": 1.4,
        "coverage_views_seconds": 1.0,
        "coverage_bare_by_segment_seconds": 0.7,
        "coverage_bare_seconds": 1.1,
        "coverage_bare_known_seconds": 0.9,
        "coverage_distribution_seconds": 0.55,
        "prepared_s": 70.0,
        "prepared_mb": 880.0,
        "prepared_peak_mb": 550.0,
        **dict.fromkeys(("stratum_ms", "stratum_from_disk_ms", "stratum_of_held_items_ms"), few),
        **dict.fromkeys(("kept_ms", "history_ms", "history_from_disk_ms"), few),
    } | found


def test_the_section_of_the_year_has_its_ratios_and_says_what_is_missed() -> None:
    assert "| the released distributions | 0.55 | 0.50 | 0.79 |" in section(figures())
    assert "1.10 times the first bare scan, 1.40 times the one by segment" in section(figures())
    assert missed(figures()) == []
    slow = figures(coverage_scan_ratio=1.3, history_ms={"median": 51.0, "max": 60.0})
    assert missed(slow) == ["coverage above 1.2 times a bare scan", "a site's history above 50 ms"]
