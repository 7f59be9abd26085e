"""Every page has the header, says what it is, and is found:
by lists, the search, the feed and the site map."""

import html
import json
import re
import xml.etree.ElementTree as ET
from pathlib import Path
from typing import Any
from urllib.parse import urljoin

import pytest
from fastapi.testclient import TestClient

from benchmarks.pages.addresses import AS_A_BROWSER
from releases.errata import record
from tests.api.conftest import serving
from tests.api.rows.conftest import NAME, made_up, write_crawl
from tests.api.site_pages.test_pages import read, rows
from tests.api.test_v1 import LOCALWEB

ADDRESSED: dict[str, Any] = {"base_url": "https://sizes.example", "trusted_hosts": ["testserver"]}
ATOM = {"a": "http://www.w3.org/2005/Atom"}


@pytest.mark.parametrize(
    ("path", "marked", "crumbs", "here"),
    [
        ("/", "/", [], []),
        ("/explore", "/explore", [], []),
        ("/sites", "/sites", [], []),
        (f"/releases/{LOCALWEB}/v1", "/releases", ["/releases"], [f"{LOCALWEB}, version 1"]),
        ("/reports/2026/v1/", "/reports", ["/reports"], ["2026, version 1"]),
        ("/reports/2026/errata", "/reports", ["/reports", "/reports/2026/"], ["errata"]),
        ("/documents/methods", "/documents", ["/documents"], ["Methods"]),
    ],
)
def test_a_page_has_the_header_with_its_place_and_the_way_to_it_ends_at_the_page(
    client: TestClient, path: str, marked: str, crumbs: list[str], here: list[str]
) -> None:
    page = read(client, path)
    assert page.count('class="site-head"') == 1
    assert re.findall(r'href="([^"]*)" aria-current', page) == [marked]
    matches = re.findall(r'aria-label="Breadcrumbs">(.*?)</nav>', page)
    assert re.findall(r'href="([^"]*)"', matches[0] if matches else "") == crumbs
    assert [re.sub("<[^>]*>", "", way.rpartition("<li>")[2]) for way in matches] == here


def test_every_page_says_what_it_is_where_its_link_is_shown(client: TestClient) -> None:
    for path in ("/", "/explore", "/sites", "/releases", "/reports", "/search", f"/releases/{LOCALWEB}/v1"):
        page = read(client, path)
        named = dict(re.findall(r'<meta (?:name|property)="([^"]*)" content="([^"]*)"', page))
        assert {"description", "og:title", "og:description", "og:image"} <= named.keys()
        picture = client.get(named["og:image"].replace("&amp;", "&"))
        assert picture.headers["content-type"] == "image/png", path


def test_a_release_is_described_as_a_data_set(client: TestClient) -> None:
    page = read(client, f"/releases/{LOCALWEB}/v1")
    (matches,) = re.findall(r'<script type="application/ld\+json">(.*?)</script>', page)
    dataset = json.loads(matches)
    assert (dataset["@type"], dataset["version"]) == ("Dataset", "1")
    assert any(entry["contentUrl"].endswith("item.parquet") for entry in dataset["distribution"])


def test_the_lists_have_every_release_and_every_report(client: TestClient) -> None:
    assert [row[""] for row in rows(read(client, "/releases"), "Releases")] == [
        LOCALWEB,
        "2026-11.mobile.local.tcp.web",
        "2026-10.desktop.local.tcp.localweb",
    ]
    assert 'href="/reports/2026/v1/"' in read(client, "/reports")


def test_the_search_finds_sites_measures_columns_and_sections_of_documents(data_dir: Path) -> None:
    write_crawl(data_dir / "releases", NAME, made_up())
    with serving(data_dir / "releases") as client:
        assert 'href="/sites/site12.test"' in read(client, "/search?q=https://www.site12.test/")
        page = read(client, "/search?q=first+flights")
        assert "measure=first_flights" in page
        assert 'href="/documents/dictionary#connection.first_flight_bytes"' in read(
            client, "/search?q=first+flight"
        )
        for match in re.findall(r'href="(/documents/[^"]*)"', page):
            path, _, anchor = match.partition("#")
            assert not anchor or f'id="{anchor}"' in read(client, path), match
        assert "Nothing has this word" in read(client, "/search?q=xyzzyx")
        assert "<script" not in read(client, "/search?q=<script>")


@pytest.mark.parametrize(
    ("words", "address"),
    [
        ("initcwnd", "/documents/glossary"),
        ("initcwnd", "/documents/methods#the-lab"),
        ("histogram", "/documents/glossary"),
        ("histogram", "/explore"),
        ("initcwnd", "/sites"),
        ("page weight", "measure=pages"),
    ],
)
def test_the_search_knows_the_words_of_the_field(client: TestClient, words: str, address: str) -> None:
    assert f'{address}">' in read(client, f"/search?q={words}")


def test_the_feed_has_releases_reports_and_errata(data_dir: Path) -> None:
    record(data_dir / "releases", [LOCALWEB], wrong="too large", advice="wait", date="2027-04-01")
    with serving(
        data_dir / "releases", base_url="https://sizes.example", trusted_hosts=["testserver"]
    ) as client:
        answer = client.get("/feed.xml")
        assert answer.headers["content-type"] == "application/atom+xml"
        feed = ET.fromstring(answer.content)
    titles = [match.text or "" for match in feed.findall("a:entry/a:title", ATOM)]
    assert titles[0].startswith("Erratum 1")
    assert sum(title.startswith("Release ") for title in titles) == 4
    ids = [match.text or "" for match in feed.findall(".//a:id", ATOM)]
    assert len({*ids}) == len(ids)
    assert all(id_.startswith("https://sizes.example/") for id_ in ids)


def test_robots_find_the_site_map_whose_addresses_are_all_there(data_dir: Path) -> None:
    with serving(
        data_dir / "releases", base_url="https://sizes.example", trusted_hosts=["testserver"]
    ) as client:
        robots = client.get("/robots.txt").text
        (sitemap,) = re.findall(r"Sitemap: https://sizes.example(\S+)", robots)
        matches = re.findall(r"<loc>https://sizes.example([^<]*)</loc>", client.get(sitemap).text)
        assert f"/releases/{LOCALWEB}/v2" in matches
        assert not any(path.startswith("/sites/") for path in matches)
        assert {client.get(path).status_code for path in matches} == {200}
        assert client.get("/favicon.ico").headers["content-type"] == "image/svg+xml"


@pytest.mark.slow
def test_no_link_of_a_page_leads_nowhere(data_dir: Path) -> None:
    """Each page is visited once, and of pages that differ in their query alone, one."""
    write_crawl(data_dir / "releases", NAME, made_up())
    with serving(data_dir / "releases") as client:
        waiting, seen, broken = ["/"], {"/"}, []
        while waiting:
            path = waiting.pop()
            answer = client.get(path, headers=AS_A_BROWSER)
            tables = ("/v1/visits", "/v1/responses", "/v1/connections")
            has_rows = not path.startswith(tables) or f"crawl={NAME}" in path  # the other releases have none
            if answer.status_code != (200 if has_rows else 404):
                broken.append((path, answer.status_code))
            if not answer.headers.get("content-type", "").startswith("text/html"):
                continue
            for link in re.findall(r'(?:href|src)="([^"#]+)', answer.text):
                target = urljoin(str(answer.url), html.unescape(link))
                whole = target.removeprefix("http://testserver")
                if whole != target and (key := whole.partition("?")[0]) not in seen:
                    seen.add(key)
                    waiting.append(whole)
    assert broken == []
    assert len(seen) > 150
