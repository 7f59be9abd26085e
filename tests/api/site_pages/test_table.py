"""The table of all sites of a release, held against what the release was made of."""

import csv
import dataclasses
import io
import re
import shutil
from pathlib import Path
from typing import Any

import pyarrow.parquet as pq
import pytest
from fastapi.testclient import TestClient

from api.rows.sites import SITE_ROW
from schema.crawls import CrawlName
from tests.api.conftest import serving, write_release
from tests.api.rows.conftest import CRAWL, NAME, SITES, made_up, write_crawl
from tests.api.site_pages.conftest import EARLIER
from tests.api.site_pages.test_pages import read, rows
from tests.api.test_v1 import assert_problem
from tests.factories.made_up_crawl import MadeUp

RECORDED = CrawlName(month="2025-08", kind="recorded")
Row = dict[str, Any]


def sizes(*of_sites: list[int], hosts: str = "site{}.test") -> MadeUp:
    """A crawl with a connection a site, whose responses have these sizes; every second one is over HTTP/3."""
    crawl = MadeUp()
    for number, of_site in enumerate(of_sites, 1):
        crawl.add_visit(host=hosts.format(number))
        crawl.add_connection(tls_handshake_bytes=3000, window=10)
        crawl.add_response(of_site[0])
        crawl.add_connection(host="cdn.test", tls_handshake_bytes=0, protocol="h3")
        for size in of_site[1:]:
            crawl.add_response(size)
    return crawl


@pytest.fixture(scope="module")
def built(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Two months: of three sites in the first, and of the same in another order in the second."""
    releases = tmp_path_factory.mktemp("three") / "releases"
    write_crawl(releases, EARLIER, sizes([1000, 1000], [1000, 90_000], [90_000, 90_000]))
    second = sizes([90_000, 90_000], [1000, 1000], [20_000, 1000])
    for row, number in zip(second.site, (2, 1, 3), strict=True):
        row["host"] = f"site{number}.test"
    for row, number in zip(second.visit, (2, 1, 3), strict=True):
        row["host"] = row["final_host"] = f"site{number}.test"
    write_crawl(releases, NAME, second)
    return releases


@pytest.fixture
def three(built: Path, tmp_path: Path) -> Path:
    return shutil.copytree(built, tmp_path / "releases")


def asked(client: TestClient, **parameters: Any) -> list[Row]:
    answer = client.get("/v1/sites", params={"crawl": CRAWL, **parameters})
    assert answer.status_code == 200, answer.text
    sites: list[Row] = answer.json()["rows"]
    return sites


def test_a_row_has_what_the_site_s_own_page_and_rows_have(tmp_path: Path) -> None:
    write_crawl(tmp_path / "releases", NAME, made_up())
    with serving(tmp_path / "releases") as client:
        sites = asked(client)
        assert [row["host"] for row in sites] == [f"site{number}.test" for number in range(1, SITES + 1)]
        history = client.get("/v1/sites/site1.test").json()["crawls"][0]
    assert sites[0] == {
        "rank": 1,
        "host": "site1.test",
        "outcome": "ok",
        "document_bytes": 1000,
        "first_flight_bytes": history["document"]["first_flight"]["size_bytes"],
        "responses": 3,
        "unknown": 0,
        "bytes": 1000 + 14_600 + 500,
        "share": pytest.approx(2 / 3),
        "share_before": None,
        "share_change": None,
        "window_segments": 10,
        "window_most_segments": 10,
        "least_window_segments": 10,
        "most_window_segments": 10,
        "visit_id": 1,
    }


def test_sites_are_compared_by_their_names_with_the_month_before(three: Path) -> None:
    with serving(three) as client:
        sites = {row["host"]: row for row in asked(client)}
        before = client.get("/v1/sites", params={"crawl": CRAWL}).json()["before"]["crawl"]
    assert before == str(EARLIER)
    shares = {host: (row["share_before"], row["share"], row["share_change"]) for host, row in sites.items()}
    assert shares == {
        "site1.test": (1, 1, 0),
        "site2.test": (0.5, 0, -0.5),
        "site3.test": (0, 0.5, 0.5),
    }


def test_the_worst_sites_come_first_by_one_call_and_unknown_ones_last(three: Path) -> None:
    with serving(three) as client:
        assert [row["host"] for row in asked(client, sort="share")] == [
            "site2.test",
            "site3.test",
            "site1.test",
        ]
        assert asked(client, sort="-share")[0]["host"] == "site1.test"
        assert [row["share"] for row in asked(client, iw=14, mss=1430, sort="share")] == [0, 1, 1]


def test_a_stratum_counts_its_responses_alone(three: Path) -> None:
    with serving(three) as client:
        sites = {row["host"]: (row["responses"], row["share"]) for row in asked(client, protocol="h2")}
        assert sites == {"site1.test": (1, 1), "site2.test": (1, 0), "site3.test": (1, 0)}
        assert asked(client, resource_type="font") == []
        assert len(asked(client, rank_stratum=1000)) == 3
        assert asked(client, rank_stratum=10_000) == []


def test_pages_by_cursor_have_every_site_once_in_order(tmp_path: Path) -> None:
    write_crawl(tmp_path / "releases", NAME, made_up())
    with serving(tmp_path / "releases") as client:
        url, seen = f"/v1/sites?crawl={CRAWL}&sort=-document_bytes&limit=5", []
        while url:
            answer = client.get(url)
            seen += [row["rank"] for row in answer.json()["rows"]]
            url = answer.json()["next"]
            assert ('rel="next"' in answer.headers["link"]) == bool(url)
        assert seen == [*range(SITES, 0, -1)]
        cursor = re.findall(r"cursor=([^&]+)", client.get(f"/v1/sites?crawl={CRAWL}&limit=5").json()["next"])
        other = client.get(f"/v1/sites?crawl={CRAWL}&sort=host&cursor={cursor[0]}")
        assert_problem(other, "bad-parameter", 400, mentions="cursor")


def test_every_format_has_the_same_rows(three: Path) -> None:
    with serving(three) as client:
        expected = asked(client, sort="share")
        query = {"crawl": CRAWL, "sort": "share"}
        parquet = client.get("/v1/sites.parquet", params=query)
        table = pq.read_table(io.BytesIO(parquet.content))
        assert table.select(SITE_ROW.names).to_pylist() == expected
        text = client.get("/v1/sites.csv", params=query)
        assert [row["host"] for row in csv.DictReader(io.StringIO(text.text))] == [
            row["host"] for row in expected
        ]
        assert 'rel="cite-as"' in text.headers["link"]
        copied = {(row["release"], row["cite_as"]) for row in csv.DictReader(io.StringIO(text.text))}
        source = client.get("/v1/sites", params=query).json()["provenance"]
        assert copied == {(f"{source['crawl']}/v{source['version']}", source["cite_as"])}
        assert_problem(client.get("/v1/sites.xml", params=query), "no-such-format", 404)


def test_the_page_answers_which_sites_are_worst_by_a_click(three: Path) -> None:
    with serving(three) as client:
        first = read(client, "/sites?responses_at_least=1")
        (worst,) = re.findall(r'<a href="([^"]*)">Least that fits first</a>', first)
        page = read(client, worst.replace("&amp;", "&"))
        assert [row[""] for row in rows(page, "Sites")] == ["1. site2.test", "3. site3.test", "2. site1.test"]
        assert rows(page, "Sites")[0]["change"] == "\N{MINUS SIGN}50.0 points"
        (command,) = re.findall(r'curl -sS "([^"]*)"', page)
        assert client.get(command.replace("&amp;", "&")).text.count("\n") == 4


def test_sites_of_few_responses_are_left_out_of_the_page_unless_they_are_asked_for(three: Path) -> None:
    with serving(three) as client:
        every = asked(client)
        known = {
            row["host"]: row["responses"] - row["unknown"] for row in every if row["responses"] is not None
        }
        most = max(known.values())
        at_least = asked(client, responses_at_least=most)
        assert [row["host"] for row in at_least] == [host for host, count in known.items() if count == most]
        assert "No site of this release matches" in read(client, "/sites")
        assert len(rows(read(client, "/sites?responses_at_least=0"), "Sites")) == len(every)
        assert len(rows(read(client, "/sites?q=site"), "Sites")) == len(every)


def test_a_part_of_a_name_narrows_the_table(three: Path) -> None:
    with serving(three) as client:
        assert [row["host"] for row in asked(client, q="E2.t")] == ["site2.test"]
        assert [row[""] for row in rows(read(client, "/sites?q=te3"), "Sites")] == ["3. site3.test"]


def test_a_release_without_names_has_its_sites_by_number_and_no_change(tmp_path: Path) -> None:
    releases = tmp_path / "releases"
    before = CrawlName(month="2025-07", kind="recorded")
    for crawl in (before, RECORDED):
        write_crawl(releases, crawl, sizes([1000, 1000], [90_000, 1], hosts="page-{}.invalid"))
    with serving(releases) as client:
        page = read(client, f"/sites?crawl={RECORDED}&responses_at_least=1")
        assert "Sites by number." in page
        assert [row[""] for row in rows(page, "Sites")] == ["1. page 1", "2. page 2"]
        assert "change" not in rows(page, "Sites")[0]
        assert "A number, not a name." in read(client, "/sites/page-2.invalid")


def test_a_release_without_rows_has_no_table(client: TestClient) -> None:
    assert "No release has sites yet" in read(client, "/sites")


def test_without_a_crawl_the_best_release_with_a_table_is_chosen(three: Path) -> None:
    write_release(three, dataclasses.replace(NAME, month="2026-12"), version=1)
    with serving(three) as client:
        answer = client.get("/v1/sites").json()
        assert (answer["provenance"]["crawl"], len(answer["rows"])) == (CRAWL, 3)
        assert f"crawl={CRAWL}" in client.get("/sites").headers["link"]


def test_a_damaged_table_is_a_problem(three: Path) -> None:
    with serving(three) as client:
        (NAME.path(three, version=1) / "item.parquet").write_bytes(b"PAR1")
        assert_problem(client.get(f"/v1/sites?crawl={CRAWL}"), "damaged-release", 503)
