"""Ambiguous hosts and lengths of requests are refused,
and no answer repeats the name of a stranger in the Host header."""

import re
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from tests.api.test_v1 import assert_problem

CRAWL = "2026-11.desktop.local.tcp.localweb"
EVERYTHING = ["/", "/v1/crawls", "/v1/releases", "/v1/reports", "/openapi.json", "/docs", f"/releases/{CRAWL}/v2",  # noqa: E501
              f"/v1/distributions?crawl={CRAWL}", "/v1/crawls/", f"/releases/{CRAWL}", "/reports/2026", "/nothing"]  # fmt: skip  # noqa: E501
BASE_URL = "https://sizes.example"
STRANGERS = ("evil.example", "evil.example:80", "evil.example@[::1", "[::evil.example", "[fe80::1%evil.example]",  # noqa: E501
             "localhost:80@evil.example", "localhost:evil.example", "localhost/evil.example", "192.168.1.7.evil.example")  # fmt: skip  # noqa: E501
PAGED = "/v1/releases?limit=1"


def client_of(data_dir: Path, **options: Any) -> TestClient:
    app = create_app(data_dir / "releases", data_dir / "reports", looked_at_every_s=0, **options)
    return TestClient(app, follow_redirects=False)


@pytest.mark.parametrize("path", EVERYTHING)
def test_no_answer_repeats_the_host_of_the_request(client: TestClient, path: str) -> None:
    for host in STRANGERS:
        answer = client.get(path, headers={"Host": host}, follow_redirects=False)
        assert answer.status_code < 500
        assert "evil.example" not in answer.text
        assert "evil.example" not in str(answer.headers)
        assert "testserver" not in answer.text


def test_links_begin_with_the_base_url_that_was_configured(data_dir: Path) -> None:
    client = client_of(data_dir, base_url=f"{BASE_URL}/")
    for path in ("/v1/crawls", "/v1/releases", "/v1/reports"):
        answer = client.get(path, headers={"Host": "sizes.example"})
        assert answer.links["canonical"]["url"] == f"{BASE_URL}{path}"
        links = re.findall(r'"(?:\w+_)?url": ?"([^"]*)"', answer.text)
        assert links
        for link in links:
            assert link.startswith(f"{BASE_URL}/")
            again = client.get(link.removeprefix(BASE_URL), headers={"Host": "sizes.example"})
            assert again.status_code in (200, 307, 308)


@pytest.mark.parametrize(
    ("host", "base"),
    [
        ("127.0.0.1:9000", "http://127.0.0.1:9000"),  # another port, as of a container or a tunnel
        ("LocalHost:8080", "http://localhost:8080"),
        ("[::1]:8080", "http://[::1]:8080"),
        ("192.168.1.7:8080", "http://192.168.1.7:8080"),
        *((host, "http://127.0.0.1:8080") for host in (*STRANGERS, "8.8.8.8", "")),
    ],
)
def test_without_a_base_url_next_is_absolute_at_the_address_that_was_asked_or_that_is_listened_on(
    data_dir: Path, host: str, base: str
) -> None:
    client = client_of(data_dir, listens_at="http://127.0.0.1:8080")
    answer = client.get(PAGED, headers={"Host": host})
    assert answer.json()["next"].startswith(f"{base}/v1/releases?")
    for relation in ("next", "canonical", "cite-as", "describedby"):
        assert answer.links[relation]["url"].startswith(f"{base}/")


def test_a_trusted_host_is_what_links_begin_with(data_dir: Path) -> None:
    client = client_of(data_dir, listens_at="http://127.0.0.1:8080", trusted_hosts=["sizes.example"])
    following = client.get(PAGED, headers={"Host": "sizes.example:81"}).json()["next"]
    assert following.startswith("http://sizes.example:81/v1/releases?")


def test_an_answer_that_was_cached_for_one_host_is_not_given_to_another(data_dir: Path) -> None:
    client = client_of(data_dir, listens_at="http://127.0.0.1:8080")
    for path in (PAGED, "/v1/crawls", "/"):
        one, other = (client.get(path, headers={"Host": host}) for host in ("10.6.6.6", "localhost:8080"))
        assert "http://10.6.6.6/" in one.headers["link"]
        assert "10.6.6.6" not in other.text + str(other.headers)
        held = {"Host": "localhost:8080", "If-None-Match": one.headers["etag"]}
        assert client.get(path, headers=held).status_code == 200


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
