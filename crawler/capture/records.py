"""Opens the records that a TLS server sent, by the secret that the browser logged (RFC 8446 §5, RFC 5246 §6).

TLS 1.3 with all its suites that browsers offer, and TLS 1.2 with AEAD or CBC. Not in it: renegotiation, after which
nothing is opened, and encrypt-then-MAC (RFC 7366), which no Chromium offers.
"""

from __future__ import annotations

import hmac
import io
from dataclasses import dataclass
from typing import Protocol

from cryptography.exceptions import InvalidTag
from cryptography.hazmat.primitives.ciphers import Cipher
from cryptography.hazmat.primitives.ciphers.aead import AESGCM, ChaCha20Poly1305
from cryptography.hazmat.primitives.ciphers.algorithms import AES
from cryptography.hazmat.primitives.ciphers.modes import CBC

from crawler.netlog.tls import (
    ALERT,
    APPLICATION_DATA,
    CHANGE_CIPHER_SPEC,
    HANDSHAKE,
    KEY_UPDATE,
    RECORD_HEADER_BYTES,
    SERVER_HELLO,
)

CLIENT_HELLO = 1

MESSAGE_HEADER_BYTES = 4
VERSION_BYTES = 2
RANDOM_BYTES = 32
HELLO_RETRY_REQUEST = bytes.fromhex("cf21ad74e59a6111be1d8c021e65b891c2a211167abb8c5e079e09e2c8a8339c")
"""The random of a ServerHello that is none (RFC 8446 §4.1.3): SHA-256 of its name."""

KINDS = frozenset({CHANGE_CIPHER_SPEC, ALERT, HANDSHAKE, APPLICATION_DATA})
PAYLOAD_LIMIT = 2**14 + 2048
"""Bytes of a record without its header, TLS 1.2's, the more generous."""

HANDSHAKE_RECORDS_LIMIT = 64
"""Records of TLS 1.3's encrypted handshake that are passed over; servers send one to ten."""

NONCE_BYTES = 12
TAG_BYTES = 16
GCM_SALT_BYTES = 4
GCM_EXPLICIT_BYTES = 8
BLOCK_BYTES = 16


class CannotOpen(Exception):
    """The version or the cipher suite is not known here, or a record does not open."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """What a cipher suite does to records, and the hash from which its keys come."""

    cipher: type[AESGCM | ChaCha20Poly1305 | AES]
    key_bytes: int
    hash: str = "sha256"
    mac: str = ""
    """HMAC's hash, with CBC."""


AES_128_GCM = Suite(cipher=AESGCM, key_bytes=16)
AES_256_GCM = Suite(cipher=AESGCM, key_bytes=32, hash="sha384")
CHACHA20_POLY1305 = Suite(cipher=ChaCha20Poly1305, key_bytes=32)
AES_128_CBC_SHA = Suite(cipher=AES, key_bytes=16, mac="sha1")
AES_256_CBC_SHA = Suite(cipher=AES, key_bytes=32, mac="sha1")
AES_128_CBC_SHA256 = Suite(cipher=AES, key_bytes=16, mac="sha256")

TLS13_SUITES = {0x1301: AES_128_GCM, 0x1302: AES_256_GCM, 0x1303: CHACHA20_POLY1305}
TLS12_SUITES = {
    **dict.fromkeys((0x009C, 0xC02B, 0xC02F), AES_128_GCM),
    **dict.fromkeys((0x009D, 0xC02C, 0xC030), AES_256_GCM),
    **dict.fromkeys((0xCCA8, 0xCCA9, 0xCCAA), CHACHA20_POLY1305),
    **dict.fromkeys((0x002F, 0xC009, 0xC013), AES_128_CBC_SHA),
    **dict.fromkeys((0x0035, 0xC00A, 0xC014), AES_256_CBC_SHA),
    **dict.fromkeys((0x003C, 0xC023, 0xC027), AES_128_CBC_SHA256),
}
DIGEST_BYTES = {"sha1": 20, "sha256": 32, "sha384": 48}


class Opener:
    """Turns the TCP payload that one TLS connection received into application data.

    `version` is as Chromium's log has it; `secret` is TLS 1.2's master secret or TLS 1.3's SERVER_TRAFFIC_SECRET_0.
    Raises CannotOpen for a version or a suite that is not known; nothing else here raises, whatever is fed.
    """

    def __init__(
        self, version: str, cipher_suite: int, secret: bytes, *, server_random: bytes, client_random: bytes
    ) -> None:
        suite = {"TLS 1.2": TLS12_SUITES, "TLS 1.3": TLS13_SUITES}.get(version, {}).get(cipher_suite)
        if suite is None:
            raise CannotOpen(f"{version}, {cipher_suite:#06x}")
        self._stream: Tls12Records | Tls13Records
        if version == "TLS 1.3":
            self._stream = Tls13Records(suite, secret)
        else:
            self._stream = Tls12Records(protection(suite, secret, server_random + client_random))
        self._unread = bytearray()
        """The record that has not come whole."""
        self._opened = bytearray()
        self._ended = False

    def feed(self, data: bytes) -> None:
        """More of the TCP payload, from the connection's first byte on, cut anywhere."""
        if self._ended:
            return
        self._unread += data
        try:
            del self._unread[: self._read()]
        except CannotOpen:
            self._ended = True
            self._unread.clear()

    def take(self, size: int) -> bytes | None:
        """The next `size` bytes of application data, or None and nothing taken if they were not all opened.

        After a record that does not open there are no more bytes.
        """
        if not 0 <= size <= len(self._opened):
            return None
        taken = bytes(memoryview(self._opened)[:size])
        del self._opened[:size]
        return taken

    def _read(self) -> int:
        """Open the records that are there, and give the bytes that they were."""
        at = 0
        while at + RECORD_HEADER_BYTES <= len(self._unread):
            payload_at = at + RECORD_HEADER_BYTES
            header = bytes(self._unread[at:payload_at])
            length = int.from_bytes(header[3:], "big")
            if header[0] not in KINDS or length > PAYLOAD_LIMIT:
                raise CannotOpen("not a record")
            if payload_at + length > len(self._unread):
                break
            at = payload_at + length
            self._opened += self._stream.read(header, self._unread[payload_at:at])
        return at


class Tls13Records:
    """A TLS 1.3 server's records, in their order."""

    def __init__(self, suite: Suite, secret: bytes) -> None:
        self._suite = suite
        self._secret = secret
        self._passed_over = 0
        self._protection = self._next_protection()
        self._sequence = 0
        self._begun = False
        """Whether a record was opened: those before are under the handshake's keys, and not for us."""
        self._message_header = b""
        self._message_left = 0

    def _next_protection(self) -> Aead13:
        """RFC 8446 §7.3."""
        key = expand_label(self._secret, "key", self._suite.key_bytes, hash_=self._suite.hash)
        iv = expand_label(self._secret, "iv", NONCE_BYTES, hash_=self._suite.hash)
        return Aead13(AESGCM(key) if self._suite.cipher is AESGCM else ChaCha20Poly1305(key), iv)

    def read(self, header: bytes, payload: bytearray) -> bytes | memoryview:
        """The application data in a record, if any; raises CannotOpen."""
        if header[0] != APPLICATION_DATA:
            return b""
        try:
            inner = self._protection.open(self._sequence, header, payload)
        except CannotOpen:
            self._passed_over += 1
            if self._begun or self._passed_over > HANDSHAKE_RECORDS_LIMIT:
                raise
            return b""
        self._begun = True
        self._sequence += 1
        if inner and not inner[-1]:
            inner = inner.rstrip(b"\0")
        return self._content(inner)

    def _content(self, inner: bytes) -> bytes | memoryview:
        """Of a TLSInnerPlaintext without its padding (RFC 8446 §5.2)."""
        kind = inner[-1] if inner else None
        if kind == APPLICATION_DATA:
            return memoryview(inner)[:-1]
        if kind == HANDSHAKE:
            self._messages(inner[:-1])
        elif kind != ALERT:
            raise CannotOpen("a record without a kind")
        return b""

    def _messages(self, content: bytes) -> None:
        """Pass over post-handshake messages, but for KeyUpdate."""
        at = 0
        while at < len(content):
            if not self._message_left:
                missing = MESSAGE_HEADER_BYTES - len(self._message_header)
                self._message_header += content[at : at + missing]
                at += missing
                if len(self._message_header) < MESSAGE_HEADER_BYTES:
                    return
                self._message_left = int.from_bytes(self._message_header[1:], "big")
            passed = min(self._message_left, len(content) - at)
            self._message_left -= passed
            at += passed
            if not self._message_left:
                kind, self._message_header = self._message_header[0], b""
                if kind == KEY_UPDATE:
                    self._update(is_last=at == len(content))

    def _update(self, *, is_last: bool) -> None:
        """RFC 8446 §7.2; §5.1 forbids that anything follows in the same record."""
        if not is_last:
            raise CannotOpen("a message under the wrong key")
        self._secret = expand_label(
            self._secret, "traffic upd", DIGEST_BYTES[self._suite.hash], hash_=self._suite.hash
        )
        self._protection = self._next_protection()
        self._sequence = 0


class Tls12Records:
    """A TLS 1.2 server's records, in their order: in the clear until its ChangeCipherSpec."""

    def __init__(self, protection: Protection) -> None:
        self._protection = protection
        self._sequence: int | None = None

    def read(self, header: bytes, payload: bytearray) -> bytes:
        """The application data in a record, if any; raises CannotOpen."""
        kind = header[0]
        if self._sequence is None:
            if kind == APPLICATION_DATA:
                raise CannotOpen("application data in the clear")
            self._sequence = 0 if kind == CHANGE_CIPHER_SPEC else None
            return b""
        plaintext = self._protection.open(self._sequence, header, payload)
        self._sequence += 1
        return plaintext if kind == APPLICATION_DATA else b""


class Protection(Protocol):
    """How records are sealed, under one set of keys."""

    def open(self, sequence: int, header: bytes, payload: bytearray) -> bytes:
        """The plaintext of one record; raises CannotOpen."""


class Aead13:
    """TLS 1.3's (RFC 8446 §5.2)."""

    def __init__(self, aead: AESGCM | ChaCha20Poly1305, iv: bytes) -> None:
        self._aead = aead
        self._iv = int.from_bytes(iv, "big")

    def open(self, sequence: int, header: bytes, payload: bytearray) -> bytes:
        """The plaintext of one record; raises CannotOpen."""
        return authentic(self._aead, (self._iv ^ sequence).to_bytes(NONCE_BYTES, "big"), payload, header)


class ChaCha12:
    """TLS 1.2's with ChaCha20-Poly1305 (RFC 7905 §2)."""

    def __init__(self, aead: ChaCha20Poly1305, iv: bytes) -> None:
        self._aead = aead
        self._iv = int.from_bytes(iv, "big")

    def open(self, sequence: int, header: bytes, payload: bytearray) -> bytes:
        """The plaintext of one record; raises CannotOpen."""
        nonce = (self._iv ^ sequence).to_bytes(NONCE_BYTES, "big")
        return authentic(self._aead, nonce, payload, covered(sequence, header, len(payload) - TAG_BYTES))


class Gcm12:
    """TLS 1.2's with AES-GCM, half of whose nonce comes with the record (RFC 5288 §3)."""

    def __init__(self, aead: AESGCM, salt: bytes) -> None:
        self._aead = aead
        self._salt = salt

    def open(self, sequence: int, header: bytes, payload: bytearray) -> bytes:
        """The plaintext of one record; raises CannotOpen."""
        nonce, sealed = self._salt + payload[:GCM_EXPLICIT_BYTES], payload[GCM_EXPLICIT_BYTES:]
        return authentic(self._aead, nonce, sealed, covered(sequence, header, len(sealed) - TAG_BYTES))


class Cbc12:
    """TLS 1.2's with AES-CBC and an HMAC inside (RFC 5246 §6.2.3.2)."""

    def __init__(self, key: bytes, mac_key: bytes, mac: str) -> None:
        self._cipher = AES(key)
        self._mac_key = mac_key
        self._mac = mac

    def open(self, sequence: int, header: bytes, payload: bytearray) -> bytes:
        """The plaintext of one record; raises CannotOpen."""
        iv, sealed = payload[:BLOCK_BYTES], payload[BLOCK_BYTES:]
        if not sealed or len(sealed) % BLOCK_BYTES:
            raise CannotOpen("not of whole blocks")
        decryptor = Cipher(self._cipher, CBC(bytes(iv))).decryptor()
        padded = decryptor.update(sealed) + decryptor.finalize()
        padding = padded[-1:] * (padded[-1] + 1)
        mac_at = len(padded) - len(padding) - DIGEST_BYTES[self._mac]
        if mac_at < 0 or not padded.endswith(padding):
            raise CannotOpen("wrong padding")
        plaintext, mac = padded[:mac_at], padded[mac_at : len(padded) - len(padding)]
        authenticated = covered(sequence, header, mac_at) + plaintext
        if not hmac.compare_digest(mac, hmac.digest(self._mac_key, authenticated, self._mac)):
            raise CannotOpen("wrong MAC")
        return plaintext


def protection(suite: Suite, master_secret: bytes, randoms: bytes) -> Protection:
    """A TLS 1.2 server's; `randoms` is its own and then the client's (RFC 5246 §6.3)."""
    mac_bytes = DIGEST_BYTES[suite.mac] if suite.mac else 0
    iv_bytes = {AESGCM: GCM_SALT_BYTES, ChaCha20Poly1305: NONCE_BYTES, AES: 0}[suite.cipher]
    size = 2 * (mac_bytes + suite.key_bytes + iv_bytes)
    block = io.BytesIO(prf(master_secret, b"key expansion" + randoms, size, hash_=suite.hash))
    # Of each kind the client's comes first.
    mac_key, key, iv = (block.read(2 * kind)[kind:] for kind in (mac_bytes, suite.key_bytes, iv_bytes))
    if suite.cipher is AES:
        return Cbc12(key, mac_key, suite.mac)
    return Gcm12(AESGCM(key), iv) if suite.cipher is AESGCM else ChaCha12(ChaCha20Poly1305(key), iv)


def authentic(aead: AESGCM | ChaCha20Poly1305, nonce: bytes, sealed: bytearray, additional: bytes) -> bytes:
    """The plaintext; raises CannotOpen."""
    if len(sealed) < TAG_BYTES:
        raise CannotOpen("shorter than its tag")
    try:
        return aead.decrypt(nonce, sealed, additional)
    except InvalidTag as exc:
        raise CannotOpen("wrong tag") from exc


def covered(sequence: int, header: bytes, size: int) -> bytes:
    """What TLS 1.2 authenticates beside a plaintext of `size` bytes (RFC 5246 §6.2.3.3)."""
    return sequence.to_bytes(8, "big") + header[:3] + max(0, size).to_bytes(2, "big")


def expand_label(secret: bytes, label: str, size: int, *, hash_: str) -> bytes:
    """HKDF-Expand-Label (RFC 8446 §7.1) without a context; `size` is at most that of one digest.

    >>> secret = bytes.fromhex("a11af9f05531f856ad47116b45a950328204b4f44bfb6b3a4b4f1f3fcb631643")  # RFC 8448 §3
    >>> expand_label(secret, "iv", 12, hash_="sha256").hex()
    'cf782b88dd83549aadf1e984'
    """
    full_label = b"tls13 " + label.encode("ascii")
    described = size.to_bytes(2, "big") + bytes([len(full_label)]) + full_label + b"\0"
    return hmac.digest(secret, described + b"\1", hash_)[:size]


def prf(secret: bytes, seed: bytes, size: int, *, hash_: str) -> bytes:
    """TLS 1.2's pseudo-random function (RFC 5246 §5); the label is the beginning of `seed`."""
    output, chained = b"", seed
    while len(output) < size:
        chained = hmac.digest(secret, chained, hash_)
        output += hmac.digest(secret, chained + seed, hash_)
    return output[:size]


def client_random_of(client_hello: bytes) -> bytes | None:
    """The random in a whole ClientHello message, its header included; None if it is none."""
    return hello_random(CLIENT_HELLO, client_hello)


def server_random_of(server_hello: bytes) -> bytes | None:
    """The random in a whole ServerHello message, its header included; None if it is none, or a HelloRetryRequest."""
    random = hello_random(SERVER_HELLO, server_hello)
    return None if random == HELLO_RETRY_REQUEST else random


def hello_random(kind: int, message: bytes) -> bytes | None:
    """Both hellos have it in the same place (RFC 8446 §4.1.2, §4.1.3)."""
    at = MESSAGE_HEADER_BYTES + VERSION_BYTES
    if len(message) < at + RANDOM_BYTES or message[0] != kind:
        return None
    return message[at : at + RANDOM_BYTES]
