"""The local web's own canary: what its crawls ask whether this web can be reached, in the place of the Internet's."""

from __future__ import annotations

import asyncio
import contextlib
from typing import TYPE_CHECKING

from localweb.server import NETWORK

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ADDRESS = str(NETWORK[2])
"""No site's, and in the network of them all: what cuts that cuts this."""

ANSWER = b"HTTP/1.1 204 No Content\r\nConnection: close\r\n\r\n"


@contextlib.asynccontextmanager
async def canary() -> AsyncIterator[str]:
    """The URL of one that answers any request, while the block runs."""
    server = await asyncio.start_server(_answer, ADDRESS, 0)
    async with server:
        yield f"http://{ADDRESS}:{server.sockets[0].getsockname()[1]}/"


async def _answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
    with (
        contextlib.closing(writer),
        contextlib.suppress(OSError, asyncio.IncompleteReadError, asyncio.LimitOverrunError),
    ):
        await reader.readuntil(b"\r\n\r\n")
        writer.write(ANSWER)
        await writer.drain()
