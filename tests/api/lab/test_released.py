"""A site's page leads to the lab's replay of its page load, where the lab is on."""

import html
import re
import shutil
import time
from collections.abc import Iterator
from functools import partial
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from api.app import create_app
from api.lab.page_replay import WINDOWS, ReleasedLoad
from api.lab.process import replay_in_process
from api.lab.queue import Queue
from firstflight.settings import from_environment
from releases.catalogue import read_release
from replay.lab import kernel, player
from tests.api.lab.conftest import HeldLab, drawings_of
from tests.api.test_v1 import assert_problem

STORED = Path(__file__).parents[2] / "releases" / "stored" / "schema-1"
SITE = "/sites/www.wikipedia.org.test"
VISIT = 2001

WITHIN_S = 300


@pytest.fixture
def root(tmp_path: Path) -> Path:
    folder = tmp_path / "releases"
    shutil.copytree(STORED, read_release(STORED).crawl.path(folder, version=1))
    return folder


def serve(root: Path, lab: Queue | None) -> TestClient:
    return TestClient(create_app(root, root.parent / "reports", lab=lab), raise_server_exceptions=False)


def address_of(client: TestClient) -> str:
    (address,) = re.findall(r'action="(/lab/releases/[^"]*)"', client.get(SITE).text)
    return str(address)


@pytest.fixture
def held_client(root: Path, held: HeldLab) -> Iterator[TestClient]:
    with serve(root, Queue(held.replay)) as client:
        yield client


def test_the_page_load_that_represents_the_site_is_given_to_the_lab(
    held_client: TestClient, held: HeldLab, root: Path
) -> None:
    answer = held_client.post(address_of(held_client), follow_redirects=False)
    assert (answer.status_code, answer.headers["location"][:5]) == (303, "/lab/")
    held.may_end.set()
    deadline = time.monotonic() + WITHIN_S
    while "refresh" in held_client.get(answer.headers["location"]).headers:
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert held.given == [ReleasedLoad(folder=read_release(STORED).crawl.path(root, version=1), visit=VISIT)]


def test_a_form_of_another_site_and_a_visit_that_is_not_there_are_refused(held_client: TestClient) -> None:
    address = address_of(held_client)
    stranger = held_client.post(address, headers={"Sec-Fetch-Site": "cross-site"})
    assert_problem(stranger, "cross-site", 403)
    assert_problem(held_client.post(address.replace(str(VISIT), "7")), "no-such-visit", 404)


def test_without_a_lab_no_page_of_a_site_offers_it(root: Path) -> None:
    with serve(root, None) as client:
        assert "/lab/" not in client.get(SITE).text


@pytest.mark.lab
def test_the_page_load_is_replayed_at_each_window_with_its_waterfalls(root: Path) -> None:
    cache = from_environment().cache_dir
    kernel.locate(cache)
    player.build_player(cache, lambda _line: None)
    with serve(root, Queue(partial(replay_in_process, cache), limit_s=WITHIN_S)) as client:
        where = client.post(address_of(client), follow_redirects=False).headers["location"]
        deadline = time.monotonic() + WITHIN_S
        while "refresh" in (answer := client.get(where)).headers:
            assert time.monotonic() < deadline
            time.sleep(0.1)
        assert answer.status_code == 200, answer.text
        (drawing,) = drawings_of(client, answer.text)
        pixels = re.findall(r'href="([^"]*[.]png[^"]*)"', answer.text)
        (picture,) = (client.get(html.unescape(address)).content for address in pixels)
    assert [int(iw) for iw in re.findall(r">IW (\d+): ", drawing.text)] == list(WINDOWS)
    assert int.from_bytes(picture[16:20], "big") == 1920
    assert "https://www.wikipedia.org.test/18/1.png" in answer.text
