"""Listening: a site on one port, over TCP here; the tests add QUIC."""

import asyncio
import contextlib
import socket
import ssl
from collections.abc import Callable, Sequence
from typing import Protocol

from localweb.serving.channel import Channel, Gone, ProtocolViolation
from localweb.serving.handler import ALPN_H2, ALPN_HTTP1, ServedSite
from localweb.serving.http1 import Http1Session
from localweb.serving.http2 import Http2Session
from localweb.serving.log import SentConnection, now_us
from localweb.serving.tls import TLSLayer

BACKLOG = 512


class ListenerError(Exception):
    """An address and port that the server cannot listen on."""


class Listener(Protocol):
    """One site on one port. It logs a SentConnection for each client and a SentResponse for each request."""

    async def listen(self, address: str, port: int) -> int:
        """Begin to listen and return the port; 0 lets the system choose it."""

    async def close(self) -> None: ...


class TcpListener:
    """HTTP/1.1 in clear text, or HTTP/1.1 and HTTP/2 over TLS.

    `tls` makes the TLS context on the first connection, since that takes milliseconds; all share it, so
    sessions can be resumed. `layer` makes the TLS of one connection. `options` are socket options (level,
    name, value) that connections inherit, such as the congestion control.
    """

    def __init__(
        self,
        site: ServedSite,
        tls: Callable[[], ssl.SSLContext] | None = None,
        layer: Callable[[ssl.SSLContext], TLSLayer] = TLSLayer,
        options: Sequence[tuple[int, int, int | bytes]] = (),
    ) -> None:
        self._site = site
        self._options = options
        self._tls = tls
        self._layer = layer
        self._context: ssl.SSLContext | None = None
        self._tasks: set[asyncio.Task[None]] = set()
        self._socket: socket.socket | None = None

    async def listen(self, address: str, port: int) -> int:
        self._socket = sock = socket.socket()
        for option in ((socket.SOL_SOCKET, socket.SO_REUSEADDR, 1), *self._options):
            sock.setsockopt(*option)
        sock.setblocking(False)
        try:
            sock.bind((address, port))
            sock.listen(BACKLOG)
        except OSError as exc:
            reason = exc.strerror or exc
            raise ListenerError(
                f"cannot listen on {address}:{port} for {self._site.host} ({reason}): "
                "stop the program that does"
            ) from exc
        self._start(asyncio.create_task(self._accept(sock), name=f"accepting for {self._site.host}"))
        bound: int = sock.getsockname()[1]
        return bound

    async def close(self) -> None:
        tasks = list(self._tasks)
        for task in tasks:
            task.cancel()
        await asyncio.gather(*tasks, return_exceptions=True)
        if self._socket:
            self._socket.close()

    def _start(self, task: asyncio.Task[None]) -> None:
        self._tasks.add(self._site.log.watch_task(task))
        task.add_done_callback(self._tasks.discard)

    async def _accept(self, listening: socket.socket) -> None:
        while True:
            sock, client = await asyncio.get_running_loop().sock_accept(listening)
            self._start(asyncio.create_task(self._serve(sock, client), name=f"serving {self._site.host}"))

    async def _serve(self, sock: socket.socket, client: tuple[str, int]) -> None:
        entry = log_connection(sock, client, self._site)
        channel = Channel(sock, entry, None if self._site.takeover else self._security())
        try:
            with contextlib.suppress(Gone):
                await self._converse(channel)
        except ProtocolViolation as exc:
            entry.error = str(exc)
            raise
        finally:
            channel.close()

    async def _converse(self, channel: Channel) -> None:
        if self._site.takeover:
            await self._site.takeover(channel)
            return
        protocol = await channel.secure()
        channel.entry.protocol = protocol or ALPN_HTTP1
        session = Http2Session if protocol == ALPN_H2 else Http1Session
        await session(channel, self._site, "https" if self._tls else "http").serve()

    def _security(self) -> TLSLayer | None:
        if self._tls is None:
            return None
        self._context = self._context or self._tls()
        return self._layer(self._context)


def log_connection(sock: socket.socket, client: tuple[str, int], site: ServedSite) -> SentConnection:
    server = sock.getsockname()
    entry = SentConnection(
        id=site.log.connection_id(),
        host=site.host,
        server_address=server[0],
        server_port=server[1],
        client_address=client[0],
        client_port=client[1],
        opened_us=now_us(),
    )
    site.log.connections.append(entry)
    return entry
