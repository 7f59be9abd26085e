"""HTTP/1.1: requests answered in their order, one at a time, every byte of a reply counted."""

from __future__ import annotations

import asyncio
import contextlib
import http
from collections.abc import Sequence

from localweb.serving.channel import Channel, Gone, ProtocolViolation
from localweb.serving.handler import ALPN_HTTP1, Fields, Reply, ServedRequest, ServedSite
from localweb.serving.log import SentResponse

PIECE = 65_536
"""Bytes of body that are written at a time: four TLS records."""


class Http1Session:
    """One connection."""

    def __init__(self, channel: Channel, site: ServedSite, scheme: str) -> None:
        self.channel = channel
        self.site = site
        self.scheme = scheme
        self.received = asyncio.StreamReader(limit=site.head_limit)
        self._position = 0

    async def serve(self) -> None:
        """Answer requests until the client leaves, which cancels a handler."""
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
        try:
            head = await self.received.readuntil(b"\r\n\r\n")
            method, target, fields = parse(head[:-4])
            reply = self._reply(method, target, fields)
            reply.entry.request_header_bytes = len(head)
            body = await self._body(fields, reply)
        except asyncio.IncompleteReadError:
            return None
        except asyncio.LimitOverrunError as exc:
            raise ProtocolViolation("a request header without end") from exc
        reply.entry.request_received_us = self.channel.came_us
        request = ServedRequest(
            protocol=ALPN_HTTP1,
            method=method,
            scheme=self.scheme,
            host=reply.entry.host,
            target=target,
            headers=fields,
            body=body,
        )
        # The log has an exception of the handler already.
        await asyncio.gather(self.site.answer(request, reply), return_exceptions=True)
        if fields.get("connection", "").lower() == "close" and not reply.is_last:
            with contextlib.suppress(OSError):  # the client may have gone
                await reply.close()
        return reply

    def _reply(self, method: str, target: str, fields: dict[str, str]) -> Http1Reply:
        self._position += 1
        authority = fields.get("host", "")
        entry = SentResponse(
            connection_id=self.channel.entry.id,
            position=self._position,
            stream_id=None,
            protocol=ALPN_HTTP1,
            method=method,
            scheme=self.scheme,
            host=authority.rpartition(":")[0] or authority,
            path=target,
            priority=fields.get("priority"),
        )
        self.site.log.responses.append(entry)
        return Http1Reply(self, entry)

    async def _body(self, fields: dict[str, str], reply: Http1Reply) -> bytes:
        if fields.get("expect", "").lower() == "100-continue":
            await reply.inform(100, ())
        if "chunked" not in fields.get("transfer-encoding", "").lower():
            return await self.received.readexactly(int(fields.get("content-length", 0)))
        body = bytearray()
        while size := chunk_size(await self.received.readuntil(b"\r\n")):
            body += await self.received.readexactly(size)
            await self.received.readexactly(2)
        while await self.received.readuntil(b"\r\n") != b"\r\n":
            pass  # trailers
        return bytes(body)


class Http1Reply(Reply):
    """A reply over HTTP/1.1; see `handler.Reply`."""

    def __init__(self, session: Http1Session, entry: SentResponse) -> None:
        self._session = session
        self.entry = entry
        self._is_chunked = False
        self._declared: int | None = None

    @property
    def is_last(self) -> bool:
        """True if no request is answered after it."""
        return not self.entry.is_complete or self._session.channel.is_finished

    async def inform(self, status: int, fields: Fields) -> None:
        await self._write(header(status, fields))

    async def head(self, status: int, fields: Fields, *, end: bool = False) -> None:
        named = {name.lower(): value for name, value in fields}
        self._is_chunked = "chunked" in named.get("transfer-encoding", "")
        self._declared = int(named["content-length"]) if "content-length" in named else None
        self.entry.status = status
        await self._write(header(status, fields))
        self.entry.is_complete = end

    async def body(self, content: bytes, *, end: bool = False) -> None:
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
        if self._is_chunked:
            await self._write(section([b"0"], trailers))
        self.entry.is_complete = True

    async def reset(self) -> None:
        await self._session.channel.reset()

    async def abort(self) -> None:
        await self._session.channel.reset()

    async def close(self) -> None:
        """Send FIN, which ends a body without declared length."""
        await self._session.channel.finish()
        if not self._is_chunked and self._declared in (None, self.entry.body_bytes):
            self.entry.is_complete = True

    async def upgrade(self, fields: Fields) -> None:
        self.entry.scheme = self.entry.scheme.replace("http", "ws")
        await self.head(101, fields)

    async def receive(self) -> bytes:
        return await self._session.received.read(PIECE)

    async def write(
        self, octets: bytes, *, body_bytes: int = 0, after_bytes: int = 0, end: bool = False
    ) -> None:
        await self._write(octets, body=body_bytes, after=after_bytes)
        self.entry.is_complete = end

    async def _write(self, octets: bytes, *, body: int = 0, after: int = 0) -> None:
        handed = await self._session.channel.send(octets)
        header = len(octets) - body - after
        self.entry.wrote(header=header, body=body, first_us=handed.first_us, last_us=handed.last_us)
        self._session.channel.entry.frame_bytes += after


def parse(head: bytes) -> tuple[str, str, dict[str, str]]:
    first, *lines = head.decode("latin-1").split("\r\n")
    parts = first.split(" ")
    if len(parts) != 3 or not parts[2].startswith("HTTP/1."):
        raise ProtocolViolation(f"not a request line: {first[:80]!r}")
    fields = {}
    for line in lines:
        name, colon, value = line.partition(":")
        if not colon:
            raise ProtocolViolation(f"not a header field: {line[:80]!r}")
        fields[name.lower()] = value.strip()
    if not fields.get("content-length", "0").isdigit():
        raise ProtocolViolation(f"content-length {fields['content-length']!r}")
    return parts[0], parts[1], fields


def chunk_size(line: bytes) -> int:
    try:
        return int(line.split(b";")[0], 16)
    except ValueError as exc:
        raise ProtocolViolation(f"chunk size {line[:80]!r}") from exc


def header(status: int, fields: Fields) -> bytes:
    try:
        reason = http.HTTPStatus(status).phrase
    except ValueError:
        reason = ""
    return section([f"HTTP/1.1 {status} {reason}".encode("latin-1")], fields)


def section(first: Sequence[bytes], fields: Fields) -> bytes:
    lines = [f"{name}: {value}".encode("latin-1") for name, value in fields]
    return b"\r\n".join([*first, *lines, b"", b""])
