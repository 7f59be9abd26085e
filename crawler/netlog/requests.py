"""The requests of one visit, and the connections that carry them."""

import re
from collections.abc import Callable
from typing import Any

from crawler.netlog import params
from crawler.netlog.connections import Connections
from crawler.netlog.event import NO_SOURCE, Event
from crawler.netlog.exchange import (
    MAIN_FRAME,
    REQUEST_LIMIT,
    URLS_LIMIT,
    Exchange,
    Transport,
    clean_url,
    make_hidden_exchange,
)
from crawler.netlog.headers import (
    count_section_bytes,
    join_headers,
    read_content_length,
    read_final_status,
    read_headers,
    read_lines,
)
from crawler.netlog.http1 import MessageReader
from crawler.netlog.quic import QuicTransport
from crawler.netlog.sending import read_weight
from crawler.netlog.tcp import TcpTransport
from schema import http_caching

BOT_WALL_HEADERS = frozenset(
    {"cf-mitigated", "server", "x-amzn-waf-action", "x-datadome", "x-vercel-mitigated"}
)
RESPONSE_HEADERS = (
    frozenset({"content-type", "content-encoding", "location", "retry-after"}) | BOT_WALL_HEADERS
)
REQUEST_HEADERS = frozenset(
    {"sec-fetch-dest", "referer", "access-control-request-method", "content-length", "priority"}
)

_STATUS = re.compile(r"^\S+ +0*(\d{1,9})")

REDIRECTS = frozenset({301, 302, 303, 307, 308})
"""Redirects that the browser follows to a usable Location (Fetch standard §2.2.3)."""

IO_PENDING = -1
CACHE_MISS = -400


class Requests:
    """All exchanges, in the order of their requests."""

    def __init__(self, connections: Connections) -> None:
        self.exchanges: list[Exchange] = []
        self.hsts_upgrades = 0
        self._connections = connections
        self._of_request: dict[int, list[Exchange]] = {}
        """By the request's source, which redirects and retries share."""
        self._url_characters = 0
        self._job_transport: dict[int, TcpTransport] = {}
        self._job_exchange: dict[int, Exchange] = {}
        self.session_transport: dict[int, TcpTransport] = {}
        self._quic_bound: dict[int, QuicTransport] = {}

    @property
    def is_answered(self) -> bool:
        return any(exchange.frame == MAIN_FRAME and exchange.sizes()[0] for exchange in self.exchanges)

    def finish(self) -> list[Exchange]:
        exchanges = [exchange for exchange in self.exchanges if not exchange.is_hidden]
        for exchange in exchanges:  # the log has no header of a response that the browser refused
            if exchange.status is None and exchange.message is not None:
                exchange.status = exchange.message.status
        return exchanges

    def _on_start(self, event: Event[params.RequestStart]) -> None:
        url = clean_url(event.params["url"])
        if not url.startswith(("http:", "https:", "ws:", "wss:")):
            return
        self._url_characters += len(url)
        if len(self.exchanges) >= REQUEST_LIMIT or self._url_characters > URLS_LIMIT:
            self._of_request.pop(event.source, None)
            return
        before = self._of_request.setdefault(event.source, [])
        exchange = Exchange(url, event.params["method"], event.params["request_type"], event.time_ms)
        if before:
            last = before[-1]
            last.finished = last.is_followed = True
            exchange.redirected_from = last.redirected_from if last.is_hidden else last
        before.append(exchange)
        self.exchanges.append(exchange)

    def _on_internal_redirect(self, event: Event[params.InternalRedirect]) -> None:
        exchange = self._exchange(event)
        if exchange is not None:
            exchange.is_hidden = True
            self.hsts_upgrades += event.params["reason"] == "HSTS"

    def _on_bound_to_socket(self, event: Event[params.NoParams]) -> None:
        transport = self._connections.socket(event.dependency, event.time_ms)
        if transport is not None:
            self._job_transport[event.source] = transport

    def _on_bound_to_job(self, event: Event[params.NoParams]) -> None:
        job = event.dependency
        exchange = self._begin_unbound(event)
        if job == NO_SOURCE:
            return
        self._job_exchange[job] = exchange
        transport = self._job_transport.get(job)
        if transport is not None and transport.frames is None:
            self._begin_message(exchange, transport)

    def _begin_message(self, exchange: Exchange, transport: Transport) -> None:
        transport.bind(exchange)
        transport.current = exchange
        if not exchange.is_hidden:
            exchange.message = MessageReader(
                head=exchange.method == "HEAD", websocket=exchange.url.startswith(("ws:", "wss:"))
            )

    def _exchange(self, event: Event[Any]) -> Exchange | None:
        exchanges = self._of_request.get(event.source)
        return exchanges[-1] if exchanges else None

    def _begin_unbound(self, event: Event[Any]) -> Exchange:
        """Return the exchange that goes out now: another if the last has had bytes, a hidden one if none is
        known.
        """
        exchange = self._exchange(event)
        if exchange is None:
            exchange = make_hidden_exchange(event.time_ms)
            if len(self.exchanges) < REQUEST_LIMIT:
                self._of_request[event.source] = [exchange]
                self.exchanges.append(exchange)
            return exchange
        if exchange.transport is None:
            return exchange
        if not exchange.sizes()[0]:
            exchange.transport.unbind(exchange)
            return exchange
        return self._send_again(event, exchange)

    def _send_again(self, event: Event[Any], exchange: Exchange) -> Exchange:
        """Return the exchange of a request that was answered and goes out again.

        After a redirect it is the request to its target.
        """
        is_redirect = exchange.status in REDIRECTS and "location" in exchange.response_headers
        again = make_hidden_exchange(event.time_ms) if is_redirect else exchange.send_again()
        self._of_request[event.source].append(again)
        self.exchanges.append(again)
        return again

    def _on_request_headers(self, event: Event[params.Headers]) -> None:
        exchange = self._exchange(event)
        if exchange is not None:
            exchange.sent_ms = event.time_ms
            exchange.request_headers = read_headers(event, REQUEST_HEADERS)

    def _on_http1_request(self, event: Event[params.Http1Request]) -> None:
        exchange = self._exchange(event)
        if exchange and exchange.transport and exchange.sent_ms is not None:
            # A login goes out on the stream that brought the 401, which the log does not bind anew.
            self._begin_message(self._send_again(event, exchange), exchange.transport)
        self._on_request_headers(event)
        exchange = self._exchange(event)
        if exchange is not None:
            exchange.request_header_bytes = len(event.params["line"]) + count_section_bytes(event)

    def _on_response_headers(self, event: Event[params.Headers]) -> None:
        exchange = self._exchange(event)
        if exchange is None:
            return
        match = _STATUS.match(next(iter(read_lines(event)), ""))
        exchange.status = int(match[1]) if match else None
        exchange.response_headers = read_headers(event, RESPONSE_HEADERS)
        exchange.freshness = http_caching.read(exchange.status, join_headers(event, http_caching.HEADERS))

    def _on_decoded(self, event: Event[params.DecodedBytes]) -> None:
        exchange = self._exchange(event)
        if exchange is not None:
            exchange.decoded_bytes = (exchange.decoded_bytes or 0) + event.params["byte_count"]

    def _on_left(self, event: Event[params.NoParams]) -> None:
        exchange = self._exchange(event)
        if exchange is not None:
            exchange.is_left = True

    def _on_cache_read(self, event: Event[params.OperationEnd]) -> None:
        exchange = self._exchange(event)
        if exchange is not None:
            exchange.cached |= not event.params.get("net_error")

    def _on_ended(self, event: Event[params.OperationEnd]) -> None:
        exchange = self._exchange(event)
        if exchange is not None:
            self._on_failed(event)
            exchange.finished = True

    def _on_failed(self, event: Event[params.OperationEnd]) -> None:
        exchange = self._exchange(event)
        error = event.params.get("net_error", 0)
        if exchange is not None and error not in (0, IO_PENDING):
            exchange.error = error
            # A request to the cache alone, which goes out later, is no request yet.
            exchange.is_hidden |= error == CACHE_MISS and exchange.transport is None

    def _on_http2_session(self, event: Event[params.NoParams]) -> None:
        transport = self._connections.tcp.get(event.dependency)
        if transport is not None:
            self.session_transport[event.source] = transport
            transport.current = None

    def _on_http2_request(self, event: Event[params.Http2Request]) -> None:
        exchange = self._job_exchange.pop(event.dependency, None)
        if exchange is None and (of_request := self._of_request.get(event.dependency)):
            exchange = of_request[-1]  # a WebSocket's headers name the request itself (RFC 8441)
            exchange.method = "CONNECT"
        transport = self.session_transport.get(event.source)
        if transport is not None and transport.frames is not None:
            transport.frames.newest_request = max(transport.frames.newest_request, event.params["stream_id"])
        if exchange is not None and transport is not None:
            transport.bind(exchange)
            exchange.stream_id = event.params["stream_id"]
            exchange.sent_ms = event.time_ms
            exchange.weight = read_weight(event)

    def _on_http2_headers(self, event: Event[params.StreamHeaders]) -> None:
        transport = self.session_transport.get(event.source)
        for exchange in transport.exchanges if transport else ():
            # The first is the response's; others are trailers, or come after its end.
            if exchange.stream_id == event.params["stream_id"] and exchange.status is None:
                exchange.status = read_final_status(event)
                if transport and (stream := transport.stream(exchange.stream_id)):
                    stream.content_length = read_content_length(event)

    def _on_bound_to_quic(self, event: Event[params.NoParams]) -> None:
        transport = self._connections.quic.get(event.dependency)
        if transport is not None:
            self._quic_bound[event.source] = transport

    def _on_quic_request(self, event: Event[params.QuicRequest]) -> None:
        transport = self._quic_bound.pop(event.source, None)
        exchange = self._begin_unbound(event)
        if transport is not None:
            transport.send(exchange, event.params["quic_stream_id"])
        self._on_request_headers(event)


HANDLERS: dict[tuple[str, str], Callable[[Requests, Event[Any]], None]] = {
    ("URL_REQUEST_START_JOB", "BEGIN"): Requests._on_start,
    ("URL_REQUEST_START_JOB", "END"): Requests._on_failed,
    ("URL_REQUEST_REDIRECT_JOB", "NONE"): Requests._on_internal_redirect,
    ("SOCKET_POOL_BOUND_TO_SOCKET", "NONE"): Requests._on_bound_to_socket,
    ("HTTP_STREAM_REQUEST_BOUND_TO_JOB", "NONE"): Requests._on_bound_to_job,
    ("HTTP_TRANSACTION_SEND_REQUEST_HEADERS", "NONE"): Requests._on_http1_request,
    ("HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS", "NONE"): Requests._on_request_headers,
    ("HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS", "NONE"): Requests._on_quic_request,
    ("HTTP_TRANSACTION_READ_RESPONSE_HEADERS", "NONE"): Requests._on_response_headers,
    ("URL_REQUEST_JOB_FILTERED_BYTES_READ", "NONE"): Requests._on_decoded,
    ("CANCELLED", "NONE"): Requests._on_left,
    ("HTTP_CACHE_READ_INFO", "END"): Requests._on_cache_read,
    ("IN_MEMORY_CACHE_READ_RESPONSE_HEADERS", "NONE"): Requests._on_cache_read,
    ("IN_MEMORY_CACHE_READ_RESPONSE_HEADERS", "END"): Requests._on_cache_read,
    ("REQUEST_ALIVE", "END"): Requests._on_ended,
    ("FAILED", "NONE"): Requests._on_failed,
    ("HTTP2_SESSION_INITIALIZED", "NONE"): Requests._on_http2_session,
    ("HTTP2_SESSION_SEND_HEADERS", "NONE"): Requests._on_http2_request,
    ("HTTP2_SESSION_RECV_HEADERS", "NONE"): Requests._on_http2_headers,
    ("HTTP_STREAM_REQUEST_BOUND_TO_QUIC_SESSION", "NONE"): Requests._on_bound_to_quic,
}
