"""The lab's pages: a recorded page in the queue, and its replay."""

from __future__ import annotations

import asyncio
import datetime
import json
import threading
import time
from collections.abc import Callable, Mapping, Sequence
from http import HTTPStatus
from pathlib import Path
from typing import TYPE_CHECKING, Any

from api.lab.networks import usual_network
from api.lab.process import replay_in_process

if TYPE_CHECKING:
    from fastapi.testclient import TestClient

    from api.lab.page_replay import PageReplay

BEGUN = datetime.datetime(2025, 8, 1, tzinfo=datetime.UTC)
"""Begin of the page load in its HAR, where only differences of times count."""

WITHIN_S = 120.0
"""Time limit for a replay, in seconds."""

ASKED_EVERY_S = 0.5


class ReplayFailed(Exception):
    """The lab has no replay of the page; the message says why."""


class PausedLab:
    """A lab whose replays wait until they may begin, so that the page of the queue stays as it is."""

    def __init__(self, cache_dir: Path) -> None:
        """`cache_dir` has the guest's kernel."""
        self._cache_dir = cache_dir
        self.may_begin = threading.Event()

    async def replay(
        self, content: bytes, networks: Sequence[str], progress: Callable[[int, int], None]
    ) -> PageReplay:
        """Replay a page, as soon as it may begin."""
        while not self.may_begin.is_set():
            await asyncio.sleep(ASKED_EVERY_S)
        return await replay_in_process(self._cache_dir, content, networks, progress)


def har(page: Mapping[str, Any]) -> bytes:
    """A HAR file of a page load, from the answer of `/v1/pages/{visit}`; recorded responses have one size, and no path."""
    addresses = {one["id"]: _address(one) for one in page["responses"]}
    entries = [
        _entry(one, addresses.get(one["initiator_id"]))
        for one in page["responses"]
        if one["last_byte_us"] is not None and one["wire_bytes"] is not None
    ]
    return json.dumps(
        {"log": {"creator": {"name": "firstflight", "version": "1"}, "entries": entries}}
    ).encode()


def _address(response: Mapping[str, Any]) -> str:
    return f"{response['scheme']}://{response['host']}{response['path'] or '/' + str(response['id'])}"


def _entry(response: Mapping[str, Any], initiator: str | None) -> dict[str, Any]:
    sent, first, last = (response[name] for name in ("request_sent_us", "first_byte_us", "last_byte_us"))
    return {
        "pageref": "page",
        "startedDateTime": (BEGUN + datetime.timedelta(microseconds=sent)).isoformat(),
        "connection": str(response["connection_id"]),
        "timings": {"send": 0, "wait": (first - sent) / 1000, "receive": (last - first) / 1000},
        "_initiator": initiator,
        "request": {"url": _address(response), "method": response["method"], "headers": []},
        "response": {
            "status": response["status"],
            "httpVersion": response["protocol"],
            "headers": [],
            "redirectURL": "",
            "headersSize": 0,
            "bodySize": response["wire_bytes"],
            "content": {"mimeType": response["mime_type"]},
        },
    }


def give(client: TestClient, content: bytes) -> str:
    """Put a page into the lab's queue; the path of its replay."""
    answer = client.post(
        "/lab",
        files={"har": ("page.har", content)},
        data={"network": [usual_network()]},
        follow_redirects=False,
    )
    if answer.status_code != HTTPStatus.SEE_OTHER:
        raise ReplayFailed(f"the lab does not take the page: {answer.text}")
    return answer.headers["location"]


def wait_for(client: TestClient, path: str) -> None:
    """Wait until a replay has ended well; raises ReplayFailed."""
    deadline = time.monotonic() + WITHIN_S
    while time.monotonic() < deadline:
        answer = client.get(path)
        if answer.status_code != HTTPStatus.OK:
            raise ReplayFailed(f"the lab did not replay the page: {answer.text}")
        if "refresh" not in answer.headers:
            return
        time.sleep(ASKED_EVERY_S)
    raise ReplayFailed(f"the replay took longer than {WITHIN_S:.0f} s")
