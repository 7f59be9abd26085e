"""Assembles the events of one visit into connections and responses with their sizes and times.

No browser, clock or database: the values depend on the events alone.
HTTP/1.1: bytes that arrive on a socket between two `HTTP_STREAM_REQUEST_BOUND_TO_JOB` are one response.
HTTP/2: header blocks are not in the log, so the plaintext of the connection is cut into frames.
HTTP/3: the log of the QUIC session has every stream frame and every packet.
"""

import dataclasses
from collections.abc import Callable, Iterable
from types import MethodType
from typing import Any

from crawler.netlog import connections, requests
from crawler.netlog.event import Event
from crawler.netlog.exchange import NETWORK_CHANGED, Exchange, Transport
from crawler.netlog.tcp import TcpTransport

EVENTS = frozenset(name for name, _ in (*connections.HANDLERS, *requests.HANDLERS))


@dataclasses.dataclass(frozen=True, slots=True)
class Traffic:
    """Connections and exchanges of one visit, each in the order of their beginnings."""

    transports: list[Transport]
    exchanges: list[Exchange]
    hsts_upgrades: int
    """Requests that the browser changed from http to https."""
    tried: dict[str, set[str]] = dataclasses.field(default_factory=dict)
    """Addresses of attempted TCP connections by host."""
    ends: set[tuple[int, str, int]] = dataclasses.field(default_factory=set)
    """Ends of each connection: local port, remote address and port."""

    @property
    def is_disturbed(self) -> bool:
        """True if a network interface came or went, on which Chromium drops requests."""
        return any(exchange.error == NETWORK_CHANGED for exchange in self.exchanges)


class Assembler:
    """Feed it a visit's events in order, then `finish`."""

    def __init__(self) -> None:
        self.stop_ms: int | None = None
        """Time after which events are not the visit's; None while it goes on."""
        self._connections = connections.Connections()
        self._requests = requests.Requests(self._connections)
        self._handlers: dict[tuple[str, str], Callable[[Event[Any]], None]] = {
            **{
                event: MethodType(handler, self._connections)
                for event, handler in connections.HANDLERS.items()
            },
            **{event: MethodType(handler, self._requests) for event, handler in requests.HANDLERS.items()},
        }

    def begin_after(self, source: int) -> None:
        """Leave out connections from before, whose source is not newer than this one."""
        self._connections.oldest = max(self._connections.oldest, source)

    def feed(self, event: Event[Any]) -> None:
        if self.stop_ms is None or event.time_ms <= self.stop_ms:
            handler = self._handlers.get((event.name, event.phase))
            if handler is not None:
                handler(event)

    @property
    def is_answered(self) -> bool:
        return self._requests.is_answered

    @property
    def exchanges(self) -> list[Exchange]:
        return self._requests.exchanges

    def tcp_transport(self, source: int) -> TcpTransport | None:
        """Return a socket's connection, or that of the HTTP/2 session on it."""
        return self._connections.tcp.get(source) or self._requests.session_transport.get(source)

    def finish(self) -> Traffic:
        transports, ends = self._connections.finish(), self.ends
        upgrades, tried = self._requests.hsts_upgrades, self._connections.tried
        return Traffic(transports, self._requests.finish(), upgrades, tried, ends)

    @property
    def ends(self) -> set[tuple[int, str, int]]:
        return self._connections.ends


def assemble(events: Iterable[Event[Any]], *, stop_ms: int | None = None) -> Traffic:
    assembler = Assembler()
    assembler.stop_ms = stop_ms
    for event in events:
        assembler.feed(event)
    return assembler.finish()
