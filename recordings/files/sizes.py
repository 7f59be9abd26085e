"""Sizes of recorded exchanges on the wire, without estimates."""

from __future__ import annotations

from recordings.exchange import RecordedExchange
from recordings.pages.sizes import Sizes


def sizes_of(one: RecordedExchange) -> Sizes:
    """Sizes of a response: header and body if both are known, apart or together; else unknown.

    What Chrome's DevTools count of HTTP/2 and HTTP/3 includes the headers of frames.
    """
    wire = wire_bytes(one)
    body = None if one.total_bytes is not None else one.body_bytes
    return Sizes(
        wire_bytes=wire,
        wire_bytes_unknown=None if wire is not None else reason(one),
        header_bytes=None if wire is None or body is None else wire - body,
        body_bytes=body,
        is_complete=None if wire is None else one.is_complete,
    )


def wire_bytes(one: RecordedExchange) -> int | None:
    """Header, framing and encoded body; None where either the header's or the body's size is unknown."""
    if one.is_cached or not one.status:
        return None
    if one.total_bytes is not None:
        return one.total_bytes
    if one.body_bytes is None or one.header_bytes is None or one.header_is_text:
        return None
    return one.header_bytes + one.body_bytes


def reason(one: RecordedExchange) -> str:
    """Why a size is unknown: a value of response.wire_bytes_unknown."""
    return "from_cache" if one.is_cached else "not_recorded" if one.status else "no_response"
