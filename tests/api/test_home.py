"""The home page: the share that does not fit, its curve, and the mark of illustrative data."""

import re
from pathlib import Path

from fastapi.testclient import TestClient

from api.app import create_app
from releases.formatting import quantity
from schema.crawls import CrawlName
from tests.api.conftest import write_release_with_items
from tests.api.site_pages.test_pages import read


def serving(folder: Path, kind: str) -> TestClient:
    write_release_with_items(folder / "releases", CrawlName(month="2026-11", kind=kind))
    return TestClient(create_app(folder / "releases", folder / "reports"))


def test_the_heading_states_what_of_the_release_does_not_fit_into_ten_segments(
    tmp_path: Path,
) -> None:
    with serving(tmp_path, "web") as client:
        page = client.get("/").text
        fits = client.get("/v1/first-flight?crawl=2026-11&measure=responses&iw=10").json()["share"]
    (said,) = re.findall(r'<h2 id="fits">(.*?)</h2>', page)
    assert said == f"{quantity(100 * (1 - fits), '%', 2)} of responses do not fit into 10 segments"


def test_the_curve_has_a_line_with_its_share_at_each_window(tmp_path: Path) -> None:
    with serving(tmp_path, "web") as client:
        (address,) = re.findall(r'src="([^"]*fits.svg[^"]*)"', client.get("/").text)
        drawing = client.get(address).text
        for iw in (3, 10):
            fits = client.get(f"/v1/first-flight?crawl=2026-11&measure=responses&iw={iw}").json()["share"]
            assert f"{iw}: {quantity(100 * fits, '%', 2)}" in drawing
    assert "Illustrative" not in drawing


def test_a_curve_of_the_bundled_web_is_marked_in_the_picture_itself(tmp_path: Path) -> None:
    with serving(tmp_path, "localweb") as client:
        assert "Illustrative" in client.get("/fits.svg").text
        assert "illustrative" in read(client, "/")


def test_without_a_release_the_page_says_how_to_make_one_and_has_no_picture(tmp_path: Path) -> None:
    with TestClient(create_app(tmp_path, tmp_path)) as client:
        page = client.get("/").text
        assert "firstflight demo" in page
        assert "<img" not in page
        assert client.get("/fits.svg").status_code == 404
