"""The explorer: the page, its figure in all forms, and what a hostile release does to them."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from itertools import pairwise
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from releases.formatting import NARROW
from schema.crawls import CrawlName
from tests.api.conftest import UNKNOWN, write_release
from tests.api.test_v1 import assert_problem

DESKTOP, MOBILE = "2026-11.desktop.local.tcp.localweb", "2026-11.mobile.local.tcp.web"
BOTH = f"crawl={DESKTOP}&crawl={MOBILE}&measure=responses&measure=pages&iw=3,10"
SVG = {"svg": "http://www.w3.org/2000/svg"}


def drawn(client: TestClient, query: str) -> ET.Element:
    answer = client.get(f"/explore.svg?{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml")
    return ET.fromstring(answer.text)


def rows(client: TestClient, query: str) -> list[dict[str, str]]:
    answer = client.get(f"/explore.csv?{query}")
    assert answer.headers["content-type"] == "text/csv; charset=utf-8"
    return list(csv.DictReader(io.StringIO(answer.text)))


def test_without_a_choice_it_shows_the_newest_observed_release(client: TestClient) -> None:
    page = client.get("/explore")
    assert page.status_code == 200
    assert f'value="{MOBILE}" checked' in page.text
    assert f'<option value="{DESKTOP}">' in page.text
    assert f"/explore?crawl={MOBILE.replace('/', '%2F')}%2Fv1&" in page.headers["link"]


def test_the_table_has_the_shares_of_each_release_beside_each_other(client: TestClient) -> None:
    page = client.get(f"/explore?{BOTH}").text.replace("<wbr>", "")
    for release in (f"{DESKTOP}/v2", f"{MOBILE}/v1"):
        row = re.search(rf'<th scope="row">{re.escape(release)}</th>(.*?)</tr>', page, re.DOTALL)
        assert row is not None
        assert re.findall(rf"\d+\.\d{NARROW}%", row[1]) == [f"25.0{NARROW}%", f"50.0{NARROW}%"]
        assert f"+{UNKNOWN['responses']} unknown" in row[1]


def test_a_curve_is_at_the_share_of_each_window_where_the_window_is_drawn(client: TestClient) -> None:
    (panel,) = drawn(client, f"crawl={DESKTOP}&measure=responses&iw=3,10").findall("svg:g", SVG)
    (curve,) = panel.findall("svg:path", SVG)
    height = max(float(line.get("y2", 0)) for line in panel.findall("svg:line[@class='mark']", SVG))
    places = [float(line.get("x1", 0)) for line in panel.findall("svg:line[@class='mark']", SVG)]
    steps = [(float(x), float(y)) for x, y in re.findall(r"H([\d.]+)V([\d.]+)", curve.get("d", ""))]
    shares = {(place, round(1 - y / height, 2)) for place in places for x, y in steps if x == place}
    assert {(places[0], 0.25), (places[1], 0.5)} <= shares


def test_panels_share_their_axes_and_each_has_a_curve_for_each_release(client: TestClient) -> None:
    panels = drawn(client, BOTH).findall("svg:g", SVG)
    labels = [[text.text for text in panel.findall("svg:text[@class='soft']", SVG)] for panel in panels]
    assert len(panels) == 2
    assert labels[0] == labels[1]
    styles = [[path.get("class") for path in panel.findall("svg:path", SVG)] for panel in panels]
    assert styles == [["c0", "c1"], ["c0", "c1"]]


def test_no_label_of_a_figure_is_under_11_pixels(client: TestClient) -> None:
    for width in (360, 960):
        figure = drawn(client, f"{BOTH}&width={width}")
        assert float(figure.get("width", 0)) == width
        sizes = [float(one.get("font-size", 0)) for one in figure.iter() if one.get("font-size")]
        assert min(sizes) >= 11


def test_labels_of_windows_that_lie_close_stand_in_rows_above_each_other(client: TestClient) -> None:
    figure = drawn(client, f"crawl={DESKTOP}&measure=responses&iw=8,9,10,11,12,13,14,15&width=360")
    (panel,) = figure.findall("svg:g", SVG)
    labels = panel.findall("svg:text[@class='window']", SVG)
    assert [label.text for label in labels] == [str(iw) for iw in range(8, 16)]
    rows: dict[str, list[float]] = {}
    for label in labels:
        rows.setdefault(label.get("y", ""), []).append(float(label.get("x", 0)))
    assert all(after - before >= 16 for row in rows.values() for before, after in pairwise(row))
    (title,) = [match for match in panel.findall("svg:text", SVG) if match.text == "↑ share up to this size"]
    assert float(title.get("y", 0)) < min(map(float, rows)) - 12


def test_a_measure_without_a_known_size_has_no_curve_and_says_so(client: TestClient) -> None:
    query = f"crawl={DESKTOP}&measure=hosts"
    assert "no size is known" in ET.tostring(drawn(client, query), encoding="unicode")
    assert "no size is known" in client.get(f"/explore?{query}").text
    assert rows(client, query) == []


def test_the_csv_has_the_steps_and_the_windows(client: TestClient) -> None:
    found = rows(client, f"crawl={DESKTOP}&measure=responses&iw=1,3,10")
    assert [(row["size_bytes"], row["cdf"]) for row in found if row["iw"]] == [
        ("1430", "0.125"),
        ("4290", "0.25"),
        ("14300", "0.5"),
    ]
    assert (found[-1]["size_bytes"], found[-1]["cdf"]) == ("600000", "1.0")
    assert {(row["release"], row["known"], row["unknown"]) for row in found} == {(f"{DESKTOP}/v2", "8", "2")}


def test_the_segment_size_moves_the_windows(client: TestClient) -> None:
    found = rows(client, f"crawl={DESKTOP}&measure=responses&iw=10&mss=1460")
    assert [(row["size_bytes"], row["cdf"]) for row in found if row["iw"]] == [("14600", "0.625")]


def test_the_png_is_a_picture_of_twice_the_width(client: TestClient) -> None:
    answer = client.get(f"/explore.png?{BOTH}")
    assert answer.headers["content-type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG\r\n")
    assert int.from_bytes(answer.content[16:20], "big") == 2 * 960


def test_an_empty_search_box_adds_no_release(client: TestClient) -> None:
    page = client.get(f"/explore?crawl={DESKTOP}&crawl=").text
    assert re.findall(r'name="crawl" value="([^"]*)" checked', page) == [DESKTOP]


def test_the_figure_has_titles_its_source_and_the_share_at_each_window(client: TestClient) -> None:
    figure = drawn(client, f"crawl={DESKTOP}&measure=responses&iw=3,10")
    texts = [text.text or "" for text in figure.iter(f"{{{SVG['svg']}}}text")]
    assert {"Sizes of responses", "↑ share up to this size", "size, logarithmic →", "IW 3", "IW 10"} <= {
        *texts
    }
    assert {f"25.0{NARROW}%", f"50.0{NARROW}%"} <= {*texts}
    assert any(text.startswith("firstflight, CC BY 4.0") for text in texts)
    two = drawn(client, f"crawl={DESKTOP}&crawl={MOBILE}&measure=hosts&measure=responses")
    assert two.find(".//svg:circle", SVG) is None


def test_the_axis_ends_where_nearly_every_item_fits(client: TestClient) -> None:
    assert drawn(client, f"crawl={DESKTOP}&measure=responses").get("data-decades") == "2 6"


def test_a_release_is_pinned_by_its_version(client: TestClient) -> None:
    assert {row["release"] for row in rows(client, f"crawl={DESKTOP}/v1")} == {f"{DESKTOP}/v1"}
    page = client.get(f"/explore?crawl={DESKTOP}/v1").text
    assert f'value="{DESKTOP}/v1" checked' in page


def test_a_year_before_and_another_device_are_offered_beside_a_release(data_dir: Path) -> None:
    for month, device in (("2025-11", "desktop"), ("2026-11", "desktop"), ("2025-11", "mobile")):
        write_release(data_dir / "releases", CrawlName(month=month, device=device), version=1)
    with TestClient(create_app(data_dir / "releases", data_dir / "reports")) as client:
        page = client.get("/explore?crawl=2026-11.desktop.local.tcp.web").text
    assert "a year before (2025-11.desktop.local.tcp.web)" in page
    assert f"mobile ({MOBILE})" in page
    assert "mobile (2025-11" not in page


@pytest.mark.parametrize(
    ("query", "kind", "status", "mentions"),
    [
        ("iw=ten", "bad-parameter", 400, "iw"),
        ("iw=0", "bad-parameter", 400, "iw"),
        ("iw=99999999999999999999", "bad-parameter", 400, "iw"),
        ("iw=1,2,3,4,5,6,7,8,9", "bad-parameter", 400, "at most 8"),
        ("iw=" + "1," * 60, "bad-parameter", 400, "iw"),
        ("mss=0", "bad-parameter", 400, "mss"),
        ("mss=1430&mss=1460", "bad-parameter", 400, "more than once"),
        ("measure=bytes", "no-such-choice", 422, "responses_first"),
        ("&".join(f"crawl=2026-0{n}" for n in range(1, 8)), "bad-parameter", 400, "at most 6"),
        ("crawl=1999-01", "no-such-crawl", 404, "1999-01"),
        (f"crawl={DESKTOP}/v9", "no-such-crawl", 404, "9"),
        ("colour=red", "unknown-parameter", 400, "colour"),
    ],
)
def test_a_bad_choice_is_a_problem_that_names_it(
    client: TestClient, query: str, kind: str, status: int, mentions: str
) -> None:
    for form in ("explore", "explore.svg", "explore.csv"):
        assert_problem(client.get(f"/{form}?{query}"), kind, status, mentions=mentions)


def test_an_empty_field_of_the_form_chooses_nothing(client: TestClient) -> None:
    chosen = rows(client, f"crawl={DESKTOP}&crawl=&iw=&measure=responses&protocol=")
    assert chosen == rows(client, f"crawl={DESKTOP}&iw=16,10, 3,3&measure=responses")


def test_an_empty_library_has_an_explorer_that_says_what_to_run(tmp_path: Path) -> None:
    with TestClient(create_app(tmp_path / "none", tmp_path / "nor-here")) as client:
        assert "firstflight demo" in client.get("/explore").text
        assert_problem(client.get("/explore.svg"), "no-such-crawl", 404)


def test_the_name_of_a_hostile_release_is_text_in_page_figure_and_table(tmp_path: Path) -> None:
    evil = CrawlName(month="2026-11", vantage="=<script>alert(1)<", kind="web")
    write_release(tmp_path, evil, version=1)
    with TestClient(create_app(tmp_path, tmp_path / "reports")) as client:
        page, figure = client.get("/explore"), client.get("/explore.svg")
    assert page.status_code == figure.status_code == 200
    for answer in (page, figure):
        assert "<script>alert" not in answer.text
        assert "&lt;script&gt;alert(1)&lt;" in answer.text
    ET.fromstring(figure.text)


def test_the_page_runs_its_own_script_alone_and_the_figure_none(client: TestClient) -> None:
    page, figure = client.get("/explore"), client.get("/explore.svg")
    policy = page.headers["content-security-policy"]
    assert "script-src 'self';" in policy
    assert "unsafe" not in policy
    assert "script-src" not in figure.headers["content-security-policy"]
    assert figure.headers["content-security-policy"].startswith("default-src 'none'")
    assert re.findall(r"<script[^>]*>", page.text) == ['<script type="module" src="/static/explore.js">']
    assert "script-src" not in client.get("/").headers["content-security-policy"]
    assert client.get("/static/explore.js").headers["content-type"] == "text/javascript; charset=utf-8"
