"""Bodies that are small until they are decoded."""

import base64
import functools
import zlib
from collections.abc import Callable

from localweb.serving.handler import Handler, Reply, ServedRequest
from tests.zoo.hostile.handlers import response

MIB = 1 << 20


def gzip_bomb(mib: int) -> bytes:
    """Spaces, a thousand to one; after a full flush (RFC 1950's Z_FULL_FLUSH) equal input is equal output."""
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    first, again = (packing.compress(b" " * MIB) + packing.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * (mib - 1)


def zstd_bomb(blocks: int) -> bytes:
    """Blocks of 128 kB that are one repeated byte, four bytes each (RFC 8878 §3.1.1.2)."""
    size = 128 * 1024
    magic, descriptor, window = b"\x28\xb5\x2f\xfd", b"\x00", b"\x58"  # a window of 2 MiB
    repeated = ((size << 3) | (1 << 1)).to_bytes(3, "little") + b" "
    return (
        magic + descriptor + window + repeated * (blocks - 1) + ((size << 3) | 3).to_bytes(3, "little") + b" "
    )


BROTLI_BOMB = zlib.decompress(
    base64.b64decode(
        "eNo7/f+/PYOKw6ONDkXv///4/5+9gcVBRqzh3V/5////M0xg6DjMdGHv/8f//8szCDEURjDs+l7/5/9/ZgcmBT5uh+//+v//r2fwYDiSyPji3v+P///zM3A2WOgw3P1t/+//f0YFRoF21gXV/4+DLWF4tIGhZNSSUUuGoiXmAJQjnyo="
    )
)
"""512 MiB of spaces, in brotli, in zlib."""


def bomb(coding: str, make: Callable[[], bytes]) -> Handler:
    """A page that is small until it is decoded; made when it is first asked for."""
    cached = functools.cache(make)

    async def serve(request: ServedRequest, reply: Reply) -> None:
        await reply.write(
            response(cached(), "Content-Type: text/html", f"Content-Encoding: {coding}"), end=True
        )

    return serve
