"""Types of TLS records and messages, what encryption adds,
and whether a ServerHello resumes a session (RFC 8446)."""

import enum

PRE_SHARED_KEY = 41
MESSAGES_LIMIT = 65_536
"""Bytes of the Initial CRYPTO stream that are read; a ServerHello with a post-quantum share has 1,200."""

HEADER_BYTES = 4
VERSION_BYTES = 2
RANDOM_BYTES = 32
CIPHER_AND_COMPRESSION_BYTES = 3


class ContentType(enum.IntEnum):
    """Types of records (RFC 8446 §5.1)."""

    CHANGE_CIPHER_SPEC = 20
    ALERT = 21
    HANDSHAKE = 22
    APPLICATION_DATA = 23


class HandshakeType(enum.IntEnum):
    """Types of handshake messages (RFC 8446 §4)."""

    SERVER_HELLO = 2
    FINISHED = 20


TAG_BYTES = 16
TLS13_EXPANSION = 1 + TAG_BYTES
"""Content type and AEAD tag."""

CHACHA20 = frozenset({0xCCA8, 0xCCA9, 0xCCAA})
GCM = frozenset({0x009C, 0x009D, 0x009E, 0x009F, 0xC02B, 0xC02C, 0xC02F, 0xC030})


def expansion(version: str, cipher_suite: int) -> int | None:
    """Return what a record's payload exceeds its plaintext by; None if that varies (CBC)."""
    if version == "TLS 1.3":
        return TLS13_EXPANSION
    if cipher_suite in CHACHA20:
        return 16
    return 24 if cipher_suite in GCM else None


class HelloReader:
    """Reassembles the Initial CRYPTO stream from frames in any order (RFC 8446 §4.1.3, §4.2.11)."""

    def __init__(self) -> None:
        self._pieces: dict[int, bytes] = {}

    def feed(self, offset: int, data: bytes) -> None:
        if 0 <= offset < MESSAGES_LIMIT and len(data) > len(self._pieces.get(offset, b"")):
            self._pieces[offset] = data[:MESSAGES_LIMIT]

    @property
    def resumed(self) -> bool | None:
        """True if the last ServerHello chose a pre-shared key; None without a whole one."""
        resumed = None
        data = self._contiguous()
        while len(data) >= HEADER_BYTES:
            end = HEADER_BYTES + int.from_bytes(data[1:HEADER_BYTES], "big")
            if len(data) < end:
                break
            if data[0] == HandshakeType.SERVER_HELLO:  # perhaps a HelloRetryRequest: then another follows
                resumed = PRE_SHARED_KEY in list_extensions(data[HEADER_BYTES:end])
            data = data[end:]
        return resumed

    def _contiguous(self) -> bytes:
        data = b""
        for offset in sorted(self._pieces):
            if offset > len(data):
                break
            data += self._pieces[offset][len(data) - offset :]
        return data


def list_extensions(hello: bytes) -> set[int]:
    """Return the types of a ServerHello's extensions, as far as they came."""
    at = VERSION_BYTES + RANDOM_BYTES
    at += 1 + (hello[at] if at < len(hello) else 0)  # session id
    at += CIPHER_AND_COMPRESSION_BYTES + 2
    kinds = set()
    while at + 4 <= len(hello):
        kinds.add(int.from_bytes(hello[at : at + 2], "big"))
        at += 4 + int.from_bytes(hello[at + 2 : at + 4], "big")
    return kinds
