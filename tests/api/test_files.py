from pathlib import Path

import pytest
from fastapi.testclient import TestClient

CRAWL = "2026-11.desktop.local.tcp.localweb"
PARQUET = f"/releases/{CRAWL}/v2/distribution.parquet"


def test_a_release_file_is_sent_unchanged(client: TestClient, data_dir: Path) -> None:
    (path,) = data_dir.glob("releases/month=2026-11/device=desktop/**/version=2/distribution.parquet")
    response = client.get(PARQUET)
    assert response.content == path.read_bytes()
    assert response.headers["content-type"] == "application/vnd.apache.parquet"
    assert "immutable" in response.headers["cache-control"]


def test_a_client_that_has_the_file_gets_304(client: TestClient) -> None:
    etag = client.get(PARQUET).headers["etag"]
    response = client.get(PARQUET, headers={"If-None-Match": f'"other", {etag}'})
    assert (response.status_code, response.content, response.headers["etag"]) == (304, b"", etag)
    assert client.get(PARQUET, headers={"If-None-Match": '"other"'}).status_code == 200


def test_a_range_is_a_part_of_the_file(client: TestClient) -> None:
    whole = client.get(PARQUET)
    part = client.get(PARQUET, headers={"Range": "bytes=4-9", "If-Range": whole.headers["etag"]})
    assert (part.status_code, part.content) == (206, whole.content[4:10])
    assert part.headers["content-range"] == f"bytes 4-9/{len(whole.content)}"
    stale = client.get(PARQUET, headers={"Range": "bytes=4-9", "If-Range": '"other"'})
    assert (stale.status_code, stale.content) == (200, whole.content)


@pytest.mark.parametrize(
    "path",
    ["/", "/docs", "/openapi.json", "/v1/crawls", "/reports/2026/v1/", "/static/style.css", PARQUET],
)
def test_head_is_get_without_the_body(client: TestClient, path: str) -> None:
    got, head = client.get(path), client.head(path)
    assert (head.status_code, head.content) == (200, b"")
    assert dict(head.headers) == dict(got.headers)


@pytest.mark.parametrize(
    "path",
    [
        f"/releases/{CRAWL}/v2/%2e%2e%2f%2e%2e%2fsecret.txt",
        f"/releases/{CRAWL}/v2/..%2fversion=1%2fmanifest.json",
        "/releases/..%2f..%2f/v1/secret.txt",
        "/reports/2026/%2e%2e/%2e%2e/secret.txt",
        "/reports/2026/..%2f..%2fsecret.txt",
        "/reports/2026//etc/passwd",
        "/reports/2026/v1/%2e%2e/%2e%2e/%2e%2e/secret.txt",
        "/reports/2026/v1/files/..%2f..%2f..%2fsecret.txt",
        "/reports/2026/v1//etc/passwd",
        "/reports/2026/v1/files//etc/passwd",
        "/reports/2026/v1/..%2f..%2f..%2fsecret.html",
        "/reports/%2e%2e/secret.txt",
        "/static/..%2f..%2fapp.py",
        "/reports/2026/%00",
        f"/releases/{CRAWL}/v2/%00",
    ],
)
def test_no_path_leads_out_of_the_library(client: TestClient, path: str) -> None:
    response = client.get(path)
    assert response.status_code in (400, 404)
    assert response.headers["content-type"] == "application/problem+json"


def test_a_link_within_a_report_is_not_followed_out_of_it(client: TestClient, data_dir: Path) -> None:
    (data_dir / "reports/2026/v1/leak.txt").symlink_to(data_dir / "secret.txt")
    (data_dir / "reports/2026/v1/leak").symlink_to(data_dir)
    for name in ("leak.txt", "leak/secret.txt"):
        assert client.get(f"/reports/2026/v1/{name}").status_code == 404
        assert client.get(f"/reports/2026/v1/files/{name}").status_code == 404


def test_a_report_is_served_with_its_json_its_summary_and_its_figures(client: TestClient) -> None:
    assert client.get("/reports/2026").url.path == "/reports/2026/v1/"
    for name, kind in [
        ("", "text/html; charset=utf-8"),
        ("report.json", "application/json"),
        ("summary.txt", "text/plain; charset=utf-8"),
        ("figures/cdf.svg", "image/svg+xml"),
    ]:
        response = client.get(f"/reports/2026/v1/{name}")
        assert (response.status_code, response.headers["content-type"]) == (200, kind)
        assert "script-src" not in response.headers["content-security-policy"]


def test_every_answer_forbids_what_it_does_not_need(client: TestClient) -> None:
    for path in ("/", "/v1/crawls", PARQUET, "/nothing", "/static/style.css"):
        headers = client.get(path).headers
        assert headers["content-security-policy"].startswith("default-src 'none'")
        assert headers["x-content-type-options"] == "nosniff"
        assert headers["access-control-allow-origin"] == "*"


@pytest.mark.parametrize(
    "asked", ["bytes=9999999-", "bytes=9-4", "bytes=x", "bytes=", "bytes", "bytes=-", "nonsense"]
)
def test_a_range_outside_the_file_is_a_problem(client: TestClient, asked: str) -> None:
    size = len(client.get(PARQUET).content)
    answer = client.get(PARQUET, headers={"Range": asked})
    assert answer.status_code == 416
    assert answer.headers["content-type"] == "application/problem+json"
    assert answer.headers["content-range"] == f"bytes */{size}"
    assert answer.json()["type"] == "/problems#bad-range"


def test_a_range_in_another_unit_or_of_a_head_is_ignored(client: TestClient) -> None:
    whole = client.get(PARQUET)
    assert client.get(PARQUET, headers={"Range": "lines=1-2"}).content == whole.content
    head = client.head(PARQUET, headers={"Range": "bytes=0-3"})
    assert (head.status_code, head.headers["content-length"]) == (200, whole.headers["content-length"])
