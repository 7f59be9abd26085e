"""Tells header from body in HTTP/1.x responses (RFC 9112), where Chromium does.

Chromium takes much that the RFC does not allow. What it takes as a body is the body; each rule is held
against Chromium itself (`tests/zoo/odd.py`, `tests/crawler/visit/test_zoo.py`).
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

HEADER_LIMIT = 1024 * 1024
"""Longest header that is read, in bytes: Chromium refuses it at 256 kB."""

LINE_LIMIT = 16_384
"""Longest line of chunk framing that Chromium takes, in bytes."""

HEXADECIMAL = frozenset(b"0123456789abcdefABCDEF")
SWITCHING_PROTOCOLS = 101
BODILESS = frozenset({204, 205, 304})
"""Statuses of final responses without a body (RFC 9110 §6.4.1, §15.3.6)."""

HEADER_END = re.compile(rb"\n\r?\n")

SLOP_BYTES = 4
"""Most bytes of anything before the status line."""

LENGTH_LIMIT = 2**63 - 1

_HTTP = b"http"
_VERSION = re.compile(rb"http/(\d)[^.]*\.(\d)", re.IGNORECASE)
_STATUS = re.compile(rb"[^ ]* +0*(\d{1,9})")
_LINES = re.compile(rb"[^\r\n]+")
_FIELD = re.compile(rb"([!#$%&'*+\-.^_`|~0-9A-Za-z]+)[ \t]*:(.*)", re.DOTALL)
_VALUE = re.compile(rb'(?:"(?:\\.|[^"\\])*"?|[^,"])*', re.DOTALL)
_LENGTH = re.compile(rb"-?0*(\d{1,19})")
_BLANK = b" \t"


class MessageReader:
    """Counts one response as its bytes arrive.

    Interim responses (1xx) count as header of the final one. What follows does not count (RFC 9112 §6.3).
    """

    def __init__(self, *, head: bool = False, websocket: bool = False) -> None:
        self.wire_bytes = 0
        self.body_bytes = 0
        self.surplus_bytes = 0
        self.in_body = False
        self.status: int | None = None
        self._head = head
        self._websocket = websocket
        self._due: int | None = None
        """None if the connection's end or the last chunk ends the body."""
        self._buffer = bytearray()
        self._chunks: ChunkReader | None = None
        self._is_http = False
        self._is_closed = False

    @property
    def is_whole(self) -> bool:
        """True if all arrived (RFC 9112 §8)."""
        if self._chunks is not None:
            return self._chunks.ended
        return self.in_body and (self._is_closed if self._due is None else self.body_bytes >= self._due)

    @property
    def needs_bytes(self) -> bool:
        return not self.in_body or self._chunks is not None

    def count(self, size: int) -> None:
        body = size if self._due is None else min(size, self._due - self.body_bytes)
        self.body_bytes += body
        self.wire_bytes += body
        self.surplus_bytes += size - body

    def feed(self, data: bytes) -> None:
        if self.in_body:
            self._body(data)
            return
        self.wire_bytes += len(data)
        seen = max(0, len(self._buffer) - 2)  # the part before has no end of a header in it
        self._buffer += data
        while not self.in_body:
            start = find_status_line(self._buffer)
            if start is None:
                return
            if start < 0:  # HTTP/0.9: all bytes are body
                self._begin_body(bytes(self._buffer))
                return
            end = HEADER_END.search(self._buffer, max(start, seen))
            seen = 0
            if end is None:
                if len(self._buffer) > HEADER_LIMIT:
                    self._begin_body(b"")
                return
            header, rest = bytes(self._buffer[start : end.end()]), bytes(self._buffer[end.end() :])
            self._header(header, rest)

    def end(self, *, clean: bool) -> None:
        """Note the connection's end: less than a status line is an HTTP/0.9 body.

        Not `clean`, TLS ended without close_notify, so that a body without a length may lack its end (RFC
        9112 §9.8).
        """
        self._is_closed = clean
        if not self.in_body and not self._is_http and find_status_line(self._buffer) is None:
            self._begin_body(bytes(self._buffer))

    def _header(self, section: bytes, rest: bytes) -> None:
        header = read_header(section)
        self._is_http = True
        is_final = header.status // 100 != 1 or (self._websocket and header.status == SWITCHING_PROTOCOLS)
        if not is_final:
            self._buffer = bytearray(rest)
            return
        self.status = header.status
        if self._head or header.status in BODILESS:
            self._due = 0
        elif header.is_chunked:
            self._chunks = ChunkReader()
        else:
            self._due = header.content_length
        self._begin_body(rest)

    def _begin_body(self, rest: bytes) -> None:
        self.in_body = True
        self._buffer.clear()
        self.wire_bytes -= len(rest)
        if rest:
            self._body(rest)

    def _body(self, data: bytes) -> None:
        if self._chunks is None:
            self.count(len(data))
            return
        taken, body = self._chunks.feed(data)
        self.wire_bytes += taken
        self.body_bytes += body
        self.surplus_bytes += len(data) - taken


class ChunkReader:
    """Tells chunk data from chunk framing (RFC 9112 §7.1),
    and from what follows the last chunk and its trailers.

    >>> ChunkReader().feed(b"3\\r\\nabc\\r\\n0\\r\\n\\r\\nlate")
    (13, 3)
    """

    def __init__(self) -> None:
        self.ended = False
        self._left = 0
        self._line = b""
        self._after_data = False
        self._in_trailers = False
        self._broken = False
        """True after framing that Chromium refuses: all bytes count as framing."""

    def feed(self, data: bytes) -> tuple[int, int]:
        body = at = 0
        while at < len(data) and not self.ended:
            if self._broken:
                return len(data), body
            if self._left:
                taken = min(self._left, len(data) - at)
                self._left -= taken
                body += taken
                at += taken
                continue
            newline = data.find(b"\n", at)
            self._line += data[at : None if newline < 0 else newline]
            self._broken = len(self._line) > LINE_LIMIT
            if newline < 0:
                return len(data), body
            at = newline + 1
            self._take_line()
        return at, body

    def _take_line(self) -> None:
        line, self._line = self._line.removesuffix(b"\r"), b""
        if self._in_trailers:
            self.ended = not line
        elif self._after_data:
            self._after_data = False
            self._broken |= bool(line)
        else:
            self._size(line.split(b";", 1)[0].rstrip(b" "))

    def _size(self, digits: bytes) -> None:
        digits = digits.lstrip(b"0") or digits[:1]
        if not 0 < len(digits) <= 16 or not HEXADECIMAL.issuperset(digits):
            self._broken = True
            return
        self._left = int(digits, 16)
        self._in_trailers = not self._left
        self._after_data = not self._in_trailers


class Header(NamedTuple):
    """The facts that a header section states of its message."""

    status: int
    is_chunked: bool
    content_length: int | None


def find_status_line(data: bytes | bytearray) -> int | None:
    """Return the offset of the status line; -1 if there is none, so that this is HTTP/0.9.

    None if more bytes are needed.

    >>> find_status_line(b"\\r\\nHTTP/1.1 200"), find_status_line(b"<!doctype html>"), find_status_line(b"HT")
    (2, -1, None)
    """
    at = data[: SLOP_BYTES + len(_HTTP)].lower().find(_HTTP)
    return None if at < 0 and len(data) < SLOP_BYTES + len(_HTTP) else at


def read_header(section: bytes) -> Header:
    """Read from a header section, which begins with its status line, what ends the message,
    as Chromium reads it.

    A status line without a number has status 200.

    >>> read_header(b"http/1.1 404\\r\\nTransfer-Encoding:\\r\\n chunked\\r\\n\\r\\n")
    Header(status=404, is_chunked=True, content_length=None)
    """
    first, *lines = _unfold(section)
    status = _STATUS.match(first)
    fields = [(name.lower(), value) for name, value in _fields(lines)]
    encodings = {
        coding.lower() for name, value in fields if name == b"transfer-encoding" for coding in _values(value)
    }
    lengths = [length for name, value in fields if name == b"content-length" for length in _values(value)]
    return Header(
        status=int(status[1]) if status else 200,
        is_chunked=b"chunked" in encodings and _version(first) >= (1, 1),
        content_length=_length(lengths[0]) if lengths else None,
    )


def _version(line: bytes) -> tuple[int, int]:
    match = _VERSION.match(line)
    return (int(match[1]), int(match[2])) if match else (1, 0)


def _unfold(section: bytes) -> list[bytes]:
    """Return lines with their continuations (RFC 9112 §5.2). A bare CR ends a line, too."""
    lines: list[bytes] = []
    parts: list[bytes] = []
    for line in _LINES.findall(section):
        if parts and line[:1] in (b" ", b"\t"):
            parts.append(line.lstrip(_BLANK))
            continue
        if parts:
            lines[-1] = b" ".join(parts)
        has_name = len(lines) > 0 and line.find(b":") > 0 and line[:1] not in (b" ", b"\t")
        parts = [line] if has_name else []
        lines.append(line)
    if parts:
        lines[-1] = b" ".join(parts)
    return lines


def _fields(lines: list[bytes]) -> Iterator[tuple[bytes, bytes]]:
    for line in lines:
        match = _FIELD.fullmatch(line)
        if match:
            yield match[1], match[2].strip(_BLANK)


def _values(value: bytes) -> list[bytes]:
    """Return the members of a list (RFC 9110 §5.6.1); quoted ones may have commas."""
    members = []
    at = 0
    while at <= len(value):
        end = max(_VALUE.match(value, at).end(), at)  # type: ignore[union-attr]
        members.append(value[at:end].strip(_BLANK))
        at = end + 1
    return members


def _length(text: bytes) -> int | None:
    match = _LENGTH.fullmatch(text)
    length = int(match[1]) if match else -1
    is_negative = text.startswith(b"-") and length > 0
    return length if 0 <= length <= LENGTH_LIMIT and not is_negative else None
