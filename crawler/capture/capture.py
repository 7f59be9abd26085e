"""One capture of all connections of a network namespace, shared by the browsers in it."""

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
"""For bytes that the browser has read, hence the kernel has captured: it hands them over a few milliseconds later. After
this they were dropped."""

POLL_S = 0.002

PAUSE_S = 0.05
"""Between two looks at the ring, when nobody asks: it holds what half a second of 1 Gbit/s brings."""

MISSES_LIMIT = 10
"""Connections whose bytes could not be had, after which browsers that start read them from their logs."""

LOOPBACK = "lo"


class Capture:
    """What came, by connection; threads of several browsers may ask.

    A thread empties the ring, whether anybody asks or not: a log may be half a second behind what its browser reads.
    """

    def __init__(self, sock: socket.socket) -> None:
        self._ring = Ring(sock)
        self._streams = TcpReassembler()
        self._asking = threading.Lock()
        self._misses = 0
        self._end = os.eventfd(0, os.EFD_CLOEXEC)
        self._thread = threading.Thread(target=self._keep_empty, name="capture", daemon=True)
        self._thread.start()

    @property
    def is_trusted(self) -> bool:
        """Whether it has had what it was asked for, but for a few times: something on this machine may be against it.

        One that is not is waited for no longer.
        """
        return self._misses < MISSES_LIMIT

    def claim(self, flow: bytes) -> TcpStream | None:
        """The stream of a connection that is there; None if its beginning was not captured."""
        deadline = time.monotonic() + WAIT_S
        while True:
            with self._asking:
                self._drain()
                found = self._streams.claim(flow)
            if found is not None or time.monotonic() > deadline or not self.is_trusted:
                return found
            time.sleep(POLL_S)

    def take(self, stream: TcpStream, size: int) -> bytes | None:
        """The next bytes of a stream; None if they were not captured."""
        deadline = time.monotonic() + WAIT_S
        while True:
            with self._asking:
                found = stream.take(size)
                if found is None:
                    self._drain()
                    found = stream.take(size)
            if found is not None or stream.is_lost or time.monotonic() > deadline or not self.is_trusted:
                return found
            time.sleep(POLL_S)

    def missed(self, flow: bytes) -> None:
        """Bytes of this connection could not be had, or not be opened."""
        with self._asking:
            self._misses += 1
            self._streams.release(flow)

    def release(self, flow: bytes) -> None:
        """Nobody will ask for this connection any more."""
        with self._asking:
            self._streams.release(flow)

    def close(self) -> None:
        """After the last browser's end."""
        os.eventfd_write(self._end, 1)
        self._thread.join()
        os.close(self._end)
        self._ring.close()

    def _keep_empty(self) -> None:
        there = select.poll()
        there.register(self._ring, select.POLLIN)
        there.register(self._end, select.POLLIN)
        while self._end not in dict(there.poll()):
            with self._asking:
                self._drain()
            time.sleep(PAUSE_S)

    def _drain(self) -> None:
        for packet in self._ring.packets():
            one = segment(packet)
            if one is not None:
                self._streams.feed(one)


@contextlib.contextmanager
def capturing(sock: socket.socket | None) -> Iterator[Capture | None]:
    """A capture by a socket that was opened where browsers will be; None if there is no socket, or no ring for it."""
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
    """Of loopback, in the network namespace of this process; None where that is not allowed (CAP_NET_RAW)."""
    with contextlib.ExitStack() as stack:
        try:
            sock = stack.enter_context(contextlib.closing(open_socket(LOOPBACK)))
        except OSError:
            yield None
            return
        yield stack.enter_context(capturing(sock))
