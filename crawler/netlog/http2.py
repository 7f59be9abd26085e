"""Counts the frames that an HTTP/2 connection receives, by stream (RFC 9113 §4)."""

import dataclasses
import enum

from crawler.netlog.event import Encoded

FRAME_HEADER_BYTES = 9


class FrameType(enum.IntEnum):
    """Types of the frames that make a response (RFC 9113 §6)."""

    DATA = 0x0
    HEADERS = 0x1
    CONTINUATION = 0x9


RESPONSE_FRAMES = frozenset(FrameType)

END_STREAM = 0x1
END_HEADERS = 0x4
PADDED = 0x8


@dataclasses.dataclass(slots=True)
class Http2Stream:
    """Bytes and times of one stream."""

    wire_bytes: int = 0
    body_bytes: int = 0
    first_byte_ms: int | None = None
    last_byte_ms: int | None = None
    is_whole: bool = False
    content_length: int | None = None


class FrameReader:
    """Counts frames as they arrive, half a frame as half a frame."""

    def __init__(self) -> None:
        self.streams: dict[int, Http2Stream] = {}
        self.frame_bytes = 0
        self.newest_request = 0
        """Largest id of a stream with a request; ids grow (RFC 9113 §5.1.1)."""
        self._header = b""
        self._left = 0
        self._stream: Http2Stream | None = None
        self._is_data = False
        self._ends_stream = False
        self._is_last = False
        self._padding = 0
        self._awaits_pad_length = False

    def feed(self, data: bytes | Encoded, *, time_ms: int) -> None:
        at = 0
        while at < len(data):
            if self._left:
                taken = min(self._left, len(data) - at)
                self._payload(data, at, taken, time_ms)
                at += taken
                continue
            taken = min(FRAME_HEADER_BYTES - len(self._header), len(data) - at)
            self._header += data[at : at + taken]
            at += taken
            if len(self._header) == FRAME_HEADER_BYTES:
                self._begin(time_ms)

    def _begin(self, time_ms: int) -> None:
        header, self._header = self._header, b""
        self._left = int.from_bytes(header[:3], "big")
        kind, flags = header[3], header[4]
        stream_id = int.from_bytes(header[5:], "big") & 0x7FFFFFFF
        self._is_data = kind == FrameType.DATA
        self._padding = 0
        self._awaits_pad_length = self._is_data and bool(flags & PADDED)
        stream = self._of_response(kind, stream_id)
        self._stream = stream
        if stream is None:
            self.frame_bytes += FRAME_HEADER_BYTES
            return
        stream.wire_bytes += FRAME_HEADER_BYTES
        stream.first_byte_ms = time_ms if stream.first_byte_ms is None else stream.first_byte_ms
        stream.last_byte_ms = time_ms
        if kind != FrameType.CONTINUATION:
            self._ends_stream = bool(flags & END_STREAM)
        self._is_last = self._ends_stream and (self._is_data or bool(flags & END_HEADERS))
        stream.is_whole |= self._is_last and not self._left

    def _of_response(self, kind: int, stream_id: int) -> Http2Stream | None:
        """Return the stream of a response's frame; None if nobody asked for it, or it has ended."""
        if kind not in RESPONSE_FRAMES or stream_id % 2 == 0 or stream_id > self.newest_request:
            return None
        stream = self.streams.setdefault(stream_id, Http2Stream())
        return None if stream.is_whole else stream

    def _payload(self, data: bytes | Encoded, at: int, size: int, time_ms: int) -> None:
        before = self._left
        self._left -= size
        stream = self._stream
        if stream is None:
            self.frame_bytes += size
            return
        stream.wire_bytes += size
        stream.last_byte_ms = time_ms
        stream.is_whole |= self._is_last and not self._left
        if not self._is_data:
            return
        if self._awaits_pad_length:
            self._awaits_pad_length = False
            self._padding = min(data[at], before - 1)
            before -= 1
            size -= 1
        # The body ends where the padding at the frame's end begins.
        stream.body_bytes += max(0, min(size, before - self._padding))
