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
        for one in self._sockets.values():
            self._capture.release(one.flow)
        self._sockets.clear()

    def _connected(self, event: Event[params.Connected]) -> None:
        local, remote = event.params.get("local_address"), event.params.get("remote_address")
        if not local or not remote:
            return
        try:
            key = flow(endpoint(local), endpoint(remote))
        except ValueError:  # not an address: the connection's bytes will be missing
            return
        one = self._sockets[event.source] = Socket(key, self._capture.claim(key))
        if one.stream is None:
            self._capture.missed(key)

    def _client_hello(self, event: Event[params.NoParams]) -> None:
        one = self._sockets.get(event.source)
        random = client_random(event.content())
        if one is not None and random is not None:
            one.client_randoms.append(random)

    def _server_hello(self, event: Event[params.NoParams]) -> None:
        one = self._sockets.get(event.source)
        random = server_random(event.content())
        if one is not None and random is not None:
            one.server_random = random

    def _tls_connect(self, event: Event[params.NoParams]) -> None:
        one = self._sockets.get(event.source)
        if one is not None:
            one.is_secured = True

    def _tls_connected(self, event: Event[params.Secured]) -> None:
        one, version = self._sockets.get(event.source), event.params.get("version")
        if one is not None and version:
            one.version, one.cipher_suite = version, event.params.get("cipher_suite", 0)

    def _socket_bytes(self, event: Event[params.ByteCount]) -> bytes | None:
        one, size = self._sockets.get(event.source), event.params["byte_count"]
        if size <= 0:
            return None
        data = None if one is None or one.stream is None else self._capture.take(one.stream, size)
        if one is None or data is None:
            self._miss(one)
            return None
        if one.decrypter is not None:
            one.decrypter.feed(data)
        elif one.is_secured:
            one.sealed.append(data)
            one.sealed_bytes += size
            if one.sealed_bytes > SEALED_LIMIT:
                self._miss(one)
                return None
        return data

    def _plain_bytes(self, event: Event[params.ByteCount]) -> bytes | None:
        one, size = self._sockets.get(event.source), event.params["byte_count"]
        if size <= 0:
            return None
        if one is not None and one.decrypter is None and one.stream is not None:
            one.decrypter = self._decrypter(one)
            one.sealed.clear()
        data = None if one is None or one.decrypter is None else one.decrypter.take(size)
        if data is None:
            self._miss(one)
        return data

    def _decrypter(self, one: Socket) -> RecordDecrypter | None:
        found = self._secret(one)
        if found is None:
            return None
        random, secret = found
        try:
            decrypter = RecordDecrypter(
                one.version, one.cipher_suite, secret, server_random=one.server_random, client_random=random
            )
        except CannotDecrypt:
            return None
        for data in one.sealed:
            decrypter.feed(data)
        return decrypter

    def _secret(self, one: Socket) -> tuple[bytes, bytes] | None:
        label = LABELS.get(one.version)
        deadline = time.monotonic() + KEY_WITHIN_S
        while label and one.client_randoms:
            for random in one.client_randoms:
                if (secret := self._keys.secret(label, random)) is not None:
                    return random, secret
            if time.monotonic() > deadline or not self._capture.is_trusted:
                return None
            time.sleep(POLL_S)
        return None

    def _miss(self, one: Socket | None) -> None:
        self.missed += 1
        if one is not None and one.stream is not None:
            self._capture.missed(one.flow)
            one.stream = one.decrypter = None
            one.sealed.clear()

    def _closed(self, event: Event[params.NoParams]) -> None:
        if (one := self._sockets.pop(event.source, None)) is not None:
            self._capture.release(one.flow)


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
