"""The made-up year of the service's benchmark: its releases count the same in three ways,
and the service answers from them."""

import dataclasses
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from benchmarks.made_up_release import host_of
from benchmarks.service.coverage import counts_of_recipe, coverage, raw_counts
from benchmarks.service.over_a_year import STRATA
from benchmarks.service.year import MONTHS, year
from firstflight.recorded import import_pages
from firstflight.settings import from_environment
from releases.catalogue import Release
from tests.factories.recorded_pages import document, row, write_folder

pytestmark = pytest.mark.process

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


def make_year(data: Path) -> list[Release]:
    def never() -> Release:
        raise AssertionError("the year is made twice")

    return year(data, never, responses=RESPONSES)


def test_a_year_has_twelve_months_of_the_same_sites_with_other_sizes(data: Path) -> None:
    releases = make_year(data)
    assert [release.crawl.month for release in releases] == list(MONTHS)
    assert {release.manifest.rows["visit"] for release in releases} == {releases[0].manifest.rows["visit"]}
    assert RESPONSES <= sum(release.manifest.rows["response"] for release in releases) <= 1.2 * RESPONSES
    assert len(set(raw_counts(releases))) > 1
    assert counts_of_recipe(releases) == raw_counts(releases)


def test_the_raw_column_and_the_distributions_of_a_year_count_the_same(data: Path) -> None:
    seconds = coverage(make_year(data))
    assert all(value > 0 for value in seconds.values())


def test_the_service_knows_the_strata_and_the_sites_of_a_year(data: Path) -> None:
    with TestClient(create_app(data / "releases", data / "reports")) as client:
        asked = f"/v1/distributions?crawl={make_year(data)[0].crawl}&measure=responses"
        shares = [client.get(f"{asked}&{stratum}").json() for stratum in STRATA[:2]]
        assert all(share["stratum_unknown"] is None for share in shares)
        assert shares[1]["distributions"][0]["known"] > 0
        history = client.get(f"/v1/sites/{host_of(1)}").json()
    assert [crawl["crawl"][:7] for crawl in history["crawls"]] == sorted(MONTHS, reverse=True)
