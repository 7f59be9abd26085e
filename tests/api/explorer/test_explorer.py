"""The explorer: the page, its figures in all forms, and what a hostile release does to them."""

import csv
import io
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from releases.formatting import NARROW
from schema.crawls import CrawlName
from tests.api.conftest import SIZES, UNKNOWN, write_release
from tests.api.test_v1 import assert_problem

DESKTOP, MOBILE = "2026-11.desktop.local.tcp.localweb", "2026-11.mobile.local.tcp.web"
BOTH = f"crawl={DESKTOP}&crawl={MOBILE}&measure=responses&measure=pages&iw=3,10"
SVG = "{http://www.w3.org/2000/svg}"


def texts(client: TestClient, query: str, form: str = "explore.svg") -> list[str]:
    """The words of a figure, in lines."""
    answer = client.get(f"/{form}?{query}")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml"), answer.text
    return ["".join(one.itertext()) for one in ET.fromstring(answer.text).iter(f"{SVG}text")]


def drawn_rows(client: TestClient, query: str, form: str = "explore.json") -> list[dict[str, Any]]:
    answer = client.get(f"/{form}?{query}")
    assert answer.status_code == 200, answer.text
    return [row for rows in answer.json()["datasets"].values() for row in rows]


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
    for release in ("desktop, localweb, version 2", "mobile, web, version 1"):
        row = re.search(rf'<th scope="row">{release}, all responses</th>(.*?)</tr>', page, re.DOTALL)
        assert row is not None
        assert re.findall(rf"\d+\.\d{NARROW}%", row[1]) == [f"25.0{NARROW}%", f"50.0{NARROW}%"]
        assert f"+{UNKNOWN['responses']} unknown" in row[1]


def test_a_curve_is_at_the_share_of_each_window_where_the_window_is_drawn(client: TestClient) -> None:
    found = drawn_rows(client, f"crawl={DESKTOP}&measure=responses&iw=3,10")
    shares = {row["size"]: row["share"] for row in found if row.keys() >= {"size", "share", "series"}}
    assert (shares[3 * 1430], shares[10 * 1430]) == (25, 50)
    assert {3 * 1430, 10 * 1430} <= {row.get("at") for row in found}


def test_releases_and_measures_share_a_figure_as_long_as_they_can_be_told_apart(client: TestClient) -> None:
    names = {row["series"] for row in drawn_rows(client, BOTH) if "series" in row}
    assert names == {
        f"{release}, {measure}"
        for release in ("desktop, localweb, version 2", "mobile, web, version 1")
        for measure in ("all responses", "pages")
    }
    page = client.get(
        f"/explore?crawl={DESKTOP}&crawl={MOBILE}&"
        + "&".join(
            f"measure={measure}" for measure in ("responses", "pages", "responses_incomplete", "hosts")
        )
    )
    assert page.text.count('data-figure="/explore.json') == 4


def test_the_title_is_the_finding(client: TestClient) -> None:
    title = " ".join(texts(client, f"crawl={DESKTOP}&measure=responses&iw=3,10"))
    assert f"50.0{NARROW}% of responses fit into 10 segments" in title
    title = " ".join(texts(client, f"crawl={DESKTOP}&measure=responses&figure=quantiles"))
    assert "Half of responses have at most 14.3" in title


def test_no_label_of_a_figure_is_under_11_pixels(client: TestClient) -> None:
    for width in (352, 960):
        figure = ET.fromstring(client.get(f"/explore.svg?{BOTH}&width={width}").text)
        assert float(figure.get("width", 0)) == pytest.approx(width, abs=1)
        sizes = [
            float(one.get("font-size", "0").removesuffix("px"))
            for one in figure.iter()
            if one.get("font-size")
        ]
        assert min(sizes) >= 11


def test_a_histogram_has_the_counts_of_the_release_in_bins_of_a_tenth_of_a_decade(client: TestClient) -> None:
    found = rows(client, f"crawl={DESKTOP}&measure=responses&figure=histogram")
    counts = {(int(row["from_bytes"]), int(row["to_bytes"])): int(row["count"]) for row in found}
    least, _ = next(iter(counts))
    for low, high in counts:
        is_first = low == least  # the first bin has the items of its lower edge too
        assert counts[low, high] == sum(low - is_first < size <= high for size in SIZES["responses"])
    assert sum(counts.values()) == len(SIZES["responses"])
    bars = [
        row
        for row in drawn_rows(client, f"crawl={DESKTOP}&measure=responses&figure=histogram")
        if "high" in row
    ]
    assert [(row["low"], row["high"]) for row in bars] == [*counts]


def test_quantiles_are_those_of_the_release(client: TestClient) -> None:
    found = rows(client, f"crawl={DESKTOP}&measure=responses&figure=quantiles")
    assert {row["percent"]: row["size_bytes"] for row in found} == {
        "5": "100",
        "25": "4290",
        "50": "14300",
        "75": "50000",
        "95": "600000",
    }


def test_a_measure_without_a_known_size_has_no_curve_and_says_so(client: TestClient) -> None:
    query = f"crawl={DESKTOP}&measure=hosts"
    assert "no size is known" in " ".join(texts(client, query))
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


def test_the_png_is_a_picture_for_a_slide(client: TestClient) -> None:
    answer = client.get(f"/explore.png?{BOTH}")
    assert answer.headers["content-type"] == "image/png"
    assert answer.content.startswith(b"\x89PNG\r\n")
    assert int.from_bytes(answer.content[16:20], "big") == 1920


def test_an_empty_search_box_adds_no_release(client: TestClient) -> None:
    page = client.get(f"/explore?crawl={DESKTOP}&crawl=").text
    assert re.findall(r'name="crawl" value="([^"]*)" checked', page) == [DESKTOP]


def test_the_figure_names_its_windows_and_its_source(client: TestClient) -> None:
    found = texts(client, f"crawl={DESKTOP}&measure=responses&iw=3,10")
    assert {"IW 3", "10"} <= {text.replace("\xa0", " ") for text in found}
    assert any(text.startswith("Source: firstflight, CC BY 4.0") for text in found)


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
        ("by=colour", "no-such-choice", 422, "rank_stratum"),
        ("figure=pie", "no-such-choice", 422, "histogram"),
        ("colour=red", "unknown-parameter", 400, "colour"),
    ],
)
def test_a_bad_choice_is_a_problem_that_names_it(
    client: TestClient, query: str, kind: str, status: int, mentions: str
) -> None:
    for form in ("explore", "explore.svg", "explore.json", "explore/embed", "explore.csv"):
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


def test_other_sites_may_show_the_embedded_figure_alone_and_it_says_how_to_cite_it(
    client: TestClient,
) -> None:
    query = f"crawl={MOBILE}&measure=responses"
    embedded, page = client.get(f"/explore/embed?{query}"), client.get(f"/explore?{query}")
    assert "frame-ancestors *" in embedded.headers["content-security-policy"]
    assert "frame-ancestors 'none'" in page.headers["content-security-policy"]
    assert "unsafe" not in embedded.headers["content-security-policy"]
    assert f"crawl {MOBILE}" in embedded.text
    assert f"/explore/embed?crawl={MOBILE}%2Fv1&amp;" in page.text


def test_what_the_shelf_has_side_by_side_is_offered_and_compared(data_dir: Path) -> None:
    for device in ("desktop", "mobile"):
        write_release(data_dir / "releases", CrawlName(month="2025-11", device=device), version=1)
    with TestClient(create_app(data_dir / "releases", data_dir / "reports")) as client:
        query = "crawl=2025-11.desktop.local.tcp.web&measure=responses"
        (bys,) = re.findall(r'<select name="by"[^>]*>(.*?)</select>', client.get(f"/explore?{query}").text)
        assert re.findall(r'value="([^"]*)"', bys) == ["release", "device", "protocol"]
        assert {row["release"] for row in rows(client, f"{query}&by=device")} == {
            f"2025-11.{device}.local.tcp.web/v1" for device in ("desktop", "mobile")
        }
        assert {row["stratum"] for row in rows(client, f"{query}&by=protocol")} == {
            "protocol: h2",
            "protocol: http/1.1",
        }
        address = client.get(f"/explore?{query}&by=device").headers["link"]
        assert "2025-11.mobile.local.tcp.web%2Fv1" in address


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
