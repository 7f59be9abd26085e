"""A datagram is explained by its packets and frames in the log, or its bytes stay unexplained."""

from types import UnionType
from typing import Any, get_args, get_origin, get_type_hints

import pytest

from crawler.netlog.event import Event
from crawler.netlog.params import PARAMS, NoParams
from crawler.netlog.quic_overhead import FRAMES, STALE_ACK_BYTES, QuicOverhead


def frame(kind: str, **params: Any) -> Event[Any]:
    return Event(f"QUIC_SESSION_{kind}_FRAME_RECEIVED", "NONE", 1, 0, params)


def stream(size: int, offset: int = 100) -> Event[Any]:
    return frame("STREAM", stream_id=0, offset=offset, length=size)


HEADER = 1 + 2 + 16
"""Flags, packet number, tag."""
STREAM_HEADER = 1 + 1 + 2 + 2
"""Type, stream, offset, length."""


def reader(size: int, *frames: Event[Any], long_header: bool = False) -> QuicOverhead:
    overhead = secured()
    overhead.datagram(size)
    overhead.packet(1, long_header=long_header)
    for received_frame in frames:
        overhead.frame(received_frame)
    return overhead


def secured() -> QuicOverhead:
    overhead = QuicOverhead()
    overhead.datagram(0)
    overhead.packet(0, long_header=True)
    return overhead


def test_a_datagram_whose_frames_are_listed_is_explained() -> None:
    assert (
        reader(HEADER + STREAM_HEADER + 1000, stream(1000)).explained_bytes == HEADER + STREAM_HEADER + 1000
    )


def test_frames_add_up() -> None:
    ack = frame(
        "ACK",
        largest_observed=70,
        smallest_observed=60,
        missing_packets=[62, 63, 65],
        delta_time_largest_observed_us=800,
    )
    size = HEADER + STREAM_HEADER + 30 + (1 + 2 + 2 + 1 + 1 + 2 * 2) + 1 + 5
    explained = reader(size, stream(30), ack, frame("PING"), frame("PADDING", num_padding_bytes=5))
    assert explained.explained_bytes == size


def test_the_log_has_a_token_in_base64() -> None:
    token = frame("NEW_TOKEN", token="aGVsbG8gd29ybGQ=")
    assert reader(HEADER + 2 + len(b"hello world"), token).explained_bytes == HEADER + 13


def test_a_frame_missing_from_the_log_is_not_explained() -> None:
    overhead = reader(1200, stream(500))
    assert 500 < overhead.explained_bytes < 550


def test_frames_larger_than_their_datagram_explain_nothing() -> None:
    assert reader(500, stream(300), stream(300)).explained_bytes == 0


def test_a_handshake_datagram_is_explained_whole_and_counted_apart() -> None:
    overhead = reader(1200, frame("PING"), long_header=True)
    overhead.packet(0, long_header=False)
    overhead.frame(stream(12))
    overhead.datagram(HEADER + 1)
    overhead.packet(1, long_header=False)
    overhead.frame(frame("PING"))
    assert (overhead.handshake_bytes, overhead.explained_bytes) == (1200, 1200 + HEADER + 1)


@pytest.mark.parametrize(("long_header", "handshake"), [(True, 44), (False, 0)])
def test_a_packet_that_cannot_be_decrypted_is_explained(long_header: bool, handshake: int) -> None:
    overhead = secured()
    overhead.datagram(44)
    overhead.drop_packet(long_header=long_header)
    assert (overhead.handshake_bytes, overhead.explained_bytes) == (handshake, 44)


def test_datagrams_before_the_first_decrypted_packet_are_handshake() -> None:
    overhead = QuicOverhead()
    overhead.datagram(92)  # Retry
    overhead.datagram(1200)
    overhead.packet(0, long_header=True)
    assert (overhead.handshake_bytes, overhead.explained_bytes) == (1292, 1292)


def test_a_packet_that_waits_for_its_keys_is_explained_when_they_come() -> None:
    overhead = QuicOverhead()
    overhead.datagram(HEADER + STREAM_HEADER + 70)
    overhead.buffer_packet()
    overhead.datagram(1200)
    overhead.packet(0, long_header=True)
    assert (overhead.handshake_bytes, overhead.explained_bytes) == (1200, 1200)
    overhead.unbuffer_packet()
    overhead.packet(0, long_header=False)
    overhead.frame(stream(70))
    assert overhead.explained_bytes == overhead.received_bytes


def test_an_overtaken_packet_may_have_an_ack_that_is_not_logged() -> None:
    overhead = reader(HEADER + STREAM_HEADER + 10, stream(10))
    for number, explained in ((9, 0), (5, 8)):
        before = overhead.explained_bytes
        overhead.datagram(HEADER + STREAM_HEADER + 10 + 2 + 8)
        overhead.packet(number, long_header=False)
        overhead.frame(stream(10))
        gained = overhead.explained_bytes - before
        assert (gained == HEADER + STREAM_HEADER + 20) == bool(explained)
    assert STALE_ACK_BYTES >= 8


def least(declared: Any) -> dict[str, Any]:
    """The required parameters, 0 or empty."""
    hints = get_type_hints(declared)
    kinds = {key: hints[key] for key in declared.__required_keys__}
    firsts = {key: get_args(kind)[0] if isinstance(kind, UnionType) else kind for key, kind in kinds.items()}
    return {key: (get_origin(kind) or kind)() for key, kind in firsts.items()}


@pytest.mark.parametrize("name", sorted(FRAMES))
def test_the_least_frame_takes_some_bytes(name: str) -> None:
    overhead = secured()
    overhead.datagram(10_000)
    overhead.frame(Event(name, "NONE", 1, 0, least(PARAMS.get((name, "NONE"), NoParams))))
    assert 0 <= overhead.explained_bytes <= 100
