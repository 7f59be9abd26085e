"""Decrypts the records that a TLS server sent, by the secret in the browser's key log (RFC 8446 §5, RFC 5246 §6).

Renegotiation is not supported: nothing is decrypted after it.
"""

from __future__ import annotations

from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305

from crawler.capture.ciphers import (
    DIGEST_BYTES,
    NONCE_BYTES,
    TLS12_SUITES,
    TLS13_SUITES,
    Aead13,
    CannotDecrypt,
    Protection,
    Suite,
    expand_label,
    protection,
)
from crawler.netlog.tls import RECORD_HEADER_BYTES, ContentType, HandshakeType

MESSAGE_HEADER_BYTES = 4

CONTENT_TYPES = frozenset(ContentType)
PAYLOAD_LIMIT = 2**14 + 2048
"""Most bytes of a record without its header; TLS 1.2's limit, which is the larger."""

HANDSHAKE_RECORDS_LIMIT = 64
"""Most encrypted handshake records of TLS 1.3 that are skipped; servers send one to ten."""


class RecordDecrypter:
    """Turns the TCP payload that a TLS connection received into application data.

    `version` is as in Chromium's log; `secret` is TLS 1.2's master secret or TLS 1.3's SERVER_TRAFFIC_SECRET_0.
    Raises CannotDecrypt for an unsupported version or suite; `feed` and `take` never raise.
    """

    def __init__(
        self, version: str, cipher_suite: int, secret: bytes, *, server_random: bytes, client_random: bytes
    ) -> None:
        suite = {"TLS 1.2": TLS12_SUITES, "TLS 1.3": TLS13_SUITES}.get(version, {}).get(cipher_suite)
        if suite is None:
            raise CannotDecrypt(f"{version}, {cipher_suite:#06x}")
        self._records: Tls12Records | Tls13Records
        if version == "TLS 1.3":
            self._records = Tls13Records(suite, secret)
        else:
            self._records = Tls12Records(protection(suite, secret, server_random + client_random))
        self._unread = bytearray()
        """The record that has not come whole yet."""
        self._decrypted = bytearray()
        self._ended = False

    def feed(self, data: bytes) -> None:
        """Take more of the TCP payload, from the connection's first byte on, cut anywhere."""
        if self._ended:
            return
        self._unread += data
        try:
            del self._unread[: self._read()]
        except CannotDecrypt:
            self._ended = True
            self._unread.clear()

    def take(self, size: int) -> bytes | None:
        """The next `size` bytes of application data; None, and nothing taken, if not all of them were decrypted.

        There are no bytes after a record that cannot be decrypted.
        """
        if not 0 <= size <= len(self._decrypted):
            return None
        taken = bytes(memoryview(self._decrypted)[:size])
        del self._decrypted[:size]
        return taken

    def _read(self) -> int:
        """Decrypt the records that are whole, and return how many bytes they took."""
        at = 0
        while at + RECORD_HEADER_BYTES <= len(self._unread):
            payload_at = at + RECORD_HEADER_BYTES
            header = bytes(self._unread[at:payload_at])
            length = int.from_bytes(header[3:], "big")
            if header[0] not in CONTENT_TYPES or length > PAYLOAD_LIMIT:
                raise CannotDecrypt("not a record")
            if payload_at + length > len(self._unread):
                break
            at = payload_at + length
            self._decrypted += self._records.read(header, self._unread[payload_at:at])
        return at


class Tls13Records:
    """The records of a TLS 1.3 server, in order."""

    def __init__(self, suite: Suite, secret: bytes) -> None:
        self._suite = suite
        self._secret = secret
        self._skipped = 0
        self._protection = self._next_protection()
        self._sequence = 0
        self._has_begun = False
        """True once a record was decrypted: the records before it are under the handshake's keys, which are not logged."""
        self._message_header = b""
        self._message_left = 0

    def _next_protection(self) -> Aead13:
        """Protection under the current secret (RFC 8446 §7.3)."""
        key = expand_label(self._secret, "key", self._suite.key_bytes, hash_=self._suite.hash)
        iv = expand_label(self._secret, "iv", NONCE_BYTES, hash_=self._suite.hash)
        return Aead13(AESGCM(key) if self._suite.cipher is AESGCM else ChaCha20Poly1305(key), iv)

    def read(self, header: bytes, payload: bytearray) -> bytes | memoryview:
        """The application data in a record, if any; raises CannotDecrypt."""
        if header[0] != ContentType.APPLICATION_DATA:
            return b""
        try:
            inner = self._protection.open(self._sequence, header, payload)
        except CannotDecrypt:
            self._skipped += 1
            if self._has_begun or self._skipped > HANDSHAKE_RECORDS_LIMIT:
                raise
            return b""
        self._has_begun = True
        self._sequence += 1
        if inner and not inner[-1]:
            inner = inner.rstrip(b"\0")
        return self._content(inner)

    def _content(self, inner: bytes) -> bytes | memoryview:
        """The application data in a TLSInnerPlaintext without padding (RFC 8446 §5.2)."""
        kind = inner[-1] if inner else None
        if kind == ContentType.APPLICATION_DATA:
            return memoryview(inner)[:-1]
        if kind == ContentType.HANDSHAKE:
            self._messages(inner[:-1])
        elif kind != ContentType.ALERT:
            raise CannotDecrypt("a record without a content type")
        return b""

    def _messages(self, content: bytes) -> None:
        """Skip post-handshake messages, except KeyUpdate."""
        at = 0
        while at < len(content):
            if not self._message_left:
                missing = MESSAGE_HEADER_BYTES - len(self._message_header)
                self._message_header += content[at : at + missing]
                at += missing
                if len(self._message_header) < MESSAGE_HEADER_BYTES:
                    return
                self._message_left = int.from_bytes(self._message_header[1:], "big")
            skipped = min(self._message_left, len(content) - at)
            self._message_left -= skipped
            at += skipped
            if not self._message_left:
                kind, self._message_header = self._message_header[0], b""
                if kind == HandshakeType.KEY_UPDATE:
                    self._update(is_last=at == len(content))

    def _update(self, *, is_last: bool) -> None:
        """Move on to the next secret (RFC 8446 §7.2). Nothing may follow in the same record (§5.1)."""
        if not is_last:
            raise CannotDecrypt("a message under the wrong key")
        self._secret = expand_label(
            self._secret, "traffic upd", DIGEST_BYTES[self._suite.hash], hash_=self._suite.hash
        )
        self._protection = self._next_protection()
        self._sequence = 0


class Tls12Records:
    """The records of a TLS 1.2 server, in order: in the clear until its ChangeCipherSpec."""

    def __init__(self, protection: Protection) -> None:
        self._protection = protection
        self._sequence: int | None = None

    def read(self, header: bytes, payload: bytearray) -> bytes:
        """The application data in a record, if any; raises CannotDecrypt."""
        kind = header[0]
        if self._sequence is None:
            if kind == ContentType.APPLICATION_DATA:
                raise CannotDecrypt("application data in the clear")
            self._sequence = 0 if kind == ContentType.CHANGE_CIPHER_SPEC else None
            return b""
        plaintext = self._protection.open(self._sequence, header, payload)
        self._sequence += 1
        return plaintext if kind == ContentType.APPLICATION_DATA else b""
