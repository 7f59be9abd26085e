"""The connections of one visit, from the events of sockets and QUIC sessions.

A connection whose beginning is not in the log begins with the first event that there is of it.
"""

import dataclasses
import re
from collections.abc import Callable
from typing import Any

from crawler.netlog import params, quic, tcp
from crawler.netlog.event import NO_SOURCE, Event, split_endpoint
from crawler.netlog.exchange import Transport
from crawler.netlog.quic import QuicTransport
from crawler.netlog.tcp import TcpTransport

FLOWS_LIMIT = 10_000
"""Most remote ends of UDP sockets that are counted apart: any host may send to one."""

UNREAD_PORTS = frozenset({53, 5353})
"""Ports of name resolution (RFC 1035 §4.2, RFC 6762 §3), which is no part of a visit's traffic."""

_HOST = re.compile(r"(?:https?|wss?)://(\[[^\]]*\]|[^:/ <>]+)")


@dataclasses.dataclass(slots=True, eq=False)
class UdpTransport(Transport):
    """Datagrams between a socket and a remote end that are no QUIC, as WebRTC's (RFC 8831)."""

    def stream(self, stream_id: int | None) -> None: ...

    def request_header_bytes(self, stream_id: int) -> None: ...

    def finish(self) -> None:
        self.decrypted_bytes = self.frame_bytes = self.received_bytes


class Connections:
    """All connections by the source of their events."""

    def __init__(self) -> None:
        self.oldest = NO_SOURCE
        """Newest source from before the visit: of it and older ones,
        only what begins in the visit is part of it."""
        self.tcp: dict[int, TcpTransport] = {}
        self.quic: dict[int, QuicTransport] = {}
        self.udp: dict[tuple[int, str], UdpTransport] = {}
        self.tried: dict[str, set[str]] = {}
        self._all: list[Transport] = []
        self._hosts: dict[int, str] = {}
        self._udp_local: dict[int, str] = {}

    def finish(self) -> list[Transport]:
        """Return those that received bytes, in the order of their beginnings."""
        self._settle_udp()
        for transport in self._all:
            transport.finish()
        transports = [transport for transport in self._all if transport.received_bytes]
        for transport in transports:
            if transport.host is None and transport.exchanges:  # a WebSocket's, whose pool has no groups
                transport.host = _host(transport.exchanges[0].url)
            if transport.last_byte_ms is None:  # the log lacks the reads
                transport.last_byte_ms = transport.opened_ms
            for exchange in transport.exchanges:
                stream = transport.stream(exchange.stream_id)
                if stream is not None:
                    exchange.first_byte_ms, exchange.last_byte_ms = stream.first_byte_ms, stream.last_byte_ms
                if exchange.stream_id is not None:
                    exchange.request_header_bytes = transport.request_header_bytes(exchange.stream_id)
        return transports

    def _on_connect_job(self, event: Event[params.ConnectJob]) -> None:
        if host := _host(event.params["group_id"]):
            self._hosts[event.source] = host

    def _on_socket(self, event: Event[params.NoParams]) -> None:
        if event.source not in self.tcp:
            host = self._hosts.get(event.dependency)
            self.tcp[event.source] = transport = TcpTransport(event.time_ms, host=host)
            self._all.append(transport)

    def socket(self, source: int, time_ms: int) -> TcpTransport | None:
        """Return a TCP connection; None if it is older than the visit."""
        transport = self.tcp.get(source)
        if transport is None and source > self.oldest:
            transport = self.tcp[source] = TcpTransport(time_ms, is_late=True)
            self._all.append(transport)
        return transport

    def _on_tcp_connect(self, event: Event[params.ConnectAttempt]) -> None:
        transport = self.socket(event.source, event.time_ms)
        if transport is not None:
            transport.opened_ms = event.time_ms
            tried = self.tried.setdefault(transport.host or "", set())
            tried.update(split_endpoint(str(address))[0] for address in event.params["address_list"])

    def _on_quic_session(self, event: Event[params.QuicSession]) -> None:
        transport = self._session(event, is_late=False)
        transport.host, transport.remote_port = event.params["host"] or None, event.params["port"]

    def _on_webtransport(self, event: Event[params.WebTransport]) -> None:
        self._session(event, is_late=False).host = _host(event.params["url"])

    def _on_webtransport_state(self, event: Event[params.NoParams]) -> None:
        if event.source in self.quic or event.source > self.oldest:
            self._session(event, is_late=True).is_webtransport = True

    def _on_quic_event(self, event: Event[Any]) -> None:
        if event.source in self.quic or event.source > self.oldest:
            self._session(event, is_late=True).feed(event)

    def _session(self, event: Event[Any], *, is_late: bool) -> QuicTransport:
        """Return the event's QUIC connection, which may begin with it."""
        transport = self.quic.get(event.source)
        if transport is None:
            time_ms = event.time_ms
            transport = self.quic[event.source] = QuicTransport(
                time_ms, is_late=is_late, connected_ms=time_ms
            )
            self._all.append(transport)
        return transport

    def _on_udp_end(self, event: Event[params.Address]) -> None:
        self._udp_local[event.source] = event.params["address"]

    def _on_udp_bytes(self, event: Event[params.UdpBytes]) -> None:
        remote = event.params.get("address", "") if len(self.udp) < FLOWS_LIMIT else ""
        flow = self.udp.get((event.source, remote))
        if flow is None and event.source > self.oldest:
            flow = self.udp[event.source, remote] = UdpTransport(event.time_ms, "udp")
            flow.remote_address, flow.remote_port = split_endpoint(remote)
            self._all.append(flow)
        if flow is not None:
            flow.count_received(event.params["byte_count"], event.time_ms)

    @property
    def ends(self) -> set[tuple[int, str, int]]:
        ends = {
            (transport.local_port, transport.remote_address, transport.remote_port)
            for transport in self.tcp.values()
        }
        paths = {path for session in self.quic.values() for path in session.paths}
        paths |= {(self._udp_local.get(source, ""), remote) for source, remote in self.udp}
        return ends | {(split_endpoint(local)[1], *split_endpoint(remote)) for local, remote in paths}

    def _settle_udp(self) -> None:
        """Leave out QUIC's and name resolution's datagrams; a socket's own address may be unspecified."""
        paths = (path for session in self.quic.values() for path in session.paths)
        known = {(split_endpoint(local)[1], remote) for local, remote in paths}
        for (source, remote), flow in self.udp.items():
            local = self._udp_local.get(source, "")
            flow.local_address, flow.local_port = split_endpoint(local)
            if (flow.local_port, remote) in known or flow.remote_port in UNREAD_PORTS:
                self._all.remove(flow)


def _in_tcp(handler: Callable[[TcpTransport, Event[Any]], None]) -> Callable[[Connections, Event[Any]], None]:
    def handle(connections: Connections, event: Event[Any]) -> None:
        transport = connections.socket(event.source, event.time_ms)
        if transport is not None:
            handler(transport, event)

    return handle


def _host(text: str) -> str | None:
    match = _HOST.search(text)
    return match and match[1]


HANDLERS: dict[tuple[str, str], Callable[[Connections, Event[Any]], None]] = {
    ("SOCKET_POOL_CONNECT_JOB_CREATED", "NONE"): Connections._on_connect_job,
    ("SOCKET_ALIVE", "BEGIN"): Connections._on_socket,
    ("TCP_CONNECT", "BEGIN"): Connections._on_tcp_connect,
    ("QUIC_SESSION", "BEGIN"): Connections._on_quic_session,
    ("QUIC_SESSION_WEBTRANSPORT_CLIENT_ALIVE", "BEGIN"): Connections._on_webtransport,
    ("QUIC_SESSION_WEBTRANSPORT_CLIENT_STATE_CHANGED", "NONE"): Connections._on_webtransport_state,
    ("UDP_LOCAL_ADDRESS", "NONE"): Connections._on_udp_end,
    ("UDP_BYTES_RECEIVED", "NONE"): Connections._on_udp_bytes,
    **{event: _in_tcp(handler) for event, handler in tcp.HANDLERS.items()},
    **{(name, "NONE"): Connections._on_quic_event for name in quic.EVENTS},
}
