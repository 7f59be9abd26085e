"""Capture files made by hand, and the payload that their headers state."""

import ipaddress
import struct
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tests.zoo.serving.pcap import MICROSECONDS, NANOSECONDS, SYN, TCP, UDP, Carried, Ends, read_payload

ENDS = Ends("127.21.1.0", 443, "127.0.0.1", 40_000)
ACK = 0x10
KEPT = 60


def ipv4(ends: Ends, protocol: int, transport: bytes, payload_bytes: int) -> bytes:
    """Return an Ethernet frame, cut short after KEPT bytes."""
    addresses = (ipaddress.IPv4Address(address).packed for address in (ends.source, ends.destination))
    total = 20 + len(transport) + payload_bytes
    header = struct.pack(">BxH4xBBxx4s4s", 0x45, total, 64, protocol, *addresses)
    return (bytes(12) + b"\x08\x00" + header + transport + bytes(payload_bytes))[: 14 + KEPT]


def tcp(sequence: int, size: int, *, flags: int = ACK, ends: Ends = ENDS, options: int = 12) -> bytes:
    words = (20 + options) // 4
    fields = (ends.source_port, ends.destination_port, sequence % (1 << 32), words << 4, flags)
    header = struct.pack(">HHI4xBB6x", *fields) + bytes(options)
    return ipv4(ends, TCP, header, size)


def udp(size: int) -> bytes:
    return ipv4(ENDS, UDP, struct.pack(">HHHxx", ENDS.source_port, ENDS.destination_port, 8 + size), size)


def file(*frames: bytes, order: str = "<", magic: int = MICROSECONDS) -> bytes:
    parts = 250_000 if magic == MICROSECONDS else 250_000_000
    packets = [
        struct.pack(f"{order}IIII", second, parts, len(frame), 1 << 16) + frame
        for second, frame in enumerate(frames)
    ]
    return struct.pack(f"{order}IHHiIII", magic, 2, 4, 0, 0, 160, 1) + b"".join(packets)


@pytest.mark.parametrize("order", ["<", ">"])
@pytest.mark.parametrize("magic", [MICROSECONDS, NANOSECONDS])
def test_payload_is_counted_by_direction(order: str, magic: int) -> None:
    back = ENDS.reversed()
    frames = (
        tcp(100, 0, flags=SYN),
        tcp(500, 0, flags=SYN, ends=back),
        tcp(101, 60_000),
        tcp(501, 7, ends=back),
        tcp(60_101, 1),
        udp(1200),
        udp(30),
        bytes(12) + b"\x08\x06" + bytes(60),  # ARP
    )
    assert read_payload(file(*frames, order=order, magic=magic)) == Carried(
        {ENDS: 60_001, back: 7}, {ENDS: [(5_250_000, 1200), (6_250_000, 30)]}
    )


@given(
    st.integers(0, (1 << 32) - 1),
    st.lists(st.tuples(st.integers(0, 5000), st.integers(0, 2000)), max_size=40),
    st.randoms(use_true_random=False),
)
def test_a_byte_counts_once_in_whatever_order_and_however_often_it_is_sent(
    first: int, segments: list[tuple[int, int]], random: Random
) -> None:
    sent = {at for start, size in segments for at in range(start, start + size)}
    shuffled = random.sample(segments, len(segments))
    frames = [tcp(first - 1, 0, flags=SYN), *(tcp(first + start, size) for start, size in shuffled)]
    assert read_payload(file(*frames)).tcp.get(ENDS, 0) == len(sent)


def test_a_keep_alive_adds_nothing() -> None:
    assert read_payload(file(tcp(9, 0, flags=SYN), tcp(10, 5), tcp(9, 1))).tcp == {ENDS: 5}


def test_what_was_not_captured_from_its_beginning_is_refused() -> None:
    with pytest.raises(ValueError, match="began after"):
        read_payload(file(tcp(10, 5)))


def test_two_connections_between_the_same_ends_are_refused() -> None:
    with pytest.raises(ValueError, match="two connections"):
        read_payload(file(tcp(9, 0, flags=SYN), tcp(9, 0, flags=SYN), tcp(77, 0, flags=SYN)))


def test_another_kind_of_file_is_refused() -> None:
    with pytest.raises(ValueError, match="not a capture"):
        read_payload(bytes(24))
