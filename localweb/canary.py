"""The local web's canary: what its crawls ask, instead of the Internet's canaries, to see if the web can be reached."""

from __future__ import annotations

import contextlib
from collections.abc import AsyncIterator

from localweb.server import NETWORK
from localweb.serving.handler import Reply, Request, Site
from localweb.serving.listener import TcpListener
from localweb.serving.log import TruthLog

ADDRESS = str(NETWORK[2])
"""No site's address, but in the same network: if the sites are cut off, so is the canary."""


@contextlib.asynccontextmanager
async def canary() -> AsyncIterator[str]:
    """Yield a URL that answers any request while the block runs."""
    listener = TcpListener(Site(host=ADDRESS, handler=_answer, log=TruthLog()))
    try:
        yield f"http://{ADDRESS}:{await listener.listen(ADDRESS, 0)}/"
    finally:
        await listener.close()


async def _answer(_: Request, reply: Reply) -> None:
    await reply.head(204, [("Connection", "close")], end=True)
    await reply.close()
