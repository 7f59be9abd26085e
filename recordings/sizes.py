"""The size of a recorded response: what its producer counted, what it stated, what is derived,
and what contradicts.

For each response the questions are asked in this order: did it cross the network; which numbers did the
producer count, which did it state, and which can only be derived; do they contradict one another. A known
total of header and body rules over its parts.
"""

import dataclasses
import re
from collections.abc import Iterable, Mapping

from schema.vocabulary import COUNTED, DERIVED, STATED

BODILESS = frozenset({204, 205, 304})
"""Statuses without a body (RFC 9110 §15)."""

VALIDATORS = ("etag", "last-modified")
"""A cache without these fields cannot ask whether a response has changed."""

GROUPED = re.compile(r"[1-9][0-9]{0,2}([.,' \u00a0\u2019\u202f])[0-9]{3}(\1[0-9]{3})*")
"""A number of which thousands are set off, as Internet Explorer writes it."""

TEXTUAL = frozenset({"http/1.0", "http/1.1"})
"""Protocols that send a header as the text that recorders show; others compress it."""

LEAST_HEADER = {"http/1.0": 17, "http/1.1": 17, "h2": 10, "spdy": 10}
"""Size of the shortest header with its frame; 5 bytes over HTTP/3 and unknown protocols."""

HEADER_AT_MOST = 4096
"""Maximum plausible size of a header section; a larger difference between two sizes has another cause."""

FRAMING_SHARE = 50
"""A body's framing takes at most one of so many bytes:
an HTTP/2 frame or a chunk seldom has fewer than 500."""

INFLATION = 1100
"""Largest growth of a body by decompression: 1,032 for deflate (RFC 1951)."""

NO_RESPONSE, FROM_CACHE = "no_response", "from_cache"
NOT_RECORDED, CONTRADICTORY = "not_recorded", "contradictory"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ResponseSizes:
    """Sizes of one response; the fields are columns of `response`."""

    wire_bytes: int | None = None
    wire_bytes_unknown: str | None = NO_RESPONSE
    size_basis: str | None = None
    header_bytes: int | None = None
    body_bytes: int | None = None
    decoded_bytes: int | None = None
    is_complete: bool | None = None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SizeEvidence:
    """The sizes that a recording states of one response."""

    method: str = "GET"
    status: int
    protocol: str
    headers: Mapping[str, str] = dataclasses.field(default_factory=dict)
    is_cached: bool = False
    is_redirect: bool = False
    is_worker: bool | None = False
    """True for a worker's main script, of which Chromium counts the header alone; None if unknown."""
    is_conditional: bool | None = None
    """True if the server was asked for a change alone; None if unknown."""
    total: int | None = None
    """Header and body as they came, counted together; of a redirect the header alone."""
    header: int | None = None
    """Header section, as the producer states it."""
    body: int | None = None
    """Encoded body, as the producer states it."""
    decoded: int | None = None
    header_text: int | None = None
    """The recorded header as HTTP/1.1 writes it."""
    holds_header: bool = False
    has_framing: bool = False
    target_length: int | None = None
    """Content-Length of the redirect that led here, which some producers repeat."""
    is_complete: bool | None = None

    @property
    def is_bodiless(self) -> bool:
        """True without a body, whatever Content-Length says."""
        return self.method == "HEAD" or self.status in BODILESS

    @property
    def can_be_304(self) -> bool:
        """True if a 304 may have confirmed a cache's, which recorders show with the cached status."""
        if self.is_conditional is not None:
            return self.is_conditional
        is_stored = "no-store" not in self.headers.get("cache-control", "").lower()
        return is_stored and (self.is_worker is False or not self.headers.keys().isdisjoint(VALIDATORS))

    @property
    def is_encoded(self) -> bool:
        return self.headers.get("content-encoding", "identity") not in ("", "identity")

    @property
    def is_chunked(self) -> bool:
        """True for chunks, whose framing is in no size that a header states."""
        return "chunked" in self.headers.get("transfer-encoding", "").lower()

    @property
    def least_header(self) -> int:
        return LEAST_HEADER.get(self.protocol, 5)

    @property
    def length(self) -> int | None:
        """Content-Length, if it can be that of this response's body."""
        stated = None if self.is_chunked else content_length(self.headers)
        if stated is None or (self.decoded and not self._may_be(stated)):
            return None
        return stated

    def exceeds_length(self, body: int) -> bool:
        """Return whether a body is longer than Content-Length allows."""
        text, stated = self.headers.get("content-length", ""), content_length(self.headers)
        if stated is None and len(text) < 24 and GROUPED.fullmatch(text):
            stated = int(re.sub(r"\D", "", text))
        return not self.is_chunked and stated not in (None, self.target_length) and body > (stated or 0)

    def _may_be(self, stated: int) -> bool:
        """Return whether the page can have seen a body of this size."""
        seen = self.decoded or 0
        if stated == self.target_length and (self.is_encoded or stated != seen):
            return False
        return stated >= seen or (self.is_encoded and seen <= stated * INFLATION)


def header_text_bytes(status: int, reason: str, fields: Iterable[tuple[str, str]]) -> int:
    """Return the size of a header as HTTP/1.1 writes its status line and fields;
    repeated ones may be joined by line feeds.

    >>> header_text_bytes(200, "OK", [("Set-Cookie", "a=1\\nb=2")])
    53
    """
    lines = [(name, line) for name, value in fields for line in value.split("\n")]
    return len(f"HTTP/1.1 {status} {reason}\r\n") + sum(len(name) + len(line) + 4 for name, line in lines) + 2


def content_length(headers: Mapping[str, str]) -> int | None:
    """Return Content-Length; None without one number (RFC 9110 §8.6).

    >>> content_length({"content-length": "34, 34"}), content_length({"content-length": "34,034"})
    (34, None)
    """
    values = {
        part.strip() for line in headers.get("content-length", "").split("\n") for part in line.split(",")
    }
    (value, *others) = values
    return int(value) if not others and value.isascii() and value.isdigit() and len(value) < 16 else None


def sizes_of(evidence: SizeEvidence) -> ResponseSizes:
    if not evidence.status:
        return ResponseSizes()
    if evidence.is_cached:
        return unknown_sizes(FROM_CACHE)
    if evidence.total:
        sizes = (
            sizes_of_redirect(evidence, evidence.total)
            if evidence.is_redirect
            else sizes_of_total(evidence, evidence.total)
        )
    else:
        sizes = sizes_of_parts(evidence)
    return dataclasses.replace(sizes, decoded_bytes=decoded_bytes(evidence, sizes))


def unknown_sizes(reason: str, *, body: int | None = None) -> ResponseSizes:
    return ResponseSizes(wire_bytes_unknown=reason, body_bytes=body)


def known_sizes(
    wire: int, *, body: int | None, basis: str = COUNTED, is_complete: bool | None = None
) -> ResponseSizes:
    """Return sizes, of which the split into header and body may be unknown."""
    return ResponseSizes(
        wire_bytes=wire,
        wire_bytes_unknown=None,
        size_basis=basis,
        header_bytes=None if body is None else wire - body,
        body_bytes=body,
        is_complete=is_complete,
    )


def decoded_bytes(evidence: SizeEvidence, sizes: ResponseSizes) -> int | None:
    """Return the body's size after decompression."""
    if sizes.wire_bytes_unknown == CONTRADICTORY:
        return None
    return (evidence.decoded or None) if evidence.is_encoded and sizes.body_bytes != 0 else sizes.body_bytes


def sizes_of_redirect(evidence: SizeEvidence, total: int) -> ResponseSizes:
    """Return sizes of a redirect, of which Chrome's DevTools count the header; the body is as Content-Length
    states.

    Where the header's own size shows it, the total holds the body as well.
    """
    length = evidence.length
    is_whole = evidence.protocol in TEXTUAL and evidence.header and total >= evidence.header + (length or 0)
    if not is_whole and (total == length or total < evidence.least_header):
        return unknown_sizes(CONTRADICTORY, body=length)  # the body alone: no header is that short
    if not length or is_whole:
        return known_sizes(total, body=length, is_complete=evidence.is_complete)
    return known_sizes(total + length, body=length, basis=DERIVED, is_complete=evidence.is_complete)


def sizes_of_total(evidence: SizeEvidence, total: int) -> ResponseSizes:
    """Return sizes of a response whose header and body were counted together."""
    if evidence.is_bodiless:
        return known_sizes(total, body=0, is_complete=evidence.is_complete)
    if evidence.is_complete is False:
        body = None if evidence.body is None or evidence.body > total else evidence.body
        if body is not None and not evidence.is_encoded and body < (evidence.decoded or 0):
            return unknown_sizes(CONTRADICTORY)  # the page saw more than was counted
        return known_sizes(total, body=body, is_complete=False)
    length = evidence.length
    if lacks_body(evidence, total):
        return sizes_of_header(evidence, total)
    if length is None:
        return known_sizes(total, body=body_of_total(evidence, total), is_complete=evidence.is_complete)
    if 0 < length <= total < length + evidence.least_header:
        return unknown_sizes(CONTRADICTORY)  # the body alone: no header is that short
    if total >= length:
        body = length if total - length <= header_at_most(length) else None
        return known_sizes(total, body=body, is_complete=evidence.is_complete)
    header = (
        evidence.header
        if evidence.protocol in TEXTUAL and evidence.header and evidence.header <= total
        else None
    )
    return known_sizes(total, body=None if header is None else total - header, is_complete=False)


def lacks_body(evidence: SizeEvidence, total: int) -> bool:
    seen, length = evidence.decoded, evidence.length
    if length is not None and total < length:
        return seen is not None and seen >= length
    if not seen:
        return False
    if evidence.protocol in TEXTUAL and evidence.header and total <= evidence.header:
        return True
    if evidence.is_worker:
        return total < (evidence.header_text or 0) + evidence.least_header
    is_plain = length is None and bool(evidence.headers) and not evidence.is_encoded
    is_suspect = evidence.is_worker is None or bool(evidence.is_conditional)
    return is_suspect and is_plain and total < seen + evidence.least_header


def sizes_of_header(evidence: SizeEvidence, total: int) -> ResponseSizes:
    """Return sizes for a total without room for the body: a 304 confirmed a cache's, part of it came from a
    cache, or of a worker's script the header alone was counted.
    """
    is_small, length = total <= HEADER_AT_MOST, evidence.length
    if evidence.is_conditional or (evidence.can_be_304 and not evidence.is_worker):
        return known_sizes(total, body=0 if is_small else None, is_complete=evidence.is_complete)
    if evidence.is_worker is False or evidence.can_be_304 or not is_small or not length or length <= total:
        return unknown_sizes(CONTRADICTORY)
    return known_sizes(total + length, body=length, basis=DERIVED, is_complete=evidence.is_complete)


def body_of_total(evidence: SizeEvidence, total: int) -> int | None:
    """Return the body's part of a total without Content-Length."""
    seen = evidence.decoded
    if not evidence.is_encoded and seen is not None:
        return seen if evidence.least_header <= total - seen <= header_at_most(seen) else None
    if (
        evidence.protocol in TEXTUAL
        and not evidence.is_chunked
        and evidence.header
        and evidence.header <= total
    ):
        return total - evidence.header
    return None


def header_at_most(body: int) -> int:
    return HEADER_AT_MOST + body // FRAMING_SHARE


def sizes_of_parts(evidence: SizeEvidence) -> ResponseSizes:
    """Return sizes for header and body that were stated apart, or can be derived."""
    header = (evidence.header or evidence.header_text) if evidence.protocol in TEXTUAL else None
    try:
        body = Body(0, 0) if evidence.is_bodiless else body_of(evidence)
    except Contradiction:
        return unknown_sizes(CONTRADICTORY)
    if header is None or body.framed is None:  # a compressed header, or chunks without their framing
        return unknown_sizes(NOT_RECORDED, body=body.size)
    return known_sizes(
        header + body.framed,
        body=body.size,
        basis=STATED if body.is_stated and evidence.header else DERIVED,
        is_complete=False if evidence.is_complete is False else None,
    )


class Contradiction(Exception):
    """The numbers of a response contradict one another."""


@dataclasses.dataclass(frozen=True, slots=True)
class Body:
    """The size of a body; None where it is unknown."""

    size: int | None
    framed: int | None
    is_stated: bool = True


def body_of(evidence: SizeEvidence) -> Body:
    """Return the body as stated, else as Content-Length says; Contradiction if they are at odds.

    Without a Content-Length, an uncompressed body is compared with its decoded size.
    """
    length, stated = evidence.length, evidence.body
    if length is None and stated and evidence.exceeds_length(stated):
        raise Contradiction  # after decompression
    if stated is None:
        size = None if evidence.is_complete is False else length
        return Body(size, size, is_stated=False)
    if stated == 0 and (evidence.decoded or length):
        return Body(None, None)  # producers write 0 for an unknown size as well
    without_header = stated - evidence.header if evidence.header and stated > evidence.header else None
    truth = length if length is not None else None if evidence.is_encoded else evidence.decoded
    if truth:
        if truth in (stated, without_header):
            return Body(truth, None if evidence.is_chunked else truth)
        if evidence.is_chunked and stated > truth:
            return Body(truth, stated)
        raise Contradiction
    if (stated and length == 0) or (evidence.is_encoded and stated == evidence.decoded):
        raise Contradiction  # of another response, or after decompression
    if evidence.holds_header:
        if without_header is None:
            raise Contradiction
        stated = without_header
    if evidence.is_chunked:
        return Body(None, stated) if evidence.has_framing else Body(stated, None)
    return Body(stated, stated)
