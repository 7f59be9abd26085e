"""The service with a lab whose replays the test ends when it likes."""

import asyncio
import dataclasses
import html
import json
import re
import threading
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient

from api.app import create_app
from api.lab.networks import usual_network
from api.lab.page_replay import PageReplay
from api.lab.queue import Content, Queue
from tests.factories.made_up_recording import DOCUMENT, STYLE
from tests.factories.made_up_replay import made_up_replay

AS_A_BROWSER = {"Accept": "text/html"}


def har(*entries: dict[str, Any]) -> bytes:
    log = {"creator": {"name": "made up", "version": "1"}, "entries": list(entries or (DOCUMENT, STYLE))}
    return json.dumps({"log": log}).encode()


def give(
    client: TestClient, content: bytes, networks: Sequence[str] | None = None, **headers: str
) -> httpx2.Response:
    """Send the form as a browser does; redirects are not followed."""
    return client.post(
        "/lab",
        files={"har": ("private-name.har", content)},
        data={"network": [usual_network()] if networks is None else list(networks)},
        headers=headers,
        follow_redirects=False,
    )


def drawings_of(client: TestClient, page: str) -> list[httpx2.Response]:
    answers = [client.get(html.unescape(address)) for address in re.findall(r'<img src="([^"]*)"', page)]
    for answer in answers:
        assert (answer.status_code, answer.headers["content-type"]) == (200, "image/svg+xml"), answer.text
    return answers


class HeldLab:
    """A replayer that waits until the test says so."""

    def __init__(self) -> None:
        self.may_end = threading.Event()
        self.given: list[Content] = []
        self.cancelled = 0

    async def replay(
        self, content: Content, networks: Sequence[str], progress: Callable[[int, int], None]
    ) -> PageReplay:
        self.given.append(content)
        progress(3, 12)
        try:
            while not self.may_end.is_set():
                await asyncio.sleep(0.01)
        except asyncio.CancelledError:
            self.cancelled += 1
            raise
        return made_up_replay(networks)


@pytest.fixture
def held() -> HeldLab:
    return HeldLab()


@pytest.fixture(scope="module")
def service(tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    """The service of a module's tests, each of which has a queue of its own."""
    folder = tmp_path_factory.mktemp("lab")
    app = create_app(folder / "releases", folder / "reports", lab=Queue(HeldLab().replay))
    with TestClient(app, raise_server_exceptions=False) as client:
        yield client


def give_queue(app: FastAPI, queue: Queue) -> Queue:
    app.state.service = dataclasses.replace(app.state.service, lab=queue)
    return queue


@pytest.fixture
def lab_client(service: TestClient, held: HeldLab) -> Iterator[TestClient]:
    assert isinstance(service.app, FastAPI)
    assert service.portal is not None
    queue = give_queue(service.app, Queue(held.replay))
    yield service
    service.portal.call(queue.close)
