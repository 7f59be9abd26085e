"""The connections of one visit, from the events of sockets and QUIC sessions."""

import re
from collections.abc import Callable
from typing import Any

from crawler.netlog import params, quic, tcp
from crawler.netlog.event import Event, endpoint
from crawler.netlog.exchange import Transport
from crawler.netlog.quic import QuicTransport
from crawler.netlog.tcp import TcpTransport

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
                if exchange.stream_id is not None:
                    exchange.request_header_bytes = transport.request_header_bytes(exchange.stream_id)
        return found

    def _connect_job(self, event: Event[params.ConnectJob]) -> None:
        if host := _host(event.params["group_id"]):
            self._hosts[event.source] = host

    def _socket(self, event: Event[params.NoParams]) -> None:
        if event.source not in self.tcp:
            host = self._hosts.get(event.dependency)
            self.tcp[event.source] = transport = TcpTransport(event.time_ms, host=host)
            self._all.append(transport)

    def _tcp_connect(self, event: Event[params.ConnectAttempt]) -> None:
        transport = self.tcp.get(event.source)
        if transport is not None:
            transport.opened_ms = event.time_ms
            tried = self.tried.setdefault(transport.host or "", set())
            tried.update(endpoint(str(one))[0] for one in event.params["address_list"])

    def _quic_session(self, event: Event[params.QuicSession]) -> None:
        if event.source not in self.quic:
            self.quic[event.source] = transport = QuicTransport(
                event.time_ms,
                host=event.params["host"] or None,
                remote_port=event.params["port"],
                connected_ms=event.time_ms,
            )
            self._all.append(transport)

    def _in_quic(self, event: Event[Any]) -> None:
        transport = self.quic.get(event.source)
        if transport is not None:
            transport.feed(event)


def _in_tcp(handler: Callable[[TcpTransport, Event[Any]], None]) -> Callable[[Connections, Event[Any]], None]:
    """Call the handler with the event's connection."""

    def handle(connections: Connections, event: Event[Any]) -> None:
        transport = connections.tcp.get(event.source)
        if transport is not None:
            handler(transport, event)

    return handle


def _host(text: str) -> str | None:
    """Host in a URL or in the name of a socket pool's group; None if there is none."""
    found = _HOST.search(text)
    return found and found[1]


HANDLERS: dict[tuple[str, str], Callable[[Connections, Event[Any]], None]] = {
    ("SOCKET_POOL_CONNECT_JOB_CREATED", "NONE"): Connections._connect_job,
    ("SOCKET_ALIVE", "BEGIN"): Connections._socket,
    ("TCP_CONNECT", "BEGIN"): Connections._tcp_connect,
    ("QUIC_SESSION", "BEGIN"): Connections._quic_session,
    **{event: _in_tcp(handler) for event, handler in tcp.HANDLERS.items()},
    **{(name, "NONE"): Connections._in_quic for name in quic.EVENTS},
}
"""Handlers by event and phase."""
