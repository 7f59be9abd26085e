"""What aioquic's handshake lacks: the key exchange X25519MLKEM768, and compressed certificates (RFC 8879).

Each function changes aioquic for the whole process.
"""

import enum
import types
from typing import Any, Self, cast

from aioquic import tls
from aioquic._buffer import Buffer
from cryptography.hazmat.primitives.asymmetric.mlkem import MLKEM768PublicKey
from cryptography.hazmat.primitives.asymmetric.x25519 import X25519PrivateKey, X25519PublicKey

from tests.zoo.serving.boringssl import BROTLI, COMPRESSED_CERTIFICATE, compress_with_brotli

X25519MLKEM768 = 0x11EC
X25519_BYTES = 32
HEADER_BYTES = 4
CAPACITY = 65_536
"""Most bytes of a message."""


class PublicShare:
    """What one side sends: for ML-KEM a public key or a ciphertext, then a public key of X25519."""

    def __init__(self, share: bytes = b"") -> None:
        self.share = share

    @classmethod
    def from_public_bytes(cls, share: bytes) -> Self:
        return cls(share)

    def public_bytes(self, *_: object) -> bytes:
        return self.share


class PrivateShare:
    """The server's side."""

    def __init__(self) -> None:
        self._private = X25519PrivateKey.generate()
        self._public = PublicShare()

    @classmethod
    def generate(cls) -> Self:
        return cls()

    def public_key(self) -> PublicShare:
        return self._public

    def exchange(self, client: PublicShare) -> bytes:
        of_mlkem, of_x25519 = client.share[:-X25519_BYTES], client.share[-X25519_BYTES:]
        secret, ciphertext = MLKEM768PublicKey.from_public_bytes(of_mlkem).encapsulate()
        self._public.share = ciphertext + self._private.public_key().public_bytes_raw()
        return secret + self._private.exchange(X25519PublicKey.from_public_bytes(of_x25519))


def exchange_post_quantum() -> None:
    changed = cast("Any", tls)
    groups = {group.name: group.value for group in tls.Group}
    changed.Group = cast("Any", enum.IntEnum)("Group", groups | {"X25519": X25519MLKEM768})
    changed.x25519 = types.SimpleNamespace(X25519PublicKey=PublicShare, X25519PrivateKey=PrivateShare)


def compress_certificates() -> None:
    push_certificate = tls.push_certificate

    def push_compressed(buffer: Buffer, certificate: tls.Certificate) -> None:
        whole = Buffer(capacity=CAPACITY)
        push_certificate(whole, certificate)
        content = whole.data[HEADER_BYTES:]
        buffer.push_uint8(COMPRESSED_CERTIFICATE)
        with tls.push_block(buffer, 3):
            buffer.push_uint16(BROTLI)
            buffer.push_bytes(len(content).to_bytes(3, "big"))
            tls.push_opaque(buffer, 3, compress_with_brotli(content))

    cast("Any", tls).push_certificate = push_compressed
