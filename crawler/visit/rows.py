"""Rows of connections and responses, made of what crossed the network and what the page's own events say:
each request of the network log is matched with the page's, and names the response that led to it."""

import dataclasses
import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence

from crawler.capture.connections import CapturedConnection
from crawler.capture.first_flight import measure_first_flight, measure_quic_first_flight
from crawler.devtools.initiators import PageRequest
from crawler.netlog.assembler import Traffic
from crawler.netlog.exchange import Exchange, Transport
from crawler.netlog.sending import parse_priority
from crawler.visit.row_values import (
    Row,
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
from schema.server_delay import fastest, server_delays
from schema.vocabulary import COUNTED, RESOURCE_TYPES_BY_DESTINATION

FIRST_FLIGHT_COLUMNS = (
    "first_flight_bytes",
    "first_flight_packets",
    "segment_bytes",
    "initial_window_segments",
    "initial_window_most_segments",
    "initial_window_unknown",
)


CLIENTS = frozenset({"document", "iframe", "worker", "style", "other"})
"""Values of resource_type whose URL may stand in a Referer."""

FRAMES = {"main frame": "document", "subframe": "iframe"}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class TrafficRows:
    """Rows of one attempt's traffic, without the columns of WRITER_COLUMNS."""

    connections: list[Row]
    responses: list[Row]
    received_bytes: int
    coverage: float | None
    decrypted_coverage: float | None


def make_rows(
    traffic: Traffic,
    requests: Sequence[PageRequest],
    *,
    start_ms: int,
    salt: bytes,
    error_name: Callable[[int], str],
    captured: Sequence[CapturedConnection | None] = (),
    unnamed_bytes: int = 0,
    stop_ms: int = 0,
) -> TrafficRows:
    """Make the rows of connections that received bytes, and of all requests, numbered from 1.

    `captured` has what a capture has of each connection; `unnamed_bytes` came on connections that the log
    does not name. The recording ended at `stop_ms`.
    """
    times = VisitClock(start_ms)
    connection_ids = {id(transport): n for n, transport in enumerate(traffic.transports, 1)}
    positions = {
        id(exchange): number
        for transport in traffic.transports
        if not transport.is_late
        for number, exchange in enumerate(transport.exchanges, 1)
    }
    joined = match_requests(traffic.exchanges, requests)
    mapping = ResponseRows(traffic.exchanges, joined, connection_ids, positions, times, salt, error_name)
    received = sum(transport.received_bytes for transport in traffic.transports)
    decrypted = sum(transport.decrypted_bytes for transport in traffic.transports)
    seen = [
        # Packets are kept by their ends, so those of a connection that migrated are not whole.
        (transport, None if transport.has_migrated else packets)
        for transport, packets in itertools.zip_longest(traffic.transports, captured)
    ]
    connections: list[Row] = [
        {
            **_connection(transport, number, times),
            **first_flight_columns(transport, packets),
            "packet_bytes": _packet_bytes(packets, stop_ms),
            "round_trip_us": _round_trip_us(transport, packets),
        }
        for number, (transport, packets) in enumerate(seen, 1)
    ]
    responses = [mapping.row(n) for n in range(len(traffic.exchanges))]
    unseen = sum(row["wire_bytes_unknown"] == "unseen" for row in responses)
    return TrafficRows(
        connections=connections,
        responses=_add_server_delay(connections, responses),
        received_bytes=received,
        **_coverage(traffic, received, decrypted, unnamed_bytes, unseen),
    )


def add_reused(traffic: Traffic, requests: Iterable[PageRequest]) -> Traffic:
    """Add what the renderer took from its own memory, which the network stack never saw."""
    reused = [
        Exchange(request.url, "GET", "other", request.asked_ms, cached=True, reused=True)
        for request in requests
        if request.in_memory
    ]
    exchanges = (
        sorted([*traffic.exchanges, *reused], key=lambda exchange: exchange.asked_ms) if reused else None
    )
    return dataclasses.replace(traffic, exchanges=exchanges) if exchanges else traffic


def _coverage(
    traffic: Traffic, received: int, decrypted: int, unnamed: int, unseen: int
) -> dict[str, float | None]:
    """Compute the shares of all bytes, and of those inside TLS, that are accounted for.

    Of a connection without a beginning in the log, a byte at least is missing; of a response that the log
    places on no connection, a byte at least counts as something else.
    """
    inside = sum(_count_accounted(transport) for transport in traffic.transports)
    outside = sum(transport.overhead_bytes for transport in traffic.transports)
    missing = sum(transport.is_late for transport in traffic.transports) + unseen
    came = received + missing + unnamed
    return {
        "coverage": (inside + outside) / came if came else None,
        "decrypted_coverage": inside / (decrypted + missing) if decrypted else None,
    }


def _count_accounted(transport: Transport) -> int:
    responses = (exchange for exchange in transport.exchanges if not exchange.is_hidden)
    sizes = sum(exchange.sizes()[0] - exchange.contradicted_bytes for exchange in responses)
    return max(0, sizes + transport.frame_bytes)


def _connection(transport: Transport, number: int, times: VisitClock) -> Row:
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
        "first_record_bytes": transport.first_record_bytes or None,
    }


def _packet_bytes(captured: CapturedConnection | None, stop_ms: int) -> int | None:
    """Return a connection's payload by packets; None if unknown, or if it went on after the recording."""
    if captured is None or (captured.last_ns or 0) // 1_000_000 > stop_ms:
        return None
    return captured.received_bytes


def _round_trip_us(transport: Transport, captured: CapturedConnection | None) -> int | None:
    captured_us = None if captured is None else captured.round_trip_us
    return transport.round_trip_us if captured_us is None else captured_us


def _add_server_delay(connections: Sequence[Row], responses: Sequence[Row]) -> list[Row]:
    trips = fastest(
        connections, {connection["id"]: connection["round_trip_us"] for connection in connections}
    )
    delays = server_delays(connections, responses, trips)
    return [
        {
            **row,
            "server_delay_us": delays[row["id"]],
            "round_trip_us": None if delays[row["id"]] is None else trips[row["connection_id"]],
        }
        for row in responses
    ]


def first_flight_columns(transport: Transport, captured: CapturedConnection | None) -> Row:
    """Return a connection's first flight; without one `initial_window_unknown` says why."""
    asked = min(
        (exchange.sent_ms for exchange in transport.exchanges if exchange.sent_ms is not None), default=None
    )
    if captured is None or captured.is_lost:
        return _first_flight(unknown="not_captured")
    if asked is None:
        return _first_flight(unknown="no_response")
    client, packets, asked_ns = captured.client, captured.packets, asked * 1_000_000
    if transport.protocol == "h3":
        quic_flight = measure_quic_first_flight(
            packets, client=client, request_ns=asked_ns, answer_after=transport.answer_after
        )
        return _first_flight(*(quic_flight or (None, None)), unknown="quic")
    flight = measure_first_flight(
        packets, client=client, request_ns=asked_ns, answer_after=transport.answer_after or 0
    )
    if isinstance(flight, str):
        return _first_flight(unknown=flight)
    return _first_flight(
        flight.bytes,
        flight.packets,
        flight.segment_bytes,
        flight.window_segments,
        flight.window_most_segments,
        unknown=flight.unknown or None,
    )


def _first_flight(
    size: int | None = None,
    packets: int | None = None,
    segment: int | None = None,
    window: int | None = None,
    most: int | None = None,
    *,
    unknown: str | None,
) -> Row:
    return dict(zip(FIRST_FLIGHT_COLUMNS, (size, packets, segment, window, most, unknown), strict=True))


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
    """Last response of each URL, also of those that redirected to it."""
    clients: dict[tuple[str, str], list[int]] = dataclasses.field(default_factory=dict)
    """Responses by origin that a Referer can name."""

    def row(self, index: int) -> Row:
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
    parent = None if parent_id is None or exchange.sent_ms is None else exchanges[parent_id - 1]
    since = (None, None) if parent is None else (parent.last_byte_ms, parent.first_byte_ms)
    return {
        name: (exchange.asked_ms - ms) * 1000 if ms is not None and ms <= exchange.asked_ms else None
        for name, ms in zip(("browser_delay_us", "browser_delay_first_byte_us"), since, strict=True)
    }


def _priority(exchange: Exchange) -> Row:
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
    """Return HTTP caching: null if no header came over the network."""
    known = exchange.freshness if exchange.transport is not None else None
    return {name: getattr(known, name) if known else None for name in http_caching.COLUMNS}


def _decoded_bytes(exchange: Exchange, body: int | None) -> int | None:
    """Return the decoded size as the browser counted it if the page got all, else the body's if it was not
    encoded.
    """
    if exchange.is_read and exchange.decoded_bytes is not None:
        return exchange.decoded_bytes
    return body if body == 0 or not exchange.response_headers.get("content-encoding") else None


def match_requests(exchanges: Sequence[Exchange], requests: Iterable[PageRequest]) -> dict[int, PageRequest]:
    """Match the page's requests with exchanges: the n-th request of a URL is the n-th in both.

    A preflight has the URL of the request after it, and is matched apart: the page's events name it after
    that request, the log before it. What the browser sends again by itself is one request of the page.
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
    """Classify a request by Sec-Fetch-Dest, which http lacks, else by its frame, else by the page's
    events."""
    headers = exchange.request_headers
    if _is_preflight(exchange):
        return "preflight"
    if "sec-fetch-dest" in headers:
        return RESOURCE_TYPES_BY_DESTINATION.get(headers["sec-fetch-dest"], "other")
    if exchange.frame in FRAMES:
        return FRAMES[exchange.frame]
    return (request.resource_type if request else None) or "other"
