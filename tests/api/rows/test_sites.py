"""A site over the months, and one page load as a waterfall."""

import dataclasses
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from tests.api.conftest import serving
from tests.api.rows.conftest import CRAWL, NAME, made_up, write_crawl
from tests.api.test_damaged import withdraw
from tests.api.test_v1 import assert_problem
from tests.factories.made_up_crawl import MadeUp

EARLIER = dataclasses.replace(NAME, month="2026-10")


def with_a_retry() -> MadeUp:
    """A crawl whose first site failed once and then moved to another host, over HTTP/3 for a part."""
    crawl = MadeUp()
    crawl.add_visit(outcome="dns", is_final=False)
    crawl.add_visit()
    crawl.visit[-1] |= {"host": "site1.test", "final_host": "www.site1.test"}
    crawl.add_connection(host="www.site1.test", tls_handshake_bytes=3000, window=10)
    crawl.add_response(20_000, first_ms=150, last_ms=200)
    crawl.add_response(7_000, sent_ms=140, first_ms=160)
    crawl.add_response(5_000, sent_ms=160, first_ms=210)
    crawl.add_connection(host="cdn.test", tls_handshake_bytes=0, protocol="h3")
    crawl.add_response(100)
    return crawl


@pytest.fixture
def months(releases: Path) -> Path:
    """Two months of which both have visits to site1.test."""
    write_crawl(releases, EARLIER, with_a_retry())
    return releases


@pytest.mark.parametrize("path", ["/v1/sites/site1.test", "/v1/pages/1"])
def test_an_address_that_ends_with_a_host_or_a_number_has_the_suffix_of_json_alone(
    client: TestClient, path: str
) -> None:
    answer = client.get(f"{path}.json")
    assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
    for name, value in client.get(path).json().items():
        assert answer.json()[name] == value
    assert_problem(client.get(f"{path}.csv"), "no-such-format", 404, mentions=".json")


def test_a_site_has_its_visits_and_windows_in_every_crawl_the_newest_first(months: Path) -> None:
    with serving(months) as client:
        answer = client.get("/v1/sites/site1.test").json()
        assert [crawl["crawl"] for crawl in answer["crawls"]] == [CRAWL, str(EARLIER)]
        newest, earlier = answer["crawls"]
        assert (newest["connections"], newest["responses"], newest["protocols"]) == (2, 3, {"h2": 2})
        assert newest["first_flights"]["windows"] == [
            {"segments": 10, "most_segments": 10, "is_exact": True, "connections": 1},
            {"segments": 32, "most_segments": None, "is_exact": False, "connections": 1},
        ]
        assert (newest["first_flights"]["most_bytes"], newest["first_flights"]["median_bytes"]) == (
            46_336,
            30_408,
        )
        assert [(visit["outcome"], visit["is_final"]) for visit in earlier["visits"]] == [
            ("dns", False),
            ("ok", True),
        ]
        assert earlier["protocols"] == {"h2": 1, "h3": 1}
        assert (earlier["first_flights"]["known"], earlier["first_flights"]["unknown"]) == (1, 1)
        assert earlier["first_flights"]["own_windows"] == [
            {"segments": 10, "most_segments": 10, "is_exact": True, "connections": 1}
        ]
        for crawl in answer["crawls"]:
            assert client.get(crawl["visits"][-1]["url"]).json()["visit"]["host"] == "site1.test"


def test_a_site_that_no_release_has_is_a_problem(client: TestClient) -> None:
    for host in ("none.test", "cdn.test", "%25", "'--", "x" * 253):
        assert_problem(client.get(f"/v1/sites/{host}"), "no-such-site", 404)
    assert_problem(client.get(f"/v1/sites/{'x' * 254}"), "bad-parameter", 400, mentions="host")


def test_a_withdrawn_site_is_gone_from_its_history(months: Path) -> None:
    """The release's next version is without the site, and the version before gives way to a tombstone."""
    without = made_up()
    without.site, without.visit = without.site[1:], without.visit[1:]
    write_crawl(months, NAME, without, version=2)
    withdraw(NAME.path(months, version=1))
    with serving(months) as client:
        crawls = client.get("/v1/sites/site1.test").json()["crawls"]
        assert [crawl["crawl"] for crawl in crawls] == [str(EARLIER)]
        page = f"/v1/pages/1?crawl={CRAWL}"
        assert_problem(client.get(page), "no-such-visit", 404)
        assert_problem(client.get(f"{page}&version=1"), "withdrawn", 410)


def test_a_damaged_month_is_listed_as_damaged_and_the_others_are_answered(months: Path) -> None:
    (NAME.path(months, version=1) / "visit.parquet").write_bytes(b"PAR1")
    with serving(months) as client:
        answer = client.get("/v1/sites/site1.test").json()
        assert [crawl["crawl"] for crawl in answer["crawls"]] == [str(EARLIER)]
        assert [entry["crawl"] for entry in answer["damaged"]] == [CRAWL]
        assert_problem(client.get(f"/v1/pages/1?crawl={CRAWL}"), "damaged-release", 503)


def test_a_page_load_has_its_times_sizes_and_first_flights(months: Path) -> None:
    with serving(months) as client:
        page = client.get("/v1/pages/2", params={"crawl": str(EARLIER)}).json()
    own, other = page["connections"]
    assert (own["opened_us"], own["connected_us"], own["secured_us"]) == (0, 50_000, 100_000)
    # The second was asked for before the first byte of the first arrived, the third after it.
    assert own["first_flight"]["response_ids"] == [1, 2]
    assert (own["first_flight"]["tls_bytes"], own["first_flight"]["answer_bytes"]) == (3000, 27_000)
    assert own["first_flight"]["size_bytes"] == 30_000
    assert other["first_flight"] is None
    assert [
        (response["wire_bytes"], response["first_byte_us"], response["is_in_first_flight"])
        for response in page["responses"]
    ] == [
        (20_000, 150_000, True),
        (7_000, 160_000, True),
        (5_000, 210_000, False),
        (100, 150_000, None),
    ]
    assert page["provenance"]["crawl"] == str(EARLIER)


@pytest.mark.parametrize("visit", ["999", "9223372036854775807"])
def test_a_visit_that_the_release_has_not_is_a_problem(client: TestClient, visit: str) -> None:
    assert_problem(client.get(f"/v1/pages/{visit}?crawl={CRAWL}"), "no-such-visit", 404)


@pytest.mark.parametrize("visit", ["0", "-1", "x", "9223372036854775808", "..%2f1"])
def test_a_visit_that_is_no_number_is_refused(client: TestClient, visit: str) -> None:
    assert client.get(f"/v1/pages/{visit}?crawl={CRAWL}").status_code in (400, 404)


def test_the_windows_of_a_release_are_a_distribution_with_the_number_that_is_exact(months: Path) -> None:
    with serving(months) as client:
        answer = client.get("/v1/initial-windows", params={"crawl": CRAWL}).json()
        assert answer["provenance"]["crawl"] == CRAWL
        by_connections = {window["connections"]: window for window in answer["windows"]}
        assert by_connections["all"]["exact"] > 0
        assert by_connections["all"]["at_least"] > 0
        assert sum(share["share"] for share in by_connections["all"]["shares"]) == pytest.approx(1)
        assert_problem(client.get("/v1/initial-windows?crawl=2001-01"), "no-such-crawl", 404)
