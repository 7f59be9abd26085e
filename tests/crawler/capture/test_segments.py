"""TCP segments in IP packets, whole, padded, extended and broken."""

from __future__ import annotations

import ipaddress
import struct

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.capture.segments import ACK, SYN, Segment, flow, segment

SERVER, CLIENT = ("192.0.2.1", 443), ("198.51.100.7", 50123)
SERVER_6, CLIENT_6 = ("2001:db8::1", 443), ("2001:db8::2", 50123)
PAYLOAD = b"payload"


def tcp(payload: bytes = PAYLOAD, *, flags: int = ACK, options: bytes = b"") -> bytes:
    words = 5 + len(options) // 4
    return struct.pack("!HHIIBBHHH", 443, 50123, 7, 9, words << 4, flags, 0, 0, 0) + options + payload


def ipv4(
    content: bytes,
    *,
    options: bytes = b"",
    fragment: int = 0x4000,
    protocol: int = 6,
    length: int | None = None,
    words: int | None = None,
) -> bytes:
    header = 20 + len(options)
    length = header + len(content) if length is None else length
    words = header // 4 if words is None else words
    start = struct.pack("!BBHHHBBH", 0x40 | words, 0, length, 1, fragment, 64, protocol, 0)
    ends = ipaddress.ip_address(SERVER[0]).packed + ipaddress.ip_address(CLIENT[0]).packed
    return start + ends + options + content


def ipv6(content: bytes, *, following: int = 6, length: int | None = None) -> bytes:
    length = len(content) if length is None else length
    ends = ipaddress.ip_address(SERVER_6[0]).packed + ipaddress.ip_address(CLIENT_6[0]).packed
    return struct.pack("!IHBB", 6 << 28, length, following, 64) + ends + content


def extension(following: int, size: int = 8) -> bytes:
    return bytes([following, size // 8 - 1]) + bytes(size - 2)


WHOLE = Segment(flow(CLIENT, SERVER), 7, 9, ACK, PAYLOAD)
WHOLE_6 = WHOLE._replace(flow=flow(CLIENT_6, SERVER_6))


@pytest.mark.parametrize(
    ("packet", "expected"),
    [
        (ipv4(tcp()), WHOLE),
        (ipv4(tcp(options=bytes(40)), options=bytes(40)), WHOLE),
        (ipv4(tcp(b"", flags=SYN | ACK)), WHOLE._replace(flags=SYN | ACK, payload=b"")),
        (ipv4(tcp(b"", flags=0xFF)), WHOLE._replace(flags=0xFF, payload=b"")),
        (ipv6(tcp()), WHOLE_6),
        (ipv6(tcp(options=bytes(12))), WHOLE_6),
        (ipv6(extension(60) + extension(43, 24) + extension(6, 64) + tcp(), following=0), WHOLE_6),
    ],
)
def test_a_segment_is_found_behind_any_options(packet: bytes, expected: Segment) -> None:
    assert segment(packet) == expected
    assert segment(memoryview(packet)) == expected


def test_padding_after_the_packet_is_not_payload() -> None:
    assert segment(ipv4(tcp(b"")) + bytes(6)) == WHOLE._replace(payload=b"")
    assert segment(ipv6(tcp()) + bytes(6)) == WHOLE_6


def test_a_packet_too_long_for_its_length_field_is_all_that_was_captured() -> None:
    long = bytes(100_000)
    assert segment(ipv4(tcp(long), length=0)) == WHOLE._replace(payload=long)
    assert segment(ipv6(tcp(long), length=0)) == WHOLE_6._replace(payload=long)
    assert segment(ipv6(extension(6) + tcp(long), following=0, length=0)) == WHOLE_6._replace(payload=long)


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        bytes(100),
        ipv4(tcp(), protocol=17),
        ipv4(tcp(), fragment=0x2000),
        ipv4(tcp(), fragment=0x0001),
        ipv4(b"\x50" * 20, words=4),
        ipv4(tcp(b""), words=6),
        ipv4(tcp(), length=39),
        ipv4(tcp())[:-1],
        ipv4(tcp(b"")).replace(b"\x50\x10", b"\x40\x10"),
        ipv4(tcp(b"")).replace(b"\x50\x10", b"\x60\x10"),
        ipv6(tcp(), following=17),
        ipv6(tcp(), following=44),
        ipv6(extension(17) + tcp(), following=0),
        ipv6(bytes([6, 255]) + tcp(), following=0),
        ipv6(extension(0) * 8 + extension(6) + tcp(), following=0),
        ipv6(tcp())[:-1],
        ipv6(tcp(), length=19),
    ],
)
def test_an_incomplete_segment_is_none(packet: bytes) -> None:
    assert segment(packet) is None


@given(st.binary(max_size=120))
@example(b"\x60" + bytes(39))
@example(b"\x60" + bytes(38) + b"\0" + b"\0")
@example(b"\x4f" + bytes(59))
def test_no_packet_raises(packet: bytes) -> None:
    segment(packet)
    for whole in (ipv4(tcp()), ipv6(extension(6) + tcp(), following=0)):
        segment(packet + whole[len(packet) :])
        segment(whole[: len(packet)])


def test_a_flow_is_the_same_from_text_and_from_packets() -> None:
    assert segment(ipv4(tcp())).flow == flow(CLIENT, SERVER)  # type: ignore[union-attr]
    assert flow(("2001:DB8:0::2", 50123), SERVER_6) == flow(CLIENT_6, SERVER_6)
    assert flow(("::ffff:198.51.100.7", 50123), ("::ffff:192.0.2.1", 443)) == flow(CLIENT, SERVER)
    assert len({flow(CLIENT, SERVER), flow(SERVER, CLIENT), flow(CLIENT_6, SERVER_6)}) == 3


def test_an_invalid_address_raises() -> None:
    with pytest.raises(ValueError, match="localhost"):
        flow(("localhost", 1), SERVER)
