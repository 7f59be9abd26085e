"""Whether a TLS 1.3 server took up an earlier session, from its ServerHello in the clear (RFC 8446 §4.1.3, §4.2.11)."""

from __future__ import annotations

SERVER_HELLO = 2
PRE_SHARED_KEY = 41

MESSAGES_LIMIT = 65_536
"""Bytes of the Initial CRYPTO stream that are looked at; a ServerHello with a post-quantum share has 1,200."""

HEADER_BYTES = 4
VERSION_BYTES = 2
RANDOM_BYTES = 32
CIPHER_AND_COMPRESSION_BYTES = 3


class HelloReader:
    """Puts the Initial CRYPTO stream together, whatever the order in which its frames come."""

    def __init__(self) -> None:
        self._pieces: dict[int, bytes] = {}

    def feed(self, offset: int, data: bytes) -> None:
        """The data of a CRYPTO frame."""
        if 0 <= offset < MESSAGES_LIMIT and len(data) > len(self._pieces.get(offset, b"")):
            self._pieces[offset] = data[:MESSAGES_LIMIT]

    @property
    def resumed(self) -> bool | None:
        """Whether the last ServerHello has chosen a pre-shared key; None where none has come whole."""
        found = None
        data = self._contiguous()
        while len(data) >= HEADER_BYTES:
            end = HEADER_BYTES + int.from_bytes(data[1:HEADER_BYTES], "big")
            if len(data) < end:
                break
            if data[0] == SERVER_HELLO:  # a HelloRetryRequest is one too, and another follows
                found = PRE_SHARED_KEY in extensions(data[HEADER_BYTES:end])
            data = data[end:]
        return found

    def _contiguous(self) -> bytes:
        data = b""
        for offset in sorted(self._pieces):
            if offset > len(data):
                break
            data += self._pieces[offset][len(data) - offset :]
        return data


def extensions(hello: bytes) -> set[int]:
    """Types of the extensions of a ServerHello; what is cut short is left out."""
    at = VERSION_BYTES + RANDOM_BYTES
    at += 1 + (hello[at] if at < len(hello) else 0)  # session id
    at += CIPHER_AND_COMPRESSION_BYTES + 2
    found = set()
    while at + 4 <= len(hello):
        found.add(int.from_bytes(hello[at : at + 2], "big"))
        at += 4 + int.from_bytes(hello[at + 2 : at + 4], "big")
    return found
