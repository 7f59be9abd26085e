"""Frames are counted by stream, whole or in part, however the bytes are cut."""

from hyperframe.frame import (
    ContinuationFrame,
    DataFrame,
    Frame,
    GoAwayFrame,
    HeadersFrame,
    PingFrame,
    RstStreamFrame,
    SettingsFrame,
    WindowUpdateFrame,
)
from hypothesis import given
from hypothesis import strategies as st

from crawler.netlog.http2 import FrameReader, Http2Stream

FRAMES: list[Frame] = [
    SettingsFrame(0, {SettingsFrame.MAX_CONCURRENT_STREAMS: 100}),
    HeadersFrame(1, b"h" * 40),
    ContinuationFrame(1, b"c" * 10, flags=["END_HEADERS"]),
    HeadersFrame(3, b"H" * 20, flags=["END_HEADERS"]),
    DataFrame(1, b"d" * 100),
    PingFrame(0, b"12345678"),
    DataFrame(3, b"D" * 50, pad_length=7, flags=["PADDED"]),
    DataFrame(1, b"d" * 11, flags=["END_STREAM"]),
    WindowUpdateFrame(0, window_increment=5),
    HeadersFrame(3, b"trailer", flags=["END_HEADERS", "END_STREAM"]),
    RstStreamFrame(5, error_code=8),
    DataFrame(7, b""),
    DataFrame(9, b"", pad_length=4, flags=["PADDED"]),
    GoAwayFrame(0, last_stream_id=9),
    DataFrame(2, b"nobody asked"),
    HeadersFrame(11, b"nobody asked", flags=["END_HEADERS"]),
    DataFrame(1, b"late", flags=["END_STREAM"]),
    ContinuationFrame(3, b"late", flags=["END_HEADERS"]),
]
WIRE = b"".join(frame.serialize() for frame in FRAMES)


def asked() -> FrameReader:
    reader = FrameReader()
    reader.newest_request = 9
    return reader


def counted(reader: FrameReader) -> dict[int, tuple[int, int]]:
    return {number: (stream.wire_bytes, stream.body_bytes) for number, stream in reader.streams.items()}


WANTED = {
    1: (9 + 40 + 9 + 10 + 9 + 100 + 9 + 11, 111),
    3: (9 + 20 + 9 + 1 + 50 + 7 + 9 + 7, 50),
    7: (9, 0),
    9: (9 + 1 + 4, 0),
}


def test_every_byte_belongs_to_one_stream_or_to_the_connection() -> None:
    reader = asked()
    reader.feed(WIRE, time_ms=5)
    assert counted(reader) == WANTED
    assert reader.frame_bytes == len(WIRE) - sum(wire for wire, _ in WANTED.values())
    assert reader.streams[7] == Http2Stream(9, 0, 5, 5)


@given(st.lists(st.integers(0, len(WIRE)), max_size=20))
def test_it_does_not_matter_how_the_bytes_are_cut(cuts: list[int]) -> None:
    reader = asked()
    at = 0
    for time_ms, cut in enumerate([*sorted(cuts), len(WIRE)]):
        reader.feed(WIRE[at:cut], time_ms=time_ms)
        at = max(at, cut)
    assert counted(reader) == WANTED


def test_half_a_frame_is_half_a_frame() -> None:
    reader = asked()
    reader.feed(DataFrame(1, b"d" * 1000).serialize()[: 9 + 300], time_ms=1)
    assert counted(reader) == {1: (309, 300)}


def test_first_and_last_byte_have_the_times_of_the_pieces_that_they_came_in() -> None:
    reader = asked()
    wire = DataFrame(1, b"abc").serialize()
    reader.feed(wire[:4], time_ms=1)
    reader.feed(wire[4:10], time_ms=2)
    reader.feed(wire[10:], time_ms=3)
    assert reader.streams[1] == Http2Stream(12, 3, 2, 3)


def test_a_stream_is_whole_when_its_end_has_come() -> None:
    reader = asked()
    reader.feed(bytes([0, 0, 1, 1, 4, 0, 0, 0, 1, 0]), time_ms=1)
    assert not reader.streams[1].is_whole
    reader.feed(bytes([0, 0, 1, 0, 1, 0, 0, 0, 1]), time_ms=2)
    assert not reader.streams[1].is_whole
    reader.feed(b"x", time_ms=3)
    assert reader.streams[1].is_whole


def test_data_on_stream_0_is_the_connections() -> None:
    reader = asked()
    reader.feed(bytes([0, 0, 4, 0, 0, 0, 0, 0, 0]) + b"lost", time_ms=1)
    assert (reader.frame_bytes, reader.streams) == (13, {})


def test_a_stream_ends_with_the_last_frame_of_its_trailers() -> None:
    reader = asked()
    reader.feed(HeadersFrame(1, b"h", flags=["END_STREAM"]).serialize(), time_ms=1)
    assert not reader.streams[1].is_whole
    reader.feed(ContinuationFrame(1, b"h", flags=["END_HEADERS"]).serialize(), time_ms=1)
    assert (reader.streams[1].wire_bytes, reader.streams[1].is_whole) == (20, True)
