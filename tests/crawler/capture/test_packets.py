"""TCP segments and UDP datagrams in IP packets: whole, padded, merged, cut short and broken."""

import ipaddress
import struct
from collections.abc import Callable

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from crawler.capture.packets import ACK, SYN, TCP, UDP, Packet, find_option, pack_end, parse_packet

SERVER, CLIENT = ("192.0.2.1", 443), ("198.51.100.7", 50123)
SERVER_6, CLIENT_6 = ("2001:db8::1", 443), ("2001:db8::2", 50123)
PAYLOAD = b"payload"
OPTIONS = bytes.fromhex("020405b4 0402 080a 00000001 00000002 01 030307")
BLOCKS = bytes.fromhex("0101 0512 00000001 00000005 00000009 ffffffff")


def tcp(payload: bytes = PAYLOAD, *, flags: int = ACK, options: bytes = b"") -> bytes:
    words = 5 + len(options) // 4
    return struct.pack("!HHIIBBHHH", 443, 50123, 7, 9, words << 4, flags, 512, 0, 0) + options + payload


def udp(payload: bytes = PAYLOAD, *, length: int | None = None) -> bytes:
    return struct.pack("!HHHH", 443, 50123, 8 + len(payload) if length is None else length, 0) + payload


def ipv4(
    content: bytes,
    *,
    options: bytes = b"",
    fragment: int = 0x4000,
    protocol: int = TCP,
    length: int | None = None,
    words: int | None = None,
) -> bytes:
    header = 20 + len(options)
    length = header + len(content) if length is None else length
    words = header // 4 if words is None else words
    start = struct.pack("!BBHHHBBH", 0x40 | words, 0, length, 1, fragment, 64, protocol, 0)
    ends = ipaddress.ip_address(SERVER[0]).packed + ipaddress.ip_address(CLIENT[0]).packed
    return start + ends + options + content


def ipv6(content: bytes, *, following: int = TCP, length: int | None = None) -> bytes:
    length = len(content) if length is None else length
    ends = ipaddress.ip_address(SERVER_6[0]).packed + ipaddress.ip_address(CLIENT_6[0]).packed
    return struct.pack("!IHBB", 6 << 28, length, following, 64) + ends + content


def whole(packet: bytes, *, gso_size: int = 0) -> Packet | None:
    return parse_packet(packet, time_ns=5, size=len(packet), gso_size=gso_size)


SEGMENT = Packet(5, TCP, pack_end(*SERVER), pack_end(*CLIENT), 7, 7, 7, 9, ACK, 512, b"")
SEGMENT_6 = SEGMENT._replace(source=pack_end(*SERVER_6), destination=pack_end(*CLIENT_6))
DATAGRAM = Packet(5, UDP, pack_end(*SERVER), pack_end(*CLIENT), 7, 7, 0, 0, 0, 0, b"")
EMPTY, EMPTY_DATAGRAM = (packet._replace(payload_bytes=0, segment_bytes=0) for packet in (SEGMENT, DATAGRAM))


@pytest.mark.parametrize(
    ("packet", "expected"),
    [
        (ipv4(tcp()), SEGMENT),
        (ipv4(tcp(options=bytes(40)), options=bytes(40)), SEGMENT._replace(options=bytes(40))),
        (ipv4(tcp(b"", flags=SYN | ACK)), EMPTY._replace(flags=SYN | ACK)),
        (ipv4(tcp(b"", flags=0xFF)), EMPTY._replace(flags=0xFF)),
        (ipv6(tcp()), SEGMENT_6),
        (ipv6(tcp(options=bytes(12))), SEGMENT_6._replace(options=bytes(12))),
        (ipv4(udp(), protocol=UDP), DATAGRAM),
        (ipv4(udp(b""), protocol=UDP), EMPTY_DATAGRAM),
        (
            ipv6(udp(), following=UDP),
            DATAGRAM._replace(source=pack_end(*SERVER_6), destination=pack_end(*CLIENT_6)),
        ),
    ],
)
def test_a_packet_is_found_behind_any_options(packet: bytes, expected: Packet) -> None:
    assert whole(packet) == expected
    assert parse_packet(memoryview(packet), time_ns=5, size=len(packet)) == expected


def test_padding_after_the_packet_is_not_payload() -> None:
    assert whole(ipv4(tcp(b"")) + bytes(6)) == EMPTY
    assert whole(ipv6(tcp()) + bytes(6)) == SEGMENT_6
    assert whole(ipv4(udp() + bytes(6), protocol=UDP)) == DATAGRAM


@pytest.mark.parametrize("make", [ipv4, ipv6])
def test_payload_is_counted_by_the_headers_of_a_packet_cut_short_behind_them(
    make: Callable[[bytes], bytes],
) -> None:
    packet = make(tcp(bytes(1460), options=OPTIONS))
    cut = packet[: len(packet) - 1460]
    packet_read = parse_packet(cut, time_ns=5, size=len(packet))
    assert packet_read is not None
    assert (packet_read.payload_bytes, packet_read.segment_bytes, packet_read.segments) == (1460, 1460, 1)
    assert parse_packet(cut[:-1], time_ns=5, size=len(packet)) is None


def test_a_packet_too_long_for_its_length_field_is_all_that_was_captured() -> None:
    for packet in (ipv4(tcp(bytes(100_000)), length=0), ipv6(tcp(bytes(100_000)), length=0)):
        packet_read = whole(packet)
        assert packet_read is not None
        assert packet_read.payload_bytes == 100_000


@pytest.mark.parametrize(
    ("payload", "gso_size", "segments"),
    [
        (0, 0, 1),
        (0, 1460, 1),
        (1, 1460, 1),
        (1460, 1460, 1),
        (1461, 1460, 2),
        (14_600, 1460, 10),
        (64_000, 0, 1),
    ],
)
def test_segments_that_linux_carries_as_one_packet_are_counted(
    payload: int, gso_size: int, segments: int
) -> None:
    packet_read = whole(ipv4(tcp(bytes(payload))), gso_size=gso_size)
    assert packet_read is not None
    assert (packet_read.payload_bytes, packet_read.segments) == (payload, segments)
    assert packet_read.segment_bytes == min(gso_size or payload, payload)


def test_tcp_options_are_read() -> None:
    syn, blocks = SEGMENT._replace(options=OPTIONS), SEGMENT._replace(options=BLOCKS)
    assert (syn.mss, syn.window_scale, syn.timestamps) == (1460, 7, (1, 2))
    assert (blocks.mss, blocks.window_scale, blocks.timestamps) == (None, None, None)


@pytest.mark.parametrize("options", ["0100", "0002040001", "0200", "0201", "0204ff", "020305", "ff"])
def test_malformed_options_have_no_value(options: str) -> None:
    assert SEGMENT._replace(options=bytes.fromhex(options)).mss is None


def test_a_window_scale_above_14_counts_as_14() -> None:
    assert SEGMENT._replace(options=bytes.fromhex("0303ff00")).window_scale == 14


@pytest.mark.parametrize(
    "packet",
    [
        b"",
        bytes(100),
        ipv4(tcp(), protocol=1),
        ipv4(tcp(), fragment=0x2000),
        ipv4(tcp(), fragment=0x0001),
        ipv4(b"\x50" * 20, words=4),
        ipv4(tcp(b""), words=6),
        ipv4(tcp(), length=39),
        ipv4(tcp())[:-1],
        ipv4(tcp(b"")).replace(b"\x50\x10", b"\x40\x10"),
        ipv4(tcp(b"")).replace(b"\x50\x10", b"\x60\x10"),
        ipv4(udp(), protocol=UDP)[:-1],
        ipv4(udp(length=7), protocol=UDP),
        ipv4(udp(length=16), protocol=UDP),
        ipv4(b"1234567", protocol=UDP),
        ipv6(tcp(), following=0),
        ipv6(tcp(), following=44),
        ipv6(tcp())[:-1],
        ipv6(tcp(), length=19),
        ipv6(b"")[:39],
    ],
)
def test_an_incomplete_packet_is_none(packet: bytes) -> None:
    assert whole(packet) is None


@given(st.binary(max_size=140), st.integers(0, 2**32), st.integers(0, 2**16 - 1))
@example(b"\x60" + bytes(39), 40, 0)
@example(b"\x4f" + bytes(59), 60, 0)
def test_no_packet_raises_or_has_more_payload_than_bytes(packet: bytes, size: int, gso_size: int) -> None:
    for good in (b"", ipv4(tcp(options=OPTIONS)), ipv6(tcp(options=BLOCKS)), ipv4(udp(), protocol=UDP)):
        for mutated in (packet + good[len(packet) :], good[: len(packet)]):
            packet_read = parse_packet(mutated, time_ns=0, size=size, gso_size=gso_size)
            if packet_read is not None:
                assert 0 <= packet_read.payload_bytes <= size
                assert packet_read.segments >= 1
                assert [packet_read.mss, packet_read.window_scale, packet_read.timestamps]


@given(st.binary(max_size=40), st.integers(0, 255))
def test_no_options_raise(options: bytes, kind: int) -> None:
    value = find_option(options, kind)
    assert value is None or value in options


def test_an_end_is_the_same_from_text_and_from_packets() -> None:
    packet_read = whole(ipv4(tcp()))
    assert packet_read is not None
    assert (packet_read.source, packet_read.destination) == (pack_end(*SERVER), pack_end(*CLIENT))
    assert pack_end("2001:DB8:0::2", 50123) == pack_end(*CLIENT_6)
    assert pack_end("::ffff:198.51.100.7", 50123) == pack_end(*CLIENT)


def test_an_invalid_address_raises() -> None:
    with pytest.raises(ValueError, match="localhost"):
        pack_end("localhost", 1)
