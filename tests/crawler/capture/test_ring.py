"""A ring has the headers of each TCP and UDP packet once, and nothing else."""

import statistics

import pytest

from crawler.capture.packets import ACK, SYN
from crawler.capture.ring import RETIRE_MS
from tests.zoo.serving.namespace import in_namespace

LOOPBACK = "tests.crawler.capture.loopback"
SOCKETS = "tests.crawler.capture.sockets"
SIZE = 20 * 1024 * 1024


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@pytest.mark.parametrize(
    ("mtu", "largest", "segments", "least", "most"),
    [
        (65_536, 65_536, 65_535, 60_000, 65_600),
        (1500, 65_536, 65_535, 60_000, 65_600),
        (1500, 65_536, 1, 1428, 1448),
    ],
    ids=["as it is", "cut by the device", "cut by TCP"],
)
def test_a_download_is_counted_to_the_byte_and_to_the_segment(
    host: str, mtu: int, largest: int, segments: int, least: int, most: int
) -> None:
    result = in_namespace(f"{LOOPBACK}:download", host, SIZE, mtu, largest, segments)
    assert (result["bytes"], result["dropped"], result["in time"]) == (SIZE, 0, True)
    assert result["flags"] == [SYN, SYN | ACK, ACK]
    assert least <= result["largest"] <= most
    assert result["segments"] == result["received"]
    if mtu == 1500:
        payload = 1448 if host == "127.0.0.1" else 1428
        assert result["mss"] == payload + 12
        assert result["segments"] >= SIZE // payload  # a sender whose buffer is full sends what it has


def test_only_tcp_and_udp_are_captured() -> None:
    result = in_namespace(f"{LOOPBACK}:protocols")
    assert result == ["18/17/8", "18/6/0", "18/6/1", "6/17/8", "6/6/0", "6/6/1"]


def test_no_payload_is_in_the_memory_of_a_ring() -> None:
    assert in_namespace(f"{LOOPBACK}:content") is False


def test_a_byte_is_in_the_ring_two_retirements_after_it_was_read() -> None:
    assert statistics.median(in_namespace(f"{LOOPBACK}:latency")) < 3 * RETIRE_MS / 1000


def test_a_full_ring_drops_packets_counts_them_and_goes_on() -> None:
    result = in_namespace(f"{LOOPBACK}:overflow")
    assert result["before"] == 0
    assert result["dropped"] > 20  # not how often the ring was full
    assert result["fewer"]
    assert result["lost"] is None
    assert (result["again"], result["whole"]) == (0, 1000)


def test_packets_that_no_block_could_hold_are_counted() -> None:
    result = in_namespace(f"{LOOPBACK}:too_large")
    assert result["largest"] > result["block"]
    assert (result["bytes"], result["dropped"]) == (20 * 1024 * 1024, 0)


def test_a_ring_can_be_closed_during_an_iteration_and_another_made() -> None:
    result = in_namespace(f"{SOCKETS}:handling")
    assert (result["same"], result["empty"], result["inheritable"]) == (True, [], False)
    assert result["seen"] >= 5
    assert result["held"] == SYN


def test_a_ring_on_a_passed_socket_needs_no_capability() -> None:
    assert in_namespace(f"{SOCKETS}:without_capability").splitlines() == [
        "CapEff:\t0000000000000000",
        "may not capture",
        "True",
    ]


def test_an_unknown_interface_raises_os_error() -> None:
    assert in_namespace(f"{SOCKETS}:refusals") == ["OSError", "19"]


def test_a_ring_continues_on_an_interface_that_was_made_anew() -> None:
    assert in_namespace(f"{SOCKETS}:renewed") == [[SYN], [], [SYN]]
