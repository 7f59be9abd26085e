"""The connections of one visit, from the events of sockets and QUIC sessions."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, Any

from crawler.netlog import quic
from crawler.netlog.event import endpoint
from crawler.netlog.quic import QuicTransport
from crawler.netlog.tcp import TcpTransport
from crawler.netlog.tls import RecordReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.netlog.event import Event
    from crawler.netlog.exchange import Transport
    from crawler.netlog.params import (
        ByteCount,
        ConnectAttempt,
        Connected,
        ConnectJob,
        HandshakeMessage,
        NoParams,
        QuicSession,
        Secured,
    )

_HOST = re.compile(r"(?:https?|wss?)://(\[[^\]]*\]|[^:/ <>]+)")


class Connections:
    """All connections, TCP and QUIC, by the source of their events."""

    def __init__(self) -> None:
        self.tcp: dict[int, TcpTransport] = {}
        self.quic: dict[int, QuicTransport] = {}
        self.tried: dict[str, set[str]] = {}
        """Addresses of attempted TCP connections by host, whatever became of them."""
        self._all: list[Transport] = []
        self._hosts: dict[int, str] = {}
        """Hosts by connect job."""

    def finish(self) -> list[Transport]:
        """Connections that received bytes, in the order of their beginnings."""
        found = [transport for transport in self._all if transport.received_bytes]
        for transport in found:
            if transport.host is None and transport.exchanges:  # a WebSocket's, whose pool has no groups
                transport.host = _host(transport.exchanges[0].url)
            transport.finish()
            for exchange in transport.exchanges:
                stream = transport.stream(exchange.stream_id)
                if stream is not None:
                    exchange.first_byte_ms, exchange.last_byte_ms = stream.first_byte_ms, stream.last_byte_ms
        return found

    def _connect_job(self, event: Event[ConnectJob]) -> None:
        if host := _host(event.params["group_id"]):
            self._hosts[event.source] = host

    def _socket(self, event: Event[NoParams]) -> None:
        if event.source not in self.tcp:
            host = self._hosts.get(event.dependency)
            self.tcp[event.source] = transport = TcpTransport(event.time_ms, host=host)
            self._all.append(transport)

    def _tcp_connect(self, event: Event[ConnectAttempt]) -> None:
        transport = self.tcp.get(event.source)
        if transport is not None:
            transport.opened_ms = event.time_ms
            tried = self.tried.setdefault(transport.host or "", set())
            tried.update(endpoint(str(one))[0] for one in event.params["address_list"])

    def _tcp_connected(self, event: Event[Connected]) -> None:
        transport = self.tcp.get(event.source)
        if transport is not None and (remote := event.params.get("remote_address")):
            transport.connected_ms = event.time_ms
            transport.remote_address, transport.remote_port = endpoint(remote)
            transport.local_port = endpoint(event.params.get("local_address", ""))[1]

    def _tls_connect(self, event: Event[NoParams]) -> None:
        transport = self.tcp.get(event.source)
        if transport is not None:
            transport.records = RecordReader()

    def _tls_connected(self, event: Event[Secured]) -> None:
        transport = self.tcp.get(event.source)
        if transport is not None:
            transport.secured(event)

    def _handshake_message(self, event: Event[HandshakeMessage]) -> None:
        transport = self.tcp.get(event.source)
        if transport is not None and transport.records is not None:
            transport.records.handshake_message(event.params["type"], len(event.encoded()))

    def _socket_bytes(self, event: Event[ByteCount]) -> None:
        transport = self.tcp.get(event.source)
        if transport is not None:
            transport.socket_bytes(event)

    def _plain_bytes(self, event: Event[ByteCount]) -> None:
        transport = self.tcp.get(event.source)
        if transport is not None:
            transport.plain_bytes(event)

    def _quic_session(self, event: Event[QuicSession]) -> None:
        if event.source not in self.quic:
            self.quic[event.source] = transport = QuicTransport(
                event.time_ms,
                host=event.params["host"] or None,
                remote_port=event.params["port"],
                connected_ms=event.time_ms,
            )
            self._all.append(transport)

    def _in_quic_session(self, event: Event[Any]) -> None:
        transport = self.quic.get(event.source)
        if transport is not None:
            transport.feed(event)


def _host(text: str) -> str | None:
    """Host in a URL or in the name of a socket pool's group; None if there is none."""
    found = _HOST.search(text)
    return found and found[1]


HANDLERS: dict[tuple[str, str], Callable[[Connections, Event[Any]], None]] = {
    ("SOCKET_POOL_CONNECT_JOB_CREATED", "NONE"): Connections._connect_job,
    ("SOCKET_ALIVE", "BEGIN"): Connections._socket,
    ("TCP_CONNECT", "BEGIN"): Connections._tcp_connect,
    ("TCP_CONNECT", "END"): Connections._tcp_connected,
    ("SSL_CONNECT", "BEGIN"): Connections._tls_connect,
    ("SSL_CONNECT", "END"): Connections._tls_connected,
    ("SSL_HANDSHAKE_MESSAGE_RECEIVED", "NONE"): Connections._handshake_message,
    ("SOCKET_BYTES_RECEIVED", "NONE"): Connections._socket_bytes,
    ("SSL_SOCKET_BYTES_RECEIVED", "NONE"): Connections._plain_bytes,
    ("QUIC_SESSION", "BEGIN"): Connections._quic_session,
    **{(name, "NONE"): Connections._in_quic_session for name in quic.EVENTS},
}
"""Handlers by event and phase."""
