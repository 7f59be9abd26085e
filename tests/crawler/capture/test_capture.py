"""A capture counts the bytes that it lost, and serves several threads."""

from __future__ import annotations

import pytest

from crawler.capture.capture import MISSES_LIMIT, capturing
from tests.zoo.serving.namespace import in_namespace


@pytest.mark.browser
def test_visits_with_lost_bytes_fail_until_the_log_has_the_bytes() -> None:
    *captured, logged = in_namespace("tests.crawler.capture.capturing:visits", "bodies.test")
    assert 1 <= len(captured) <= MISSES_LIMIT
    for one in captured:
        assert (one["outcome"], one["logged"]) == ("crash", False)
        assert one["coverage"] < 0.99
    assert (logged["outcome"], logged["logged"]) == ("ok", True)
    assert logged["coverage"] >= 0.999


def test_several_threads_take_from_one_capture() -> None:
    found = in_namespace("tests.crawler.capture.capturing:downloads", 8, 4_000_000)
    assert found == [{"bytes": 4_000_000, "equal": True}] * 8


def test_without_a_socket_there_is_no_capture() -> None:
    with capturing(None) as capture:
        assert capture is None
