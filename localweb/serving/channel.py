"""One TCP connection with its TLS: every byte is handed to the kernel by a send of ours,
counted and timed."""

import array
import asyncio
import fcntl
import socket
import struct
import termios
from typing import NamedTuple

from localweb.serving.log import SentConnection, now_us
from localweb.serving.tls import TLSFailure, TLSLayer

READ_SIZE = 262_144
DRAIN_S = 5.0
POLL_S = 0.001

SIOCOUTQNSD = 0x894B
"""ioctl: unsent bytes in the send queue; TIOCOUTQ also counts bytes that are sent but not acknowledged."""


class Handed(NamedTuple):
    """Times just before the sends that took the first and the last byte."""

    first_us: int
    last_us: int


class Gone(ConnectionError):
    """The client has closed or reset the connection or the stream."""


class ProtocolViolation(Exception):  # the client's mistake, not ours
    """The client sent something that is not HTTP; the connection is dropped."""


class Channel:
    """Plaintext in and out. TCP_NODELAY makes bytes leave as soon as they are handed over."""

    def __init__(self, sock: socket.socket, entry: SentConnection, tls: TLSLayer | None) -> None:
        sock.setblocking(False)
        sock.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        self.entry = entry
        self.is_gone = False
        """True if the client has ended its side; browsers do not half-close."""
        self.is_finished = False
        self.came_us = 0
        """Time at which the client's last bytes arrived, before decryption."""
        self._socket = sock
        self._tls = tls
        self._is_reset = False
        """From the reset on, the loop must not watch a descriptor that may soon be another connection's."""
        self._receiving: asyncio.Task[bytes] | None = None
        self._writing = asyncio.Event()
        self._early = b""

    async def secure(self) -> str | None:
        """Do the TLS handshake, if there is TLS; return ALPN's protocol."""
        if self._tls is None:
            return None
        while not self._tls.is_secured:
            octets = await self._receive()
            if not octets:
                raise Gone
            self._early += await self._open(self._tls, octets)
        self.entry.sni, self.entry.tls_version = self._tls.server_name, self._tls.version
        self.entry.tls_resumed, self.entry.secured_us = self._tls.is_resumed, self.came_us
        return self._tls.protocol

    async def receive(self) -> bytes:
        """Return the next plaintext; empty if the client has closed or reset the connection."""
        early, self._early = self._early, b""
        if early:
            return early
        # The last data and close_notify may have come together.
        while not (self._tls and self._tls.is_ended):
            octets = await self._receive()
            if not octets:
                return b""
            plaintext = await self._open(self._tls, octets) if self._tls else octets
            if plaintext:
                return plaintext
        self._has_ended()
        return b""

    async def _open(self, tls: TLSLayer, octets: bytes) -> bytes:
        try:
            plaintext = tls.receive(octets)
        except TLSFailure as exc:
            self.entry.error = str(exc)
            await self.transmit(tls.to_send())
            raise Gone(str(exc)) from exc
        await self.transmit(tls.to_send())
        self.entry.tls_handshake_bytes, self.entry.tls_ticket_bytes = tls.handshake_bytes, tls.ticket_bytes
        return plaintext

    async def _receive(self) -> bytes:
        if self._is_reset:
            return b""
        receiving = asyncio.get_running_loop().sock_recv(self._socket, READ_SIZE)
        self._receiving = asyncio.ensure_future(receiving)
        try:
            octets = await self._receiving
        except ConnectionError:
            octets = b""
        except asyncio.CancelledError:
            if not self._is_reset:
                raise
            octets = b""
        self.entry.received_bytes += len(octets)
        if octets:
            self.came_us = now_us()
        else:
            self._has_ended()
        return octets

    async def send(self, plaintext: bytes) -> Handed:
        """Hand all of it to TCP, inside TLS if there is TLS; or Gone."""
        handed = await self.transmit(self._tls.encrypt(plaintext) if self._tls else plaintext)
        if self._tls:
            self.entry.tls_ticket_bytes = self._tls.ticket_bytes
            self.entry.record_bytes = self._tls.record_bytes
        self.entry.plaintext_bytes += len(plaintext)
        return handed

    async def transmit(self, octets: bytes) -> Handed:
        """Hand all of it to TCP as it is; or Gone."""
        left = memoryview(octets)
        first_us = last_us = 0
        while left:
            if self.is_gone or self._is_reset:
                raise Gone
            before_us = now_us()
            try:
                size = self._socket.send(left)
            except BlockingIOError:
                await self._writable()
                continue
            except ConnectionError as exc:
                self._has_ended()
                raise Gone from exc
            first_us, last_us = first_us or before_us, before_us
            self.entry.sent_bytes += size
            left = left[size:]
        return Handed(first_us, last_us)

    def _has_ended(self) -> None:
        if self.is_gone:
            return
        self.is_gone = True
        self.entry.closed_us = now_us()
        self.entry.unsent_bytes = self._count_queued(SIOCOUTQNSD)
        if self.entry.unsent_bytes:  # or the kernel would go on sending it
            self._abandon()

    def _abandon(self) -> None:
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))

    async def _writable(self) -> None:
        loop = asyncio.get_running_loop()
        loop.add_writer(self._socket, self._writing.set)
        try:
            await self._writing.wait()
        finally:
            self._writing.clear()
            if self._socket.fileno() >= 0:
                loop.remove_writer(self._socket)

    async def finish(self) -> None:
        """Send FIN, after close_notify over TLS; the client's side stays open."""
        if self._tls and self._tls.is_secured:
            await self.transmit(self._tls.close_notify())
        self._socket.shutdown(socket.SHUT_WR)
        self.is_finished = True

    async def reset(self) -> None:
        """Send RST as soon as the client's kernel has acknowledged what was sent."""
        async with asyncio.timeout(DRAIN_S):
            while self._count_queued(termios.TIOCOUTQ) and not self.is_gone:
                await asyncio.sleep(POLL_S)
        self._abandon()
        self._is_reset = True
        if self._receiving:
            self._receiving.cancel()
            await asyncio.wait([self._receiving])
        self.close()

    def _count_queued(self, request: int) -> int:
        size = array.array("i", [0])
        fcntl.ioctl(self._socket, request, size)
        return size[0]

    def close(self) -> None:
        if self._socket.fileno() < 0:
            return
        self.is_finished = True
        self._has_ended()
        asyncio.get_running_loop().remove_writer(self._socket)
        self._writing.set()
        self._socket.close()
