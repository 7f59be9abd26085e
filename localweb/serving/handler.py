"""Interface between pages and protocols: a request, the acts of a reply,
and the site that handles requests."""

from __future__ import annotations

import abc
import asyncio
import contextlib
import dataclasses
from collections.abc import Awaitable, Callable, Mapping, Sequence
from typing import NamedTuple, TypeAlias

from localweb.serving.channel import Channel
from localweb.serving.log import SentResponse, TruthLog

ALPN_H2 = "h2"
ALPN_HTTP1 = "http/1.1"

HEAD_LIMIT = 65_536
"""Longest request header that is read, in bytes."""

Fields: TypeAlias = "Sequence[tuple[str, str]]"


class ServedOrigin(NamedTuple):
    """Scheme and host; the port is always the scheme's default."""

    scheme: str
    host: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServedRequest:
    """One request, its body read."""

    protocol: str
    """http/1.1, h2 or h3."""
    method: str
    scheme: str
    host: str
    target: str
    headers: Mapping[str, str]
    body: bytes

    @property
    def path(self) -> str:
        return self.target.partition("?")[0]


class Reply(abc.ABC):
    """The acts of a reply. The server adds nothing to them: no Date, no Content-Length.

    Every act returns when its bytes have been handed to TCP or UDP, which is when they are counted. An act
    raises ConnectionError if the client has gone or has reset the stream.
    """

    entry: SentResponse

    @abc.abstractmethod
    async def inform(self, status: int, fields: Fields) -> None: ...

    @abc.abstractmethod
    async def head(self, status: int, fields: Fields, *, end: bool = False) -> None:
        """Send the header section; `end` ends the response: END_STREAM on HEADERS, or no body in HTTP/1.1."""

    @abc.abstractmethod
    async def body(self, content: bytes, *, end: bool = False) -> None:
        """Send a piece of the body, not empty; `end` ends the response.

        In HTTP/1.1 it is a chunk if `head` sent Transfer-Encoding: chunked, and else the bytes as they are.
        """

    @abc.abstractmethod
    async def end(self, trailers: Fields = ()) -> None:
        """End the response: last chunk and trailers, trailer HEADERS, or an empty DATA with END_STREAM."""

    async def whole(self, status: int, fields: Fields, content: bytes) -> None:
        """Send a response; over HTTP/2 its header goes with the beginning of the body."""
        await self.head(status, fields, end=not content)
        if content:
            await self.body(content, end=True)

    @abc.abstractmethod
    async def reset(self) -> None:
        """Break the response off: TCP reset (HTTP/1.1), RST_STREAM or RESET_STREAM."""

    async def abort(self) -> None:
        raise NotImplementedError("HTTP/3 has no TCP connection")

    @abc.abstractmethod
    async def close(self) -> None:
        """Close the connection: FIN; GOAWAY before it in HTTP/2, CONNECTION_CLOSE in HTTP/3."""

    async def write(
        self, octets: bytes, *, body_bytes: int = 0, after_bytes: int = 0, end: bool = False
    ) -> None:
        """Send raw bytes (HTTP/1.1 only), of which `body_bytes` are body, and the last `after_bytes` the
        connection's.
        """
        raise NotImplementedError("only HTTP/1.1 takes raw bytes")

    async def write_frames(self, octets: bytes, *, end: bool = False) -> None:
        raise NotImplementedError("only HTTP/2 takes frames")

    async def upgrade(self, fields: Fields) -> None:
        """Accept a WebSocket: 101 in HTTP/1.1, 200 to extended CONNECT in HTTP/2 (RFC 8441 §5).

        Then `body` and `receive` are raw; they count as body, and the scheme becomes ws or wss.
        """
        raise NotImplementedError("HTTP/3 has no WebSocket here")

    async def receive(self) -> bytes:
        """Return the client's next bytes after `upgrade`; empty when the client has ended."""
        raise NotImplementedError("HTTP/3 has no WebSocket here")


Handler: TypeAlias = "Callable[[ServedRequest, Reply], Awaitable[None]]"
"""Answers a host's requests. A reply without `end`, `reset` or `close` stays open."""

Takeover: TypeAlias = "Callable[[Channel], Awaitable[None]]"
"""Serves a bare TCP connection, without TLS and HTTP, which is closed when it returns."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ServedSite:
    """One host: its handler, and the log of what it sends."""

    host: str
    handler: Handler
    log: TruthLog
    takeover: Takeover | None = None
    """Replaces TLS, HTTP and the handler."""
    head_limit: int = HEAD_LIMIT

    def answer(self, request: ServedRequest, reply: Reply) -> asyncio.Task[None]:
        """Start the handler; an exception in it goes to the log's failures."""
        name = f"{request.method} {request.host}{request.target}"
        return self.log.watch_task(asyncio.create_task(self._answer(request, reply), name=name))

    async def _answer(self, request: ServedRequest, reply: Reply) -> None:
        with contextlib.suppress(ConnectionError):
            await self.handler(request, reply)
