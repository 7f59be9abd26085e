"""Record protection of TLS 1.2 and 1.3: the cipher suites that browsers offer, and their keys (RFC 5246 §6, RFC 8446 §5, §7).

Not in it: encrypt-then-MAC (RFC 7366), which no Chromium offers.
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

NONCE_BYTES = 12
TAG_BYTES = 16
GCM_SALT_BYTES = 4
GCM_EXPLICIT_BYTES = 8
BLOCK_BYTES = 16


class CannotDecrypt(Exception):
    """The version or cipher suite is not supported, or a record is not authentic."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Suite:
    """Cipher and key size of a cipher suite, and the hash of its key derivation."""

    cipher: type[AESGCM | ChaCha20Poly1305 | AES]
    key_bytes: int
    hash: str = "sha256"
    mac: str = ""
    """Hash of the HMAC; empty without CBC."""


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


class Protection(Protocol):
    """Protection of records under one set of keys."""

    def open(self, sequence: int, header: bytes, payload: bytearray) -> bytes:
        """The plaintext of one record; raises CannotDecrypt."""


class Aead13:
    """TLS 1.3 with an AEAD (RFC 8446 §5.2)."""

    def __init__(self, aead: AESGCM | ChaCha20Poly1305, iv: bytes) -> None:
        self._aead = aead
        self._iv = int.from_bytes(iv, "big")

    def open(self, sequence: int, header: bytes, payload: bytearray) -> bytes:
        """The plaintext of one record; raises CannotDecrypt."""
        return decrypt_aead(self._aead, (self._iv ^ sequence).to_bytes(NONCE_BYTES, "big"), payload, header)


class ChaCha12:
    """TLS 1.2 with ChaCha20-Poly1305 (RFC 7905 §2)."""

    def __init__(self, aead: ChaCha20Poly1305, iv: bytes) -> None:
        self._aead = aead
        self._iv = int.from_bytes(iv, "big")

    def open(self, sequence: int, header: bytes, payload: bytearray) -> bytes:
        """The plaintext of one record; raises CannotDecrypt."""
        nonce = (self._iv ^ sequence).to_bytes(NONCE_BYTES, "big")
        return decrypt_aead(
            self._aead, nonce, payload, additional_data(sequence, header, len(payload) - TAG_BYTES)
        )


class Gcm12:
    """TLS 1.2 with AES-GCM, whose explicit nonce comes with the record (RFC 5288 §3)."""

    def __init__(self, aead: AESGCM, salt: bytes) -> None:
        self._aead = aead
        self._salt = salt

    def open(self, sequence: int, header: bytes, payload: bytearray) -> bytes:
        """The plaintext of one record; raises CannotDecrypt."""
        nonce, sealed = self._salt + payload[:GCM_EXPLICIT_BYTES], payload[GCM_EXPLICIT_BYTES:]
        return decrypt_aead(
            self._aead, nonce, sealed, additional_data(sequence, header, len(sealed) - TAG_BYTES)
        )


class Cbc12:
    """TLS 1.2 with AES-CBC and HMAC (RFC 5246 §6.2.3.2)."""

    def __init__(self, key: bytes, mac_key: bytes, mac: str) -> None:
        self._cipher = AES(key)
        self._mac_key = mac_key
        self._mac = mac

    def open(self, sequence: int, header: bytes, payload: bytearray) -> bytes:
        """The plaintext of one record; raises CannotDecrypt."""
        iv, sealed = payload[:BLOCK_BYTES], payload[BLOCK_BYTES:]
        if not sealed or len(sealed) % BLOCK_BYTES:
            raise CannotDecrypt("not of whole blocks")
        decryptor = Cipher(self._cipher, CBC(bytes(iv))).decryptor()
        padded = decryptor.update(sealed) + decryptor.finalize()
        padding = padded[-1:] * (padded[-1] + 1)
        mac_at = len(padded) - len(padding) - DIGEST_BYTES[self._mac]
        if mac_at < 0 or not padded.endswith(padding):
            raise CannotDecrypt("wrong padding")
        plaintext, mac = padded[:mac_at], padded[mac_at : len(padded) - len(padding)]
        authenticated = additional_data(sequence, header, mac_at) + plaintext
        if not hmac.compare_digest(mac, hmac.digest(self._mac_key, authenticated, self._mac)):
            raise CannotDecrypt("wrong MAC")
        return plaintext


def protection(suite: Suite, master_secret: bytes, randoms: bytes) -> Protection:
    """Protection by a TLS 1.2 server; `randoms` is the server's and then the client's (RFC 5246 §6.3)."""
    mac_bytes = DIGEST_BYTES[suite.mac] if suite.mac else 0
    iv_bytes = {AESGCM: GCM_SALT_BYTES, ChaCha20Poly1305: NONCE_BYTES, AES: 0}[suite.cipher]
    size = 2 * (mac_bytes + suite.key_bytes + iv_bytes)
    block = io.BytesIO(prf(master_secret, b"key expansion" + randoms, size, hash_=suite.hash))
    # The client's key of each kind comes first.
    mac_key, key, iv = (block.read(2 * kind)[kind:] for kind in (mac_bytes, suite.key_bytes, iv_bytes))
    if suite.cipher is AES:
        return Cbc12(key, mac_key, suite.mac)
    return Gcm12(AESGCM(key), iv) if suite.cipher is AESGCM else ChaCha12(ChaCha20Poly1305(key), iv)


def decrypt_aead(
    aead: AESGCM | ChaCha20Poly1305, nonce: bytes, sealed: bytearray, additional: bytes
) -> bytes:
    """The plaintext of authenticated encryption; raises CannotDecrypt."""
    if len(sealed) < TAG_BYTES:
        raise CannotDecrypt("shorter than its tag")
    try:
        return aead.decrypt(nonce, sealed, additional)
    except InvalidTag as exc:
        raise CannotDecrypt("wrong tag") from exc


def additional_data(sequence: int, header: bytes, size: int) -> bytes:
    """Additional data that TLS 1.2 authenticates with a plaintext of `size` bytes (RFC 5246 §6.2.3.3)."""
    return sequence.to_bytes(8, "big") + header[:3] + max(0, size).to_bytes(2, "big")


def expand_label(secret: bytes, label: str, size: int, *, hash_: str) -> bytes:
    """HKDF-Expand-Label (RFC 8446 §7.1) without a context, of at most one digest.

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
