"""`/v1/changes` and `/over-the-years`: the same sites in two releases, and the recorded sets on one axis."""

import csv
import html
import io
import json
import re
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from releases.formatting import quantity
from tests.api.conftest import serving
from tests.api.test_v1 import assert_problem

IN_2013, IN_2019, IN_2025 = (
    "2013-09.desktop.hyderabad.tcp.recorded",
    "2019-12.desktop.aws-us-east-1.tcp.recorded",
    "2025-08.desktop.ar-vpn.quic.recorded",
)


@pytest.fixture(scope="module")
def years(
    recorded_releases: Callable[[str], Path], tmp_path_factory: pytest.TempPathFactory
) -> Iterator[TestClient]:
    root = tmp_path_factory.mktemp("data")
    for name in ("phantomjs-2013-09", "wpt-2019-12", "pages-2025-08"):
        shutil.copytree(recorded_releases(name), root / "releases", dirs_exist_ok=True)
    with serving(root / "releases") as client:
        yield client


def asked(client: TestClient, **parameters: Any) -> Any:
    answer = client.get("/v1/changes", params={"from": IN_2019, "to": IN_2025, **parameters})
    assert answer.status_code == 200, answer.text
    return answer.json()


def test_a_share_where_headers_were_not_counted_has_two_ends(years: TestClient) -> None:
    compared = asked(years, measure="share", responses="all", iw=30)
    assert [change["end"] for change in compared["changes"]] == ["bodies", "headers"]
    for change in compared["changes"]:
        assert (change["sites"], round(change["before"], 2), round(change["after"], 2)) == (28, 0.88, 0.81)
        assert change["lower"] < change["change"] < change["upper"] < 0
    assert (compared["before"]["quality"], compared["after"]["quality"]) == ("recorded", "recorded")


@pytest.mark.parametrize(
    ("responses", "iw", "sites", "before", "after", "within"),
    [
        ("main", 10, 28, 0.184, 0.205, 0.0005),
        ("main", 30, 28, 0.706, 0.438, 0.0005),
        ("image", 10, 26, 0.743, 0.710, 0.005),
        ("image", 30, 26, 0.895, 0.841, 0.005),
    ],
)
def test_changes_are_those_of_a_first_count_from_the_recorders_files(
    years: TestClient, responses: str, iw: int, sites: int, before: float, after: float, within: float
) -> None:
    # It counted redirects among the images; of all responses see docs/recorded-pages.md.
    newest = asked(years, measure="share", responses=responses, iw=iw)["changes"][-1]
    assert (newest["sites"], newest["end"] in ("headers", "whole")) == (sites, True)
    assert (newest["before"], newest["after"]) == pytest.approx((before, after), abs=within)


def test_fewer_than_twenty_sites_have_no_numbers_and_a_reason(years: TestClient) -> None:
    (newest, *_) = asked(years, measure="share", responses="font", iw=10)["changes"]
    assert (newest["sites"], newest["before"], newest["change"]) == (14, None, None)
    assert newest["unknown"] == "fewer than 20 sites have such a response in both releases"


def test_a_set_of_images_alone_has_changes_of_images_alone(years: TestClient) -> None:
    compared = asked(years, **{"from": IN_2013}, measure="share", iw=10)["changes"]
    assert {newest["responses"] for newest in compared if newest["sites"]} == {"image"}


def test_the_csv_has_the_same_rows_and_the_canonical_address_names_versions(years: TestClient) -> None:
    query = f"from={IN_2019}&to={IN_2025}&measure=page_bytes"
    answer = years.get(f"/v1/changes.csv?{query}")
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    assert len(rows) == len(years.get(f"/v1/changes?{query}").json()["changes"])
    assert {(row["from"], row["to"]) for row in rows} == {(f"{IN_2019}/v1", f"{IN_2025}/v1")}
    canonical = answer.links["canonical"]["url"]
    assert years.get(canonical).content == answer.content


@pytest.mark.parametrize(
    ("query", "kind", "status"),
    [
        (f"from={IN_2019}", "bad-parameter", 400),
        (f"from=1999-01&to={IN_2025}", "no-such-crawl", 404),
        (f"from={IN_2019}&to={IN_2025}&measure=speed", "no-such-choice", 422),
        (f"from={IN_2019}&to={IN_2025}&responses=sounds", "no-such-choice", 422),
    ],
)
def test_what_cannot_be_compared_is_a_problem(years: TestClient, query: str, kind: str, status: int) -> None:
    assert_problem(years.get(f"/v1/changes?{query}"), kind, status)


def same_sites(years: TestClient, iw: int) -> list[dict[str, str]]:
    """The changes over the same sites of the two years that are furthest apart, by each way of counting."""
    rows = csv.DictReader(io.StringIO(years.get("/v1/over-the-years.csv").text))
    wanted = ("change", "all", "share", str(iw), f"{IN_2019}/v1", f"{IN_2025}/v1")
    names = ("what", "responses", "measure", "iw", "release", "release_after")
    return [row for row in rows if tuple(row[name] for name in names) == wanted]


def test_the_page_begins_with_what_changed_and_claims_no_more_than_the_intervals(years: TestClient) -> None:
    page = years.get("/over-the-years").text
    (first,) = re.findall(r"<h1>(.*?)</h1>", page)
    assert page.index("<h1") < page.index("<img") < page.index("<p>")
    said = {int(iw) for iw in re.findall(r"\d+", first.partition("into")[2].partition("segments")[0])}
    clear = {iw for iw in (3, 10, 30) if all(float(row["upper"]) < 0 for row in same_sites(years, iw))}
    assert said == clear
    assert ("fewer responses fit" in first) == bool(clear)


def test_the_home_page_shows_the_same_sites_with_what_was_found_in_the_picture(years: TestClient) -> None:
    address, *others = re.findall(r'src="([^"]*same-sites[^"]*)"', years.get("/").text)
    drawing = html.unescape(years.get(html.unescape(address)).text)
    (first,) = re.findall(r"<h1>(.*?)</h1>", years.get("/over-the-years").text)
    assert " ".join(re.findall(r"<text[^>]*>([^<]*)", drawing)).count(first.split(" than ")[0]) == 1
    assert others == []


def test_the_figure_of_the_same_sites_has_both_years_and_dashes_what_is_not_clear(years: TestClient) -> None:
    drawing = years.get("/over-the-years/same-sites.svg").text
    unclear = 0
    for iw in (3, 10, 30):
        *_, last = same_sites(years, iw)
        for value in (last["value"], last["value_after"]):
            assert quantity(100 * float(value), "%") in drawing, iw
        unclear += any(float(row["lower"]) < 0 < float(row["upper"]) for row in same_sites(years, iw))
    assert drawing.count('stroke-dasharray="5,4"') == unclear
    assert all(month in drawing for month in ("2019-12", "2025-08"))


def test_each_list_stands_in_a_figure_with_its_name_and_value(years: TestClient) -> None:
    drawing = html.unescape(years.get("/over-the-years/lists-all.svg").text)
    images = html.unescape(years.get("/over-the-years/lists-image.svg").text)
    assert "2019-12, top 200 by links" in drawing
    assert "Google Maps" in drawing
    assert "Alexa's top 200" in images
    assert "Alexa's top 200" not in drawing  # its recorder kept images alone
    assert "Google Maps" not in images


def test_the_data_of_the_figure_have_its_lists_and_releases(years: TestClient) -> None:
    rows = list(csv.DictReader(io.StringIO(years.get("/v1/over-the-years.csv").text)))
    assert {row["what"] for row in rows} >= {"published", "share", "change"}
    described = years.get("/openapi.json").json()["components"]["schemas"]["YearsRow"]
    assert set(described["required"]) == set(described["properties"]) == set(rows[0])
    (newest,) = [
        row
        for row in rows
        if (row["what"], row["release"], row["responses"], row["iw"])
        == ("share", f"{IN_2025}/v1", "main", "30")
    ]
    assert (newest["list"], round(float(newest["value"]), 4)) == ("CrUX's top 1,000 for Argentina", 0.6464)
    assert json.loads(newest["sites"]) == 500


def test_without_recorded_sets_the_page_says_how_to_get_them(client: TestClient) -> None:
    page = client.get("/over-the-years")
    assert page.status_code == 200
    assert "firstflight import pages --all" in page.text
