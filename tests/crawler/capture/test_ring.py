"""A ring has each TCP packet that arrives once, and no others."""

from __future__ import annotations

import statistics

import pytest

from crawler.capture.ring import BLOCK_BYTES, RETIRE_MS
from tests.zoo.serving.namespace import in_namespace

LOOPBACK = "tests.crawler.capture.loopback"
SOCKETS = "tests.crawler.capture.sockets"
SIZE = 50 * 1024 * 1024


@pytest.mark.parametrize("host", ["127.0.0.1", "::1"])
@pytest.mark.parametrize(
    ("mtu", "largest", "segments", "least", "most"),
    [
        (65_536, 65_536, 65_535, 60_000, 65_600),
        (1500, 65_536, 65_535, 60_000, 65_600),
        (1500, 100_000, 65_535, 65_600, 100_000),
        (1500, 65_536, 1, 1500, 1500),
    ],
    ids=["as it is", "cut by the device", "longer than a length field can tell", "cut by TCP"],
)
def test_a_download_is_captured_byte_for_byte_and_once(
    host: str, mtu: int, largest: int, segments: int, least: int, most: int
) -> None:
    found = in_namespace(f"{LOOPBACK}:download", host, SIZE, mtu, largest, segments)
    assert (found["bytes"], found["dropped"]) == (SIZE, 0)
    assert found["captured"] == found["read"]
    assert least <= found["largest"] <= most
    # Segments that TCP repeats within a millisecond are equal in IPv6; captured outgoing packets would all be equal to arriving ones.
    assert found["packets"] - found["different"] <= found["packets"] // 100


def test_only_tcp_is_captured() -> None:
    assert in_namespace(f"{LOOPBACK}:protocols") == ["4/6", "6/6"]


def test_a_byte_is_in_the_ring_two_retirements_after_it_was_read() -> None:
    assert statistics.median(in_namespace(f"{LOOPBACK}:latency")) < 3 * RETIRE_MS / 1000


def test_a_full_ring_drops_packets_counts_them_and_goes_on() -> None:
    found = in_namespace(f"{LOOPBACK}:overflow")
    assert found["before"] == [0, 0]
    assert found["dropped"] > 20  # not how often the ring was full
    assert found["kept"] > 0
    assert found["again"] == 0
    assert found["broken"]
    assert found["whole"]


def test_a_packet_that_is_cut_short_is_left_out_whole() -> None:
    sizes = in_namespace(f"{LOOPBACK}:snapped")
    assert len(sizes) >= 5
    assert max(sizes) < 100


def test_packets_that_no_block_can_hold_are_left_out() -> None:
    found = in_namespace(f"{LOOPBACK}:too_large")
    assert found["missing"] > BLOCK_BYTES
    assert found["largest"] < BLOCK_BYTES


def test_a_ring_can_be_closed_while_a_packet_is_in_use_and_another_made() -> None:
    found = in_namespace(f"{SOCKETS}:handling")
    assert (found["same"], found["empty"], found["inheritable"]) == (True, [], False)
    assert len(found["seen"]) >= 5
    assert found["held"] == found["seen"][0] == 60  # a SYN with its options


def test_a_ring_on_a_passed_socket_needs_no_capability() -> None:
    assert in_namespace(f"{SOCKETS}:without_capability").splitlines() == [
        "CapEff:\t0000000000000000",
        "may not capture",
        "True",
    ]


def test_an_unknown_interface_raises_os_error() -> None:
    assert in_namespace(f"{SOCKETS}:refusals") == ["OSError", "19"]


def test_a_ring_continues_on_an_interface_that_was_made_anew() -> None:
    before, without, after = in_namespace(f"{SOCKETS}:renewed")
    assert before == after
    assert len(before) == 1
    assert without == []
