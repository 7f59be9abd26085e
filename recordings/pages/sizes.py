"""Sizes of recorded responses on the wire."""

import dataclasses

from recordings.exchange import BODILESS
from recordings.pages.request import PageRequest

H2_FRAME_BYTES, H2_FRAME_HEADER_BYTES = 16_384, 9
"""Default maximum of an HTTP/2 frame's payload, and the size of its header (RFC 9113 §4)."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Sizes:
    """Sizes of one response; the fields are columns of `response`."""

    wire_bytes: int | None
    wire_bytes_unknown: str | None
    header_bytes: int | None
    body_bytes: int | None
    is_complete: bool | None


def sizes_of(one: PageRequest) -> Sizes:
    """Sizes as the browser counted them, with the headers of frames that it does not count.

    A body's size is known by its Content-Length; without one, whether all of it came is unknown. Of a
    redirect Playwright counts the body alone, so the size of the response is unknown.
    """
    if one.transfer_bytes is None or one.is_redirect:
        return unknown(one)
    stated = 0 if is_bodiless(one) else one.content_length
    if stated is not None and stated >= one.transfer_bytes:  # a header takes room as well: not all of it came
        wire = one.transfer_bytes + framing(one, one.transfer_bytes)
        return Sizes(
            wire_bytes=wire, wire_bytes_unknown=None, header_bytes=None, body_bytes=None, is_complete=False
        )
    wire = one.transfer_bytes + framing(one, one.transfer_bytes if stated is None else stated)
    return Sizes(
        wire_bytes=wire,
        wire_bytes_unknown=None,
        header_bytes=None if stated is None else wire - stated,
        body_bytes=stated,
        is_complete=None if stated is None else True,
    )


def unknown(one: PageRequest) -> Sizes:
    """Sizes of a response that the browser did not count, and why."""
    reason = "no_response" if not one.has_arrived else "from_cache" if one.from_cache else "not_recorded"
    return Sizes(
        wire_bytes=None, wire_bytes_unknown=reason, header_bytes=None, body_bytes=None, is_complete=None
    )


def is_bodiless(one: PageRequest) -> bool:
    """Whether the response has no body whatever its Content-Length says."""
    return one.method == "HEAD" or one.status in BODILESS


def framing(one: PageRequest, body_bytes: int) -> int:
    """Bytes of frame headers that a response has at least: one frame of headers,
    and as few of data as may be.

    A body of unknown size counts as all that was transferred.
    """
    if one.protocol == "h2":
        return H2_FRAME_HEADER_BYTES * (1 + -(-body_bytes // H2_FRAME_BYTES))
    if one.protocol == "h3":
        return h3_frame_header(64) + (h3_frame_header(body_bytes) if body_bytes else 0)
    return 0


def h3_frame_header(length: int) -> int:
    """Size of an HTTP/3 frame's header: its type in a byte, its length as RFC 9000 §16 encodes it.

    >>> h3_frame_header(63), h3_frame_header(64), h3_frame_header(16_384)
    (2, 3, 5)
    """
    return 1 + (1 if length < 2**6 else 2 if length < 2**14 else 4 if length < 2**30 else 8)
