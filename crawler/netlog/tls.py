"""What of a TLS connection's TCP payload is handshake, tickets and records (RFC 8446 §5, RFC 5246 §6.2).

Records are told by their clear headers; what is inside an encrypted one is known from the order in which the
browser reports handshake messages and plaintext.
"""

from __future__ import annotations

from collections import deque
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.netlog.netlog import Encoded

RECORD_HEADER_BYTES = 5

CHANGE_CIPHER_SPEC = 20
ALERT = 21
HANDSHAKE = 22
APPLICATION_DATA = 23

SERVER_HELLO = 2
NEW_SESSION_TICKET = 4
KEY_UPDATE = 24

ALERT_BYTES = 2
TLS13_EXPANSION = 17
"""Content type and AEAD tag."""

CHACHA20 = frozenset({0xCCA8, 0xCCA9, 0xCCAA})
GCM = frozenset({0x009C, 0x009D, 0x009E, 0x009F, 0xC02B, 0xC02C, 0xC02F, 0xC030})


def expansion(version: str, cipher_suite: int) -> int | None:
    """Bytes by which a record's payload is longer than its plaintext; None where that varies (CBC)."""
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
        """What arrived and the browser never read: records, the last perhaps cut off, and the rest of one half read."""
        self.expansion: int | None = TLS13_EXPANSION
        self._header = b""
        self._left = 0
        self._kind = 0
        self._length = 0
        self._sealed: deque[int] = deque()
        """Lengths of encrypted records that arrived whole and whose content is not known yet."""
        self._own = 0
        """Bytes in records of the handshake's own kind, counted already, whose messages are not reported yet."""
        self._handshake_due = 0
        self._handshake_seen = 0
        self._plain_due = 0
        self._plain_seen = 0

    def feed(self, data: bytes | Encoded) -> None:
        """More TCP payload."""
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
        if self._kind in (HANDSHAKE, CHANGE_CIPHER_SPEC):
            self.handshake_bytes += whole
            self._own += self._length if self._kind == HANDSHAKE else 0
        elif self._kind == APPLICATION_DATA:
            self._sealed.append(self._length)
        else:
            self.record_bytes += whole

    def handshake_message(self, kind: int, size: int) -> None:
        """The browser read a handshake message of `size` bytes, its header included."""
        # TLS 1.2 has all its handshake in records of that kind, TLS 1.3 only what is not encrypted.
        if size <= self._own or kind == SERVER_HELLO or not self._sealed:
            self._own = max(0, self._own - size)
            return
        if kind in (NEW_SESSION_TICKET, KEY_UPDATE):
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
        else:  # it shares a record, whose header and tag count as the record's
            self.ticket_bytes += size
            self._plain_due += size

    def plaintext(self, size: int) -> None:
        """The browser read `size` bytes of application data."""
        self._plain_due += size
        if self.expansion is None:  # CBC padding varies: settled in sum, at the end
            return
        while self._plain_seen < self._plain_due and self._sealed:
            self.record_bytes += RECORD_HEADER_BYTES + self.expansion
            self._plain_seen += self._sealed.popleft() - self.expansion

    def finish(self) -> None:
        """No more will come: what is left is alerts, or never reached the browser."""
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
