"""The kernel tells the smallest round trip of each TCP connection, while it exists and after its end."""

import pytest

from crawler.capture.tcp_info import REPORTS_LIMIT
from tests.zoo.serving.namespace import in_namespace

ROUND_TRIPS = "tests.crawler.capture.round_trips"


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_the_smallest_round_trip_is_what_the_connections_own_process_reads(host: str) -> None:
    result = in_namespace(f"{ROUND_TRIPS}:living", host)
    assert result["asked"] == result["own"]
    assert 0 < result["asked"] <= result["handshake_us"]


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
def test_a_connection_that_ended_is_told_once(host: str) -> None:
    own, result, again = in_namespace(f"{ROUND_TRIPS}:ended", host)
    assert 0 < result <= own  # the end is acknowledged too
    assert again is None


def test_an_earlier_connection_between_the_same_ends_tells_nothing() -> None:
    assert in_namespace(f"{ROUND_TRIPS}:earlier") is None


def test_a_connection_that_nobody_knows_has_no_round_trip() -> None:
    assert in_namespace(f"{ROUND_TRIPS}:unknown") == [None, None]


def test_only_so_many_ends_are_remembered() -> None:
    result = in_namespace(f"{ROUND_TRIPS}:kept", REPORTS_LIMIT // 2 + 200)
    assert result["kept"] == REPORTS_LIMIT
    assert result["after"] > 0


def test_more_ends_than_the_kernel_holds_lose_some_and_break_nothing() -> None:
    count = REPORTS_LIMIT // 2
    result = in_namespace(f"{ROUND_TRIPS}:lost", count)
    assert 0 < result["kept"] < 2 * count
    assert result["after"] > 0


def test_a_capture_adds_the_kernels_round_trip_to_its_connections() -> None:
    own, result = in_namespace(f"{ROUND_TRIPS}:captured")
    assert 0 < result <= own
