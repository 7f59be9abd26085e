"""Without a descriptor left the service answers 503, takes nothing for damaged or missing, and recovers."""

import contextlib
import errno
import resource
from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.http.problems import Problem
from api.stored.open_releases import OpenReleases
from tests.api.conftest import serving_library
from tests.api.test_v1 import assert_problem

CRAWL = "2026-11.desktop.local.tcp.localweb"
FILE = f"/releases/{CRAWL}/v1/distribution.parquet"

PATHS = (
    "/",
    "/v1/crawls",
    "/v1/releases",
    f"/v1/distributions?crawl={CRAWL}",
    f"/v1/rows/visit?crawl={CRAWL}",
    f"/releases/{CRAWL}/v1",
    FILE,
    "/reports/2026/v1/summary.txt",
    "/explore",
    "/documents",
)


@contextlib.contextmanager
def no_descriptor() -> Iterator[None]:
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    resource.setrlimit(resource.RLIMIT_NOFILE, (0, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))


def test_exhaustion_is_503_whatever_is_asked_for_and_leaves_nothing_behind(client: TestClient) -> None:
    with no_descriptor():
        first = {path: client.get(path) for path in PATHS}
    assert_problem(first[FILE], "busy", 503, mentions="try again")
    assert int(first[FILE].headers["retry-after"]) > 0
    expected = {path: client.get(path) for path in PATHS}
    with no_descriptor():
        later = {path: client.get(path) for path in PATHS}
    for path in PATHS:
        assert expected[path].status_code in (200, 404), path
        assert first[path].status_code in (expected[path].status_code, 503), path
        assert later[path].status_code in (expected[path].status_code, 503), path
    assert client.get("/v1/crawls").json()["damaged"] == []


def test_a_service_that_never_looked_takes_nothing_for_damaged(data_dir: Path) -> None:
    """Every step of the first look finds no descriptor in turn."""
    soft, hard = resource.getrlimit(resource.RLIMIT_NOFILE)
    with serving_library(data_dir) as client:
        used = max(int(path.name) for path in Path("/proc/self/fd").iterdir())
        for spare in range(1, 6):
            resource.setrlimit(resource.RLIMIT_NOFILE, (used + spare, hard))
            try:
                answer = client.get("/v1/crawls")
            finally:
                resource.setrlimit(resource.RLIMIT_NOFILE, (soft, hard))
            assert answer.status_code == 503 or answer.json()["damaged"] == []
        assert client.get("/v1/crawls").json()["damaged"] == []


@pytest.mark.parametrize("path", ["/v1/series", "/explore"])
def test_a_problem_raised_for_want_of_a_descriptor_is_neither_an_unknown_value_nor_kept(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, path: str
) -> None:
    def refuse(*_: object) -> None:
        raise Problem("damaged-file", "it cannot be read") from OSError(errno.EMFILE, "too many")

    with monkeypatch.context() as exhausted:
        exhausted.setattr(OpenReleases, "file", refuse)
        exhausted.setattr(OpenReleases, "sample", refuse)
        exhausted.setattr(OpenReleases, "counts", refuse)
        assert_problem(client.get(path), "busy", 503)
    assert "cannot be read" not in client.get(path).text


@pytest.mark.parametrize("range_", ["", "bytes=0-9", "bytes=0-9,20-29"])
def test_a_file_that_cannot_be_opened_any_more_is_no_answer_of_200(client: TestClient, range_: str) -> None:
    asked = {"Range": range_} if range_ else {}
    assert client.get(FILE, headers=asked).status_code in (200, 206)
    with no_descriptor():
        assert_problem(client.get(FILE, headers=asked), "busy", 503)
