"""Tells header from body in the streams of an HTTP/3 connection (RFC 9114 §4.1, §7.2).

The log has no bytes of a stream, but their offsets, and the lengths of HTTP/3 frames.
"""

from crawler.netlog.quic_overhead import varint_bytes
from crawler.ranges import Ranges

FRAME_HEADER_LIMIT = 16
"""Longest frame header: type and length, eight bytes each."""


class Http3Stream:
    """The bytes that one stream received, each counted once."""

    def __init__(self) -> None:
        self.wire_bytes = 0
        self.first_byte_ms: int | None = None
        self.last_byte_ms: int | None = None
        self.is_stopped = False
        """True once the browser sent STOP_SENDING: it reads no more."""
        self.ends_at: int | None = None
        """Length of the stream; None until FIN has come."""
        self.content_length: int | None = None
        self._ranges = Ranges()
        self._body = 0
        self._data = (0, 0)
        self._announced = 0
        """Offset at which the last frame ends that the browser read."""

    @property
    def is_whole(self) -> bool:
        return self.ends_at is not None and self.wire_bytes >= self.ends_at

    def count_received(self, start: int, stop: int, time_ms: int) -> int:
        """Take a STREAM frame; return its new bytes."""
        new = self._ranges.count(start, stop)
        if new:
            self.wire_bytes += new
            self.first_byte_ms = time_ms if self.first_byte_ms is None else self.first_byte_ms
            self.last_byte_ms = time_ms
        return new

    def frame(self, size: int, *, type_bytes: int = 1, data: bool = False) -> None:
        """Note an HTTP/3 frame with a payload of `size` bytes that the browser read."""
        start = self._announced + type_bytes + varint_bytes(size)
        self._announced = start + size
        if data:
            self._body += self._ranges.within(*self._data)
            self._data = (start, self._announced)

    @property
    def body_bytes(self) -> int | None:
        """Payload of the DATA frames that arrived; None if the browser stopped reading frames (in the body of
        a redirect, say), and no Content-Length tells.
        """
        if not self._has_unread:
            return self._body + self._ranges.within(*self._data)
        # The sum of all DATA frames is the Content-Length, or the response is malformed (RFC 9114 §4.1.2).
        is_whole = self.wire_bytes == self.ends_at and (self.content_length or 0) <= self.wire_bytes
        return self.content_length if is_whole else None

    @property
    def _has_unread(self) -> bool:
        unread = self._ranges.stop - self._announced
        if self.is_stopped:
            return unread > 0
        # A few bytes may begin a frame's header; before the first frame header, all bytes belong to HEADERS.
        return self._announced > 0 and unread > FRAME_HEADER_LIMIT
