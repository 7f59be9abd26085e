"""Adds to a log's events the bytes that they count, from the packet capture, decrypted by the browser's key log.

The log says which socket read how many bytes, and when. The capture has these bytes already: a packet is captured
before the kernel hands it to the browser.
"""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING, Any

from crawler.capture.ciphers import CannotDecrypt
from crawler.capture.keylog import MASTER_SECRET, SERVER_TRAFFIC_SECRET
from crawler.capture.records import RecordDecrypter
from crawler.capture.segments import flow
from crawler.netlog.event import endpoint
from crawler.netlog.hello import client_random, server_random

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.capture.capture import Capture
    from crawler.capture.keylog import KeyLog
    from crawler.capture.tcp_reassembly import TcpStream
    from crawler.netlog import params
    from crawler.netlog.event import Event

KEY_WITHIN_S = 1.0
"""Time limit for a key after the handshake: the browser writes its key log in a thread of its own."""

POLL_S = 0.002

SEALED_LIMIT = 4 * 1024 * 1024
"""Most encrypted bytes of a connection that are kept until its key is needed."""

LABELS = {"TLS 1.3": SERVER_TRAFFIC_SECRET, "TLS 1.2": MASTER_SECRET}


@dataclasses.dataclass(slots=True)
class Socket:
    """State of one TCP connection."""

    flow: bytes
    stream: TcpStream | None
    """None once bytes are missing: the position of all later bytes is unknown."""
    is_secured: bool = False
    client_randoms: list[bytes] = dataclasses.field(default_factory=list)
    """Randoms of the ClientHello and of the encrypted one within it (RFC 9849): the key is logged by either."""
    server_random: bytes = b""
    version: str = ""
    cipher_suite: int = 0
    sealed: list[bytes] = dataclasses.field(default_factory=list)
    """Encrypted bytes that came before the key was needed."""
    sealed_bytes: int = 0
    decrypter: RecordDecrypter | None = None


class LogPayloads:
    """Fills in the events of one browser, in the order of its log."""

    def __init__(self, capture: Capture, keys: KeyLog) -> None:
        self._capture = capture
        self._keys = keys
        self._sockets: dict[int, Socket] = {}
        self.missed = 0
        """Events whose bytes are missing: no size includes them."""

    def fill(self, event: Event[Any]) -> Event[Any]:
        """The event, with its bytes if it counts bytes and they were captured."""
        handler = HANDLERS.get((event.name, event.phase))
        data = None if handler is None else handler(self, event)
        return event if data is None else event._replace(data=data)

    @property
    def wanted(self) -> frozenset[str]:
        """Names of the events to feed, all of them."""
        return frozenset(name for name, _ in HANDLERS)

    def close(self) -> None:
        """Release all connections, after the browser's end."""
        for sock in self._sockets.values():
            self._capture.release(sock.flow)
        self._sockets.clear()

    def _connected(self, event: Event[params.Connected]) -> None:
        local, remote = event.params.get("local_address"), event.params.get("remote_address")
        if not local or not remote:
            return
        try:
            key = flow(endpoint(local), endpoint(remote))
        except ValueError:  # not an address: the connection's bytes will be missing
            return
        sock = self._sockets[event.source] = Socket(key, self._capture.claim(key))
        if sock.stream is None:
            self._capture.missed(key)

    def _client_hello(self, event: Event[params.NoParams]) -> None:
        sock = self._sockets.get(event.source)
        random = client_random(event.content())
        if sock is not None and random is not None:
            sock.client_randoms.append(random)

    def _server_hello(self, event: Event[params.NoParams]) -> None:
        sock = self._sockets.get(event.source)
        random = server_random(event.content())
        if sock is not None and random is not None:
            sock.server_random = random

    def _tls_connect(self, event: Event[params.NoParams]) -> None:
        sock = self._sockets.get(event.source)
        if sock is not None:
            sock.is_secured = True

    def _tls_connected(self, event: Event[params.Secured]) -> None:
        sock, version = self._sockets.get(event.source), event.params.get("version")
        if sock is not None and version:
            sock.version, sock.cipher_suite = version, event.params.get("cipher_suite", 0)

    def _socket_bytes(self, event: Event[params.ByteCount]) -> bytes | None:
        sock, size = self._sockets.get(event.source), event.params["byte_count"]
        if size <= 0:
            return None
        data = None if sock is None or sock.stream is None else self._capture.take(sock.stream, size)
        if sock is None or data is None:
            self._miss(sock)
            return None
        if sock.decrypter is not None:
            sock.decrypter.feed(data)
        elif sock.is_secured:
            sock.sealed.append(data)
            sock.sealed_bytes += size
            if sock.sealed_bytes > SEALED_LIMIT:
                self._miss(sock)
                return None
        return data

    def _plain_bytes(self, event: Event[params.ByteCount]) -> bytes | None:
        sock, size = self._sockets.get(event.source), event.params["byte_count"]
        if size <= 0:
            return None
        if sock is not None and sock.decrypter is None and sock.stream is not None:
            sock.decrypter = self._decrypter(sock)
            sock.sealed.clear()
        data = None if sock is None or sock.decrypter is None else sock.decrypter.take(size)
        if data is None:
            self._miss(sock)
        return data

    def _decrypter(self, sock: Socket) -> RecordDecrypter | None:
        found = self._secret(sock)
        if found is None:
            return None
        random, secret = found
        try:
            decrypter = RecordDecrypter(
                sock.version,
                sock.cipher_suite,
                secret,
                server_random=sock.server_random,
                client_random=random,
            )
        except CannotDecrypt:
            return None
        for data in sock.sealed:
            decrypter.feed(data)
        return decrypter

    def _secret(self, sock: Socket) -> tuple[bytes, bytes] | None:
        label = LABELS.get(sock.version)
        deadline = time.monotonic() + KEY_WITHIN_S
        while label and sock.client_randoms:
            for random in sock.client_randoms:
                if (secret := self._keys.secret(label, random)) is not None:
                    return random, secret
            if time.monotonic() > deadline or not self._capture.is_trusted:
                return None
            time.sleep(POLL_S)
        return None

    def _miss(self, sock: Socket | None) -> None:
        self.missed += 1
        if sock is not None and sock.stream is not None:
            self._capture.missed(sock.flow)
            sock.stream = sock.decrypter = None
            sock.sealed.clear()

    def _closed(self, event: Event[params.NoParams]) -> None:
        if (sock := self._sockets.pop(event.source, None)) is not None:
            self._capture.release(sock.flow)


HANDLERS: dict[tuple[str, str], Callable[[LogPayloads, Event[Any]], bytes | None]] = {
    ("TCP_CONNECT", "END"): LogPayloads._connected,
    ("SSL_HANDSHAKE_MESSAGE_SENT", "NONE"): LogPayloads._client_hello,
    ("SSL_ENCRYPTED_CLIENT_HELLO", "NONE"): LogPayloads._client_hello,
    ("SSL_HANDSHAKE_MESSAGE_RECEIVED", "NONE"): LogPayloads._server_hello,
    ("SSL_CONNECT", "BEGIN"): LogPayloads._tls_connect,
    ("SSL_CONNECT", "END"): LogPayloads._tls_connected,
    ("SOCKET_BYTES_RECEIVED", "NONE"): LogPayloads._socket_bytes,
    ("SSL_SOCKET_BYTES_RECEIVED", "NONE"): LogPayloads._plain_bytes,
    ("SOCKET_ALIVE", "END"): LogPayloads._closed,
}
"""Handlers by event and phase; they return the event's bytes."""
