"""A packet capture of all TCP connections of a network namespace, shared by the browsers in it."""

from __future__ import annotations

import contextlib
import os
import select
import threading
import time
from typing import TYPE_CHECKING

from crawler.capture.ring import Ring, open_socket
from crawler.capture.segments import segment
from crawler.capture.tcp_reassembly import TcpReassembler

if TYPE_CHECKING:
    import socket
    from collections.abc import Iterator

    from crawler.capture.tcp_reassembly import TcpStream

WAIT_S = 0.25
"""Time limit for bytes that the browser has read. The kernel has captured them, and hands them over a few milliseconds
later; after this time, they were dropped."""

POLL_S = 0.002

PAUSE_S = 0.05
"""Pause between two reads of the ring, which holds half a second of 1 Gbit/s."""

MISSES_LIMIT = 10
"""Connections with missing bytes after which the capture is not trusted: new browsers log all bytes themselves."""

LOOPBACK = "lo"


class Capture:
    """The bytes received on each connection; safe for the threads of several browsers.

    A thread empties the ring all the time: a log may be half a second behind its browser.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._ring = Ring(sock)
        self._streams = TcpReassembler()
        self._lock = threading.Lock()
        self._misses = 0
        self._end = os.eventfd(0, os.EFD_CLOEXEC)
        self._thread = threading.Thread(target=self._keep_empty, name="capture", daemon=True)
        self._thread.start()

    @property
    def is_trusted(self) -> bool:
        """True while bytes are rarely missing. A capture that is not trusted is not waited for: this machine may prevent it."""
        return self._misses < MISSES_LIMIT

    def claim(self, flow: bytes) -> TcpStream | None:
        """The stream of an open connection; None if its beginning was not captured."""
        deadline = time.monotonic() + WAIT_S
        while True:
            with self._lock:
                self._drain()
                found = self._streams.claim(flow)
            if found is not None or time.monotonic() > deadline or not self.is_trusted:
                return found
            time.sleep(POLL_S)

    def take(self, stream: TcpStream, size: int) -> bytes | None:
        """The next bytes of a stream; None if they were not captured."""
        deadline = time.monotonic() + WAIT_S
        while True:
            with self._lock:
                found = stream.take(size)
                if found is None:
                    self._drain()
                    found = stream.take(size)
            if found is not None or stream.is_lost or time.monotonic() > deadline or not self.is_trusted:
                return found
            time.sleep(POLL_S)

    def missed(self, flow: bytes) -> None:
        """Note a connection whose bytes are missing or cannot be decrypted."""
        with self._lock:
            self._misses += 1
            self._streams.release(flow)

    def release(self, flow: bytes) -> None:
        """Forget a connection."""
        with self._lock:
            self._streams.release(flow)

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
            one = segment(packet)
            if one is not None:
                self._streams.feed(one)


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
