"""A canonical address names its releases: what it answers stays as it is when
later versions and months come."""

import dataclasses
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from schema.crawls import CrawlName
from tests.api.conftest import serving, write_release, write_release_with_items
from tests.api.rows.conftest import NAME, made_up, write_crawl
from tests.api.test_v1 import assert_problem

FIRST, SECOND, THIRD = (CrawlName(month=month) for month in ("2026-10", "2026-11", "2026-12"))


def canonical(client: TestClient, path: str) -> str:
    answer = client.get(path)
    assert answer.status_code == 200, answer.text
    return str(answer.links["canonical"]["url"])


@pytest.fixture
def months(tmp_path: Path) -> Path:
    for crawl in (FIRST, SECOND):
        write_release_with_items(tmp_path, crawl)
    return tmp_path


def more(folder: Path) -> None:
    write_release(folder, SECOND, version=2)
    write_release_with_items(folder, THIRD)


@pytest.mark.parametrize("path", ["/v1/series?iw=3", "/v1/series.csv?statistic=quantile"])
def test_a_series_stays_at_its_canonical_address_when_versions_and_months_come(
    months: Path, path: str
) -> None:
    with serving(months) as client:
        pinned = canonical(client, path)
        before = client.get(pinned).content
        assert before == client.get(path).content
        more(months)
        assert client.get(pinned).content == before
        assert client.get(path).content != before
        assert canonical(client, pinned) == pinned


@pytest.mark.parametrize("path", ["/v1/sites/site1.test", "/sites/site1.test"])
def test_a_site_stays_at_its_canonical_address_when_versions_and_months_come(
    tmp_path: Path, path: str
) -> None:
    write_crawl(tmp_path, NAME, made_up())
    with serving(tmp_path) as client:
        pinned = canonical(client, path)
        before = client.get(pinned).content
        assert before == client.get(path).content
        write_crawl(tmp_path, dataclasses.replace(NAME, month="2027-01"), made_up())
        assert client.get(pinned).content == before
        assert client.get(path).content != before


def test_the_explorers_link_for_good_keeps_its_months(months: Path) -> None:
    with serving(months) as client:
        page = client.get(f"/explore?crawl={SECOND}&measure=responses").text
        (link,) = re.findall(r'<a href="([^"]*)"><code data-copy', page)
        kept = link.replace("&amp;", "&")
        (csv,) = {
            match.replace("&amp;", "&") for match in re.findall(r'"(/v1/series.csv[^"]*iw=3&[^"]*)"', page)
        }
        paths = [
            csv,
            *(kept.replace("/explore?", f"/explore{kind}?") for kind in (".svg", ".csv", "/months.svg")),
        ]
        before = [client.get(path).text for path in paths]
        more(months)
        assert [client.get(path).text for path in paths] == before
        after = client.get(kept).text
        assert str(THIRD) not in after.partition("Over the months")[2]
        assert canonical(client, kept) == kept
        months_now = client.get(f"/explore?crawl={SECOND}&measure=responses").text
        assert THIRD.month in months_now.partition("Over the months")[2]


def test_a_month_alone_that_was_kept_gets_no_series_later(tmp_path: Path) -> None:
    write_release_with_items(tmp_path, FIRST)
    with serving(tmp_path) as client:
        kept = canonical(client, f"/explore?crawl={FIRST}")
        write_release_with_items(tmp_path, SECOND)
        assert "Over the months" not in client.get(kept).text
        assert "Over the months" in client.get(f"/explore?crawl={FIRST}/v1").text


def test_a_release_that_is_not_there_is_no_pin(months: Path) -> None:
    with serving(months) as client:
        for release, kind, status in (
            (f"{FIRST}/v9", "no-such-crawl", 404),
            (str(FIRST), "bad-parameter", 400),
        ):
            assert_problem(client.get("/v1/series", params={"release": release}), kind, status)
        more(months)
        twice = {"release": [f"{SECOND}/v1", f"{SECOND}/v2"]}
        assert_problem(client.get("/v1/series", params=twice), "bad-parameter", 400, mentions="two versions")
