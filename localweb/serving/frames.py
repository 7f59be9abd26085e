"""Sizes of the HTTP/2 frames in a run of bytes (RFC 9113 §4.1), and the fields that they carry.

The crawler has a scanner of its own: it is what the tests hold against this one, so they share no code.
"""

import collections
from collections.abc import Iterable, Iterator
from typing import NamedTuple

PREFACE = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n"
HEADER = 9
DATA, HEADERS, CONTINUATION = 0x0, 0x1, 0x9
PADDED = 0x08


class HttpFrame(NamedTuple):
    """One frame's type, stream and sizes."""

    type: int
    stream_id: int
    wire_bytes: int
    data_bytes: int
    """Body in it; 0 in all types but DATA."""

    @property
    def is_of_response(self) -> bool:
        return self.type in (DATA, HEADERS, CONTINUATION)


def scan(octets: bytes) -> Iterator[HttpFrame]:
    """Yield the whole frames in `octets`, which begin with one."""
    at = 0
    while at + HEADER <= len(octets):
        length = int.from_bytes(octets[at : at + 3], "big")
        kind, flags = octets[at + 3], octets[at + 4]
        stream_id = int.from_bytes(octets[at + 5 : at + 9], "big") & 0x7FFF_FFFF
        if at + HEADER + length > len(octets):
            return
        padding = 1 + octets[at + HEADER] if kind == DATA and flags & PADDED else 0
        yield HttpFrame(kind, stream_id, HEADER + length, length - padding if kind == DATA else 0)
        at += HEADER + length


class RequestHeaders:
    """Counts the sizes of the header frames of requests, by stream."""

    def __init__(self) -> None:
        self._unscanned = b""
        self._bytes: collections.Counter[int] = collections.Counter()

    def feed(self, octets: bytes) -> None:
        self._unscanned += octets.removeprefix(PREFACE)
        scanned = 0
        for frame in scan(self._unscanned):
            scanned += frame.wire_bytes
            if frame.type in (HEADERS, CONTINUATION):
                self._bytes[frame.stream_id] += frame.wire_bytes
        self._unscanned = self._unscanned[scanned:]

    def take(self, stream_id: int) -> int:
        """Return the size of a stream's header frames, and forget it."""
        return self._bytes.pop(stream_id, 0)


def fields(headers: Iterable[tuple[str | bytes, str | bytes]]) -> dict[str, str]:
    joined: dict[str, str] = {}
    for name, value in headers:
        assert isinstance(name, str)
        assert isinstance(value, str)
        between = "; " if name == "cookie" else ", "
        joined[name] = f"{joined[name]}{between}{value}" if name in joined else value
    return joined
