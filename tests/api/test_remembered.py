"""Answers are computed once, told apart by their ETag, and remembered, in memory and on disk, for as long as they hold."""

import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from api import remembering
from api.app import create_app
from api.distributions import Distribution, Steps, distributions
from schema.crawls import CrawlName
from tests.api.conftest import write_release

CRAWL = "2026-11.desktop.local.tcp.localweb"
COLD = f"/v1/distributions?crawl={CRAWL}&iw=7"
PURE = [
    "/", "/docs", "/problems", "/openapi.json", "/about-the-crawler", "/static/style.css", f"/releases/{CRAWL}/v2",
    "/v1/crawls", "/v1/releases", "/v1/reports", "/v1/progress", COLD,
]  # fmt: skip


class Counted:
    """Counts how often distributions are computed."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        self.times = 0

        def counted(steps: dict[str, Steps], **parameters: Any) -> list[Distribution]:
            self.times += 1
            return distributions(steps, **parameters)

        monkeypatch.setattr("api.routes.v1.distributions", counted)


def app_of(data_dir: Path, *, every_s: float = 0, **options: Any) -> FastAPI:
    return create_app(data_dir / "releases", data_dir / "reports", looked_at_every_s=every_s, **options)


@pytest.mark.parametrize("path", PURE)
def test_a_reader_who_has_the_answer_gets_304_and_no_body(client: TestClient, path: str) -> None:
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


def test_a_remembered_answer_is_the_one_that_was_computed_headers_and_all(client: TestClient) -> None:
    for path in PURE:
        first, again = client.get(path), client.get(path)
        assert (again.status_code, again.content) == (first.status_code, first.content)
        assert dict(again.headers) == dict(first.headers)
        head = client.head(path)
        assert (dict(head.headers), head.content) == (dict(first.headers), b"")


def test_every_other_question_has_an_etag_and_an_answer_of_its_own(client: TestClient) -> None:
    asked = [f"{COLD}&mss={mss}" for mss in (536, 1430, 1460)] + [COLD.replace("=7", "=8"), COLD]
    found = [client.get(path) for path in asked]
    assert len({one.headers["etag"] for one in found}) == len(asked)
    assert len({one.content for one in found}) >= len(asked) - 1  # 1430 is the default


def test_a_reader_who_has_the_answer_costs_no_computation(
    client: TestClient, monkeypatch: pytest.MonkeyPatch, data_dir: Path
) -> None:
    etag = client.get(COLD).headers["etag"]
    counted = Counted(monkeypatch)
    with TestClient(app_of(data_dir)) as another:
        assert another.get(COLD, headers={"If-None-Match": etag}).status_code == 304
    assert counted.times == 0


def test_what_is_published_shows_up_at_once_and_under_another_etag(
    client: TestClient, data_dir: Path
) -> None:
    before = {path: client.get(path) for path in ("/", "/v1/crawls")}
    write_release(data_dir / "releases", CrawlName(month="2026-12"), version=1)
    for path, old in before.items():
        new = client.get(path, headers={"If-None-Match": old.headers["etag"]})
        assert new.status_code == 200
        assert "2026-12" in new.text
        assert new.headers["etag"] != old.headers["etag"]


def test_the_folders_are_looked_at_now_and_then_and_not_for_each_request(data_dir: Path) -> None:
    with TestClient(app_of(data_dir, every_s=3600)) as client:
        before = client.get("/v1/crawls")
        shutil.rmtree(data_dir / "releases")
        assert client.get("/v1/crawls").content == before.content


def test_a_question_that_many_ask_at_once_is_computed_once(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    counted = Counted(monkeypatch)
    with TestClient(app_of(data_dir, every_s=3600)) as client, ThreadPoolExecutor(16) as pool:
        client.get("/v1/crawls")
        found = list(pool.map(client.get, [COLD] * 64))
    assert {one.status_code for one in found} == {200}
    assert len({one.content for one in found}) == 1
    assert counted.times == 1


def test_beyond_so_many_questions_at_once_a_client_is_told_when_to_come_again(
    data_dir: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(remembering, "AT_ONCE", 1)
    monkeypatch.setattr(remembering, "WAITING", 1)
    with TestClient(app_of(data_dir, every_s=3600)) as client, ThreadPoolExecutor(32) as pool:
        client.get("/v1/crawls")
        found = list(pool.map(client.get, [f"{COLD}&mss={mss}" for mss in range(1, 129)]))
    refused = [one for one in found if one.status_code != 200]
    assert refused
    for one in refused:
        assert one.status_code == 503
        assert one.headers["content-type"] == "application/problem+json"
        assert one.json()["type"] == "/problems#busy"
        assert int(one.headers["retry-after"]) > 0


def test_a_mistake_is_not_remembered(client: TestClient, data_dir: Path) -> None:
    path = "/v1/distributions?crawl=2026-12"
    missing = client.get(path)
    assert missing.status_code == 404
    assert "etag" not in missing.headers
    write_release(data_dir / "releases", CrawlName(month="2026-12"), version=1)
    assert client.get(path).status_code == 200


def test_answers_outlive_the_process_on_disk(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    kept = data_dir / "cache/answers"
    with TestClient(app_of(data_dir, answers=kept)) as client:
        first = client.get(COLD)
    assert [path.stat().st_mode & 0o077 for path in (kept, *kept.iterdir())] == [0, 0]
    counted = Counted(monkeypatch)
    with TestClient(app_of(data_dir, answers=kept)) as client:
        again = client.get(COLD)
    assert (again.content, dict(again.headers)) == (first.content, dict(first.headers))
    assert counted.times == 0


def test_a_damaged_file_of_the_cache_is_computed_anew(data_dir: Path) -> None:
    kept = data_dir / "cache/answers"
    with TestClient(app_of(data_dir, answers=kept)) as client:
        first = client.get(COLD)
    (path,) = kept.iterdir()
    path.write_bytes(path.read_bytes().replace(b'"mss":1430', b'"mss":9999'))
    with TestClient(app_of(data_dir, answers=kept)) as client:
        assert client.get(COLD).content == first.content


def test_a_cache_that_cannot_be_written_is_done_without_and_told_of_once(
    data_dir: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (data_dir / "file").touch()
    with TestClient(app_of(data_dir, answers=data_dir / "file/answers")) as client:
        for mss in (536, 1430, 1460):
            assert client.get(f"{COLD}&mss={mss}").status_code == 200
    assert len([one for one in caplog.messages if "memory only" in one]) == 1


def test_an_etag_tells_nothing_of_where_the_library_lies(data_dir: Path) -> None:
    """Two services over copies of one library agree, so that a cache in front of both does."""
    for name in ("releases", "reports"):
        shutil.copytree(data_dir / name, data_dir / "copy" / name)
    for path in PURE[:-1]:
        with TestClient(app_of(data_dir)) as one, TestClient(app_of(data_dir / "copy")) as other:
            assert one.get(path).headers["etag"] == other.get(path).headers["etag"]


def test_other_code_has_other_etags(data_dir: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    with TestClient(app_of(data_dir)) as client:
        before = client.get("/v1/crawls").headers["etag"]
    monkeypatch.setattr(remembering, "code_version", lambda: "another")
    with TestClient(app_of(data_dir)) as client:
        assert client.get("/v1/crawls").headers["etag"] != before
