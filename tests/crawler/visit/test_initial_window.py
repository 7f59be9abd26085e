"""The initial window in the rows of a visit is the one that the server had, by browser,
capture and log together."""

import asyncio
import contextlib
import time
from typing import Any

import pytest

from crawler.capture.capture import open_capture
from crawler.capture.ring import open_socket
from tests.circles import ALL
from tests.crawler.visiting import visit_hosts
from tests.zoo.case import Page, by_path
from tests.zoo.replies import answer
from tests.zoo.serving.delayed import DEVICE, DelayedWeb, path
from tests.zoo.serving.namespace import in_namespace
from tests.zoo.serving.server import Spoken

pytestmark = [pytest.mark.browser, pytest.mark.slow]

DELAY_S = 0.03
SEGMENT_BYTES = 1448
"""Payload of a full segment on Ethernet, with TCP's timestamps."""
WINDOWS = (2, 10, 24) if ALL else (10, 24)
BOUNDED = WINDOWS if ALL else WINDOWS[:1]
"""Windows of servers that speak TLS, after whose handshake only a bound is known."""

LONG = Page(
    host="long.test",
    cases=(),
    document=answer(
        b"<!doctype html><link rel=icon href=data:,>" + b"text " * 40_000,
        "content-type: text/html; charset=utf-8",
    ),
)
"""A page of 200 kB in one response: 138 segments."""


TRIES = 6
HELD_UP = ("sender_paused", "flights_merged", "held_back")
"""Reasons that a busy machine gives: it holds the sender up, and then the window is said to be unknown. The
page is visited again, after a pause that grows."""


def visited(protocol: Spoken, window: int) -> list[dict[str, Any]]:
    with path(DELAY_S, initial_window=window), contextlib.closing(open_socket(DEVICE)) as sock:
        return asyncio.run(_visited(protocol, sock))


async def _visited(protocol: Spoken, sock: Any) -> list[dict[str, Any]]:
    handler = by_path(LONG.answers(protocol)[LONG.host])
    web = DelayedWeb({LONG.host: handler}, protocol=protocol)
    with open_capture(sock) as capture:
        (seen,) = await visit_hosts(web, LONG.host, capture=capture)
    assert seen.visit["outcome"] == "ok"
    return [dict(connection) for connection in seen.connections if connection["first_flight_bytes"]]


@pytest.mark.parametrize("window", WINDOWS)
def test_a_response_in_clear_text_tells_the_servers_initial_window_exactly(window: int) -> None:
    for seconds in range(TRIES):
        time.sleep(seconds)
        (result,) = in_namespace("tests.crawler.visit.test_initial_window:visited", "h1", window)
        if result["initial_window_unknown"] not in HELD_UP:
            break
    assert (result["initial_window_segments"], result["initial_window_unknown"]) == (window, None)
    # The header is a segment of its own, which the server wrote before the body.
    assert (window - 1) * SEGMENT_BYTES < result["first_flight_bytes"] <= window * SEGMENT_BYTES
    assert result["segment_bytes"] == SEGMENT_BYTES


@pytest.mark.parametrize("protocol", ["h1tls", "h2"])
def test_after_a_tls_flight_the_bound_is_never_above_the_servers_initial_window(protocol: str) -> None:
    for window in BOUNDED:
        (result,) = in_namespace("tests.crawler.visit.test_initial_window:visited", protocol, window)
        assert 0 < result["initial_window_segments"] <= window
        if result["initial_window_unknown"] is None:
            assert result["initial_window_segments"] == window
