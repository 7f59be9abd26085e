"""A TLS 1.3 server that writes its own records after the handshake,
in all the odd ways that RFC 8446 §5 allows."""

import ctypes
import itertools
import os
import ssl
from collections.abc import Callable, Iterator
from typing import Literal, TypeAlias

from cryptography.hazmat.primitives.ciphers.aead import AESGCM
from cryptography.hazmat.primitives.hashes import SHA384
from cryptography.hazmat.primitives.kdf.hkdf import HKDFExpand

from localweb.serving.tls import RECORDS_LOGGED, TLSLayer

CIPHER = "TLS_AES_256_GCM_SHA384"
KEY_BYTES, IV_BYTES = 32, 12
ALERT, HANDSHAKE, APPLICATION_DATA = 21, 22, 23
CLOSE_NOTIFY = bytes([1, 0])
KEY_UPDATE = bytes([24, 0, 0, 1, 0])
PIECE = 16_000
CLIENT_RANDOM = slice(11, 43)
"""Place of the random in the record of a ClientHello."""

Odd: TypeAlias = Literal["messages", "padding"]
Pieces: TypeAlias = "Iterator[tuple[int, bytes, int]]"
"""Content type, content, and bytes of padding of each record."""


def ticket(size: int) -> bytes:
    """Return a NewSessionTicket of `size` bytes that no server takes (RFC 8446 §4.6.1)."""
    noise = os.urandom(size - 18)
    lifetime, age_add, nonce, extensions = (60).to_bytes(4, "big"), os.urandom(4), bytes([1, 0]), bytes(2)
    body = lifetime + age_add + nonce + len(noise).to_bytes(2, "big") + noise + extensions
    return bytes([4]) + len(body).to_bytes(3, "big") + body


def plain(data: bytes, *, size: int = PIECE, padding: int = 0) -> Pieces:
    for at in range(0, len(data), size):
        yield APPLICATION_DATA, data[at : at + size], padding


def messages(*records: bytes) -> Pieces:
    for content in records:
        yield HANDSHAKE, content, 0


def in_single_bytes(data: bytes) -> Pieces:
    yield from plain(data[:60], size=1)
    yield from plain(data[60:])


def ticket_between(data: bytes) -> Pieces:
    yield from plain(data[: len(data) // 2])
    yield from messages(ticket(300))
    yield from plain(data[len(data) // 2 :])


def two_in_one_record(data: bytes) -> Pieces:
    yield from messages(ticket(210) + ticket(220))
    yield from plain(data)


def one_in_three_records(data: bytes) -> Pieces:
    long = ticket(1100)
    yield from plain(data[:100])
    yield from messages(long[:512], long[512:1024], long[1024:])
    yield from plain(data[100:])


def between_empty_records(data: bytes) -> Pieces:
    for part in (data[:50], data[50:]):
        yield from plain(part)
        yield from [(APPLICATION_DATA, b"", 0)] * 12  # Chromium takes 32 in a row


def with_new_keys(data: bytes) -> Pieces:
    yield from plain(data[:20])
    yield from messages(KEY_UPDATE)
    yield from plain(data[20:])


def many_tickets(data: bytes) -> Pieces:
    for number in range(40):
        yield from messages(ticket(150 + number))
    yield from plain(data)


def ticket_with_new_keys(data: bytes) -> Pieces:
    yield from messages(ticket(250) + KEY_UPDATE)
    yield from plain(data)


def ticket_as_long_as_data(data: bytes) -> Pieces:
    yield from plain(data[:230], size=115)
    yield from messages(ticket(115))
    yield from plain(data[230:])


def send_padded(data: bytes) -> Pieces:
    yield from plain(data, size=5000, padding=1000)


def padded_beside_a_ticket(data: bytes) -> Pieces:
    yield from plain(data[:10], padding=90)
    yield from messages(ticket(333))
    yield from plain(data[10:], size=999, padding=1)


WAYS: dict[Odd, tuple[Callable[[bytes], Pieces], ...]] = {
    "messages": (
        plain,
        ticket_between,
        two_in_one_record,
        one_in_three_records,
        between_empty_records,
        with_new_keys,
        many_tickets,
        ticket_with_new_keys,
        ticket_as_long_as_data,
    ),
    "padding": (in_single_bytes, send_padded, padded_beside_a_ticket),
}


SECRETS: dict[str, bytes] = {}
"""The server's first traffic secret, by the client's random."""


def _keep(_: int, line: bytes) -> None:
    label, random, secret = line.decode().split()
    if label == "SERVER_TRAFFIC_SECRET_0":
        SECRETS[random] = bytes.fromhex(secret)


keep_secret = ctypes.CFUNCTYPE(None, ctypes.c_void_p, ctypes.c_char_p)(_keep)
"""OpenSSL's callback for lines of the key log."""


class OddLayer(TLSLayer):
    """TLS of one connection; each `encrypt` uses the next way."""

    def __init__(self, context: ssl.SSLContext, odd: Odd) -> None:
        super().__init__(context)
        self._ways = itertools.cycle(WAYS[odd])
        self._random = b""
        self._secret = b""
        self._sequence = 0

    def receive(self, data: bytes) -> bytes:
        """Note the client's random, by which the key log names the connection."""
        self._random = self._random or data[CLIENT_RANDOM]
        return super().receive(data)

    def encrypt(self, plaintext: bytes) -> bytes:
        return b"".join(itertools.starmap(self._record, next(self._ways)(plaintext)))

    def close_notify(self) -> bytes:
        return self._record(ALERT, CLOSE_NOTIFY, 0)

    def _record(self, kind: int, content: bytes, padding: int) -> bytes:
        if not self._secret:
            cipher = self._object.cipher()
            assert cipher, "no handshake"
            assert cipher[0] == CIPHER, cipher
            self._start(SECRETS[self._random.hex()])
        inner = content + bytes([kind]) + bytes(padding)
        header = bytes([APPLICATION_DATA, 3, 3]) + (len(inner) + 16).to_bytes(2, "big")
        nonce = (int.from_bytes(self._iv, "big") ^ self._sequence).to_bytes(IV_BYTES, "big")
        self._sequence += 1
        record = header + AESGCM(self._key).encrypt(nonce, inner, header)
        if kind == APPLICATION_DATA and len(self.record_bytes) < RECORDS_LOGGED:
            self.record_bytes.append(len(record))
        if kind == HANDSHAKE:
            self.ticket_bytes += len(record)
            if content.endswith(KEY_UPDATE):
                self._start(self._expand(b"traffic upd", SHA384.digest_size))
        return record

    def _start(self, secret: bytes) -> None:
        self._secret, self._sequence = secret, 0
        self._key, self._iv = self._expand(b"key", KEY_BYTES), self._expand(b"iv", IV_BYTES)

    def _expand(self, label: bytes, size: int) -> bytes:
        """HKDF-Expand-Label (RFC 8446 §7.1)."""
        full = b"tls13 " + label
        info = size.to_bytes(2, "big") + bytes([len(full)]) + full + b"\0"
        return HKDFExpand(SHA384(), size, info).derive(self._secret)
