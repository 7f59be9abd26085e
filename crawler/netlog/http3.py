"""What one stream of an HTTP/3 connection received, and what of it is body (RFC 9114 §4.1, §7.2).

The log has no bytes of a stream: where they lie it says by offset, what they are by the lengths of frames.
"""

from __future__ import annotations

import bisect

from crawler.netlog.quic_overhead import varint_bytes

FRAME_HEADER_LIMIT = 16
"""Longest header of a frame: type and length, eight bytes each."""


class Ranges:
    """Which bytes of a stream have arrived.

    >>> ranges = Ranges()
    >>> [ranges.add(0, 10), ranges.add(20, 30), ranges.add(5, 25), ranges.add(0, 30)]
    [10, 10, 10, 0]
    """

    def __init__(self) -> None:
        self._edges: list[int] = []
        """Where what has arrived begins and ends, in turn."""

    def add(self, start: int, stop: int) -> int:
        """How many bytes of these are new."""
        if stop <= start:
            return 0
        edges = self._edges
        new = stop - start - self.within(start, stop)
        first, last = bisect.bisect_left(edges, start), bisect.bisect_right(edges, stop)
        edges[first:last] = [start] * (first % 2 == 0) + [stop] * (last % 2 == 0)
        return new

    def within(self, start: int, stop: int) -> int:
        """How many bytes between two offsets have arrived."""
        edges = self._edges
        at = bisect.bisect_right(edges, start) // 2 * 2
        found = 0
        while at < len(edges) and edges[at] < stop:
            found += max(0, min(stop, edges[at + 1]) - max(start, edges[at]))
            at += 2
        return found

    @property
    def stop(self) -> int:
        """End of the last byte that has arrived."""
        return self._edges[-1] if self._edges else 0


class Http3Stream:
    """What one stream received, each byte once."""

    def __init__(self) -> None:
        self.wire_bytes = 0
        self.first_byte_ms: int | None = None
        self.last_byte_ms: int | None = None
        self.is_stopped = False
        """Whether the browser has said that it reads no more of it."""
        self.ends_at: int | None = None
        """Its length, where FIN has come."""
        self.content_length: int | None = None
        """As the response states it."""
        self._ranges = Ranges()
        self._body = 0
        """Payload of DATA frames that another frame has followed."""
        self._data = (0, 0)
        """Where the payload of the last DATA frame begins and ends."""
        self._announced = 0
        """Where the last frame ends that the browser has begun to read."""

    @property
    def is_whole(self) -> bool:
        """Whether all of it arrived."""
        return self.ends_at is not None and self.wire_bytes >= self.ends_at

    def received(self, start: int, stop: int, time_ms: int) -> int:
        """A STREAM frame arrived; how many of its bytes are new."""
        new = self._ranges.add(start, stop)
        if new:
            self.wire_bytes += new
            self.first_byte_ms = time_ms if self.first_byte_ms is None else self.first_byte_ms
            self.last_byte_ms = time_ms
        return new

    def frame(self, size: int, *, type_bytes: int = 1, data: bool = False) -> None:
        """The browser read the header of an HTTP/3 frame with a payload of `size` bytes."""
        start = self._announced + type_bytes + varint_bytes(size)
        self._announced = start + size
        if data:
            self._body += self._ranges.within(*self._data)
            self._data = (start, self._announced)

    @property
    def body_bytes(self) -> int | None:
        """Payload of DATA frames that arrived; None where bytes came that the browser did not read as frames, since
        it wanted no more of them (the body of a redirect, say), and nothing else says what they are."""
        if not self._has_unread:
            return self._body + self._ranges.within(*self._data)
        # All DATA together have the stated length, or the response is malformed (RFC 9114 §4.1.2).
        is_whole = self.wire_bytes == self.ends_at and (self.content_length or 0) <= self.wire_bytes
        return self.content_length if is_whole else None

    @property
    def _has_unread(self) -> bool:
        unread = self._ranges.stop - self._announced
        if self.is_stopped:
            return unread > 0
        # Some bytes may be the beginning of a frame's header; before the first frame all are of the first, HEADERS.
        return self._announced > 0 and unread > FRAME_HEADER_LIMIT
