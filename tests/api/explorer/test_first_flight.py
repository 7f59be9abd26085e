"""The share that fits into one window, as an address that stays: numbers, figure and data."""

import csv
import io
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient

from schema.crawls import CrawlName
from tests.api.conftest import item_table, serving_library, write_library, write_release_with_items
from tests.api.test_v1 import LOCALWEB, assert_problem

QUERY = "crawl=2026-12.desktop.local.tcp.localweb&iw=13&mss=1220&protocol=h2"


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """A client of a service that has a month with strata."""
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


def test_the_figure_and_its_data_are_at_the_same_address_with_a_suffix(client: TestClient) -> None:
    share = client.get(f"/v1/first-flight?{QUERY}").json()
    svg = client.get(f"/v1/first-flight.svg?{QUERY}")
    assert svg.headers["content-type"] == "image/svg+xml"
    assert svg.text.lstrip().startswith("<svg")
    png = client.get(f"/v1/first-flight.png?{QUERY}")
    assert png.content.startswith(b"\x89PNG")
    rows = list(csv.DictReader(io.StringIO(client.get(f"/v1/first-flight.csv?{QUERY}").text)))
    (window,) = [row for row in rows if row["iw"] == "13"]
    assert [float(window[name]) for name in ("cdf", "lower", "upper")] == [
        share["share"],
        share["lower"],
        share["upper"],
    ]


@pytest.mark.parametrize(
    ("accept", "suffix"),
    [
        ("", "json"),
        ("*/*", "json"),
        ("application/json", "json"),
        ("text/html,application/xhtml+xml,image/avif,image/webp,*/*;q=0.8", "json"),
        ("text/csv", "csv"),
        ("image/svg+xml;q=0.9, image/png", "png"),
        ("image/*", "svg"),
    ],
)
def test_the_accept_header_chooses_the_format_and_a_suffix_overrules_it(
    client: TestClient, accept: str, suffix: str
) -> None:
    by_suffix = client.get(f"/v1/first-flight.{suffix}?{QUERY}", headers={"Accept": "text/plain"})
    for _ in range(2):  # computed, and from memory
        by_header = client.get(f"/v1/first-flight?{QUERY}", headers={"Accept": accept})
        assert by_header.status_code == by_suffix.status_code == 200
        assert by_header.content == by_suffix.content
        assert by_header.headers["content-type"] == by_suffix.headers["content-type"]
        assert by_header.headers["vary"] == "Accept"


def test_a_format_that_was_cached_is_not_given_for_another(client: TestClient) -> None:
    in_numbers = client.get(f"/v1/first-flight?{QUERY}")
    held = {"Accept": "text/csv", "If-None-Match": in_numbers.headers["etag"]}
    table = client.get(f"/v1/first-flight?{QUERY}", headers=held)
    assert (table.status_code, table.headers["content-type"]) == (200, "text/csv; charset=utf-8")
    again = client.get(f"/v1/first-flight?{QUERY}", headers={**held, "If-None-Match": table.headers["etag"]})
    assert (again.status_code, again.headers["vary"]) == (304, "Accept")


def test_a_format_that_is_not_offered_is_a_problem_that_lists_those_that_are(client: TestClient) -> None:
    for path, headers in (
        ("/v1/first-flight", {"Accept": "text/plain"}),
        ("/v1/first-flight", {"Accept": "application/json;q=0"}),
        ("/v1/first-flight.parquet", {}),
        ("/v1/first-flight.JSON", {}),
    ):
        answer = client.get(f"{path}?{QUERY}", headers=headers)
        problem = assert_problem(answer, "not-acceptable", 406)
        assert [one["suffix"] for one in problem["offered"]] == [".json", ".csv", ".svg", ".png"]


def test_a_release_that_lacks_the_stratum_says_why_and_draws_nothing(client: TestClient) -> None:
    query = f"crawl={LOCALWEB}&cache=warm"
    answer = client.get(f"/v1/first-flight?{query}").json()
    assert answer["share"] is None
    assert "no load was warm" in answer["share_unknown"]
    assert_problem(
        client.get(f"/v1/first-flight.svg?{query}"), "bad-parameter", 400, mentions="no load was warm"
    )


def test_without_a_stratum_every_release_has_a_figure(client: TestClient) -> None:
    assert client.get(f"/v1/first-flight?crawl={LOCALWEB}&iw=3").json()["share"] == 0.25
    assert client.get(f"/v1/first-flight.svg?crawl={LOCALWEB}&iw=3").status_code == 200


@pytest.mark.parametrize("query", ["iw=0", "mss=0", "iw=3&iw=4", "measure=bytes", "window=3"])
def test_a_bad_parameter_of_a_window_is_refused(client: TestClient, query: str) -> None:
    answer = client.get(f"/v1/first-flight?crawl={LOCALWEB}&{query}")
    assert answer.status_code == (422 if query == "measure=bytes" else 400)
