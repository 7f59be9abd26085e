"""The smallest round trip of TCP connections, as the kernel of the browsers' network measured it (TCP_INFO).

sock_diag(7), linux/inet_diag.h: the kernel answers for sockets that exist,
and reports those that it destroys.
"""

import contextlib
import socket
import struct
import time
from collections.abc import Iterator

from crawler.capture.packets import PORT

# linux/netlink.h, linux/sock_diag.h, linux/inet_diag.h
NETLINK_SOCK_DIAG = 4
NLM_F_REQUEST = 1
SOCK_DIAG_BY_FAMILY = 20
TCP_DESTROYED, TCP6_DESTROYED = 1 << 0, 1 << 2
"""Multicast groups SKNLGRP_INET_TCP_DESTROY and SKNLGRP_INET6_TCP_DESTROY."""
INET_DIAG_INFO = 2
ALL_STATES = 0xFFFF_FFFF
NO_COOKIE = b"\xff" * 8

HEADER = struct.Struct("=IHHII")
"""struct nlmsghdr: length, type, flags, sequence number, port."""
REQUEST = struct.Struct("=BBBxI")
"""Start of struct inet_diag_req_v2: family, protocol, extensions, states."""
SOCKET = struct.Struct("=4x2s2s16s16s32x")
"""struct inet_diag_msg: ports and addresses of this end and the other."""
FAMILY = struct.Struct("=B")
ATTRIBUTE = struct.Struct("=HH")
MIN_RTT = struct.Struct("=I")
MIN_RTT_AT = 148
"""Offset of `tcpi_min_rtt` in struct tcp_info (linux/tcp.h)."""
NO_RTT = 0xFFFF_FFFF

RECEIVE_BUFFER_BYTES = 1 << 20
"""Buffer for reports; the kernel grants at most net.core.rmem_max, and drops reports that find no room."""
MESSAGE_BYTES = 1 << 14
REPORTS_LIMIT = 4096
"""Most destroyed sockets that are remembered; the oldest are forgotten first."""

Ends = tuple[bytes, bytes]


def open_tcp_info() -> socket.socket:
    """Open a socket that asks for the TCP connections of this network namespace, and hears of those that end.

    Needs no capability. It belongs to the namespace, whichever process holds it;
    OSError if the kernel has no sock_diag.
    """
    with contextlib.ExitStack() as stack:
        kernel = socket.socket(socket.AF_NETLINK, socket.SOCK_RAW | socket.SOCK_CLOEXEC, NETLINK_SOCK_DIAG)
        stack.callback(kernel.close)
        kernel.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, RECEIVE_BUFFER_BYTES)
        kernel.bind((0, TCP_DESTROYED | TCP6_DESTROYED))
        stack.pop_all()
        return kernel


class SmallestRoundTrips:
    """Smallest round trips by the ends of a connection.

    Memory is bounded. Not thread-safe; the caller closes the socket.
    """

    def __init__(self, kernel: socket.socket) -> None:
        self._kernel = kernel
        self._destroyed: dict[Ends, tuple[int, int]] = {}
        """Time of the report on a destroyed socket, in ns of CLOCK_MONOTONIC, and its smallest round trip."""
        self._asked = 0

    def fileno(self) -> int:
        """Return the descriptor for select and poll: readable when a socket was destroyed."""
        return self._kernel.fileno()

    def drain(self) -> None:
        for _, ends, trip_us in self._messages():
            self._keep(ends, trip_us)

    def take(self, client: bytes, server: bytes, *, since_ns: int) -> int | None:
        """Return the smallest round trip in µs of the connection that began at `since_ns` of CLOCK_MONOTONIC;
        None if unknown.
        """
        living = self._ask(client, server)
        report = self._destroyed.pop((client, server), None)
        if living is not None:
            return living
        return report[1] if report is not None and report[0] >= since_ns else None

    def _ask(self, client: bytes, server: bytes) -> int | None:
        self._asked += 1
        family = socket.AF_INET if len(client) == len(server) == 4 + PORT.size else socket.AF_INET6
        wanted = REQUEST.pack(family, socket.IPPROTO_TCP, 1 << (INET_DIAG_INFO - 1), ALL_STATES) + (
            client[-PORT.size :]
            + server[-PORT.size :]
            + client[: -PORT.size].ljust(16, b"\0")
            + server[: -PORT.size].ljust(16, b"\0")
            + bytes(4)
            + NO_COOKIE
        )
        length = HEADER.size + len(wanted)
        try:
            self._kernel.send(
                HEADER.pack(length, SOCK_DIAG_BY_FAMILY, NLM_F_REQUEST, self._asked, 0) + wanted
            )
        except OSError:  # no memory for it
            return None
        smallest_us = None
        for number, ends, trip_us in self._messages():  # the kernel answers within the call
            if number == self._asked and ends == (client, server):
                smallest_us = trip_us
            elif not number:
                self._keep(ends, trip_us)
        return smallest_us

    def _keep(self, ends: Ends, trip_us: int) -> None:
        self._destroyed.pop(ends, None)
        self._destroyed[ends] = time.monotonic_ns(), trip_us
        if len(self._destroyed) > REPORTS_LIMIT:
            del self._destroyed[next(iter(self._destroyed))]

    def _messages(self) -> Iterator[tuple[int, Ends, int]]:
        """Yield sequence number (0: a report), ends and smallest round trip in µs of each socket."""
        for _ in range(REPORTS_LIMIT):  # a limit: sockets may end faster than they are read
            try:
                message = self._kernel.recv(MESSAGE_BYTES, socket.MSG_DONTWAIT)
            except BlockingIOError:
                return
            except OSError:  # ENOBUFS: reports were dropped
                continue
            _, kind, _, number, _ = HEADER.unpack_from(message)
            if kind != SOCK_DIAG_BY_FAMILY or len(message) < HEADER.size + SOCKET.size:
                continue
            trip_us = _smallest(message)
            if trip_us is not None:
                yield number, _ends(message), trip_us


def _ends(message: bytes) -> Ends:
    (family,) = FAMILY.unpack_from(message, HEADER.size)
    size = 4 if family == socket.AF_INET else 16
    port, peer_port, source, destination = SOCKET.unpack_from(message, HEADER.size)
    return source[:size] + port, destination[:size] + peer_port


def _smallest(message: bytes) -> int | None:
    at = HEADER.size + SOCKET.size
    while at + ATTRIBUTE.size <= len(message):
        length, kind = ATTRIBUTE.unpack_from(message, at)
        if kind == INET_DIAG_INFO and length >= ATTRIBUTE.size + MIN_RTT_AT + MIN_RTT.size:
            (trip_us,) = MIN_RTT.unpack_from(message, at + ATTRIBUTE.size + MIN_RTT_AT)
            return None if trip_us == NO_RTT else int(trip_us)
        at += max(ATTRIBUTE.size, (length + 3) & ~3)
    return None
