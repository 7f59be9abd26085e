"""What a reader takes away from the explorer: each has the same choice as the figure."""

import html
import re
import subprocess
import sys
from pathlib import Path

import duckdb
from fastapi.testclient import TestClient

from schema.crawls import CrawlName
from tests.api.conftest import serving, write_release_with_items
from tests.api.explorer.conftest import MANY, ONE
from tests.api.explorer.test_explorer import rows
from tests.firstflight.commands.served import served

CHOICE = f"crawl={MANY}&measure=responses&measure=first_flights&iw=3,10&mss=1460&protocol=h2"


def program(page: str, language: str) -> str:
    (match,) = re.findall(rf'<pre data-language="{language}" data-copy>(.*?)</pre>', page, re.DOTALL)
    return html.unescape(match)


def test_the_program_runs_as_it_is_pasted_and_prints_the_shares_of_the_figure(tmp_path: Path) -> None:
    write_release_with_items(tmp_path / "releases", CrawlName(month="2026-12"))
    environment = {"FIRSTFLIGHT_DATA_DIR": str(tmp_path), "FIRSTFLIGHT_CACHE_DIR": str(tmp_path / "cache")}
    fetch = "import sys, urllib.request; print(urllib.request.urlopen(sys.argv[1]).read().decode())"
    with served(environment) as address:

        def answer(path: str) -> str:
            call = [sys.executable, "-c", fetch, f"{address}{path}"]
            return subprocess.run(call, check=True, capture_output=True, text=True).stdout

        code = program(answer(f"explore?{CHOICE}"), "Python")
        printed = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True)
        table = answer(f"explore.csv?{CHOICE}")
    shown = [line.split() for line in printed.stdout.splitlines()]
    assert shown[0] == ["release", "measure", "iw", "share", "items"]
    windows = [line.split(",") for line in table.split("\n") if line.strip()]
    stated = {(row[0], row[1], row[4], f"{float(row[3]):.6f}") for row in windows[1:] if row[4]}
    assert {(*row[:3], f"{float(row[3]):.6f}") for row in shown[1:]} == stated
    assert len(stated) == 2


def test_the_program_in_r_asks_the_same_query_of_the_same_files(client_of_items: TestClient) -> None:
    page = client_of_items.get(f"/explore?crawl={MANY}&measure=responses&by=resource_type").text
    python, r = (program(page, language) for language in ("Python", "R"))
    queries = [re.findall(r"SELECT.*ORDER BY ALL", text, re.DOTALL)[0] for text in (python, r)]
    assert queries[0].replace("$file", "'%s'") == queries[1]
    assert "resource_type, iw" in queries[0]
    assert set(re.findall(r'"(?:/|http)[^"]*item.parquet"', python)) == set(
        re.findall(r'"(?:/|http)[^"]*item.parquet"', r)
    )


def test_the_program_counts_requests_from_the_same_items(tmp_path: Path) -> None:
    folder = write_release_with_items(tmp_path, CrawlName(month="2026-12"))
    with serving(tmp_path) as client:
        page = client.get(f"/explore?crawl={MANY}&measure=requests&rank_stratum=1000").text
    query = re.findall(r"SELECT.*ORDER BY ALL", program(page, "Python"), re.DOTALL)[0]
    answer = duckdb.execute(query, {"file": str(folder / "item.parquet")}).fetchall()
    assert answer == [(10, 10, 16)]


def test_rows_have_the_filters_of_the_choice_and_what_they_lack_is_said(client_of_items: TestClient) -> None:
    page = client_of_items.get(f"/explore?{CHOICE}&party=first&resource_type=").text
    (address,) = re.findall(r'href="(/v1/responses\.csv[^"]*)"', page)
    assert address == f"/v1/responses.csv?crawl={MANY}&amp;version=1&amp;protocol=h2"
    assert "cannot be filtered by party" in page


def test_each_release_is_cited(client_of_items: TestClient) -> None:
    page = client_of_items.get(f"/explore?crawl={MANY}&crawl={ONE}").text
    for crawl in (MANY, ONE):
        address = f"/releases/{crawl}/v1/cite.bib"
        assert f'href="{address}"' in page
        assert client_of_items.get(address).status_code == 200


def test_the_link_pins_every_release(client_of_items: TestClient) -> None:
    page = client_of_items.get(f"/explore?{CHOICE}").text
    (address,) = {*re.findall(r'<a href="(/explore\?crawl[^"]*)"><code data-copy>', page)}
    assert html.unescape(address).startswith(f"/explore?crawl={MANY}%2Fv1&measure=responses&")
    assert rows(client_of_items, html.unescape(address).partition("?")[2]) == rows(client_of_items, CHOICE)
