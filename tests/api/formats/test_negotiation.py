"""Every address of the API answers in a format that the client accepts, or says with 406 what it offers."""

import csv
import io

import pytest
from fastapi.testclient import TestClient

from tests.api.test_remembered import CRAWL
from tests.api.test_v1 import assert_problem

JSON_ALONE = [
    "/v1/crawls", "/v1/releases", "/v1/reports", "/v1/progress", "/v1/errata", f"/v1/distributions?crawl={CRAWL}&iw=3",  # noqa: E501
]  # fmt: skip
WITH_CSV = ["/v1/series?kind=localweb&iw=3", "/v1/outside-series?series=pervasive-sizes"]
BROWSERS = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


@pytest.mark.parametrize("path", [*JSON_ALONE, *WITH_CSV])
def test_a_client_that_accepts_json_gets_it(client: TestClient, path: str) -> None:
    for accept in ("", "*/*", "application/json", "application/*;q=0.1, text/plain", BROWSERS):
        answer = client.get(path, headers={"Accept": accept})
        assert (answer.status_code, answer.headers["content-type"]) == (200, "application/json")
        assert "Accept" in answer.headers["vary"]


@pytest.mark.parametrize("path", [*JSON_ALONE, *WITH_CSV, "/v1/sites/www.a.example", "/v1/pages/1"])
def test_a_client_that_accepts_nothing_that_is_offered_is_told_what_is(client: TestClient, path: str) -> None:
    client.get(path)  # into the cache
    for accept in ("text/plain", "image/*, application/json;q=0", "application/ld+json"):
        answer = client.get(path, headers={"Accept": accept, "If-None-Match": "*"})
        problem = assert_problem(answer, "not-acceptable", 406)
        offered = [".json", ".csv"] if path in WITH_CSV else [".json"]
        assert [one["suffix"] for one in problem["offered"]] == offered
    assert client.get(path, headers={"Accept": "text/html"}).headers["content-type"].startswith("text/html")


@pytest.mark.parametrize("path", WITH_CSV)
def test_the_accept_header_chooses_csv_as_the_suffix_does(client: TestClient, path: str) -> None:
    by_suffix = client.get(path.replace("?", ".csv?"), headers={"Accept": "image/png"})
    for _ in range(2):  # computed, and from memory
        by_header = client.get(path, headers={"Accept": "text/csv, application/json;q=0.5"})
        assert by_header.content == by_suffix.content
        assert by_header.headers["content-type"] == by_suffix.headers["content-type"]
    assert len(list(csv.reader(io.StringIO(by_header.text)))) > 1


def test_pages_are_pages_whatever_is_accepted(client: TestClient) -> None:
    answer = client.get("/explore", headers={"Accept": "application/json"})
    assert (answer.status_code, "Accept," in f"{answer.headers.get('vary', '')},") == (200, False)
