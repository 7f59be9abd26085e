"""Rows of responses: each request of the network log is matched with the page's,
and names the response that led to it."""

import dataclasses
from collections.abc import Callable, Iterable, Mapping, Sequence

from crawler.devtools.initiators import PageRequest
from crawler.netlog.exchange import Exchange
from crawler.netlog.sending import parse_priority
from crawler.visit.observation import Row
from crawler.visit.row_values import (
    VisitClock,
    host,
    length,
    media_type,
    path,
    query_hash,
    split_url,
    status,
    text,
)
from schema import http_caching
from schema.vocabulary import COUNTED, RESOURCE_TYPES_BY_DESTINATION

CLIENTS = frozenset({"document", "iframe", "worker", "style", "other"})
"""Values of resource_type whose URL may stand in a Referer."""

FRAMES = {"main frame": "document", "subframe": "iframe"}


@dataclasses.dataclass(frozen=True, slots=True)
class ResponseRows:
    """Makes the rows of all responses, in order: each may name earlier ones."""

    exchanges: Sequence[Exchange]
    joined: Mapping[int, PageRequest]
    connection_ids: Mapping[int, int]
    positions: Mapping[int, int]
    times: VisitClock
    salt: bytes
    error_name: Callable[[int], str]
    ids: dict[int, int] = dataclasses.field(default_factory=dict)
    by_url: dict[str, int] = dataclasses.field(default_factory=dict)
    """Last response of each URL; a redirect's target stands also for the URLs that led to it."""
    clients: dict[tuple[str, str], list[int]] = dataclasses.field(default_factory=dict)
    """Responses of each origin that a Referer can name: documents, workers, style sheets."""

    def row(self, index: int) -> Row:
        """Make the row of one response; rows are made in order."""
        exchange = self.exchanges[index]
        request = self.joined.get(index)
        number = self.ids[id(exchange)] = index + 1
        url = split_url(exchange.url)
        initiator = self._initiator(exchange, request)
        before = exchange.redirected_from
        above = None if before is None else self.ids.get(id(before))
        transport = exchange.transport
        hop: Exchange | None = exchange
        while hop is not None and not _is_preflight(exchange):
            self.by_url[hop.url.partition("#")[0]] = number
            hop = hop.redirected_from
        kind = _resource_type(exchange, request)
        if kind in CLIENTS and not exchange.is_followed:
            self.clients.setdefault(url[:2], []).append(number)
        return {
            "id": number,
            "connection_id": None if transport is None else self.connection_ids.get(id(transport)),
            "position": self.positions.get(id(exchange)),
            "stream_id": exchange.stream_id,
            "initiator_id": initiator,
            "redirected_from_id": above,
            **_browser_delay(exchange, self.exchanges, above or initiator),
            "method": text(exchange.method) or "",
            "scheme": url.scheme,
            "host": host(url),
            "path": path(url),
            "query_hash": query_hash(url.query, self.salt),
            "resource_type": kind,
            **self._response(exchange, request),
        }

    def _initiator(self, exchange: Exchange, request: PageRequest | None) -> int | None:
        if exchange.frame == "main frame":
            return None
        if request and request.initiator_url in self.by_url:
            return self.by_url[request.initiator_url or ""]
        referer = split_url(exchange.request_headers.get("referer", ""))
        if referer.path == "/" and not referer.query:
            # It may be cut down to its origin, as for cross-origin requests:
            # any document of that origin may have sent it.
            able = self.clients.get(referer[:2], [])
            return able[0] if len(able) == 1 else None
        return self.by_url.get(referer.geturl())

    def _response(self, exchange: Exchange, request: PageRequest | None) -> Row:
        wire, body = exchange.sizes()
        cached = exchange.cached and exchange.transport is None and exchange.is_passed_on
        unknown = None if wire else "from_cache" if cached else "no_response"
        if unknown == "no_response" and exchange.status is not None:
            unknown = "unseen"
        error = exchange.error
        content_type = exchange.response_headers.get("content-type")
        if content_type is None and cached and request is not None:
            content_type = request.mime_type
        times = self.times
        return {
            "protocol": exchange.transport.protocol if wire and exchange.transport else None,
            "status": status(exchange.status or (request.status if cached and request else None)),
            "mime_type": media_type(content_type),
            "content_encoding": text((exchange.response_headers.get("content-encoding") or "").lower())
            or None,
            "failure": self.error_name(error)
            if error is not None
            else text(request.failure)
            if request and request.failure and not exchange.is_repeated
            else None,
            "from_cache": cached,
            "wire_bytes": wire or None,
            "wire_bytes_unknown": unknown,
            "size_basis": COUNTED if wire else None,
            "header_bytes": wire - body if wire and body is not None else None,
            "body_bytes": body if wire else None,
            "decoded_bytes": _decoded_bytes(exchange, body if wire else None),
            "request_sent_us": times.us(exchange.sent_ms),
            "first_byte_us": times.us(exchange.first_byte_ms),
            "last_byte_us": times.us(exchange.last_byte_ms),
            **_freshness(exchange),
            "request_body_bytes": length(exchange.request_headers.get("content-length", "")),
            "request_header_bytes": exchange.request_header_bytes,
            **_priority(exchange),
            "render_blocking": request.render_blocking if request else None,
            "is_complete": exchange.is_complete if wire else None,
        }


def _browser_delay(
    exchange: Exchange, exchanges: Sequence[Exchange], parent_id: int | None
) -> dict[str, int | None]:
    """Make the columns of the time between a response and a request that it led to."""
    parent = None if parent_id is None or exchange.sent_ms is None else exchanges[parent_id - 1]
    since = (None, None) if parent is None else (parent.last_byte_ms, parent.first_byte_ms)
    return {
        name: (exchange.asked_ms - ms) * 1000 if ms is not None and ms <= exchange.asked_ms else None
        for name, ms in zip(("browser_delay_us", "browser_delay_first_byte_us"), since, strict=True)
    }


def _priority(exchange: Exchange) -> Row:
    """Make the columns of priority, as the request stated it."""
    header = exchange.request_headers.get("priority")
    stated = None
    if exchange.sent_ms is not None and (header is not None or exchange.stream_id is not None):
        stated = parse_priority(header or "")
    weight = exchange.weight
    return {
        "urgency": stated.urgency if stated else None,
        "is_incremental": stated.is_incremental if stated else None,
        "h2_weight": weight.weight if weight else None,
        "h2_parent_stream_id": weight.parent_stream_id if weight else None,
        "h2_is_exclusive": weight.is_exclusive if weight else None,
    }


def _freshness(exchange: Exchange) -> Row:
    """Make the columns of HTTP caching: null if no header of the response came over the network."""
    known = exchange.freshness if exchange.transport is not None else None
    return {name: getattr(known, name) if known else None for name in http_caching.COLUMNS}


def _decoded_bytes(exchange: Exchange, body: int | None) -> int | None:
    """Return the size of the body after decoding: as the browser counted it if the page got all of it,
    else the body itself if it was not encoded."""
    if exchange.is_read and exchange.decoded_bytes is not None:
        return exchange.decoded_bytes
    return body if body == 0 or not exchange.response_headers.get("content-encoding") else None


def match_requests(exchanges: Sequence[Exchange], requests: Iterable[PageRequest]) -> dict[int, PageRequest]:
    """Match the page's requests with exchanges, by index of the exchange:
    the n-th request of a URL is the n-th in both.

    A preflight has the URL of the request that follows it, and is matched apart: the page's events name it
    after that request, the log before it. What the browser sends again by itself is one request of the page.
    """
    waiting: dict[tuple[str, bool, bool], list[PageRequest]] = {}
    for request in requests:
        waiting.setdefault((request.url, request.resource_type == "preflight", request.in_memory), []).append(
            request
        )
    for queue in waiting.values():
        queue.reverse()
    joined: dict[int, PageRequest] = {}
    of: dict[int, PageRequest | None] = {}
    for index, exchange in enumerate(exchanges):
        if exchange.repeats is not None:
            if first := of.get(id(exchange.repeats)):
                joined[index] = of[id(exchange)] = first
            continue
        key = (exchange.url.partition("#")[0], _is_preflight(exchange), exchange.reused)
        if left := waiting.get(key):
            joined[index] = of[id(exchange)] = left.pop()
    return joined


def _is_preflight(exchange: Exchange) -> bool:
    return exchange.method == "OPTIONS" and "access-control-request-method" in exchange.request_headers


def _resource_type(exchange: Exchange, request: PageRequest | None) -> str:
    """Classify a request by Sec-Fetch-Dest, which is not sent over http, else by its frame,
    else by the page's events."""
    headers = exchange.request_headers
    if _is_preflight(exchange):
        return "preflight"
    if "sec-fetch-dest" in headers:
        return RESOURCE_TYPES_BY_DESTINATION.get(headers["sec-fetch-dest"], "other")
    if exchange.frame in FRAMES:
        return FRAMES[exchange.frame]
    return (request.resource_type if request else None) or "other"
