"""Reads from a header section of HTTP/1.x what ends the message, as Chromium reads it."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

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


class Header(NamedTuple):
    """What a header section says of its message."""

    status: int
    is_chunked: bool
    content_length: int | None
    """None if it is not stated, or not as a number."""


def find_status_line(data: bytes | bytearray) -> int | None:
    """Offset of the status line; -1 if there is none, so that this is HTTP/0.9; None if more bytes are needed.

    >>> find_status_line(b"\\r\\nHTTP/1.1 200"), find_status_line(b"<!doctype html>"), find_status_line(b"HT")
    (2, -1, None)
    """
    at = data[: SLOP_BYTES + len(_HTTP)].lower().find(_HTTP)
    return None if at < 0 and len(data) < SLOP_BYTES + len(_HTTP) else at


def read_header(section: bytes) -> Header:
    """Read a header section, which begins with its status line.

    A status line without a number has status 200.

    >>> read_header(b"http/1.1 404\\r\\nTransfer-Encoding:\\r\\n chunked\\r\\n\\r\\n")
    Header(status=404, is_chunked=True, content_length=None)
    """
    first, *lines = _unfolded(section)
    status = _STATUS.match(first)
    fields = [(name.lower(), value) for name, value in _fields(lines)]
    encodings = {
        one.lower() for name, value in fields if name == b"transfer-encoding" for one in _values(value)
    }
    lengths = [one for name, value in fields if name == b"content-length" for one in _values(value)]
    return Header(
        status=int(status[1]) if status else 200,
        is_chunked=b"chunked" in encodings and _version(first) >= (1, 1),
        content_length=_length(lengths[0]) if lengths else None,
    )


def _version(line: bytes) -> tuple[int, int]:
    found = _VERSION.match(line)
    return (int(found[1]), int(found[2])) if found else (1, 0)


def _unfolded(section: bytes) -> list[bytes]:
    """The lines, each with its continuations (RFC 9112 §5.2). A bare CR ends a line, too."""
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
        found = _FIELD.fullmatch(line)
        if found:
            yield found[1], found[2].strip(_BLANK)


def _values(value: bytes) -> list[bytes]:
    """The members of a list (RFC 9110 §5.6.1), of which those in quotes may have commas."""
    found = []
    at = 0
    while at <= len(value):
        end = max(_VALUE.match(value, at).end(), at)  # type: ignore[union-attr]
        found.append(value[at:end].strip(_BLANK))
        at = end + 1
    return found


def _length(text: bytes) -> int | None:
    found = _LENGTH.fullmatch(text)
    length = int(found[1]) if found else -1
    is_negative = text.startswith(b"-") and length > 0
    return length if 0 <= length <= LENGTH_LIMIT and not is_negative else None
