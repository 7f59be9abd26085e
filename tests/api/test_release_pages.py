"""The page of a release: its first rows, sorted by a click, and how it is used."""

import re
from pathlib import Path

from fastapi.testclient import TestClient

from api.app import create_app
from api.release_pages import FIRST_ROWS
from tests.api.rows.conftest import NAME, made_up, write_crawl
from tests.api.site_pages.test_pages import read, rows
from tests.api.test_v1 import assert_problem

UNKNOWN = "\N{EN DASH}"
PAGE = f"/releases/{NAME}/v1"


def page_of_rows(folder: Path) -> TestClient:
    write_crawl(folder / "releases", NAME, made_up())
    return TestClient(create_app(folder / "releases", folder / "reports"))


def test_the_first_responses_of_a_release_stand_on_its_page(tmp_path: Path) -> None:
    with page_of_rows(tmp_path) as client:
        shown = rows(read(client, PAGE), "Responses")
        asked = client.get(f"/v1/responses?crawl={NAME}&limit={FIRST_ROWS}").json()["rows"]
    known = [f"{row['wire_bytes']:,}".replace(",", " ") if row["wire_bytes"] else UNKNOWN for row in asked]
    assert [row["wire_bytes"] for row in shown] == known


def test_a_click_on_a_column_sorts_all_responses_and_unknown_sizes_come_last(tmp_path: Path) -> None:
    with page_of_rows(tmp_path) as client:
        first = read(client, PAGE)
        (largest,) = re.findall(r'<a href="([^"]*)#rows">wire_bytes</a>', first)
        page = read(client, PAGE + largest)
        every = client.get(f"/v1/responses?crawl={NAME}&limit=1000").json()["rows"]
    sizes = sorted((row["wire_bytes"] for row in every if row["wire_bytes"] is not None), reverse=True)
    shown = [row["wire_bytes"].replace(" ", "") for row in rows(page, "Responses")]
    assert [int(size) for size in shown if size != UNKNOWN] == sizes[:FIRST_ROWS]
    assert 'aria-sort="descending"' in page


def test_no_other_column_sorts_the_rows(tmp_path: Path) -> None:
    with page_of_rows(tmp_path) as client:
        assert_problem(client.get(f"{PAGE}?sort=lease_owner"), "bad-parameter", 400, mentions="sort")


def test_each_tool_has_a_recipe_with_the_address_of_this_release(tmp_path: Path) -> None:
    with page_of_rows(tmp_path) as client:
        page = read(client, PAGE)
        old = client.get(f"{PAGE}/use", follow_redirects=False)
    part = page.partition('class="recipes"')[2].partition("<h2")[0]
    recipes = re.findall(r"<summary>([^<]*)</summary>(.*?)</details>", part, re.DOTALL)
    assert {"The whole release, by curl", "pandas", "DuckDB", "R"} <= {tool for tool, _ in recipes}
    assert all(f"/releases/{NAME}/v1/" in recipe for _, recipe in recipes)
    assert old.headers["location"] == f"{PAGE}#use"
