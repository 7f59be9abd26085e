"""Puts into a log's events the bytes that they count: read from the capture, opened by the browser's key log.

The log says which socket read how many bytes, and when; the capture has them, since a packet is captured before the
kernel hands it to the browser.
"""

from __future__ import annotations

import dataclasses
import time
from typing import TYPE_CHECKING

from crawler.capture.keylog import MASTER_SECRET, SERVER_TRAFFIC_SECRET
from crawler.capture.records import CannotOpen, Opener, client_random_of, server_random_of
from crawler.capture.segments import flow
from crawler.netlog.netlog import endpoint

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.capture.capture import Capture
    from crawler.capture.keylog import KeyLog
    from crawler.capture.tcp_reassembly import TcpStream
    from crawler.netlog.netlog import Event

KEY_WITHIN_S = 1.0
"""After the handshake: the browser writes its key log in a thread of its own."""

POLL_S = 0.002

SEALED_LIMIT = 4 * 1024 * 1024
"""Bytes of a connection that are kept until its key is asked for."""

LABELS = {"TLS 1.3": SERVER_TRAFFIC_SECRET, "TLS 1.2": MASTER_SECRET}


@dataclasses.dataclass(slots=True)
class Socket:
    """What it takes to know the bytes of one connection."""

    flow: bytes
    stream: TcpStream | None
    """None once bytes of it could not be had: nothing behind them can be placed."""
    is_secured: bool = False
    client_randoms: list[bytes] = dataclasses.field(default_factory=list)
    """Of the ClientHello, and of the one encrypted within it (RFC 9849), by either of which the key may be logged."""
    server_random: bytes = b""
    version: str = ""
    cipher_suite: int = 0
    sealed: list[bytes] = dataclasses.field(default_factory=list)
    """What came before there was an opener."""
    sealed_bytes: int = 0
    opener: Opener | None = None


class LogPayloads:
    """Feed it the events of one browser in the order of its log."""

    def __init__(self, capture: Capture, keys: KeyLog) -> None:
        self._capture = capture
        self._keys = keys
        self._sockets: dict[int, Socket] = {}
        self.missed = 0
        """Events whose bytes could not be had: what they said is in no size."""

    def fill(self, event: Event) -> Event:
        """The event, with its bytes if it is about bytes and they could be had."""
        handler = HANDLERS.get(event.name)
        return event if handler is None else handler(self, event)

    @property
    def wanted(self) -> frozenset[str]:
        """The events that it looks at: it needs them all."""
        return frozenset(HANDLERS)

    def close(self) -> None:
        """Let all connections go; the browser must have gone."""
        for one in self._sockets.values():
            self._capture.release(one.flow)
        self._sockets.clear()

    def _connected(self, event: Event) -> Event:
        local, remote = event.text("local_address"), event.text("remote_address")
        if event.phase != "END" or not local or not remote:
            return event
        try:
            key = flow(endpoint(local), endpoint(remote))
        except ValueError:  # no address; what comes will be missed
            return event
        one = self._sockets[event.source] = Socket(key, self._capture.claim(key))
        if one.stream is None:
            self._capture.missed(key)
        return event

    def _said(self, event: Event) -> Event:
        one = self._sockets.get(event.source)
        random = client_random_of(event.content())
        if one is not None and random is not None:
            one.client_randoms.append(random)
        return event

    def _heard(self, event: Event) -> Event:
        one = self._sockets.get(event.source)
        random = server_random_of(event.content())
        if one is not None and random is not None:
            one.server_random = random
        return event

    def _secured(self, event: Event) -> Event:
        one = self._sockets.get(event.source)
        if one is not None and event.phase == "BEGIN":
            one.is_secured = True
        elif one is not None and event.text("version"):
            one.version, one.cipher_suite = event.text("version"), event.number("cipher_suite")
        return event

    def _received(self, event: Event) -> Event:
        one, size = self._sockets.get(event.source), event.number("byte_count")
        if size <= 0:
            return event
        data = None if one is None or one.stream is None else self._capture.take(one.stream, size)
        if one is None or data is None:
            return self._lost(one, event)
        if one.opener is not None:
            one.opener.feed(data)
        elif one.is_secured:
            one.sealed.append(data)
            one.sealed_bytes += size
            if one.sealed_bytes > SEALED_LIMIT:
                return self._lost(one, event)
        return event._replace(data=data)

    def _opened(self, event: Event) -> Event:
        one, size = self._sockets.get(event.source), event.number("byte_count")
        if size <= 0:
            return event
        if one is not None and one.opener is None and one.stream is not None:
            one.opener = self._opener(one)
            one.sealed.clear()
        data = None if one is None or one.opener is None else one.opener.take(size)
        return self._lost(one, event) if data is None else event._replace(data=data)

    def _opener(self, one: Socket) -> Opener | None:
        found = self._secret(one)
        if found is None:
            return None
        client_random, secret = found
        try:
            opener = Opener(
                one.version,
                one.cipher_suite,
                secret,
                server_random=one.server_random,
                client_random=client_random,
            )
        except CannotOpen:
            return None
        for data in one.sealed:
            opener.feed(data)
        return opener

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

    def _lost(self, one: Socket | None, event: Event) -> Event:
        self.missed += 1
        if one is not None and one.stream is not None:
            self._capture.missed(one.flow)
            one.stream = one.opener = None
            one.sealed.clear()
        return event

    def _gone(self, event: Event) -> Event:
        if event.phase == "END" and (one := self._sockets.pop(event.source, None)) is not None:
            self._capture.release(one.flow)
        return event


HANDLERS: dict[str, Callable[[LogPayloads, Event], Event]] = {
    "TCP_CONNECT": LogPayloads._connected,
    "SSL_HANDSHAKE_MESSAGE_SENT": LogPayloads._said,
    "SSL_ENCRYPTED_CLIENT_HELLO": LogPayloads._said,
    "SSL_HANDSHAKE_MESSAGE_RECEIVED": LogPayloads._heard,
    "SSL_CONNECT": LogPayloads._secured,
    "SOCKET_BYTES_RECEIVED": LogPayloads._received,
    "SSL_SOCKET_BYTES_RECEIVED": LogPayloads._opened,
    "SOCKET_ALIVE": LogPayloads._gone,
}
