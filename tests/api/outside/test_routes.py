"""`/v1/outside-series` and `/over-the-years`: what others counted, apart from our own series."""

import csv
import html
import io
import itertools
import re
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.outside.drawing import weight_pieces
from api.outside.years import in_year
from releases.formatting import interval_text, quantity
from releases.outside.points import load_points
from releases.outside.series import KINDS
from schema.crawls import CrawlName
from tests.api.conftest import write_release
from tests.api.test_v1 import assert_problem
from verdict.two_years import ALIKE, ALL, SAME, comparison


def test_every_series_has_its_source_unit_licence_and_flags(client: TestClient) -> None:
    listed = client.get("/v1/outside-series").json()["series"]
    assert [entry["id"] for entry in listed] == list(KINDS)
    for entry in listed:
        assert all(
            entry[name] for name in ("title", "unit", "definition", "source", "url", "licence", "points")
        )
    (weight,) = [entry for entry in listed if entry["id"] == "page-weight"]
    assert [flag["date"][:4] for flag in weight["flags"]] == ["2012"] * 5 + [
        "2016",
        "2017",
        "2018",
        "2018",
        "2022",
    ]


def test_a_series_and_a_client_can_be_chosen(client: TestClient) -> None:
    (listed,) = client.get("/v1/outside-series?series=page-weight&client=mobile").json()["series"]
    assert (len(listed["points"]), {point["client"] for point in listed["points"]}) == (223, {"mobile"})
    first = listed["points"][0]
    assert (first["date"], sorted(first["values"])) == ("2011-05-16", ["p10", "p25", "p50", "p75", "p90"])


def test_the_csv_has_the_same_points(client: TestClient) -> None:
    answer = client.get("/v1/outside-series.csv?series=pervasive-sizes")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.text)))
    stored = [entry for entry in load_points() if entry.series == "pervasive-sizes"]
    assert [row["date"] for row in rows] == [entry.date for entry in stored]
    assert [float(row["share"]) for row in rows] == [entry.values["share"] for entry in stored]


@pytest.mark.parametrize("path", ["/v1/outside-series", "/v1/outside-series.csv"])
@pytest.mark.parametrize("query", ["series=speed", "client=tv"])
def test_a_series_or_client_that_is_none_is_a_problem(client: TestClient, path: str, query: str) -> None:
    assert_problem(client.get(f"{path}?{query}"), "no-such-choice", 422)


def test_the_page_draws_its_figures_and_names_source_and_licence(client: TestClient) -> None:
    page = client.get("/over-the-years").text
    drawings = re.findall(r'(?:src|srcset)="([^"]+[.]svg[^"]*)"', page)
    assert len(drawings) == 3 + 2 * 3  # in its widths: the weight of pages, and what a larger window does
    assert {client.get(drawing).headers["content-type"] for drawing in drawings} == {"image/svg+xml"}
    assert "never joined" in page
    assert all(kind.definition.split("“")[0][:40] in page for kind in KINDS.values())


def test_a_line_of_weights_ends_at_each_break_of_the_publishers_method() -> None:
    desktop = [piece for client, piece in weight_pieces(load_points()) if client == "desktop"]
    breaks = ("2012-03", "2012-05", "2012-09", "2012-10", "2016-03", "2017-05", "2018-07", "2018-12")
    assert len(desktop) == 1 + len(breaks)
    for (*_, before), (after, *_) in itertools.pairwise(desktop):
        assert any(before[0] < in_year(month) + 1 / 12 and after[0] >= in_year(month) for month in breaks)


def test_the_picture_of_the_years_is_refused_where_no_other_year_is_recorded(client: TestClient) -> None:
    for path in ("/over-the-years/same-sites.svg", "/over-the-years/lists-all.svg"):
        assert_problem(client.get(path), "no-such-crawl", 404)
        assert path not in client.get("/").text + client.get("/over-the-years").text


def test_the_sentence_on_a_larger_window_has_the_numbers_of_the_stored_pairs(client: TestClient) -> None:
    page = re.sub(r"[ \n]+", " ", client.get("/over-the-years").text)
    same = page.partition('id="larger-window"')[2].partition("</p>")[0]
    listed = comparison(SAME)
    for worth in listed.of.values():
        assert interval_text(worth.gain_percent, "%") in same
        assert interval_text(worth.resent_pp, "pp") in same
    assert interval_text(listed.change.net_benefit_pp, "pp") in same
    assert interval_text(listed.change.gain_percent, "pp") in same
    change = listed.change.net_benefit_pp
    words = "worth more" if change.lower > 0 else "worth less" if change.upper < 0 else "cannot be told"
    assert words in re.findall("<strong>(.*?)</strong>", same)[0]
    assert interval_text(comparison(ALIKE).change.gain_percent, "pp") in same
    drawing = client.get("/over-the-years/larger-window-gain_percent.svg").text
    for pages in (SAME, ALL):
        for worth in comparison(pages).of.values():
            assert quantity(worth.gain_percent.estimate, "%") in drawing


def test_the_csv_has_the_years_of_a_larger_window_and_their_difference(client: TestClient) -> None:
    rows = csv.DictReader(io.StringIO(client.get("/v1/over-the-years.csv").text))
    stored = {(row["what"], row["responses"], row["measure"], row["release"]): row for row in rows}
    for pages in (SAME, ALL, ALIKE):
        listed = comparison(pages)
        row = stored["larger window, change", pages, "gain_percent", "wpt-2019-12"]
        assert float(row["change"]) == pytest.approx(listed.change.gain_percent.estimate)
        assert float(row["value_after"]) - float(row["value"]) == pytest.approx(float(row["change"]))
        before = stored["larger window", pages, "gain_percent", "wpt-2019-12"]
        assert (before["value"], before["iw"], before["list"]) == (
            row["value"],
            "16 paced",
            "top 200 by links",
        )


def test_own_crawls_of_several_months_come_first_and_illustrative_ones_are_marked(tmp_path: Path) -> None:
    for kind, months in (("localweb", 3), ("web", 3), ("other", 2)):
        for number in range(months):
            crawl = CrawlName(month=f"2026-{9 + number:02}", kind=kind)
            write_release(tmp_path / "releases", crawl, version=1)
    with TestClient(create_app(tmp_path / "releases", tmp_path / "reports")) as client:
        page = client.get("/over-the-years").text
        web, localweb = re.findall(r'<figure class="chart">.*?</figure>', page, re.DOTALL)[:2]
        images = [
            html.unescape(match) for match in re.findall(r'(?:src|srcset|href)="([^"]+)"', web + localweb)
        ]
        assert {client.get(image).status_code for image in images} == {200}
    assert ("tcp.web" in web, "Illustrative" in web) == (True, False)
    assert ("tcp.localweb" in localweb, "Illustrative" in localweb) == (True, True)
