"""Accounts for the TCP payload of a TLS connection: handshake, tickets and records (RFC 8446 §5, RFC 5246 §6.2).

The headers of records are in the clear. The content of encrypted records follows from the order in which the browser
logs handshake messages and plaintext.
"""

from __future__ import annotations

import enum
from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.netlog.event import Encoded

RECORD_HEADER_BYTES = 5


class ContentType(enum.IntEnum):
    """Types of records (RFC 8446 §5.1)."""

    CHANGE_CIPHER_SPEC = 20
    ALERT = 21
    HANDSHAKE = 22
    APPLICATION_DATA = 23


class HandshakeType(enum.IntEnum):
    """Types of handshake messages (RFC 8446 §4)."""

    CLIENT_HELLO = 1
    SERVER_HELLO = 2
    NEW_SESSION_TICKET = 4
    KEY_UPDATE = 24


ALERT_BYTES = 2
TLS13_EXPANSION = 17
"""Content type and AEAD tag."""

CHACHA20 = frozenset({0xCCA8, 0xCCA9, 0xCCAA})
GCM = frozenset({0x009C, 0x009D, 0x009E, 0x009F, 0xC02B, 0xC02C, 0xC02F, 0xC030})


def expansion(version: str, cipher_suite: int) -> int | None:
    """Bytes by which a record's payload exceeds its plaintext; None if they vary (CBC)."""
    if version == "TLS 1.3":
        return TLS13_EXPANSION
    if cipher_suite in CHACHA20:
        return 16
    return 24 if cipher_suite in GCM else None


class RecordReader:
    """Accounts for the TCP payload of one TLS connection."""

    def __init__(self) -> None:
        self.handshake_bytes = 0
        self.ticket_bytes = 0
        self.record_bytes = 0
        """Headers, tags and alerts of the records that carried plaintext."""
        self.unread_bytes = 0
        """Bytes that the browser never read: records, the last perhaps cut off, and the rest of a record half read."""
        self.expansion: int | None = TLS13_EXPANSION
        self._header = b""
        self._left = 0
        self._kind = 0
        self._length = 0
        self._sealed: deque[int] = deque()
        """Lengths of the whole encrypted records whose content is not known yet."""
        self._own = 0
        """Bytes in handshake records, counted already, whose messages are not logged yet."""
        self._handshake_due = 0
        self._handshake_seen = 0
        self._plain_due = 0
        self._plain_seen = 0

    def feed(self, data: bytes | Encoded) -> None:
        """Count more TCP payload."""
        at = 0
        while at < len(data):
            if self._left:
                taken = min(self._left, len(data) - at)
                self._left -= taken
                at += taken
            else:
                taken = min(RECORD_HEADER_BYTES - len(self._header), len(data) - at)
                self._header += data[at : at + taken]
                at += taken
                if len(self._header) < RECORD_HEADER_BYTES:
                    return
                self._kind = self._header[0]
                self._length = self._left = int.from_bytes(self._header[3:], "big")
                self._header = b""
            if not self._left:
                self._record()

    def _record(self) -> None:
        whole = RECORD_HEADER_BYTES + self._length
        if self._kind in (ContentType.HANDSHAKE, ContentType.CHANGE_CIPHER_SPEC):
            self.handshake_bytes += whole
            self._own += self._length if self._kind == ContentType.HANDSHAKE else 0
        elif self._kind == ContentType.APPLICATION_DATA:
            self._sealed.append(self._length)
        else:
            self.record_bytes += whole

    def handshake_message(self, kind: int, size: int) -> None:
        """The browser read a handshake message of `size` bytes, header included."""
        # All handshake messages of TLS 1.2 are in handshake records; of TLS 1.3, only those that are not encrypted.
        if size <= self._own or kind == HandshakeType.SERVER_HELLO or not self._sealed:
            self._own = max(0, self._own - size)
            return
        if kind in (HandshakeType.NEW_SESSION_TICKET, HandshakeType.KEY_UPDATE):
            self._ticket(size)
            return
        self._handshake_due += size
        while self._handshake_seen < self._handshake_due and self._sealed:
            length = self._sealed.popleft()
            self.handshake_bytes += RECORD_HEADER_BYTES + length
            self._handshake_seen += length - TLS13_EXPANSION

    def _ticket(self, size: int) -> None:
        length = size + TLS13_EXPANSION
        if length in self._sealed:
            self._sealed.remove(length)
            self.ticket_bytes += RECORD_HEADER_BYTES + length
        else:  # it shares a record, whose header and tag count with the record
            self.ticket_bytes += size
            self._plain_due += size

    def plaintext(self, size: int) -> None:
        """The browser read `size` bytes of application data."""
        self._plain_due += size
        if self.expansion is None:  # CBC padding varies: `finish` settles the sum
            return
        while self._plain_seen < self._plain_due and self._sealed:
            self.record_bytes += RECORD_HEADER_BYTES + self.expansion
            self._plain_seen += self._sealed.popleft() - self.expansion

    def finish(self) -> None:
        """Settle the count: the records left are alerts, or never reached the browser."""
        if self.expansion is None:
            sealed = sum(self._sealed) + RECORD_HEADER_BYTES * len(self._sealed)
            self.record_bytes += max(0, sealed - self._plain_due)
            return
        alert = ALERT_BYTES + self.expansion
        alerts = self._sealed.count(alert) * (RECORD_HEADER_BYTES + alert)
        self.record_bytes += alerts
        begun = RECORD_HEADER_BYTES + self._length - self._left if self._left else len(self._header)
        half_read = max(0, self._plain_seen - self._plain_due)
        sealed = sum(self._sealed) + RECORD_HEADER_BYTES * len(self._sealed) - alerts
        self.unread_bytes = sealed + begun + half_read
