"""Tells header from body in HTTP/1.x responses (RFC 9112)."""

from __future__ import annotations

import re

HEADER_LIMIT = 1024 * 1024
"""Longest header that is read, in bytes: Chromium refuses it at 256 kB."""

_END = re.compile(rb"\r?\n\r?\n")
_STATUS = re.compile(rb"^[^\n]{0,4}?HTTP/\d\.\d +(\d{3})")
_LENGTH = re.compile(rb"\n *content-length *: *(\d{1,18}) *\r?\n", re.IGNORECASE)
_CHUNKED = re.compile(rb"\n *transfer-encoding *:[^\n]*\bchunked", re.IGNORECASE)


class MessageReader:
    """Counts one response as its bytes arrive.

    Interim responses (1xx) count as header of the final response, which they precede.
    """

    def __init__(self, *, head: bool = False) -> None:
        self.wire_bytes = 0
        self.body_bytes = 0
        self.in_body = False
        self.status: int | None = None
        """Status of the final response."""
        self._head = head
        self._due: int | None = None
        """Content-Length."""
        self._buffer = bytearray()
        self._chunks: ChunkReader | None = None
        self._bodiless = False

    @property
    def is_whole(self) -> bool:
        """True if all of the response arrived; never, if the end of the connection ends it."""
        if not self.in_body:
            return False
        if self._chunks is not None:
            return self._chunks.ended
        return self._bodiless or (self._due is not None and self.body_bytes >= self._due)

    @property
    def needs_bytes(self) -> bool:
        """True while bytes are to be fed; afterwards, counting them is enough."""
        return not self.in_body or self._chunks is not None

    def count(self, size: int) -> None:
        """Count bytes of the body."""
        self.wire_bytes += size
        self.body_bytes += 0 if self._bodiless else size

    def feed(self, data: bytes) -> None:
        """Take more bytes of the response."""
        if self.in_body:
            self._body(data)
            return
        self.wire_bytes += len(data)
        seen = max(0, len(self._buffer) - 3)  # the part before has no end of a header in it
        self._buffer += data
        while not self.in_body:
            end = _END.search(self._buffer, seen)
            seen = 0
            if end is None:
                if len(self._buffer) > HEADER_LIMIT:
                    self._begin_body(b"", b"")
                return
            header, rest = bytes(self._buffer[: end.end()]), bytes(self._buffer[end.end() :])
            self._header(header, rest)

    def _header(self, header: bytes, rest: bytes) -> None:
        status = _STATUS.match(header)
        if status is None:  # HTTP/0.9: all bytes are body
            self.body_bytes += len(header)
            self._begin_body(b"", rest)
        elif status[1][:1] == b"1" and status[1] != b"101":
            self._buffer = bytearray(rest)
        else:
            self.status = int(status[1])
            self._bodiless = self._head or status[1] in (b"204", b"304")
            self._begin_body(header, rest)

    def _begin_body(self, header: bytes, rest: bytes) -> None:
        self.in_body = True
        self._buffer.clear()
        if _CHUNKED.search(header) and not self._bodiless:
            self._chunks = ChunkReader()
        elif length := _LENGTH.search(header):
            self._due = int(length[1])
        self.wire_bytes -= len(rest)
        if rest:
            self._body(rest)

    def _body(self, data: bytes) -> None:
        if self._chunks is None:
            self.count(len(data))
            return
        self.wire_bytes += len(data)
        self.body_bytes += self._chunks.feed(data)


class ChunkReader:
    """Tells chunk data from chunk framing (RFC 9112 §7.1).

    >>> ChunkReader().feed(b"3\\r\\nabc\\r\\n0\\r\\n\\r\\n")
    3
    """

    def __init__(self) -> None:
        self._left = 0
        """Bytes of chunk data still to come."""
        self._line = b""
        self.ended = False
        """True once the last chunk has come; trailers may follow."""

    def feed(self, data: bytes) -> int:
        """Count the chunk data in these bytes."""
        body = 0
        at = 0
        while at < len(data) and not self.ended:
            if self._left:
                taken = min(self._left, len(data) - at)
                self._left -= taken
                body += taken
                at += taken
                continue
            newline = data.find(b"\n", at)
            self._line = (self._line + data[at : None if newline < 0 else newline])[:4096]
            if newline < 0:
                break
            at = newline + 1
            self._size_line()
        return body

    def _size_line(self) -> None:
        line = self._line.split(b";", 1)[0].strip()
        self._line = b""
        if not line:  # the line end after chunk data
            return
        try:
            self._left = int(line, 16)
        except ValueError:
            self._left = 0
            self.ended = True
        else:
            self.ended = self._left <= 0  # trailers follow, which are framing
