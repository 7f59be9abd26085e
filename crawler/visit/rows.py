"""From what crossed the network and what the page said to the rows that are stored."""

from __future__ import annotations

import dataclasses
import hashlib
import re
from typing import TYPE_CHECKING, Any
from urllib.parse import SplitResult, urlsplit

from crawler.netlog.exchange import Exchange
from schema import http_caching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping, Sequence

    from crawler.devtools.initiators import PageRequest
    from crawler.netlog.assembler import Traffic
    from crawler.netlog.exchange import Transport

PATH_LIMIT = 2048
"""Characters of a path that are stored."""

TEXT_LIMIT = 255
"""Characters of any other text from the network that are stored."""

DESTINATIONS = {
    "": "fetch",
    "empty": "fetch",
    "audio": "media",
    "video": "media",
    "track": "media",
    "worker": "worker",
    "sharedworker": "worker",
    "serviceworker": "worker",
    "frame": "iframe",
} | {
    name: name
    for name in (
        *("document", "iframe", "style", "script", "image", "font", "manifest"),
        *("object", "embed", "report", "xslt", "websocket"),
    )
}
"""resource_type by Sec-Fetch-Dest; what is not here is `other`."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_LENGTH = re.compile("[0-9]{1,15}")

CLIENTS = frozenset({"document", "iframe", "worker", "style", "other"})
"""Values of resource_type whose URL can stand in a Referer, or may."""

FRAMES = {"main frame": "document", "subframe": "iframe"}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """The rows of one visit, without the keys of the store."""

    connections: list[dict[str, Any]]
    responses: list[dict[str, Any]]
    received_bytes: int
    coverage: float | None
    decrypted_coverage: float | None


@dataclasses.dataclass(frozen=True, slots=True)
class Times:
    """Microseconds since the visit began, from the log's milliseconds."""

    start_ms: int

    def us(self, time_ms: int | None) -> int | None:
        """None stays None."""
        return None if time_ms is None else (time_ms - self.start_ms) * 1000


def rows(
    traffic: Traffic,
    asked: Sequence[PageRequest],
    *,
    start_ms: int,
    salt: bytes,
    error_name: Callable[[int], str],
) -> Rows:
    """Rows of all connections that received something and of all requests, numbered from 1."""
    times = Times(start_ms)
    connection_ids = {id(transport): n for n, transport in enumerate(traffic.transports, 1)}
    positions = {id(e): n for transport in traffic.transports for n, e in enumerate(transport.exchanges, 1)}
    joined = _join(traffic.exchanges, asked)
    mapping = _Responses(traffic.exchanges, joined, connection_ids, positions, times, salt, error_name)
    accounted = [_accounted(transport) for transport in traffic.transports]
    received = sum(transport.received_bytes for transport in traffic.transports)
    decrypted = sum(transport.decrypted_bytes for transport in traffic.transports)
    return Rows(
        connections=[_connection(t, n, times) for n, t in enumerate(traffic.transports, 1)],
        responses=[mapping.row(n) for n in range(len(traffic.exchanges))],
        received_bytes=received,
        coverage=sum(all_ for all_, _ in accounted) / received if received else None,
        decrypted_coverage=sum(inside for _, inside in accounted) / decrypted if decrypted else None,
    )


def with_reused(traffic: Traffic, asked: Iterable[PageRequest]) -> Traffic:
    """With what the renderer took from its own memory, which the network stack never heard of, among the rest."""
    reused = [
        Exchange(one.url, "GET", "other", one.asked_ms, cached=True, reused=True)
        for one in asked
        if one.in_memory
    ]
    exchanges = sorted([*traffic.exchanges, *reused], key=lambda one: one.asked_ms) if reused else None
    return dataclasses.replace(traffic, exchanges=exchanges) if exchanges else traffic


def _accounted(transport: Transport) -> tuple[int, int]:
    """Bytes of a connection that have an explanation: all of them, and those inside TLS."""
    inside = sum(exchange.sizes()[0] for exchange in transport.exchanges) + transport.frame_bytes
    return inside + transport.overhead_bytes, inside


def _connection(transport: Transport, number: int, times: Times) -> dict[str, Any]:
    return {
        "id": number,
        "host": None if transport.host is None else text(transport.host.strip("[]").lower()),
        "port": transport.remote_port,
        "remote_address": text(transport.remote_address),
        "local_port": transport.local_port,
        "protocol": transport.protocol,
        "tls_version": text(transport.tls_version),
        "tls_resumed": transport.tls_resumed,
        "received_bytes": transport.received_bytes,
        "decrypted_bytes": transport.decrypted_bytes,
        "tls_handshake_bytes": transport.handshake_bytes,
        "tls_ticket_bytes": transport.ticket_bytes,
        "frame_bytes": transport.frame_bytes,
        "response_count": sum(exchange.sizes()[0] > 0 for exchange in transport.exchanges),
        "opened_us": times.us(transport.opened_ms),
        "connected_us": times.us(transport.connected_ms or transport.opened_ms),
        "secured_us": times.us(transport.secured_ms),
        "last_byte_us": times.us(transport.last_byte_ms),
    }


@dataclasses.dataclass(frozen=True, slots=True)
class _Responses:
    """The rows of all responses: each may name others."""

    exchanges: Sequence[Exchange]
    joined: Mapping[int, PageRequest]
    connection_ids: Mapping[int, int]
    positions: Mapping[int, int]
    times: Times
    salt: bytes
    error_name: Callable[[int], str]
    ids: dict[int, int] = dataclasses.field(default_factory=dict)
    by_url: dict[str, int] = dataclasses.field(default_factory=dict)
    """The last response of a URL; that of a redirect's target stands for the URL that led to it."""
    clients: dict[tuple[str, str], list[int]] = dataclasses.field(default_factory=dict)
    """By origin, the responses that a Referer can name: documents, workers, style sheets."""

    def row(self, index: int) -> dict[str, Any]:
        """The row of one response; they are to be asked for in order."""
        exchange = self.exchanges[index]
        asked = self.joined.get(index)
        number = self.ids[id(exchange)] = index + 1
        url = _split(exchange.url)
        initiator = self._initiator(exchange, asked)
        before = exchange.redirected_from
        transport = exchange.transport
        one: Exchange | None = exchange
        while one is not None and not _is_preflight(exchange):
            self.by_url[one.url.partition("#")[0]] = number
            one = one.redirected_from
        kind = _resource_type(exchange, asked)
        if kind in CLIENTS and not 300 <= (exchange.status or 0) < 400:
            self.clients.setdefault(url[:2], []).append(number)
        return {
            "id": number,
            "connection_id": None if transport is None else self.connection_ids.get(id(transport)),
            "position": self.positions.get(id(exchange)),
            "stream_id": exchange.stream_id,
            "initiator_id": initiator,
            "redirected_from_id": None if before is None else self.ids.get(id(before)),
            "method": text(exchange.method) or "",
            "scheme": url.scheme,
            "host": text(_host(url)),
            "path": valid(url.path)[:PATH_LIMIT],
            "query_hash": _query_hash(url.query, self.salt),
            "resource_type": kind,
            **self._response(exchange, asked),
        }

    def _initiator(self, exchange: Exchange, asked: PageRequest | None) -> int | None:
        if exchange.frame == "main frame":
            return None
        if asked and asked.initiator_url in self.by_url:
            return self.by_url[asked.initiator_url or ""]
        referer = _split(exchange.request_headers.get("referer", ""))
        if referer.path == "/" and not referer.query:
            # Perhaps cut down to its origin, as it is for other origins: then any document of it may have asked.
            able = self.clients.get(referer[:2], [])
            return able[0] if len(able) == 1 else None
        return self.by_url.get(referer.geturl())

    def _response(self, exchange: Exchange, asked: PageRequest | None) -> dict[str, Any]:
        wire, body = exchange.sizes()
        cached = exchange.cached and exchange.transport is None and exchange.error is None
        unknown = None if wire else "from_cache" if cached else "no_response"
        if unknown == "no_response" and exchange.status is not None:
            unknown = "unseen"
        error = exchange.error
        content_type = exchange.response_headers.get("content-type")
        if content_type is None and cached and asked is not None:
            content_type = asked.mime_type
        times = self.times
        return {
            "protocol": exchange.transport.protocol if wire and exchange.transport else None,
            "status": _status(exchange.status or (asked.status if cached and asked else None)),
            "mime_type": _media_type(content_type),
            "content_encoding": text((exchange.response_headers.get("content-encoding") or "").lower())
            or None,
            "failure": self.error_name(error)
            if error is not None
            else text(asked.failure)
            if asked and asked.failure
            else None,
            "from_cache": cached,
            "wire_bytes": wire or None,
            "wire_bytes_unknown": unknown,
            "header_bytes": wire - body if wire and body is not None else None,
            "body_bytes": body if wire else None,
            "decoded_bytes": _decoded(exchange, body if wire else None),
            "request_sent_us": times.us(exchange.sent_ms),
            "first_byte_us": times.us(exchange.first_byte_ms),
            "last_byte_us": times.us(exchange.last_byte_ms),
            **_freshness(exchange),
            "request_body_bytes": _length(exchange.request_headers.get("content-length", "")),
        }


def _length(text: str) -> int | None:
    """Of a body, as a header states it; None where that is no number of bytes that there can be."""
    return int(text) if _LENGTH.fullmatch(text) else None


def _freshness(exchange: Exchange) -> dict[str, Any]:
    """Its columns: null where no header of it came over the network."""
    known = exchange.freshness if exchange.transport is not None else None
    return {name: getattr(known, name) if known else None for name in http_caching.COLUMNS}


def _decoded(exchange: Exchange, body: int | None) -> int | None:
    """Size of the body after decompression: what the browser decoded, or the body itself where nothing was to decode."""
    if exchange.error is None and exchange.decoded_bytes is not None:
        return exchange.decoded_bytes
    return body if body == 0 or not exchange.response_headers.get("content-encoding") else None


def _join(exchanges: Sequence[Exchange], asked: Iterable[PageRequest]) -> dict[int, PageRequest]:
    """What the page said, by the index of the exchange: the n-th request of a URL is the n-th in both.

    A preflight has the URL of the request that follows it, and comes before it in one and after it in the other.
    """
    waiting: dict[tuple[str, bool, bool], list[PageRequest]] = {}
    for one in asked:
        waiting.setdefault((one.url, one.resource_type == "preflight", one.in_memory), []).append(one)
    for ones in waiting.values():
        ones.reverse()
    joined = {}
    for index, exchange in enumerate(exchanges):
        key = (exchange.url.partition("#")[0], _is_preflight(exchange), exchange.reused)
        if left := waiting.get(key):
            joined[index] = left.pop()
    return joined


def _is_preflight(exchange: Exchange) -> bool:
    return exchange.method == "OPTIONS" and "access-control-request-method" in exchange.request_headers


def _resource_type(exchange: Exchange, asked: PageRequest | None) -> str:
    """Sec-Fetch-Dest says it, but is not sent in the clear; then the frame, then the page."""
    headers = exchange.request_headers
    if _is_preflight(exchange):
        return "preflight"
    if "sec-fetch-dest" in headers:
        return DESTINATIONS.get(headers["sec-fetch-dest"], "other")
    if exchange.frame in FRAMES:
        return FRAMES[exchange.frame]
    return (asked.resource_type if asked else None) or "other"


def _split(url: str) -> SplitResult:
    """Chromium's URLs are canonical, but nothing that a page made may stop the crawl."""
    try:
        return urlsplit(url)
    except ValueError:
        scheme, _, rest = url.partition("://")
        return SplitResult(scheme, rest.partition("/")[0], "/", "", "")


def _host(url: SplitResult) -> str:
    return (url.hostname or "").lower()


def _status(status: object) -> int | None:
    """HTTP's statuses have three digits."""
    return status if isinstance(status, int) and 100 <= status <= 999 else None


def _query_hash(query: str, salt: bytes) -> str | None:
    if not query:
        return None
    return hashlib.sha256(salt + query.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def _media_type(content_type: str | None) -> str | None:
    """`text/html` of `Text/HTML; charset=utf-8`."""
    return text((content_type or "").partition(";")[0].strip().lower()) or None


def valid(value: str) -> str:
    """A string that PostgreSQL's text can hold: no NUL, no half of a surrogate pair.

    >>> valid("a\\x00b\\ud800c")
    'a\\ufffdb\\ufffdc'
    """
    return _UNSTORABLE.sub("\ufffd", value)


def text(value: str | None) -> str | None:
    """A short valid string, or None."""
    return None if value is None else valid(value[:TEXT_LIMIT])
