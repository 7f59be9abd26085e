"""Sizes of responses in a log without the bytes of sockets: what it counts, and what it leaves unknown.

HTTP/1.1: what a socket received from one request to the next is one response. HTTP/2: the log counts the data
of each frame, but no header. HTTP/3 needs no bytes: the crawler's reader counts its frames.
"""

from __future__ import annotations

import collections
from collections.abc import Iterable
from typing import Any

from crawler.netlog.assembler import Assembler
from crawler.netlog.event import Event
from crawler.netlog.exchange import Exchange
from crawler.netlog.headers import join_headers
from recordings.netlog.log import DATA
from recordings.sizes import NOT_RECORDED, ResponseSizes, SizeEvidence, known_sizes, sizes_of, unknown_sizes

HEADERS = frozenset({"content-length", "content-encoding", "transfer-encoding"})

PLAIN, TLS = "SOCKET_BYTES_RECEIVED", "SSL_SOCKET_BYTES_RECEIVED"
BOUND = "HTTP_STREAM_REQUEST_BOUND_TO_JOB"
READ_HEADERS = "HTTP_TRANSACTION_READ_RESPONSE_HEADERS"
STREAM_HEADERS = "HTTP2_SESSION_RECV_HEADERS"


class LogCounts:
    """Counts the bytes of each exchange of a log; it takes each event after the assembler."""

    def __init__(self, assembler: Assembler, *, names_data: bool) -> None:
        """`names_data` is whether the log tells of the data of HTTP/2 streams."""
        self._assembler = assembler
        self._names_data = names_data
        self._http1: collections.Counter[int] = collections.Counter()
        """Bytes of HTTP/1.1 responses, by the exchange's id()."""
        self._data: dict[int, int] = {}
        """Bytes of the data of HTTP/2 responses, by the exchange's id()."""
        self._times: dict[int, tuple[int, int]] = {}
        """First and last event of HTTP/2 responses, in ms."""
        self._headers: dict[int, dict[str, str]] = {}
        """Response headers, by the source of the request."""
        self._newest: dict[int, Exchange] = {}
        self._seen = 0

    def feed(self, event: Event[Any]) -> None:
        for exchange in self._assembler.exchanges[self._seen :]:
            self._newest[event.source] = exchange
        self._seen = len(self._assembler.exchanges)
        if event.name == BOUND and event.source in self._newest:
            # What came before was of an answer that led to another.
            self._http1.pop(id(self._newest[event.source]), None)
        elif event.name in (PLAIN, TLS):
            self._received(event)
        elif self._names_data and event.name in (DATA, STREAM_HEADERS):
            self._stream(event)
        elif event.name == READ_HEADERS and event.source in self._newest:
            self._headers[id(self._newest[event.source])] = join_headers(event, HEADERS)

    def sizes(self, exchanges: Iterable[Exchange]) -> dict[int, ResponseSizes]:
        """Return sizes of all responses over TCP, by the exchange's id(); sets times of those over HTTP/2."""
        sizes = {}
        for exchange in exchanges:
            if exchange.transport is None or exchange.transport.protocol == "h3":
                continue
            if id(exchange) in self._times:
                exchange.first_byte_ms, exchange.last_byte_ms = self._times[id(exchange)]
            sizes[id(exchange)] = self._size(exchange)
        return sizes

    def _size(self, exchange: Exchange) -> ResponseSizes:
        if exchange.transport is not None and exchange.transport.protocol == "h2":
            return (
                unknown_sizes(NOT_RECORDED, body=self._data[id(exchange)])
                if id(exchange) in self._data
                else ResponseSizes()
            )
        counted = self._http1[id(exchange)]
        if (
            not counted or exchange.status is None
        ):  # the browser shows no header of a response that it refuses
            return known_sizes(counted, body=None) if counted else ResponseSizes()
        return sizes_of(
            SizeEvidence(
                method=exchange.method,
                status=exchange.status or 0,
                protocol="http/1.1",
                headers=self._headers.get(id(exchange), {}),
                total=counted,
                decoded=exchange.decoded_bytes,
                is_complete=exchange.is_read,
            )
        )

    def _received(self, event: Event[Any]) -> None:
        transport = self._assembler.tcp_transport(event.source)
        if transport is None or transport.frames is not None or transport.current is None:
            return
        if (event.name == TLS) == (transport.records is not None):
            self._http1[id(transport.current)] += event.params["byte_count"]

    def _stream(self, event: Event[Any]) -> None:
        transport = self._assembler.tcp_transport(event.source)
        number = event.params.get("stream_id")
        for exchange in transport.exchanges if transport else ():
            if exchange.stream_id == number:
                size = event.params.get("size", 0)
                self._data[id(exchange)] = self._data.get(id(exchange), 0) + size
                self._times[id(exchange)] = (
                    self._times.get(id(exchange), (event.time_ms, 0))[0],
                    event.time_ms,
                )
                return
