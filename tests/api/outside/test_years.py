"""The recorded sets beside each other: the same sites a year apart, and two days apart."""

import csv
import html
import io
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from PIL import Image

from api.app import create_app
from figures.rendering import SIDES
from recordings.pages.sets import AUGUST_2025
from releases.formatting import quantity

pytestmark = pytest.mark.process

LOADED = ("tranco-2023-11", "tranco-2023-11b", "tranco-2024-11", "phantomjs-2013-09", AUGUST_2025)

Row = dict[str, str]


@pytest.fixture(scope="module")
def client(
    recorded_releases: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestClient]:
    folder = tmp_path_factory.mktemp("years")
    for name in LOADED:
        shutil.copytree(recorded_releases(name), folder / "releases", dirs_exist_ok=True)
    with TestClient(create_app(folder / "releases", folder / "reports")) as client:
        yield client


@pytest.fixture(scope="module")
def rows(client: TestClient) -> list[Row]:
    return list(csv.DictReader(io.StringIO(client.get("/v1/over-the-years.csv").text)))


def change_of(rows: list[Row], before: str, after: str) -> Row:
    """The change of the share of all responses within ten segments, by bodies and headers' text."""
    (change,) = (
        row
        for row in rows
        if (row["what"], row["responses"], row["measure"], row["iw"]) == ("change", "all", "share", "10")
        and row["end"] == "headers"
        and row["release"].startswith(before)
        and row["release_after"].startswith(after)
    )
    return change


CALIFORNIA = "desktop.california.tcp"


def test_the_same_sites_of_november_2023_stand_beside_november_2024(rows: list[Row]) -> None:
    change = change_of(rows, f"2023-11.{CALIFORNIA}", f"2024-11.{CALIFORNIA}")
    assert change["sites"] == "489"
    assert float(change["change"]) == pytest.approx(0.006, abs=0.002)  # without redirects, of 1,430 bytes
    assert float(change["lower"]) < 0 < float(change["upper"])


def test_two_days_apart_the_same_sites_differ_by_less_than_a_point(rows: list[Row]) -> None:
    change = change_of(rows, "2023-11.desktop.california-b", f"2023-11.{CALIFORNIA}")
    assert change["sites"] == "543"
    assert -0.01 < float(change["lower"]) < 0 < float(change["upper"]) < 0.01


def test_sets_whose_sites_are_not_all_joined_are_not_compared(rows: list[Row]) -> None:
    pairs = {(row["release"][:7], row["release_after"][:7]) for row in rows if row["what"] == "change"}
    assert ("2013-09", "2025-08") in pairs
    assert ("2023-11", "2025-08") in pairs
    assert not {("2013-09", "2023-11"), ("2013-09", "2024-11")} & pairs


def test_each_pair_of_years_has_a_picture_of_its_shares_on_one_scale(
    client: TestClient, rows: list[Row]
) -> None:
    page = html.unescape(client.get("/over-the-years").text)
    drawn = re.findall(r'<img src="([^"]*same-sites.svg[^"]*)"', page)
    heights = {}
    for address in drawn:
        drawing = html.unescape(client.get(address).text)
        ends = re.findall(r"(?:before|after)=([^&/]*)/v1", address)
        assert all(end[:7] in drawing for end in ends)
        change = change_of(rows, *ends)
        assert f"<strong>{change['sites']} sites</strong>" in page
        shown = [quantity(100 * float(change[name]), "%") for name in ("value", "value_after")]
        assert all(share in drawing for share in shown)
        heights[tuple(ends)] = SIDES["height"].findall(drawing)[0]
    assert len(heights) == len(drawn) == 3
    assert len({*heights.values()}) == 2  # the longest is large


def test_the_picture_to_take_says_what_was_found_and_whose_pages_it_is_of(client: TestClient) -> None:
    page = html.unescape(client.get("/over-the-years").text)
    finding = re.findall(r"<h1>(.*?)</h1>", page)[0]
    vector, pixels = re.findall(r'href="([^"]*same-sites[.](?:svg|png)[^"]*)" download', page)
    said = html.unescape(" ".join(re.findall(r">([^<]+)</(?:text|tspan)>", client.get(vector).text)))
    assert finding in said
    assert "CrUX's top 1,000 for Argentina, 2025-08" in said
    with Image.open(io.BytesIO(client.get(pixels).content)) as picture:
        assert picture.width == 1920


def test_the_page_says_how_well_recordings_repeat_and_draws_the_years_between(client: TestClient) -> None:
    page = re.sub(r"\s+", " ", html.unescape(client.get("/over-the-years").text))
    said = page.partition('id="repeatability"')[2].partition("</p>")[0]
    assert "543 sites were recorded twice, by different people, on 2023-11-18 and on 2023-11-20" in said
    drawing = html.unescape(client.get("/over-the-years/lists-all.svg").text)
    for label in ("2023-11, Tranco's first 1,000 that answered", "2023-11, Tranco", "2024-11, Tranco"):
        assert label in drawing
    table = page.partition('id="table"')[2]
    assert table.count("2023-11 to 2024-11") == 3 * 2  # all, main documents, images; two ends each
    assert "2023-11 to 2023-11" not in table
