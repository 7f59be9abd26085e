"""Where connections come in: the seam between the zoo's web and the protocols that it is served over."""

from __future__ import annotations

import asyncio
import contextlib
import socket
from typing import TYPE_CHECKING, Protocol

from localweb.modes import ALPN_H2, ALPN_HTTP1
from tests.zoo.serving.channel import Channel, Gone, opened
from tests.zoo.serving.http1 import Http1Session
from tests.zoo.serving.http2 import Http2Session

if TYPE_CHECKING:
    import ssl

    from tests.zoo.serving.site import Site

BACKLOG = 512


class Listener(Protocol):
    """One host on one address by one protocol.

    What it sends it writes into `site.log`: a SentConnection when a client comes, a SentResponse a request.
    """

    async def listen(self, address: str, port: int) -> int:
        """Begin; 0 lets the system choose. Returns the port."""

    async def close(self) -> None:
        """End, and drop what is open."""


class TcpListener:
    """HTTP/1.1 in clear text, or HTTP/1.1 and H2 over TLS."""

    def __init__(self, site: Site, *, alpn: tuple[str, ...] | None) -> None:
        self._site = site
        self._alpn = alpn
        """None for clear text."""
        self._context: ssl.SSLContext | None = None
        self._serving: set[asyncio.Task[None]] = set()

    async def listen(self, address: str, port: int) -> int:
        """Begin; 0 lets the system choose. Returns the port."""
        self._socket = socket.socket()
        self._socket.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
        self._socket.setblocking(False)
        self._socket.bind((address, port))
        self._socket.listen(BACKLOG)
        self._accepting = asyncio.create_task(self._accept())
        bound: int = self._socket.getsockname()[1]
        return bound

    async def close(self) -> None:
        """End, and drop what is open."""
        tasks = [self._accepting, *self._serving]
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        self._socket.close()

    async def _accept(self) -> None:
        while True:
            sock, _ = await asyncio.get_running_loop().sock_accept(self._socket)
            task = asyncio.create_task(self._serve(sock))
            self._serving.add(task)
            task.add_done_callback(self._served)

    def _served(self, task: asyncio.Task[None]) -> None:
        self._serving.discard(task)
        if not task.cancelled() and (error := task.exception()):
            self._site.failures.append(f"serving {self._site.host}: {error!r}")

    async def _serve(self, sock: socket.socket) -> None:
        entry = opened(sock, self._site.host, self._site.log)
        channel = Channel(sock, entry, self._tls())
        try:
            with contextlib.suppress(Gone):
                protocol = await channel.secure()
                entry.protocol = protocol or ALPN_HTTP1
                session = Http2Session if protocol == ALPN_H2 else Http1Session
                await session(channel, self._site, "http" if self._alpn is None else "https").serve()
        finally:
            channel.close()

    def _tls(self) -> ssl.SSLContext | None:
        """The same for all connections, or sessions could not be resumed; made late, since it takes time."""
        if self._alpn is not None and self._context is None:
            self._context = self._site.security.context(self._site.authority, self._site.host, self._alpn)
        return self._context
