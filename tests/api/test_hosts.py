"""Ambiguous hosts and lengths of requests are refused, and no answer repeats the Host header."""

import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from tests.api.test_v1 import assert_problem

CRAWL = "2026-11.desktop.local.tcp.localweb"
EVERYTHING = ["/", "/v1/crawls", "/v1/releases", "/v1/reports", "/openapi.json", "/docs", f"/releases/{CRAWL}/v2",
              f"/v1/distributions?crawl={CRAWL}", "/v1/crawls/", f"/releases/{CRAWL}", "/reports/2026", "/nothing"]  # fmt: skip
BASE_URL = "https://sizes.example"


def client_of(data_dir: Path, **options: Any) -> TestClient:
    app = create_app(data_dir / "releases", data_dir / "reports", looked_at_every_s=0, **options)
    return TestClient(app, follow_redirects=False)


@pytest.mark.parametrize("path", EVERYTHING)
def test_no_answer_repeats_the_host_of_the_request(client: TestClient, path: str) -> None:
    for host in ("evil.example", "evil.example:80", "evil.example@[::1", "[::evil.example"):
        answer = client.get(path, headers={"Host": host}, follow_redirects=False)
        assert answer.status_code < 500
        assert "evil.example" not in answer.text
        assert "evil.example" not in str(answer.headers)
        assert "testserver" not in answer.text


def test_links_begin_with_the_base_url_that_was_configured(data_dir: Path) -> None:
    client = client_of(data_dir, base_url=f"{BASE_URL}/")
    for path in ("/v1/crawls", "/v1/releases", "/v1/reports"):
        text = client.get(path, headers={"Host": "sizes.example"}).text
        links = re.findall(r'"(?:\w+_)?url": ?"([^"]*)"', text)
        assert links
        for link in links:
            assert link.startswith(f"{BASE_URL}/")
            again = client.get(link.removeprefix(BASE_URL), headers={"Host": "sizes.example"})
            assert again.status_code in (200, 307, 308)


@pytest.mark.parametrize(
    "host", ["sizes.example", "SIZES.example:443", "other.example", "localhost:8750", "[::1]:80"]
)
def test_requests_for_trusted_hosts_are_answered(data_dir: Path, host: str) -> None:
    client = client_of(data_dir, base_url=BASE_URL, trusted_hosts=["other.example"])
    assert client.get("/v1/crawls", headers={"Host": host}).status_code == 200


@pytest.mark.parametrize(
    "host", ["evil.example", "sizes.example.evil.example", "", "sizes.example evil", "[::1"]
)
def test_requests_for_other_hosts_are_refused(data_dir: Path, host: str) -> None:
    for options in ({"base_url": BASE_URL}, {"trusted_hosts": ["sizes.example"]}):
        client = client_of(data_dir, **options)
        for path in ("/", "/v1/crawls", "/static/style.css"):
            assert_problem(client.get(path, headers={"Host": host}), "misdirected", 421)


def test_a_request_with_two_hosts_is_refused(client: TestClient) -> None:
    answer = client.get("/", headers=[("Host", "testserver"), ("Host", "evil.example")])
    assert_problem(answer, "bad-request", 400, mentions="Host")


def test_a_body_in_chunks_is_refused_and_the_connection_closed(client: TestClient) -> None:
    for method in ("GET", "POST"):
        answer = client.request(method, "/", headers={"Transfer-Encoding": "chunked"})
        assert_problem(answer, "bad-request", 400)
        assert answer.headers["connection"] == "close"
