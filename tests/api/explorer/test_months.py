"""Shares over the months in the explorer: the figure with its flags, the table, and what is no series."""

import re
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from releases.formatting import NARROW
from schema.crawls import CrawlName
from tests.api.conftest import write_release, write_release_with_items
from tests.api.explorer.test_explorer import drawn_rows, texts
from tests.api.test_v1 import assert_problem

LAST = "2027-02.desktop.local.tcp.web"


@pytest.fixture(scope="module")
def year(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A service with four months, the third after a gap and of another method,
    and one month of another device."""
    folder: Path = tmp_path_factory.mktemp("year")
    write_release(folder, CrawlName(month="2026-10"), version=1)
    write_release_with_items(folder, CrawlName(month="2026-11"))
    write_release_with_items(folder, CrawlName(month="2027-01"), method_version="2")
    write_release_with_items(folder, CrawlName(month="2027-02"), method_version="3")
    write_release_with_items(folder, CrawlName(month="2027-02", device="mobile"))
    with TestClient(create_app(folder, folder / "reports")) as client:
        yield client


def plotted(client: TestClient, query: str) -> list[dict[str, Any]]:
    return drawn_rows(client, f"crawl={LAST}&{query}", "explore/months.json")


def cells(page: str) -> list[list[str]]:
    body = re.findall(r"<tbody>(.*?)</tbody>", page, re.DOTALL)[-1]
    return [
        [
            re.sub(r"<small>.*?</small>|<[^>]*>", "", cell).strip()
            for cell in re.findall(r"<t[hd].*?</t[hd]>", row)
        ]
        for row in re.findall(r"<tr>(.*?)</tr>", body, re.DOTALL)
    ]


def test_a_line_of_each_window_ends_at_gaps_and_breaks(year: TestClient) -> None:
    found = plotted(year, "measure=responses&iw=3,10")
    for window in ("IW 3", "IW 10"):
        parts = [(row["part"], row["month"]) for row in found if row.get("series") == window]
        assert parts == [(0, "2026-10"), (0, "2026-11"), (1, "2027-01"), (2, "2027-02")]


def test_a_month_that_says_its_sites_has_a_bar_around_its_share(year: TestClient) -> None:
    found = [row for row in plotted(year, "measure=responses&iw=10") if "series" in row]
    bars = [row for row in found if row["lower"] is not None]
    assert (len(bars), len(found)) == (3, 4)
    assert all(row["lower"] <= row["value"] <= row["upper"] for row in bars)


def test_a_flag_stands_before_the_month_that_changed_and_is_said_below(year: TestClient) -> None:
    flags = {row["text"] for row in plotted(year, "measure=responses&iw=10") if row.keys() >= {"to", "text"}}
    page = year.get(f"/explore?crawl={LAST}&measure=responses").text
    breaks = re.findall(r"<dt>(\d)\. ([^<]*)</dt><dd>(Measuring method \d)", page)
    assert [one[1:] for one in breaks] == [
        ("2027-01, break", "Measuring method 2"),
        ("2027-02, break", "Measuring method 3"),
    ]
    assert {number for number, *_ in breaks} <= flags


def test_the_title_of_the_months_is_the_first_and_the_last_share(year: TestClient) -> None:
    query = f"crawl={LAST}&measure=responses&iw=10"
    first, last = (
        point["value"]
        for point in year.get("/v1/series?kind=web&measure=responses&iw=10&mss=1430").json()["points"]
        if point["month"] in ("2026-10", "2027-02")
    )
    title = " ".join(texts(year, query, "explore/months.svg"))
    assert f"{100 * first:.1f}{NARROW}% of responses" in title
    assert f"in 2026-10, and {100 * last:.1f}{NARROW}% in 2027-02" in title


def test_the_table_has_the_shares_of_the_api_the_newest_first(year: TestClient) -> None:
    page = year.get(f"/explore?crawl={LAST}&measure=responses&iw=3").text
    points = year.get("/v1/series?kind=web&measure=responses&iw=3&mss=1430").json()["points"]
    shown = [row[:2] for row in cells(page)]
    assert shown == [
        [point["month"], "\u2013" if point["value"] is None else f"{100 * point['value']:.1f}{NARROW}%"]
        for point in reversed(points)
    ]
    assert cells(page)[2][2] == "there is no release of this month"


def test_neighbouring_months_without_a_release_are_one_row(tmp_path: Path) -> None:
    for month in ("2026-01", "2026-06", "2026-07"):
        write_release(tmp_path, CrawlName(month=month), version=1)
    with TestClient(create_app(tmp_path, tmp_path / "reports")) as client:
        page = client.get("/explore?crawl=2026-07&measure=responses").text
    july, june, unknown, january = cells(page)
    assert unknown[0] == "2026-02 to 2026-05"
    assert unknown[-1] == "there is no release of this month (4 months)"
    assert [row[0] for row in (july, june, january)] == ["2026-07", "2026-06", "2026-01"]


def test_a_stratum_is_named_over_the_months(year: TestClient) -> None:
    *_, november, october = cells(year.get(f"/explore?crawl={LAST}&measure=responses&iw=3&protocol=h2").text)
    assert october[1].endswith("%")
    assert november[1].endswith("%")
    words = texts(year, f"crawl={LAST}&measure=responses&iw=3&protocol=h2", "explore/months.svg")
    assert "Share that fits, by month; desktop.local.tcp.web; protocol: HTTP/2" in words


def test_the_series_of_the_page_lead_to_those_of_the_api(year: TestClient) -> None:
    page = year.get(f"/explore?crawl={LAST}&measure=responses&iw=3&protocol=h2").text
    (address,) = re.findall(r'href="(/v1/series\.csv[^"]*)"', page)
    assert "iw=3&amp;mss=1430&amp;protocol=h2" in address
    assert year.get(address.replace("&amp;", "&")).status_code == 200


def test_one_month_is_no_series(year: TestClient) -> None:
    query = f"crawl={LAST.replace('desktop', 'mobile')}&measure=responses"
    assert 'id="months"' not in year.get(f"/explore?{query}").text
    assert_problem(year.get(f"/explore/months.svg?{query}"), "no-such-crawl", 404, mentions="two months")
