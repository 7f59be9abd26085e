"""The share that fits into one window, as an address that stays: as JSON and as a table."""

import csv
import io
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from schema.crawls import CrawlName
from tests.api.conftest import item_table, serving_library, write_library, write_release_with_items
from tests.api.test_v1 import LOCALWEB

QUERY = "crawl=2026-12.desktop.local.tcp.localweb&iw=13&mss=1220&protocol=h2"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    root = write_library(tmp_path_factory.mktemp("library"))
    write_release_with_items(root / "releases", CrawlName(month="2026-12", kind="localweb"))
    with serving_library(root) as client:
        yield client


def test_any_window_has_its_share_and_interval(client: TestClient) -> None:
    answer = client.get(f"/v1/first-flight?{QUERY}").json()
    table = item_table().to_pylist()
    sizes = [row["size_bytes"] for row in table if (row["measure"], row["protocol"]) == ("responses", "h2")]
    assert answer["window_bytes"] == 13 * 1220
    assert answer["share"] == sum(size <= 13 * 1220 for size in sizes) / len(sizes)
    assert answer["lower"] <= answer["share"] <= answer["upper"]
    assert (answer["stratum"], answer["sites"]) == ({"protocol": "h2"}, 30)


def test_an_answer_links_to_its_method_and_to_its_pinned_address(client: TestClient) -> None:
    answer = client.get(f"/v1/first-flight?{QUERY}")
    assert '</documents/methods>; rel="describedby"' in answer.headers["link"]
    (canonical,) = [part for part in answer.headers["link"].split(", ") if 'rel="canonical"' in part]
    assert "version=1" in canonical
    pinned = canonical.partition(">")[0].removeprefix("<")
    assert client.get(pinned).json() == answer.json()
    assert client.get("/documents/methods").status_code == 200


def test_the_table_has_the_same_numbers(client: TestClient) -> None:
    share = client.get(f"/v1/first-flight?{QUERY}").json()
    (row,) = csv.DictReader(io.StringIO(client.get(f"/v1/first-flight.csv?{QUERY}").text))
    assert [float(row[name]) for name in ("share", "lower", "upper", "known")] == [
        share[name] for name in ("share", "lower", "upper", "known")
    ]
    assert (row["stratum"], row["checksum"]) == ("protocol=h2", share["provenance"]["checksum"])


def test_a_release_that_lacks_the_stratum_says_why(client: TestClient) -> None:
    query = f"crawl={LOCALWEB}&cache=warm"
    answer = client.get(f"/v1/first-flight?{query}").json()
    assert answer["share"] is None
    assert "no load was warm" in answer["share_unknown"]


def test_without_a_stratum_every_release_has_a_share(client: TestClient) -> None:
    assert client.get(f"/v1/first-flight?crawl={LOCALWEB}&iw=3").json()["share"] == 0.25
