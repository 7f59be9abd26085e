"""A capture of the headers of all packets in a network namespace, shared by the browsers in it."""

from __future__ import annotations

import contextlib
import os
import select
import socket
import threading
import time
from collections.abc import Iterator

from crawler.capture.connections import CapturedConnection, CapturedConnections
from crawler.capture.packets import end
from crawler.capture.ring import LOOPBACK, RETIRE_MS, Ring, open_socket

HANDED_OVER_MS = 2 * RETIRE_MS
"""Time after which the kernel has handed over a captured packet, in milliseconds."""

PAUSE_S = 0.05
"""Pause between two reads of the ring, which holds half a second of 1 Gbit/s."""


class Capture:
    """The connections of a network namespace; safe for the threads of several browsers. A thread empties the ring."""

    def __init__(self, sock: socket.socket) -> None:
        self._ring = Ring(sock)
        self._connections = CapturedConnections()
        self._lock = threading.Lock()
        self._end = os.eventfd(0, os.EFD_CLOEXEC)
        self._thread = threading.Thread(target=self._keep_empty, name="capture", daemon=True)
        self._thread.start()

    def take(self, local: tuple[str, int], remote: tuple[str, int]) -> CapturedConnection | None:
        """Remove and return the newest connection between two ends, with all packets captured HANDED_OVER_MS ago.

        None if its beginning was not captured, or an address is invalid.
        """
        with contextlib.suppress(ValueError), self._lock:
            self._drain()
            return self._connections.take(end(*local), end(*remote))
        return None

    def close(self) -> None:
        """End the capture, after the last browser's end."""
        os.eventfd_write(self._end, 1)
        self._thread.join()
        os.close(self._end)
        self._ring.close()

    def _keep_empty(self) -> None:
        ready = select.poll()
        ready.register(self._ring, select.POLLIN)
        ready.register(self._end, select.POLLIN)
        while self._end not in dict(ready.poll()):
            with self._lock:
                self._drain()
            time.sleep(PAUSE_S)

    def _drain(self) -> None:
        for packet in self._ring.packets():
            self._connections.feed(packet)
        if self._ring.dropped():
            self._connections.lose()


@contextlib.contextmanager
def capturing(sock: socket.socket | None) -> Iterator[Capture | None]:
    """A capture by a socket of the browsers' network namespace; None if there is no socket, or no ring for it."""
    if sock is None:
        yield None
        return
    try:
        capture = Capture(sock)
    except OSError:  # no memory for the ring, or a kernel without it
        yield None
        return
    try:
        yield capture
    finally:
        capture.close()


@contextlib.contextmanager
def on_loopback() -> Iterator[Capture | None]:
    """A capture of this network namespace's loopback; None without CAP_NET_RAW."""
    with contextlib.ExitStack() as stack:
        try:
            sock = stack.enter_context(contextlib.closing(open_socket(LOOPBACK)))
        except OSError:
            yield None
            return
        yield stack.enter_context(capturing(sock))
