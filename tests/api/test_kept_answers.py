"""Answers are computed once, identified by their ETag, and cached while they are valid."""

import shutil
import threading
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from api import kept_answers
from api.app import create_app
from api.lab.queue import Queue
from api.routes.answers import DistributionAnswer
from api.routes.strata import distributions
from api.stored.open_releases import KeptSample, OpenReleases
from schema.crawls import CrawlName
from tests.api.conftest import write_release
from tests.factories.made_up_replay import at_once

CRAWL = "2026-11.desktop.local.tcp.localweb"
COLD = f"/v1/distributions?crawl={CRAWL}&iw=7"
WITHIN_S = 60

PURE = [
    "/", "/docs", "/problems", "/openapi.json", "/about-the-crawler", "/static/style.css", f"/releases/{CRAWL}/v2",  # noqa: E501
    "/v1/crawls", "/v1/releases", "/v1/reports", "/v1/progress", COLD,
]  # fmt: skip


class Counted:
    """Counts how often distributions are computed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0

        def counted(held: dict[str, KeptSample], **parameters: Any) -> list[DistributionAnswer]:
            self.times += 1
            return distributions(held, **parameters)

        monkeypatch.setattr("api.routes.v1.distributions", counted)


def app_of(data_dir: Path, *, every_s: float = 0, **options: Any) -> FastAPI:
    return create_app(data_dir / "releases", data_dir / "reports", looked_at_every_s=every_s, **options)


@pytest.mark.parametrize("path", PURE)
def test_a_client_that_has_the_answer_gets_304_and_no_body(client: TestClient, path: str) -> None:
    first = client.get(path)
    assert first.status_code == 200
    etag = first.headers["etag"]
    assert not etag.startswith("W/")
    assert "public" in first.headers["cache-control"]
    for tags in (etag, f'"other", W/{etag}', "*"):
        again = client.get(path, headers={"If-None-Match": tags})
        assert (again.status_code, again.content) == (304, b"")
        assert (again.headers["etag"], again.headers["cache-control"]) == (
            etag,
            first.headers["cache-control"],
        )
    assert client.get(path, headers={"If-None-Match": '"other"'}).content == first.content


def test_a_cached_answer_equals_the_computed_one_including_its_headers(client: TestClient) -> None:
    for path in PURE:
        first, again = client.get(path), client.get(path)
        assert (again.status_code, again.content) == (first.status_code, first.content)
        assert dict(again.headers) == dict(first.headers)
        head = client.head(path)
        assert (dict(head.headers), head.content) == (dict(first.headers), b"")


def test_each_request_has_its_own_etag_and_answer(client: TestClient) -> None:
    asked = [f"{COLD}&mss={mss}" for mss in (536, 1430, 1460)] + [COLD.replace("=7", "=8"), COLD]
    replies = [client.get(path) for path in asked]
    assert len({reply.headers["etag"] for reply in replies}) == len(asked)
    assert len({reply.content for reply in replies}) >= len(asked) - 1  # 1430 is the default


def test_a_client_that_has_the_answer_costs_no_computation(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    etag = client.get(COLD).headers["etag"]
    counted = Counted(monkeypatch)
    with TestClient(app_of(data_dir, lab=Queue(at_once))) as another:
        assert another.get(COLD, headers={"If-None-Match": etag}).status_code == 304
    assert counted.times == 0


def test_a_publication_shows_up_at_once_and_changes_the_etag(client: TestClient, data_dir: Path) -> None:
    before = {path: client.get(path) for path in ("/", "/v1/crawls")}
    write_release(data_dir / "releases", CrawlName(month="2026-12"), version=1)
    for path, old in before.items():
        new = client.get(path, headers={"If-None-Match": old.headers["etag"]})
        assert new.status_code == 200
        assert "2026-12" in new.text
        assert new.headers["etag"] != old.headers["etag"]


def test_the_folders_are_scanned_at_intervals_and_not_for_each_request(data_dir: Path) -> None:
    with TestClient(app_of(data_dir, every_s=3600)) as client:
        before = client.get("/v1/crawls")
        shutil.rmtree(data_dir / "releases")
        assert client.get("/v1/crawls").content == before.content


def test_simultaneous_equal_requests_are_computed_once(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    with TestClient(app_of(data_dir, every_s=3600)) as client, ThreadPoolExecutor(16) as pool:
        client.get("/v1/crawls")
        replies = list(pool.map(client.get, [COLD] * 64))
    assert {reply.status_code for reply in replies} == {200}
    assert len({reply.content for reply in replies}) == 1
    assert counted.times == 1


def test_requests_beyond_the_limit_are_refused_with_retry_after(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kept_answers, "PLACES_EACH", 2)
    with TestClient(app_of(data_dir, every_s=3600)) as client, ThreadPoolExecutor(32) as pool:
        client.get("/v1/crawls")
        replies = list(pool.map(client.get, [f"{COLD}&mss={mss}" for mss in range(1, 129)]))
    refused = [reply for reply in replies if reply.status_code != 200]
    assert refused
    for reply in refused:
        assert reply.status_code == 503
        assert reply.headers["content-type"] == "application/problem+json"
        assert reply.json()["type"] == "/problems#busy"
        assert int(reply.headers["retry-after"]) > 0


def test_a_wrong_parameter_is_refused_while_the_same_client_s_questions_are_computed(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    may_end = threading.Event()

    def wait(*_: Any, **__: Any) -> list[DistributionAnswer]:
        may_end.wait(WITHIN_S)
        return []

    monkeypatch.setattr(OpenReleases, "sample", wait)
    with TestClient(app_of(data_dir, every_s=3600)) as client, ThreadPoolExecutor(8) as pool:
        client.get("/v1/crawls")
        computed = [pool.submit(client.get, f"{COLD}&mss={mss}") for mss in range(1, 5)]
        refused = client.get(f"{COLD}&protocol=zz")
        assert not any(reply.done() for reply in computed)
        may_end.set()
    assert refused.status_code == 422


def test_an_error_is_not_cached(client: TestClient, data_dir: Path) -> None:
    path = "/v1/distributions?crawl=2026-12"
    missing = client.get(path)
    assert missing.status_code == 404
    assert "etag" not in missing.headers
    write_release(data_dir / "releases", CrawlName(month="2026-12"), version=1)
    assert client.get(path).status_code == 200


def test_an_etag_does_not_depend_on_the_library_s_path(data_dir: Path) -> None:
    """Two services over copies of one library give the same ETags, as a cache in front of both needs."""
    for name in ("releases", "reports"):
        shutil.copytree(data_dir / name, data_dir / "copy" / name)
    for path in PURE[:-1]:
        with TestClient(app_of(data_dir)) as reply, TestClient(app_of(data_dir / "copy")) as other:
            assert reply.get(path).headers["etag"] == other.get(path).headers["etag"]


def test_other_code_has_other_etags(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with TestClient(app_of(data_dir)) as client:
        before = client.get("/v1/crawls").headers["etag"]
    monkeypatch.setattr(kept_answers, "code_version", lambda: "another")
    with TestClient(app_of(data_dir)) as client:
        assert client.get("/v1/crawls").headers["etag"] != before
