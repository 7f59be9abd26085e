"""What a case of the zoo is written in: a request, and the acts of which a reply consists, whatever the protocol."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Protocol, TypeAlias

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Mapping, Sequence

Fields: TypeAlias = "Sequence[tuple[str, str]]"
"""Header or trailer fields, names in lower case."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """One request, its body read."""

    protocol: str
    """http/1.1, h2 or h3."""
    method: str
    scheme: str
    host: str
    """Without port."""
    target: str
    """Path and query."""
    headers: Mapping[str, str]
    """By lower-case name."""
    body: bytes

    @property
    def path(self) -> str:
        """Without query."""
        return self.target.partition("?")[0]


class Reply(Protocol):
    """The acts of a reply. Nothing is added to what is asked for: no Date, no Content-Length.

    Every act returns when its bytes have been handed to TCP or UDP, which is when they are counted; a client
    that has gone, or has reset the stream, raises ConnectionError in whoever acts.
    """

    async def inform(self, status: int, fields: Fields) -> None:
        """An interim response: 103."""

    async def head(self, status: int, fields: Fields, *, end: bool = False) -> None:
        """The header section; `end` says that it is all: END_STREAM on HEADERS, or nothing after it in HTTP/1.1."""

    async def body(self, content: bytes, *, end: bool = False) -> None:
        """A piece of the body, not empty: a chunk where `head` said Transfer-Encoding: chunked (HTTP/1.1), else the bytes as they are.

        `end` says that it is the last: its last DATA has END_STREAM; in HTTP/1.1 `end` follows.
        """

    async def end(self, trailers: Fields = ()) -> None:
        """The end: the last chunk with its trailer section, a trailer HEADERS, or an empty DATA with END_STREAM."""

    async def reset(self) -> None:
        """Break off: RST of the connection (HTTP/1.1), RST_STREAM, RESET_STREAM."""

    async def close(self) -> None:
        """Close the connection here: FIN; GOAWAY before it in H2, CONNECTION_CLOSE in H3."""

    async def upgrade(self, fields: Fields) -> None:
        """101 Switching Protocols (HTTP/1.1 alone); from here on `body` writes raw bytes and `receive` reads them.

        They count as body of the 101, and the response's scheme as ws or wss.
        """

    async def receive(self) -> bytes:
        """The client's next bytes after `upgrade`; empty at their end."""


Handler: TypeAlias = "Callable[[Request, Reply], Awaitable[None]]"
"""Answers the requests of one host. A reply that it leaves without `end`, `reset` or `close` stays open for ever."""
