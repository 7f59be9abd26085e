"""The assembler: NetLog events in, connections and responses with their sizes and times out.

No browser, no clock, no database: it holds what the events of one visit said, and nothing else.
HTTP/1.1: what arrives on a socket between two `HTTP_STREAM_REQUEST_BOUND_TO_JOB` is one response.
HTTP/2: header blocks are not in the log, so the plaintext of the connection is cut into frames.
HTTP/3: the log of the QUIC session has every stream frame and every packet.
"""

from __future__ import annotations

import dataclasses
import re
from typing import TYPE_CHECKING

from crawler.netlog import quic
from crawler.netlog.exchange import Exchange, Transport
from crawler.netlog.http1 import MessageReader
from crawler.netlog.http2 import FrameReader
from crawler.netlog.netlog import endpoint, final_status, header_lines, headers, joined_headers
from crawler.netlog.tls import RecordReader, expansion
from crawler.visit import bot_walls
from schema import http_caching

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable

    from crawler.netlog.netlog import Event

RESPONSE_HEADERS = (
    frozenset({"content-type", "content-encoding", "location", "retry-after"}) | bot_walls.HEADERS
)
REQUEST_HEADERS = frozenset({"sec-fetch-dest", "referer", "access-control-request-method", "content-length"})

URL_LIMIT = 65_536
"""Longest URL that is kept, in characters."""

REQUEST_LIMIT = 50_000
URLS_LIMIT = 64 * 1024 * 1024
"""Requests that are kept of one visit, and characters of their URLs: a page cannot fill the memory."""

_GROUP_HOST = re.compile(r"(?:https?|wss?)://(\[[^\]]*\]|[^:/ <>]+)")
_STATUS = re.compile(r"^\S+ +(\d{3})\b")

MAIN_FRAME = "main frame"
"""Exchange.frame of the page's own document, and of a popup's."""

IO_PENDING = -1
NETWORK_CHANGED = -21
CACHE_MISS = -400


@dataclasses.dataclass(frozen=True, slots=True)
class Traffic:
    """What crossed the network in one visit, in the order in which it was begun."""

    transports: list[Transport]
    exchanges: list[Exchange]
    hsts_upgrades: int
    """Requests that the browser turned from http to https by itself."""
    tried: dict[str, set[str]] = dataclasses.field(default_factory=dict)
    """By host, the addresses to which TCP connections were tried, whatever became of them."""

    @property
    def is_disturbed(self) -> bool:
        """Whether an interface of this machine came or went, on which Chromium drops what it is doing."""
        return any(exchange.error == NETWORK_CHANGED for exchange in self.exchanges)


class Assembler:
    """Feed it the events of one visit in the order of the log; `finish` gives what they amount to."""

    def __init__(self) -> None:
        self.stop_ms: int | None = None
        """Events after this time are none of this visit's; None while it goes on."""
        self.hsts_upgrades = 0
        self._transports: dict[int, Transport] = {}
        self._exchanges: dict[int, list[Exchange]] = {}
        """By request."""
        self._order: list[Exchange] = []
        self._url_characters = 0
        self._hosts: dict[int, str] = {}
        """What a connect job connects to."""
        self._job_transport: dict[int, Transport] = {}
        self._job_exchange: dict[int, Exchange] = {}
        self._session_transport: dict[int, Transport] = {}
        self._quic_bound: dict[int, Transport] = {}
        """The session on which a request will go out next."""
        self._tried: dict[str, set[str]] = {}

    def feed(self, event: Event) -> None:
        """The next event of the log."""
        if self.stop_ms is None or event.time_ms <= self.stop_ms:
            HANDLERS[event.name](self, event)

    @property
    def is_answered(self) -> bool:
        """Whether a byte has come for a document of a main frame."""
        return any(exchange.frame == MAIN_FRAME and exchange.sizes()[0] for exchange in self._order)

    def finish(self) -> Traffic:
        """What it amounts to."""
        transports = [transport for transport in self._transports.values() if transport.received_bytes]
        for transport in transports:
            if transport.host is None and transport.exchanges:  # as with WebSocket, whose pool has no groups
                found = _GROUP_HOST.search(transport.exchanges[0].url)
                transport.host = found and found[1]
            if transport.records is not None:
                transport.records.finish()
            if transport.quic is not None:
                transport.quic.finish()
            self._stream_times(transport)
        exchanges = [exchange for exchange in self._order if not exchange.internal]
        for exchange in exchanges:  # the log has no header of a response that the browser refused
            if exchange.status is None and exchange.message is not None:
                exchange.status = exchange.message.status
        return Traffic(transports, exchanges, self.hsts_upgrades, self._tried)

    @staticmethod
    def _stream_times(transport: Transport) -> None:
        for exchange in transport.exchanges:
            stream = transport.stream(exchange.stream_id)
            if stream is not None:
                exchange.first_byte_ms, exchange.last_byte_ms = stream.first_byte_ms, stream.last_byte_ms

    # Connections

    def _connect_job(self, event: Event) -> None:
        found = _GROUP_HOST.search(event.text("group_id"))
        if found:
            self._hosts[event.source] = found[1]

    def _socket(self, event: Event) -> None:
        if event.phase == "BEGIN" and event.source not in self._transports:
            transport = self._transports[event.source] = Transport(opened_ms=event.time_ms)
            transport.host = self._hosts.get(event.dependency() or -1)

    def _tcp_connect(self, event: Event) -> None:
        transport = self._transports.get(event.source)
        if transport is None:
            return
        if event.phase == "BEGIN":
            transport.opened_ms = event.time_ms
            addresses = event.params.get("address_list")
            tried = self._tried.setdefault(transport.host or "", set())
            tried.update(endpoint(str(one))[0] for one in (addresses if isinstance(addresses, list) else ()))
        elif remote := event.text("remote_address"):
            transport.connected_ms = event.time_ms
            transport.remote_address, transport.remote_port = endpoint(remote)
            transport.local_port = endpoint(event.text("local_address"))[1]

    def _tls_connect(self, event: Event) -> None:
        transport = self._transports.get(event.source)
        if transport is None:
            return
        if event.phase == "BEGIN":
            transport.records = RecordReader()
        elif (version := event.text("version")) and transport.records is not None:
            transport.secured_ms = event.time_ms
            transport.tls_version = version
            transport.tls_resumed = event.params.get("is_resumed") is True
            transport.records.expansion = expansion(version, event.number("cipher_suite"))
            if event.text("next_proto") == "h2":
                transport.protocol = "h2"
                transport.frames = FrameReader()

    def _handshake_message(self, event: Event) -> None:
        transport = self._transports.get(event.source)
        if transport is not None and transport.records is not None:
            transport.records.handshake_message(event.number("type"), len(event.encoded()))

    def _socket_bytes(self, event: Event) -> None:
        transport = self._transports.get(event.source)
        if transport is None:
            return
        size = event.number("byte_count")
        transport.received(size, event.time_ms)
        if transport.records is not None:
            transport.records.feed(event.encoded())
        else:
            transport.decrypted_bytes += size
            _response_bytes(transport, event, size, event.time_ms)

    def _plain_bytes(self, event: Event) -> None:
        transport = self._transports.get(event.source)
        if transport is None or transport.records is None:
            return
        size = event.number("byte_count")
        transport.decrypted_bytes += size
        transport.records.plaintext(size)
        # It may lie decrypted for long before it is asked for: it came with the last read of the socket.
        arrived_ms = transport.last_byte_ms or event.time_ms
        if transport.frames is not None:
            transport.frames.feed(event.encoded(), time_ms=arrived_ms)
        else:
            _response_bytes(transport, event, size, arrived_ms)

    # Requests

    def _start_job(self, event: Event) -> None:
        if event.phase != "BEGIN":
            self._error(event)
            return
        url = event.text("url")[:URL_LIMIT]
        if not url.startswith(("http:", "https:", "ws:", "wss:")):
            return
        self._url_characters += len(url)
        if len(self._order) >= REQUEST_LIMIT or self._url_characters > URLS_LIMIT:
            self._exchanges.pop(event.source, None)
            return
        before = self._exchanges.setdefault(event.source, [])
        exchange = Exchange(url, event.text("method"), event.text("request_type"), event.time_ms)
        if before:
            last = before[-1]
            last.finished = True
            exchange.redirected_from = last.redirected_from if last.internal else last
        before.append(exchange)
        self._order.append(exchange)

    def _internal_redirect(self, event: Event) -> None:
        exchange = self._exchange(event)
        if exchange is not None:
            exchange.internal = True
            self.hsts_upgrades += event.text("reason") == "HSTS"

    def _bound_to_socket(self, event: Event) -> None:
        transport = self._transports.get(event.dependency() or -1)
        if transport is not None:
            self._job_transport[event.source] = transport

    def _bound_to_job(self, event: Event) -> None:
        job = event.dependency()
        exchange = self._unbound(event)
        if exchange is None or job is None:
            return
        self._job_exchange[job] = exchange
        transport = self._job_transport.get(job)
        if transport is not None and transport.frames is None:
            _bind(exchange, transport)
            exchange.message = MessageReader(head=exchange.method == "HEAD")
            transport.current = exchange

    def _exchange(self, event: Event) -> Exchange | None:
        found = self._exchanges.get(event.source)
        return found[-1] if found else None

    def _unbound(self, event: Event) -> Exchange | None:
        """The exchange that is to go out now: a new one if bytes have come for the last."""
        exchange = self._exchange(event)
        if exchange is None or exchange.transport is None:
            return exchange
        if not exchange.sizes()[0]:  # the browser tries again on another connection
            exchange.transport.exchanges.remove(exchange)
            if exchange.transport.current is exchange:
                exchange.transport.current = None
            exchange.transport = exchange.message = exchange.stream_id = None
            exchange.first_byte_ms = exchange.last_byte_ms = None
            return exchange
        again = exchange.again()
        self._exchanges[event.source].append(again)
        self._order.append(again)
        return again

    def _request_headers(self, event: Event) -> None:
        exchange = self._exchange(event)
        if exchange is not None:
            exchange.sent_ms = event.time_ms
            exchange.request_headers = headers(event, REQUEST_HEADERS)

    def _response_headers(self, event: Event) -> None:
        exchange = self._exchange(event)
        if exchange is None:
            return
        found = _STATUS.match(next(iter(header_lines(event)), ""))
        exchange.status = int(found[1]) if found else None
        exchange.response_headers = headers(event, RESPONSE_HEADERS)
        exchange.freshness = http_caching.read(exchange.status, joined_headers(event, http_caching.HEADERS))

    def _decoded(self, event: Event) -> None:
        exchange = self._exchange(event)
        if exchange is not None:
            exchange.decoded_bytes = (exchange.decoded_bytes or 0) + event.number("byte_count")

    def _cache_read(self, event: Event) -> None:
        exchange = self._exchange(event)
        if exchange is not None and event.phase != "BEGIN":
            exchange.cached |= not event.number("net_error")

    def _request_alive(self, event: Event) -> None:
        exchange = self._exchange(event)
        if exchange is not None and event.phase == "END":
            self._error(event)
            exchange.finished = True

    def _error(self, event: Event) -> None:
        exchange = self._exchange(event)
        number = event.params.get("net_error")
        if exchange is not None and isinstance(number, int) and number not in (0, IO_PENDING):
            exchange.error = number
            # Asked for from the cache alone, to be asked for in earnest later: no request yet.
            exchange.internal |= number == CACHE_MISS and exchange.transport is None

    # HTTP/2

    def _h2_session(self, event: Event) -> None:
        transport = self._transports.get(event.dependency() or -1)
        if transport is not None:
            self._session_transport[event.source] = transport
            transport.current = None

    def _h2_request(self, event: Event) -> None:
        exchange = self._job_exchange.pop(event.dependency() or -1, None)
        transport = self._session_transport.get(event.source)
        if exchange is not None and transport is not None:
            _bind(exchange, transport)
            exchange.stream_id = event.number("stream_id")
            exchange.sent_ms = event.time_ms

    def _h2_headers(self, event: Event) -> None:
        transport = self._session_transport.get(event.source)
        for exchange in transport.exchanges if transport else ():
            if exchange.stream_id == event.number("stream_id"):
                exchange.status = final_status(event) or exchange.status

    # HTTP/3

    def _quic_session(self, event: Event) -> None:
        if event.phase == "BEGIN" and event.source not in self._transports:
            transport = self._transports[event.source] = Transport(opened_ms=event.time_ms, protocol="h3")
            transport.quic = quic.QuicSession(transport)
            transport.host = event.text("host") or None
            transport.remote_port = event.number("port")
            transport.connected_ms = event.time_ms

    def _in_quic_session(self, event: Event) -> None:
        transport = self._transports.get(event.source)
        if transport is not None and transport.quic is not None:
            transport.quic.feed(event)

    def _bound_to_quic(self, event: Event) -> None:
        transport = self._transports.get(event.dependency() or -1)
        if transport is not None:
            self._quic_bound[event.source] = transport

    def _quic_request(self, event: Event) -> None:
        transport = self._quic_bound.pop(event.source, None)
        exchange = self._unbound(event)
        if exchange is not None and transport is not None and transport.quic is not None:
            is_bound = transport.quic.bind(exchange, event.number("quic_stream_id"))
            if is_bound:
                _bind(exchange, transport)
        self._request_headers(event)


HANDLERS: dict[str, Callable[[Assembler, Event], None]] = {
    "SOCKET_POOL_CONNECT_JOB_CREATED": Assembler._connect_job,
    "SOCKET_ALIVE": Assembler._socket,
    "TCP_CONNECT": Assembler._tcp_connect,
    "SSL_CONNECT": Assembler._tls_connect,
    "SSL_HANDSHAKE_MESSAGE_RECEIVED": Assembler._handshake_message,
    "SOCKET_BYTES_RECEIVED": Assembler._socket_bytes,
    "SSL_SOCKET_BYTES_RECEIVED": Assembler._plain_bytes,
    "URL_REQUEST_START_JOB": Assembler._start_job,
    "URL_REQUEST_REDIRECT_JOB": Assembler._internal_redirect,
    "SOCKET_POOL_BOUND_TO_SOCKET": Assembler._bound_to_socket,
    "HTTP_STREAM_REQUEST_BOUND_TO_JOB": Assembler._bound_to_job,
    "HTTP_TRANSACTION_SEND_REQUEST_HEADERS": Assembler._request_headers,
    "HTTP_TRANSACTION_HTTP2_SEND_REQUEST_HEADERS": Assembler._request_headers,
    "HTTP_TRANSACTION_QUIC_SEND_REQUEST_HEADERS": Assembler._quic_request,
    "HTTP_TRANSACTION_READ_RESPONSE_HEADERS": Assembler._response_headers,
    "URL_REQUEST_JOB_FILTERED_BYTES_READ": Assembler._decoded,
    "HTTP_CACHE_READ_INFO": Assembler._cache_read,
    "IN_MEMORY_CACHE_READ_RESPONSE_HEADERS": Assembler._cache_read,
    "REQUEST_ALIVE": Assembler._request_alive,
    "FAILED": Assembler._error,
    "HTTP2_SESSION_INITIALIZED": Assembler._h2_session,
    "HTTP2_SESSION_SEND_HEADERS": Assembler._h2_request,
    "HTTP2_SESSION_RECV_HEADERS": Assembler._h2_headers,
    "HTTP_STREAM_REQUEST_BOUND_TO_QUIC_SESSION": Assembler._bound_to_quic,
    "QUIC_SESSION": Assembler._quic_session,
    **dict.fromkeys(quic.EVENTS, Assembler._in_quic_session),
}
"""What each event means to the assembler; also the events that it wants."""


def assemble(events: Iterable[Event], *, stop_ms: int | None = None) -> Traffic:
    """All events of one visit at once."""
    assembler = Assembler()
    assembler.stop_ms = stop_ms
    for event in events:
        assembler.feed(event)
    return assembler.finish()


def _bind(exchange: Exchange, transport: Transport) -> None:
    exchange.transport = transport
    transport.exchanges.append(exchange)


def _response_bytes(transport: Transport, event: Event, size: int, arrived_ms: int) -> None:
    """Bytes of HTTP/1.1 arrived: they belong to the response that the connection is busy with."""
    exchange = transport.current
    if exchange is None or exchange.message is None or not size:  # nothing is how the end is read
        return
    exchange.touched(arrived_ms)
    if exchange.message.needs_bytes:
        exchange.message.feed(event.content())
    else:
        exchange.message.count(size)
