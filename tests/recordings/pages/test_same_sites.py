"""The sites of a release, which intervals resample."""

from pathlib import Path

import pytest

from recordings.pages.same_sites import site_keys, sites_of
from recordings.pages.sets import AUGUST_2025, SETS, read_set
from tests.factories.made_up_crawl import MadeUp, release_of, write_tables


@pytest.mark.parametrize("name", SETS)
def test_every_page_of_a_set_that_comes_with_the_code_has_a_site(name: str) -> None:
    assert site_keys(name).keys() == {row["id"] for row in read_set(SETS[name]).tables["visit"]}


def test_the_pages_of_august_2025_are_of_500_sites() -> None:
    sites = site_keys(AUGUST_2025)
    assert (len(sites), len(set(sites.values()))) == (591, 500)


def test_the_same_site_has_one_name_in_every_set() -> None:
    in_2019, in_2025 = (set(site_keys(name).values()) for name in ("wpt-2019-12", AUGUST_2025))
    assert len(in_2019 & in_2025) == 28


def test_hosts_of_one_registrable_domain_are_one_site_and_made_up_hosts_are_none(tmp_path: Path) -> None:
    made_up = MadeUp()
    for host in ("shop.example.co.uk", "example.co.uk", "example.com", "en.wiki.org.test", "p.invalid"):
        made_up.add_visit(host=host)
    write_tables(tmp_path, made_up)
    named = sites_of(release_of(tmp_path)).to_pydict()
    assert dict(zip(named["rank"], named["site"], strict=True)) == {
        1: "example.co.uk",
        2: "example.co.uk",
        3: "example.com",
        4: "wiki.org.test",
    }
