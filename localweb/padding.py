"""Bodies of an exact encoded size: gzip text, images and random bytes."""

import functools
import random
import struct
import zlib

WRAPPING = 18

HAS_COMMENT = 0x10
"""FCOMMENT in the header's flags (RFC 1952 §2.3.1)."""


def gzip_exactly(core: bytes, size: int, *, opening: bytes, closing: bytes) -> bytes | None:
    """Return `core` as a gzip member of exactly `size` bytes; None if it takes more.

    Words between `opening` and `closing` (the marks of a comment) fill it, in blocks that are compressed
    once; the header's comment field takes the rest.
    """
    plain = deflate(core)
    if WRAPPING + len(plain) > size:
        return None
    words, block = make_filling()
    head, tail = deflate_and_flush(core + opening), deflate(closing)
    blocks = (size - WRAPPING - len(head) - len(tail)) // len(block)
    if blocks < 1:
        return member(plain, core, size)
    return member(head + block * blocks + tail, core + opening + words * blocks + closing, size)


def gzip_least(core: bytes) -> bytes:
    plain = deflate(core)
    return member(plain, core, WRAPPING + len(plain))


def member(stream: bytes, text: bytes, size: int) -> bytes:
    """Return a gzip member around a deflate stream, as long as its header's comment makes it."""
    comment = size - WRAPPING - len(stream)
    flags = HAS_COMMENT if comment else 0
    header = struct.pack("<4BLBB", 0x1F, 0x8B, 8, flags, 0, 0, 255)
    text_of_comment = b"x" * (comment - 1) + b"\0" if comment else b""
    return header + text_of_comment + stream + struct.pack("<2L", zlib.crc32(text), len(text) & 0xFFFFFFFF)


def deflate(text: bytes) -> bytes:
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(text) + compressor.flush()


def deflate_and_flush(text: bytes) -> bytes:
    """Return the beginning of a raw deflate stream, which ends at a byte and to which no later block
    refers."""
    compressor = zlib.compressobj(9, zlib.DEFLATED, -15)
    return compressor.compress(text) + compressor.flush(zlib.Z_FULL_FLUSH)


@functools.cache
def make_filling() -> tuple[bytes, bytes]:
    """Return about 4 kB of words, and the same as a deflate block of a third of the size,
    as text on the web has."""
    chance = random.Random(10)  # noqa: S311  # the same words in every run
    letters = "etaoinshrdlucmfwypvbgk"
    vocabulary = ["".join(chance.choices(letters, k=chance.randint(2, 9))) for _ in range(320)]
    words = " ".join(chance.choices(vocabulary, k=700)).encode()
    return words, deflate_and_flush(words)


def text_exactly(core: bytes, size: int, *, opening: bytes, closing: bytes) -> bytes | None:
    """Return `core` uncompressed, filled to `size` bytes; None without room for the comment."""
    missing = size - len(core)
    if missing == 0 or not core:
        return core + b" " * missing
    room = missing - len(opening) - len(closing)
    return core + opening + b"x" * room + closing if room >= 0 else None


def noise(size: int, *, seed: int) -> bytes:
    """Return bytes that do not compress."""
    return random.Random(seed).randbytes(size)  # noqa: S311  # the same bytes in every run


def image(size: int) -> tuple[str, bytes]:
    """Return media type and bytes of an image of one pixel, followed by zeros; zeros only if it does not
    fit."""
    for media_type, smallest in ((("image/png"), png()), ("image/gif", GIF)):
        if size >= len(smallest):
            return media_type, smallest + bytes(size - len(smallest))
    return "image/gif", bytes(size)


GIF = bytes.fromhex("47494638396101000100800000000000ffffff21f90401000000002c00000000010001000002024401003b")


@functools.cache
def png() -> bytes:
    chunks = (
        (b"IHDR", struct.pack(">IIBBBBB", 1, 1, 8, 0, 0, 0, 0)),
        (b"IDAT", zlib.compress(b"\0\0")),
        (b"IEND", b""),
    )
    return b"\x89PNG\r\n\x1a\n" + b"".join(
        struct.pack(">I", len(content)) + name + content + struct.pack(">I", zlib.crc32(name + content))
        for name, content in chunks
    )
