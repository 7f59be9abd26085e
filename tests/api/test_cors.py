"""What a page of another origin may ask and read."""

import pytest
from fastapi.testclient import TestClient

PARQUET = "/releases/2026-11.desktop.local.tcp.localweb/v2/distribution.parquet"
ASKED = {"Origin": "https://elsewhere.test", "Access-Control-Request-Method": "GET"}
NAMED = "range, if-none-match, if-range"


def listed(header: str) -> set[str]:
    return {name.strip().lower() for name in header.split(",")}


@pytest.mark.parametrize("path", [PARQUET, "/v1/crawls", "/v1/responses.arrow", "/nothing"])
def test_a_preflight_allows_every_header_that_reading_parquet_takes(client: TestClient, path: str) -> None:
    answer = client.options(path, headers=ASKED | {"Access-Control-Request-Headers": NAMED})
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "*"
    assert {"get", "head"} <= listed(answer.headers["access-control-allow-methods"])
    assert {"range", "if-none-match", "if-range"} <= listed(answer.headers["access-control-allow-headers"])
    assert int(answer.headers["access-control-max-age"]) > 0


def test_a_script_may_read_the_headers_of_a_part_of_a_file(client: TestClient) -> None:
    whole = client.get(PARQUET)
    part = client.get(PARQUET, headers={"Origin": "https://elsewhere.test", "Range": "bytes=-8"})
    assert (part.status_code, part.content) == (206, whole.content[-8:])
    exposed = listed(part.headers["access-control-expose-headers"])
    assert {"content-range", "accept-ranges", "etag", "content-length", "link"} <= exposed
    assert (
        part.headers["content-range"]
        == f"bytes {len(whole.content) - 8}-{len(whole.content) - 1}/{len(whole.content)}"
    )
    assert part.headers["cross-origin-resource-policy"] == "cross-origin"
    assert "origin" not in listed(part.headers.get("vary", ""))


def test_nothing_is_shared_with_credentials(client: TestClient) -> None:
    answer = client.get(PARQUET, headers={"Origin": "https://elsewhere.test", "Cookie": "a=b"})
    assert "access-control-allow-credentials" not in answer.headers


def test_options_that_are_no_preflight_are_refused_as_before(client: TestClient) -> None:
    assert client.options("/v1/crawls").status_code == 405
