"""Bytes on a connection that the browser's log does not name lower the coverage, if the packets show them."""

from __future__ import annotations

import asyncio
import socket
from typing import Any

import pytest

from crawler.capture.capture import capture_loopback
from localweb.serving.handler import Reply, ServedOrigin, ServedRequest
from tests.crawler.visiting import visit_hosts
from tests.zoo.replies import TEXT, answer, page
from tests.zoo.serving.namespace import in_namespace
from tests.zoo.serving.server import ZooWeb

pytestmark = pytest.mark.browser

HOST = "named.test"
ASKED = f"GET /x HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode()


def visited(beside: bool, alone: bool) -> dict[str, Any]:
    """Coverage of a visit, and the bytes of a connection that this process makes beside it."""
    return asyncio.run(_visited(beside=beside, alone=alone))


async def _visited(*, beside: bool, alone: bool) -> dict[str, Any]:
    came = 0

    async def serve(request: ServedRequest, reply: Reply) -> None:
        nonlocal came
        if request.path == "/" and beside:
            came = await asyncio.to_thread(_download, web.endpoint(ServedOrigin("http", HOST)))
        await (page("named") if request.path == "/" else answer(TEXT))(request, reply)

    web = ZooWeb({HOST: serve}, protocol="h1")
    with capture_loopback(is_theirs_alone=alone) as capture:
        assert capture is not None
        (observation,) = await visit_hosts(web, HOST, capture=capture)
    (connection,) = observation.connections
    assert connection["packet_bytes"] == connection["received_bytes"] == observation.visit["received_bytes"]
    return {
        "received": observation.visit["received_bytes"],
        "beside": came,
        "coverage": observation.visit["coverage"],
    }


def _download(endpoint: tuple[str, int]) -> int:
    with socket.create_connection(endpoint) as sock:
        sock.sendall(ASKED)
        came = 0
        while came < len(TEXT):
            came += len(sock.recv(65_536))
        return came


def seen(*, beside: bool, alone: bool) -> dict[str, Any]:
    result: dict[str, Any] = in_namespace("tests.crawler.visit.test_unnamed:visited", beside, alone)
    return result


def test_a_connection_beside_those_of_the_log_lowers_the_coverage_where_only_browsers_are() -> None:
    result = seen(beside=True, alone=True)
    assert result["beside"] > len(TEXT)
    assert result["coverage"] == result["received"] / (result["received"] + result["beside"])


@pytest.mark.parametrize(("beside", "alone"), [(False, True), (True, False)])
def test_without_one_and_among_others_the_coverage_is_whole(beside: bool, alone: bool) -> None:
    assert seen(beside=beside, alone=alone)["coverage"] == 1
