"""HTTP/3 of the zoo's server, by aioquic.

In the truth log `sent_bytes` is UDP payload, `plaintext_bytes` the data of all streams, each byte once, and
`frame_bytes` that of control and QPACK streams, or of all streams of a WebTransport session.
`tls_handshake_bytes` is the UDP payload of datagrams with a packet of the handshake, `tls_ticket_bytes`
CRYPTO data after it.
"""

import asyncio
import functools
from typing import Any, cast

from aioquic.asyncio.protocol import QuicConnectionProtocol
from aioquic.buffer import encode_uint_var
from aioquic.h3.connection import ErrorCode, H3Connection
from aioquic.h3.events import DataReceived, H3Event, HeadersReceived, WebTransportStreamDataReceived
from aioquic.quic.connection import QuicConnection
from aioquic.quic.events import (
    ConnectionTerminated,
    HandshakeCompleted,
    ProtocolNegotiated,
    QuicEvent,
    StopSendingReceived,
    StreamReset,
)

from localweb.serving.handler import Fields, Reply, ServedRequest, ServedSite
from localweb.serving.log import SentConnection, SentResponse, now_us
from tests.zoo.serving.packets import CountedSocket, Counter, HostSocket, Path

PIECE = 65_536
"""Bytes of a DATA frame, and of the body that is in memory twice."""

PUSHED, ECHOED = b"U" * 9000, b"E" * 4000
"""What a WebTransport session sends on a stream of its own, and on each stream that the client opens."""


class Connection(QuicConnectionProtocol):
    """One QUIC connection with HTTP/3."""

    def __init__(self, quic: QuicConnection, site: ServedSite, path: Path) -> None:
        super().__init__(quic)
        self.counter = cast("Counter", quic._quic_logger)
        self.entry = SentConnection(
            id=site.log.connection_id(),
            host=site.host,
            server_address="",
            server_port=0,
            client_address="",
            client_port=0,
            protocol="h3",
            opened_us=now_us(),
        )
        self._site = site
        self._path = path
        self._http: H3Connection | None = None
        self._is_webtransport = False
        self._came_us = 0
        self._asking: dict[int, tuple[SentResponse, dict[str, str], bytearray]] = {}
        """Incomplete requests, with their header fields."""
        self._entries: dict[int, SentResponse] = {}
        self._answering: dict[int, asyncio.Task[None]] = {}
        site.log.connections.append(self.entry)

    @property
    def http(self) -> H3Connection:
        """HTTP/3 on this connection; it has been agreed on before the first request."""
        assert self._http is not None
        return self._http

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        assert isinstance(transport, HostSocket)
        self.entry.server_address, self.entry.server_port = transport.transport.get_extra_info("sockname")[:2]
        self._socket = CountedSocket(transport, self.entry, self._path)
        super().connection_made(self._socket)

    def datagram_received(self, data: bytes | str, addr: Any) -> None:
        """The client's address is that of its first packet; it may move."""
        if not self.entry.client_port:
            self.entry.client_address, self.entry.client_port = addr[:2]
            self._socket.opened_by(addr)
        self.entry.received_bytes += len(data)
        self._came_us = now_us()
        super().datagram_received(data, addr)

    def transmit(self) -> None:
        """Send what can be sent, and log it."""
        super().transmit()
        counter, entry = self.counter, self.entry
        entry.plaintext_bytes = entry.frame_bytes = counter.stream_bytes
        if not self._is_webtransport:
            entry.frame_bytes = counter.frame_bytes
        entry.tls_ticket_bytes = counter.ticket_bytes
        for stream_id in counter.moved & self._entries.keys():
            stream, response = counter.stream(stream_id), self._entries[stream_id]
            response.wire_bytes, response.body_bytes = stream.sent_bytes, stream.sent_body_bytes
            response.header_bytes = response.wire_bytes - response.body_bytes
            response.first_byte_us, response.last_byte_us = stream.first_byte_us, stream.last_byte_us
        counter.moved.clear()

    def quic_event_received(self, event: QuicEvent) -> None:
        if isinstance(event, ProtocolNegotiated):
            self._http = H3Connection(self._quic, enable_webtransport=True)
        elif isinstance(event, HandshakeCompleted):
            self.entry.tls_version, self.entry.secured_us = "TLS 1.3", self._came_us
            self.entry.tls_resumed = event.session_resumed
            if event.early_data_accepted != event.session_resumed:
                self._site.log.failures.append(f"{self._site.host} resumed without 0-RTT")
        elif isinstance(event, StopSendingReceived | StreamReset):
            self.counter.stream(event.stream_id).end()
        elif isinstance(event, ConnectionTerminated):
            self.entry.closed_us = now_us()
            self.entry.error = event.reason_phrase or None
            for stream in self.counter.streams.values():
                stream.end()
        if self._http is not None:
            for http_event in self._http.handle_event(event):
                self._http_event(http_event)

    def _http_event(self, event: H3Event) -> None:
        if isinstance(event, HeadersReceived) and (b":protocol", b"webtransport") in event.headers:
            self._serve_webtransport(event.stream_id)
            return
        if isinstance(event, WebTransportStreamDataReceived):
            self._quic.send_stream_data(event.stream_id, ECHOED, True)
            self.transmit()
            return
        if isinstance(event, HeadersReceived):
            if event.stream_id not in self._asking:  # or it is a trailer
                self._begin(event)
        elif isinstance(event, DataReceived) and event.stream_id in self._asking:  # or it is of a session
            self._asking[event.stream_id][2].extend(event.data or b"")
        else:
            return
        if event.stream_ended:
            self._answer(event.stream_id)

    def _serve_webtransport(self, session_id: int) -> None:
        """Accept a session (draft-ietf-webtrans-http3), and send on a stream of its own."""
        self._is_webtransport = True
        self.http.send_headers(
            session_id, [(b":status", b"200"), (b"sec-webtransport-http3-draft", b"draft02")]
        )
        pushed = self.http.create_webtransport_stream(session_id, is_unidirectional=True)
        self._quic.send_stream_data(pushed, PUSHED, True)
        self.transmit()

    def _begin(self, event: HeadersReceived) -> None:
        fields = {name.decode("latin-1"): value.decode("latin-1") for name, value in event.headers}
        entry = SentResponse(
            connection_id=self.entry.id,
            position=len(self._entries) + 1,
            stream_id=event.stream_id,
            protocol="h3",
            method=fields.pop(":method"),
            scheme=fields.pop(":scheme"),
            host=fields.pop(":authority").partition(":")[0],
            path=fields.pop(":path"),
            request_header_bytes=self.counter.request_header_bytes[event.stream_id],
            priority=fields.get("priority"),
        )
        self._site.log.responses.append(entry)
        self._entries[event.stream_id] = entry
        self._asking[event.stream_id] = (entry, fields, bytearray())

    def _answer(self, stream_id: int) -> None:
        entry, fields, body = self._asking.pop(stream_id)
        entry.request_received_us = self._came_us
        request = ServedRequest(
            protocol="h3",
            method=entry.method,
            scheme=entry.scheme,
            host=entry.host,
            target=entry.path,
            headers=fields,
            body=bytes(body),
        )
        reply = Http3Reply(self, entry, stream_id)
        self._answering[stream_id] = self._site.answer(request, reply)

    async def drop(self) -> None:
        for task in self._answering.values():
            task.cancel()
        await asyncio.gather(*self._answering.values(), return_exceptions=True)
        if self.entry.client_port:
            self.close()


class Http3Reply(Reply):
    """A reply over one stream of HTTP/3; see `handler.Reply`."""

    def __init__(self, connection: Connection, entry: SentResponse, stream_id: int) -> None:
        self._connection = connection
        self.entry = entry
        self._stream_id = stream_id
        self._stream = connection.counter.stream(stream_id)

    async def inform(self, status: int, fields: Fields) -> None:
        await self._headers([(":status", str(status)), *fields])

    async def head(self, status: int, fields: Fields, *, end: bool = False) -> None:
        """HEADERS, with FIN if it is all."""
        self.entry.status = status
        await self._headers([(":status", str(status)), *fields], end=end)

    async def body(self, content: bytes, *, end: bool = False) -> None:
        for start in range(0, len(content), PIECE):
            await self._data(content[start : start + PIECE], end=end and start + PIECE >= len(content))

    async def end(self, trailers: Fields = ()) -> None:
        """HEADERS with FIN, or FIN alone in a STREAM frame without data."""
        if trailers:
            await self._headers(trailers, end=True)
        else:
            await self._write(lambda: self._quic.send_stream_data(self._stream_id, b"", True), end=True)

    async def reset(self) -> None:
        self._quic.reset_stream(self._stream_id, ErrorCode.H3_INTERNAL_ERROR)
        self._stream.end()
        self._connection.transmit()

    async def close(self) -> None:
        self._connection._socket.end()
        self._connection.close(ErrorCode.H3_NO_ERROR)

    @property
    def _quic(self) -> QuicConnection:
        return self._connection._quic

    async def _headers(self, fields: Fields, *, end: bool = False) -> None:
        block = [(name.encode("latin-1"), value.encode("latin-1")) for name, value in fields]
        send = functools.partial(self._connection.http.send_headers, self._stream_id, block, end)
        await self._write(send, end=end)

    async def _data(self, content: bytes, *, end: bool) -> None:
        send = functools.partial(self._connection.http.send_data, self._stream_id, content, end)
        start = self._stream.written_bytes + 1 + len(encode_uint_var(len(content)))
        self._stream.bodies.append((start, start + len(content)))
        await self._write(send, end=end)

    async def _write(self, send: functools.partial[None] | Any, *, end: bool) -> None:
        if self._stream.is_over:
            raise ConnectionResetError("the client wants no more of it")
        send()
        self._stream.written_bytes = self._quic._streams[self._stream_id].sender._buffer_stop
        self._connection.transmit()
        await self._stream.flushed()
        self.entry.is_complete |= end
