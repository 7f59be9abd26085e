"""One recorded request and its response, as a row of requests.parquet has them."""

import dataclasses
from collections.abc import Mapping
from typing import Any, get_type_hints

from recordings.connections import MULTIPLEXED, NetworkRequest
from recordings.page import MEDIA_TYPES
from recordings.rows import alpn
from recordings.sizes import BODILESS, ResponseSizes, unknown_sizes
from schema.vocabulary import COUNTED, DERIVED, RESOURCE_TYPES_BY_DESTINATION

CACHEABLE = ("GET", "HEAD")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RequestFacts:
    """A row of requests.parquet, which has the number of its page too.

    All columns but NEVER_NULL may be left out.
    """

    entry: int
    """Number of the request in its page, from 0, in the order of starting."""
    is_main_document: bool
    """True for the main document, one for each page."""
    started_ms: float
    """Time at which the browser began the request, since the page's first."""
    origin: int
    """Number within the page of scheme, host and port."""
    site: int
    """Number within the page of the registrable domain."""
    address: int | None
    """Number within the page of the server's address; None if unknown."""
    scheme: str
    protocol: str | None
    """http/1.0, http/1.1, h2 or h3."""
    method: str
    destination: str | None
    """Sec-Fetch-Dest; None if the browser sent no header of its own."""
    status: int | None
    """None if no response came."""
    mime_type: str | None
    """Of the response, as the next two."""
    content_encoding: str | None
    content_length: int | None
    transfer_bytes: int | None
    """Header and body as Chromium counts them, without the headers of frames; None if unknown."""
    har_body_size: int | None
    """As Playwright's HAR has it, like the next."""
    har_headers_size: int | None
    request_body_bytes: int | None
    """Size of the request's body, 0 if it has none."""
    cache_control: str | None
    """Of the response's header, as the next."""
    age: str | None
    has_validator: bool | None
    """None if no header was recorded."""
    tls: str | None
    dns_ms: float | None
    """A phase, as the next four; None if it did not take place."""
    connect_ms: float | None
    """Includes `ssl_ms`."""
    ssl_ms: float | None
    wait_ms: float | None
    receive_ms: float | None
    referer_entry: int | None
    """The request whose URL Referer is."""
    referer_is_origin_only: bool | None
    """True if Referer was cut down to the origin."""
    redirected_from: int | None
    """The request that redirected here."""
    sent_ms: float | None
    """Time of sending, where it was recorded."""
    connection: int | None
    """Number of the connection, where it was recorded."""
    initiator_entry: int | None
    """The request that led to this one, where it was recorded."""
    resource_type: str | None
    """Type of the resource by our names, where it was recorded."""
    body_bytes: int | None
    """The body as sent, where header and body were not counted together."""
    response_header_chars: int | None
    """The header as text, where header and body were not counted together."""
    protocol_elsewhere: str | None
    """Through a proxy: what the same host spoke to the pages of August 2025."""
    offers_h3: bool | None
    """Through a proxy: true if the response offers HTTP/3 by Alt-Svc."""

    @property
    def began_us(self) -> int:
        """Time at which the browser began the request, in µs since the page's first."""
        return microseconds(self.started_ms)

    @property
    def has_arrived(self) -> bool:
        return any(value is not None for value in (self.status, self.transfer_bytes, self.body_bytes))

    @property
    def is_redirect(self) -> bool:
        return self.status is not None and 300 <= self.status < 400 and self.status != 304

    @property
    def from_cache(self) -> bool:
        """True if the browser counted not one byte of a response to GET, and sent no header of its own.

        Playwright takes the body to be what was transferred less the header: the negative of the header means
        that nothing was transferred. Redirects have neither.
        """
        return (
            self.has_arrived
            and self.transfer_bytes is None
            and self.destination is None
            and self.method in CACHEABLE
            and self.har_body_size is not None
            and self.har_headers_size is not None
            and self.har_body_size == -self.har_headers_size < 0
        )

    @property
    def crossed_network(self) -> bool:
        return self.has_arrived and not self.from_cache

    @property
    def is_multiplexed(self) -> bool:
        return self.protocol in MULTIPLEXED

    @property
    def is_bodiless(self) -> bool:
        """Whether the response has no body whatever its Content-Length says."""
        return self.method == "HEAD" or self.status in BODILESS

    @property
    def kind(self) -> str:
        """The resource type: as recorded, by Sec-Fetch-Dest, or without both by the media type."""
        if self.resource_type is not None:
            return self.resource_type
        if self.destination is not None:
            return RESOURCE_TYPES_BY_DESTINATION.get(self.destination, "other")
        if self.is_main_document:
            return "document"
        kind = next((kind for word, kind in MEDIA_TYPES if word in (self.mime_type or "")), "other")
        return "iframe" if kind == "document" else kind

    @property
    def network_request(self) -> NetworkRequest:
        """The request as its connection depends on it."""
        phases = (self.dns_ms, self.connect_ms, self.ssl_ms, self.wait_ms, self.receive_ms)
        dns, connect, ssl, wait, receive = (
            None if phase is None else microseconds(phase) for phase in phases
        )
        return NetworkRequest(
            entry=self.entry,
            began_us=self.began_us,
            origin=self.origin,
            address=self.address,
            protocol=alpn(self.protocol),
            is_secure=self.scheme == "https",
            is_anonymous=self.destination == "font",
            tls=self.tls,
            dns_us=dns,
            connect_us=connect,
            ssl_us=ssl,
            wait_us=wait,
            receive_us=receive,
            has_size=self.transfer_bytes is not None or self.body_bytes is not None,
        )


HINTS: dict[str, Any] = get_type_hints(RequestFacts)

COLUMNS: dict[str, type] = {
    "page": int,
    **{name: getattr(hint, "__args__", (hint,))[0] for name, hint in HINTS.items()},
}

NEVER_NULL = tuple(name for name, hint in HINTS.items() if hint is COLUMNS[name])
"""Columns that no row may lack; any other may be left out as a whole."""


def request_of(row: Mapping[str, Any]) -> RequestFacts:
    """Return a request from its row; ValueError if a value is null that must be known."""
    if lacking := [name for name in NEVER_NULL if row[name] is None]:
        raise ValueError(f"a request without {', '.join(lacking)}")
    return RequestFacts(**{name: row[name] for name in HINTS})


H2_FRAME_BYTES, H2_FRAME_HEADER_BYTES = 16_384, 9
"""Default maximum of an HTTP/2 frame's payload, and the size of its header (RFC 9113 §4)."""


def sizes_of(request: RequestFacts) -> ResponseSizes:
    """Return sizes as the browser counted them, with the headers of frames that it does not count.

    A body's size is known by its Content-Length; without one, whether all of it came is unknown. Of a
    redirect Playwright, which writes har_body_size, counts the body alone, so the response's size is unknown.
    """
    if request.body_bytes is not None:
        return sizes_by_body(request, request.body_bytes)
    if request.transfer_bytes is None or (request.is_redirect and request.har_body_size is not None):
        return unknown_sizes(
            "no_response"
            if not request.has_arrived
            else "from_cache"
            if request.from_cache
            else "not_recorded"
        )
    length = 0 if request.is_bodiless else request.content_length
    is_cut = length is not None and length >= request.transfer_bytes  # a header takes room as well
    body = None if is_cut else length
    wire = request.transfer_bytes + framing(request, request.transfer_bytes if body is None else body)
    return ResponseSizes(
        wire_bytes=wire,
        wire_bytes_unknown=None,
        size_basis=COUNTED,
        header_bytes=None if body is None else wire - body,
        body_bytes=body,
        is_complete=False if is_cut else None if body is None else True,
    )


def sizes_by_body(request: RequestFacts, body: int) -> ResponseSizes:
    """Return sizes where the body was counted and the header was not: its text, half of it over HTTP/2,
    which compresses it.

    A proxy that counted both saw the text itself, with the status line.
    """
    header = (request.response_header_chars or 0) // (2 if request.is_multiplexed else 1)
    if request.transfer_bytes is not None:
        header = request.transfer_bytes - body
    return ResponseSizes(
        wire_bytes=body + header,
        wire_bytes_unknown=None,
        size_basis=DERIVED,
        header_bytes=header,
        body_bytes=body,
    )


def framing(request: RequestFacts, body_bytes: int) -> int:
    """Return bytes of frame headers that a response has at least: one frame of headers,
    and as few of data as may be.

    A body of unknown size counts as all that was transferred.
    """
    if request.protocol == "h2":
        return H2_FRAME_HEADER_BYTES * (1 + -(-body_bytes // H2_FRAME_BYTES))
    if request.protocol == "h3":
        return h3_frame_header(64) + (h3_frame_header(body_bytes) if body_bytes else 0)
    return 0


def h3_frame_header(length: int) -> int:
    """Return the size of an HTTP/3 frame's header: its type in a byte, its length as RFC 9000 §16 encodes it.

    >>> h3_frame_header(63), h3_frame_header(64), h3_frame_header(16_384)
    (2, 3, 5)
    """
    return 1 + (1 if length < 2**6 else 2 if length < 2**14 else 4 if length < 2**30 else 8)


def microseconds(milliseconds: float) -> int:
    """Return the milliseconds as whole microseconds.

    >>> microseconds(164.1)
    164100
    """
    return round(1000 * milliseconds)
