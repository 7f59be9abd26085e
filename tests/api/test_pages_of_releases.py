"""`/v1/releases` in pages: each leads to the next, and every release is on one of them."""

from pathlib import Path

from fastapi.testclient import TestClient

from api.app import create_app
from releases.formatting import NARROW
from schema.crawls import CrawlName
from tests.api.conftest import write_release
from tests.api.test_v1 import assert_problem


def test_releases_come_in_pages_that_lead_on_and_each_is_on_one_of_them(data_dir: Path) -> None:
    months = [f"2024-{month:02}" for month in range(1, 6)]
    for month in months:
        write_release(data_dir / "releases", CrawlName(month=month), version=1)
    with TestClient(create_app(data_dir / "releases", data_dir / "reports")) as client:
        whole = client.get("/v1/releases").json()
        following, listed, sizes = "/v1/releases?limit=2", [], []
        while following:
            answer = client.get(following)
            page = answer.json()
            listed += page["releases"]
            sizes.append(len(page["releases"]))
            following = page["next"]
            assert ("next" in answer.links) == bool(following)
            assert not following or answer.links["next"]["url"] == following
    assert whole["next"] is None
    assert [entry["provenance"]["crawl"] for entry in listed] == [
        release["provenance"]["crawl"] for release in whole["releases"]
    ]
    assert {f"{month}.desktop.local.tcp.web" for month in months} <= {
        entry["provenance"]["crawl"] for entry in listed
    }
    assert set(sizes[:-1]) == {2}


def test_a_page_that_begins_behind_a_release_which_is_not_there_is_refused(client: TestClient) -> None:
    for after in ("1999-01.desktop.local.tcp.web/v1", "2026-11"):
        answer = client.get("/v1/releases", params={"after": after})
        assert_problem(answer, "no-such-crawl", 404, mentions="after")


def test_a_release_states_the_share_of_its_audit_by_packets_where_it_has_one(data_dir: Path) -> None:
    counts = {
        "connections": 400,
        "agreeing_connections": 399,
        "received_bytes": 10_000,
        "agreeing_bytes": 9_000,
    }
    audited, other = CrawlName(month="2024-01"), CrawlName(month="2024-02")
    write_release(data_dir / "releases", audited, version=1, packets=counts)
    write_release(data_dir / "releases", other, version=1)
    with TestClient(create_app(data_dir / "releases", data_dir / "reports")) as client:
        pages = [client.get(f"/releases/{crawl}/v1").text.replace(NARROW, " ") for crawl in (audited, other)]
    stated = "equal on 99.7 % of 400 connections that were captured whole, and on 90.0 % of their bytes"
    assert [stated in page for page in pages] == [True, False]
    assert ["captured packets" in page for page in pages] == [True, False]
