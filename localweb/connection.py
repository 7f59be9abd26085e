"""One TCP connection of the local web: carries bytes between asyncio, TLS and HTTP, and counts them."""

from __future__ import annotations

import asyncio
import socket
import struct
from typing import TYPE_CHECKING, cast

from localweb.faults import Fault
from localweb.http1 import Http1Session
from localweb.http2 import Http2Session
from localweb.log import SentConnection, SentResponse, now_us
from localweb.modes import ALPN_H2
from localweb.outgoing import Outgoing, ProtocolViolation, Session
from localweb.tls import ALERT_HANDSHAKE_FAILURE, TLSFailure, TLSLayer

if TYPE_CHECKING:
    from localweb.server import Listener

POLL_S = 0.05
"""How often a connection looks whether a slow response may go on."""


class Connection(asyncio.Protocol):
    """What asyncio calls. Nothing is written while TCP holds more than it wants to."""

    def __init__(self, listener: Listener) -> None:
        self._listener = listener
        self._tls: TLSLayer | None = None
        self._session: Session | None = None
        self._is_paused = False
        self._position = 0
        self._poll: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Open the log's entry; clear text begins at once."""
        self._transport = cast("asyncio.Transport", transport)
        server, client = transport.get_extra_info("sockname"), transport.get_extra_info("peername")
        log = self._listener.log
        self.entry = SentConnection(
            id=log.connection_id(),
            host=self._listener.origin.host,
            server_address=server[0],
            server_port=server[1],
            client_address=client[0],
            client_port=client[1],
            opened_us=now_us(),
        )
        log.connections.append(self.entry)
        self._listener.opened.add(self)
        if self._listener.origin.scheme == "http":
            self._begin(None)

    def data_received(self, data: bytes) -> None:
        """Bytes from the client."""
        self.entry.received_bytes += len(data)
        fault = self._listener.fault
        if fault is Fault.SILENT:
            return
        if self._listener.origin.scheme == "http":
            self._feed(data)
        elif fault is Fault.HANDSHAKE_FAILURE:
            self._send(ALERT_HANDSHAKE_FAILURE)
            self._transport.close()
        else:
            self._secure(data)

    def _secure(self, data: bytes) -> None:
        if self._tls is None:
            self._tls = TLSLayer(self._listener.context)
        tls = self._tls
        try:
            plaintext = tls.receive(data)
        except TLSFailure as exc:
            self._drop(str(exc))
            return
        self._send(tls.to_send())
        self.entry.sni = tls.server_name
        self.entry.tls_handshake_bytes = tls.handshake_bytes
        self.entry.tls_ticket_bytes = tls.ticket_bytes
        if tls.is_secured and self._session is None:
            self.entry.tls_version, self.entry.secured_us = tls.version, now_us()
            self.entry.tls_resumed = tls.is_resumed
            self._begin(tls.protocol)
        if plaintext:
            self._feed(plaintext)

    def _begin(self, protocol: str | None) -> None:
        if protocol == ALPN_H2:
            self._session = Http2Session(self._answer, self._count_frames)
        else:
            self._session = Http1Session(self._answer)
        self.entry.protocol = self._session.protocol
        self._pump()

    def _count_frames(self, wire_bytes: int) -> None:
        self.entry.frame_bytes += wire_bytes

    def _feed(self, plaintext: bytes) -> None:
        assert self._session is not None
        try:
            self._session.receive(plaintext)
        except ProtocolViolation as exc:
            self._drop(str(exc))
            return
        self._pump()

    def _answer(
        self, method: str, authority: str, path: str, protocol: str, stream_id: int | None, /
    ) -> Outgoing | None:
        self._position += 1
        entry = SentResponse(
            connection_id=self.entry.id,
            position=self._position,
            stream_id=stream_id,
            protocol=protocol,
            method=method,
            scheme=self._listener.origin.scheme,
            host=authority.rpartition(":")[0] or authority,
            path=path,
            request_received_us=now_us(),
        )
        self._listener.log.responses.append(entry)
        if self._listener.fault is Fault.NO_ANSWER:
            return None
        answer = self._listener.find(path)
        entry.status, entry.page, entry.index = answer.status, answer.page, answer.index
        return Outgoing(answer, entry, fault=self._listener.fault)

    def _pump(self) -> None:
        """Write what there is to write, as long as TCP takes it."""
        session = self._session
        if session is None:
            return
        while not self._is_stuck and (plaintext := session.next_write(now_us())):
            self.entry.plaintext_bytes += len(plaintext)
            self._send(self._tls.encrypt(plaintext) if self._tls else plaintext)
        if self._transport.is_closing():
            return
        if session.wants_reset:
            self._reset()
        elif session.wants_close and not session.is_waiting:
            self._transport.close()
        elif session.is_waiting and self._listener.fault:
            self._look_again()

    @property
    def _is_stuck(self) -> bool:
        """Whether TCP takes nothing: for now, or because the client is gone."""
        return self._is_paused or self._transport.is_closing()

    def _look_again(self) -> None:
        if self._poll:
            self._poll.cancel()
        self._poll = asyncio.get_running_loop().call_later(POLL_S, self._pump)

    def _send(self, octets: bytes) -> None:
        if octets:
            self.entry.sent_bytes += len(octets)
            self._transport.write(octets)

    def _drop(self, error: str) -> None:
        """End a connection whose client went wrong, after the alert that TLS may have for it."""
        self.entry.error = error
        if self._tls:
            self._send(self._tls.to_send())
        self._transport.close()

    def _reset(self) -> None:
        """Cut the connection off with a TCP reset."""
        handle: socket.socket = self._transport.get_extra_info("socket")
        handle.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self._transport.abort()

    def pause_writing(self) -> None:
        """TCP has enough for now."""
        self._is_paused = True

    def resume_writing(self) -> None:
        """TCP takes more."""
        self._is_paused = False
        self._pump()

    def connection_lost(self, exc: Exception | None) -> None:
        """The connection is over, by either side."""
        if self._poll:
            self._poll.cancel()
        self.entry.closed_us = now_us()
        if exc is not None:
            self.entry.error = self.entry.error or str(exc)
        self._listener.opened.discard(self)

    def abort(self) -> None:
        """End it at once: the local web shuts down."""
        self._transport.abort()
