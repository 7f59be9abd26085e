"""Text of HTTP/1.1 messages."""

from __future__ import annotations

import http
from collections.abc import Sequence

from localweb.serving.channel import ProtocolViolation
from localweb.serving.handler import Fields


def parse(head: bytes) -> tuple[str, str, dict[str, str]]:
    """Return method, target and header fields of a request."""
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise ProtocolViolation(f"not a request line: {first[:80]!r}")
    fields = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise ProtocolViolation(f"not a header field: {line[:80]!r}")
        fields[name.lower()] = value.strip()
    if not fields.get("content-length", "0").isdigit():
        raise ProtocolViolation(f"content-length {fields['content-length']!r}")
    return parts[0], parts[1], fields


def chunk_size(line: bytes) -> int:
    """Return the size that the first line of a chunk states."""
    try:
        return int(line.split(b";")[0], 16)
    except ValueError as exc:
        raise ProtocolViolation(f"chunk size {line[:80]!r}") from exc


def header(status: int, fields: Fields) -> bytes:
    """Return status line and header section."""
    try:
        reason = http.HTTPStatus(status).phrase
    except ValueError:
        reason = ""
    return section([f"HTTP/1.1 {status} {reason}".encode("latin-1")], fields)


def section(first: Sequence[bytes], fields: Fields) -> bytes:
    """Return the lines of a header or trailer section and its end."""
    lines = [f"{name}: {value}".encode("latin-1") for name, value in fields]
    return b"\r\n".join([*first, *lines, b"", b""])
