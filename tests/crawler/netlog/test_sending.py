"""Sizes and priorities of requests, and round trips of QUIC, from what the browser sends."""

import itertools
from typing import Any

import pytest
from hyperframe.frame import ContinuationFrame, DataFrame, Frame, HeadersFrame, SettingsFrame
from hypothesis import given
from hypothesis import strategies as st

from crawler.netlog.event import Event
from crawler.netlog.sending import PACKETS_KEPT, SentFrames, SentPackets, parse_priority, read_weight

FRAMES: list[Frame] = [
    SettingsFrame(0, {SettingsFrame.ENABLE_PUSH: 0}),
    HeadersFrame(1, b"h" * 40),
    ContinuationFrame(1, b"c" * 10, flags=["END_HEADERS"]),
    DataFrame(1, b"d" * 300),
    HeadersFrame(3, b"H" * 20, flags=["END_HEADERS", "END_STREAM", "PRIORITY"], stream_weight=5),
]
WIRE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n" + b"".join(frame.serialize() for frame in FRAMES)


@given(st.lists(st.integers(0, len(WIRE))))
def test_header_frames_count_however_the_bytes_are_cut(cuts: list[int]) -> None:
    frames = SentFrames()
    edges = [0, *sorted(cuts), len(WIRE)]
    for start, stop in itertools.pairwise(edges):
        frames.feed(WIRE[start:stop])
    assert frames.header_bytes == {1: 9 + 40 + 9 + 10, 3: 9 + 5 + 20}


@given(st.lists(st.binary()))
def test_no_bytes_raise_anything(pieces: list[bytes]) -> None:
    frames = SentFrames()
    for piece in pieces:
        frames.feed(piece)


def event(name: str, time_ms: int = 0, **params: Any) -> Event[Any]:
    return Event(name, "NONE", 1, time_ms, params)


def packet(number: int, time_ms: int, level: str = "ENCRYPTION_INITIAL") -> Event[Any]:
    return event("QUIC_SESSION_PACKET_SENT", time_ms, packet_number=number, encryption_level=level)


def stream(stop: int, *, fin: bool) -> Event[Any]:
    return event("QUIC_SESSION_STREAM_FRAME_SENT", stream_id=0, offset=0, length=stop, fin=fin)


def test_the_quickest_acknowledgement_of_the_handshake_is_the_round_trip() -> None:
    packets = SentPackets()
    packets.packet(packet(1, 100))
    packets.packet(packet(2, 400))
    packets.packet(packet(3, 405, "ENCRYPTION_FORWARD_SECURE"))
    packets.take_ack(1, 490)
    packets.take_ack(2, 450)
    packets.take_ack(2, 400)  # again
    packets.take_ack(3, 406)
    assert packets.round_trip_ms == 50


def test_no_packet_of_the_handshake_that_was_acknowledged_is_no_round_trip() -> None:
    packets = SentPackets()
    packets.packet(packet(1, 100))
    packets.take_ack(7, 120)
    assert packets.round_trip_ms is None


def test_few_packets_are_kept() -> None:
    packets = SentPackets()
    for number in range(10 * PACKETS_KEPT):
        packets.packet(packet(number, number))
    assert len(packets._sent_ms) == PACKETS_KEPT


def test_the_header_of_a_request_is_its_stream_without_data_frames() -> None:
    packets = SentPackets()
    assert packets.header_bytes(0) is None
    packets.stream_frame(stream(22, fin=False))
    packets.data_frame(event("HTTP3_DATA_SENT", stream_id=0, payload_length=30_000))
    assert packets.header_bytes(0) is None
    packets.stream_frame(stream(22 + 5 + 30_000, fin=True))
    packets.stream_frame(stream(22 + 5 + 30_000, fin=True))
    assert packets.header_bytes(0) == 22


@pytest.mark.parametrize(
    ("header", "read"),
    [
        ("", (3, False)),
        ("u=0, i", (0, True)),
        ("i", (3, True)),
        ("u=7,i=?0", (7, False)),
        ("u=5;x=1, i;y", (5, True)),
        ("u=1, u=2", (2, False)),
        ("u=8", (3, False)),
        ("u=-1", (3, False)),
        ("u=1.5", (3, False)),
        ("U=1, I", (3, False)),
        ("i=1, z=9", (3, False)),
    ],
)
def test_a_header_is_read_with_its_defaults(header: str, read: tuple[int, bool]) -> None:
    assert parse_priority(header) == read


@given(st.text())
def test_no_header_raises_anything(header: str) -> None:
    assert 0 <= parse_priority(header).urgency <= 7


def test_a_headers_frame_without_priority_has_no_weight() -> None:
    def sent(**params: object) -> Event[Any]:
        return Event("HTTP2_SESSION_SEND_HEADERS", "NONE", 1, 1, {"stream_id": 1, **params})

    stated = {"weight": 147, "parent_stream_id": 5, "exclusive": True}
    assert read_weight(sent(has_priority=True, **stated)) == (147, 5, True)
    assert read_weight(sent(has_priority=False, **stated)) is None
    assert read_weight(sent()) is None
