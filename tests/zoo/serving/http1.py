"""HTTP/1.1 of the zoo's server: requests answered in their order, one at a time, every byte of a reply counted."""

from __future__ import annotations

import asyncio
import http
from typing import TYPE_CHECKING

from localweb.http1 import parse
from localweb.log import SentResponse
from localweb.modes import ALPN_HTTP1
from tests.zoo.serving.channel import Gone
from tests.zoo.serving.handler import Request

if TYPE_CHECKING:
    from collections.abc import Sequence

    from tests.zoo.serving.channel import Channel
    from tests.zoo.serving.handler import Fields
    from tests.zoo.serving.site import Site

HEAD_LIMIT = 1024 * 1024
PIECE = 65_536
"""Bytes of body that are written at a time: four TLS records."""


class Http1Session:
    """One connection."""

    def __init__(self, channel: Channel, site: Site, scheme: str) -> None:
        self.channel = channel
        self.site = site
        self.scheme = scheme
        self.received = asyncio.StreamReader(limit=HEAD_LIMIT)
        self._position = 0

    async def serve(self) -> None:
        """Until the client leaves; a handler that still acts is cancelled then."""
        reading = asyncio.create_task(self._read())
        answering = asyncio.create_task(self._answer_all())
        try:
            await asyncio.wait((reading, answering), return_when=asyncio.FIRST_COMPLETED)
            if answering.done():
                answering.result()
            await reading
        finally:
            reading.cancel()
            answering.cancel()
            await asyncio.gather(reading, answering, return_exceptions=True)

    async def _answer_all(self) -> None:
        while (reply := await self._next()) and not reply.is_last:
            pass

    async def _read(self) -> None:
        try:
            while octets := await self.channel.receive():
                self.received.feed_data(octets)
        except Gone:
            pass
        finally:
            self.received.feed_eof()

    async def _next(self) -> Http1Reply | None:
        """Answer the next request; None if there is none."""
        try:
            head = await self.received.readuntil(b"\r\n\r\n")
        except asyncio.IncompleteReadError:
            return None
        method, target, fields = parse(head[:-4])
        self._position += 1
        host = fields.get("host", "").rpartition(":")[0] or fields.get("host", "")
        entry = SentResponse(
            connection_id=self.channel.entry.id,
            position=self._position,
            stream_id=None,
            protocol=ALPN_HTTP1,
            method=method,
            scheme=self.scheme,
            host=host,
            path=target,
        )
        self.site.log.responses.append(entry)
        reply = Http1Reply(self, entry)
        try:
            body = await self._body(fields, reply)
        except asyncio.IncompleteReadError:
            return None
        entry.request_received_us = self.channel.came_us
        request = Request(
            protocol=ALPN_HTTP1,
            method=method,
            scheme=self.scheme,
            host=host,
            target=target,
            headers=fields,
            body=body,
        )
        await self.site.answer(request, reply)
        return reply

    async def _body(self, fields: dict[str, str], reply: Http1Reply) -> bytes:
        if fields.get("expect", "").lower() == "100-continue":
            await reply.inform(100, ())
        if "chunked" not in fields.get("transfer-encoding", "").lower():
            return await self.received.readexactly(int(fields.get("content-length", 0)))
        body = bytearray()
        while size := int((await self.received.readuntil(b"\r\n")).split(b";")[0], 16):
            body += await self.received.readexactly(size)
            await self.received.readexactly(2)
        while await self.received.readuntil(b"\r\n") != b"\r\n":
            pass  # trailers
        return bytes(body)


class Http1Reply:
    """One reply; see `handler.Reply`."""

    def __init__(self, session: Http1Session, entry: SentResponse) -> None:
        self._session = session
        self._entry = entry
        self._is_chunked = False
        self._declared: int | None = None
        """Content-Length."""

    @property
    def is_last(self) -> bool:
        """Whether no request is answered after it: it ended the connection, or was left open."""
        return not self._entry.is_complete or self._session.channel.is_finished

    async def inform(self, status: int, fields: Fields) -> None:
        """An interim response."""
        await self._write(head(status, fields))

    async def head(self, status: int, fields: Fields, *, end: bool = False) -> None:
        """Status line and header section."""
        named = {name.lower(): value for name, value in fields}
        self._is_chunked = "chunked" in named.get("transfer-encoding", "")
        self._declared = int(named["content-length"]) if "content-length" in named else None
        self._entry.status = status
        await self._write(head(status, fields))
        self._entry.is_complete = end

    async def body(self, content: bytes, *, end: bool = False) -> None:
        """A piece of the body."""
        if self._is_chunked:
            await self._write(b"%x\r\n%s\r\n" % (len(content), content), body=len(content))
        else:
            for at in range(0, len(content), PIECE):
                piece = content[at : at + PIECE]
                await self._write(piece, body=len(piece))
                await asyncio.sleep(0)  # other connections' turn
        if end:
            await self.end()

    async def end(self, trailers: Fields = ()) -> None:
        """The last chunk and the trailer section; nothing where the length was declared."""
        if self._is_chunked:
            await self._write(section([b"0"], trailers))
        self._entry.is_complete = True

    async def reset(self) -> None:
        """RST of the connection."""
        await self._session.channel.reset()

    async def close(self) -> None:
        """FIN, which ends a body without declared length."""
        await self._session.channel.finish()
        if not self._is_chunked and self._declared in (None, self._entry.body_bytes):
            self._entry.is_complete = True

    async def upgrade(self, fields: Fields) -> None:
        """101 Switching Protocols."""
        self._entry.scheme = self._entry.scheme.replace("http", "ws")
        await self.head(101, fields)

    async def receive(self) -> bytes:
        """The client's next bytes; empty at their end."""
        return await self._session.received.read(PIECE)

    async def _write(self, octets: bytes, *, body: int = 0) -> None:
        handed = await self._session.channel.send(octets)
        self._entry.wrote(
            header=len(octets) - body, body=body, first_us=handed.first_us, last_us=handed.last_us
        )


def head(status: int, fields: Fields) -> bytes:
    """Status line and header section."""
    try:
        reason = http.HTTPStatus(status).phrase
    except ValueError:
        reason = ""
    return section([f"HTTP/1.1 {status} {reason}".encode("latin-1")], fields)


def section(first: Sequence[bytes], fields: Fields) -> bytes:
    """Lines of a header or trailer section, its end included."""
    lines = [f"{name}: {value}".encode("latin-1") for name, value in fields]
    return b"\r\n".join([*first, *lines, b"", b""])
