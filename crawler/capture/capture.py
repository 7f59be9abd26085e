"""A capture of the headers of all packets in a network namespace, and of what its TCP measured;
the browsers in it share it."""

import contextlib
import itertools
import os
import select
import socket
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import TypeAlias

from crawler.capture.connections import CapturedConnection, CapturedConnections
from crawler.capture.packets import TCP, pack_end, pack_name
from crawler.capture.ring import LOOPBACK, RETIRE_MS, Ring, open_socket
from crawler.capture.tcp_info import SmallestRoundTrips, open_tcp_info

HANDED_OVER_MS = 2 * RETIRE_MS
"""Time within which the kernel hands over a captured packet, in milliseconds."""

NAMED_WITHIN_MS = 2000
"""Time within which a browser's log names a connection after its first packet, in milliseconds."""

Ends: TypeAlias = tuple[int, str, int]

PAUSE_S = 0.05
"""Pause between two reads of the ring, which holds half a second of 1 Gbit/s."""


class Capture:
    """The connections of a network namespace; safe for the threads of several browsers.

    A thread empties the ring.
    """

    def __init__(
        self, sock: socket.socket, tcp_info: socket.socket | None = None, *, is_theirs_alone: bool = False
    ) -> None:
        """Capture by a packet socket, with round trips by `open_tcp_info`; the caller closes both.

        `is_theirs_alone`: nobody but browsers uses the network.
        """
        self._is_theirs_alone = is_theirs_alone
        self._logs: list[Callable[[], Iterable[Ends]]] = []
        self._ring = Ring(sock)
        self._trips = None if tcp_info is None else SmallestRoundTrips(tcp_info)
        self._connections = CapturedConnections()
        self._lock = threading.Lock()
        self._end = os.eventfd(0, os.EFD_CLOEXEC)
        self._thread = threading.Thread(target=self._drain_until_end, name="capture", daemon=True)
        self._thread.start()

    def take(self, local: tuple[str, int], remote: tuple[str, int]) -> CapturedConnection | None:
        """Take the newest connection between two ends, with all packets captured HANDED_OVER_MS ago.

        None if its beginning was not captured, or an address is invalid.
        """
        with contextlib.suppress(ValueError), self._lock:
            self._drain()
            client, server = pack_end(*local), pack_end(*remote)
            connection = self._connections.take(client, server)
            if connection is not None and connection.protocol == TCP and self._trips is not None:
                connection.min_rtt_us = self._trips.take(client, server, since_ns=connection.began_ns)
            return connection
        return None

    @contextlib.contextmanager
    def register_log(self, log: Callable[[], Iterable[Ends]]) -> Iterator[None]:
        with self._lock:
            self._logs.append(log)
        try:
            yield
        finally:
            with self._lock:
                self._logs.remove(log)

    def unnamed_bytes(self, ends: Iterable[Ends], *, since_ms: int, until_ms: int) -> int:
        """Count the bytes on connections of this time that no browser's log names, each connection once.

        `ends` are those of the asking browser's log, which has been read to its end. Other browsers' logs may
        be behind, so a connection counts only once there has been time to name it. Nothing counts where
        others than browsers use the network.
        """
        with self._lock:
            if not self._is_theirs_alone:
                return 0
            logs = list(self._logs)
        named = _names(itertools.chain(ends, *(log() for log in logs)))
        until_ms -= NAMED_WITHIN_MS if len(logs) > 1 else 0
        with self._lock:
            self._drain()
            unnamed = self._connections.list_unnamed(
                named, since_ns=since_ms * 1_000_000, until_ns=until_ms * 1_000_000
            )
            return sum(
                connection.received_bytes or 1 for connection in unnamed
            )  # one that is lost had a byte at least

    def is_behind(self, local: tuple[str, int], remote: tuple[str, int], received_bytes: int) -> bool:
        """Return whether packets are still to come of a connection that received so many bytes."""
        with contextlib.suppress(ValueError), self._lock:
            self._drain()
            connection = self._connections.find(pack_end(*local), pack_end(*remote))
            captured_bytes = None if connection is None else connection.received_bytes
            return captured_bytes is not None and captured_bytes < received_bytes
        return False

    def close(self) -> None:
        os.eventfd_write(self._end, 1)
        self._thread.join()
        os.close(self._end)
        self._ring.close()

    def _drain_until_end(self) -> None:
        ready = select.poll()
        ready.register(self._ring, select.POLLIN)
        if self._trips is not None:
            ready.register(self._trips, select.POLLIN)
        ready.register(self._end, select.POLLIN)
        while self._end not in dict(ready.poll()):
            with self._lock:
                self._drain()
            time.sleep(PAUSE_S)

    def _drain(self) -> None:
        for packet in self._ring.packets():
            self._connections.feed(packet)
        if self._ring.count_dropped():
            self._connections.lose()
        if self._trips is not None:
            self._trips.drain()


def _names(ends: Iterable[Ends]) -> set[bytes]:
    names = set()
    for connection in ends:
        with contextlib.suppress(ValueError):
            names.add(pack_name(*connection))
    return names


@contextlib.contextmanager
def open_capture(
    sock: socket.socket | None, tcp_info: socket.socket | None = None, *, is_theirs_alone: bool = False
) -> Iterator[Capture | None]:
    """Capture by sockets of a network namespace; None without a packet socket, or a ring for it."""
    if sock is None:
        yield None
        return
    try:
        capture = Capture(sock, tcp_info, is_theirs_alone=is_theirs_alone)
    except OSError:  # no memory for the ring, or a kernel without it
        yield None
        return
    try:
        yield capture
    finally:
        capture.close()


@contextlib.contextmanager
def capture_loopback(*, is_theirs_alone: bool = False) -> Iterator[Capture | None]:
    """Capture this namespace's loopback; None without CAP_NET_RAW."""
    with contextlib.ExitStack() as stack:
        try:
            sock = stack.enter_context(contextlib.closing(open_socket(LOOPBACK)))
        except OSError:
            yield None
            return
        tcp_info = None
        with contextlib.suppress(OSError):
            tcp_info = stack.enter_context(contextlib.closing(open_tcp_info()))
        yield stack.enter_context(open_capture(sock, tcp_info, is_theirs_alone=is_theirs_alone))
