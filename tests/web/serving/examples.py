"""Hosts that the server's own tests play: a reply of each shape."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from tests.web.serving.handler import Handler, Reply, Request

HOST, OTHER = "zoo.test", "other.test"
TEXT = b"all work and no play makes jack a dull boy\n" * 400
CORS = ("access-control-allow-origin", "*")
PIECES = 40
PIECE = bytes(1 << 20)


async def plain(request: Request, reply: Reply) -> None:
    await reply.head(200, [CORS, ("content-length", str(len(TEXT)))])
    await reply.body(TEXT, end=True)


async def hinted(request: Request, reply: Reply) -> None:
    await reply.inform(103, [("link", "</plain>; rel=preload; as=fetch")])
    await plain(request, reply)


async def redirect(request: Request, reply: Reply) -> None:
    location = ("location", f"{request.scheme}://{OTHER}/plain")
    await reply.head(302, [CORS, location, ("content-length", "5")])
    await reply.body(b"moved", end=True)


async def in_pieces(request: Request, reply: Reply) -> None:
    """Chunks in HTTP/1.1, DATA frames else, with a trailer."""
    framing = [("transfer-encoding", "chunked")] if request.protocol == "http/1.1" else []
    await reply.head(200, [CORS, *framing])
    for piece in (b"abc", TEXT, b"d" * 70_000):
        await reply.body(piece)
    await reply.end([("x-checksum", "1")])


async def no_content(request: Request, reply: Reply) -> None:
    await reply.head(204, [CORS], end=True)


async def ended_apart(request: Request, reply: Reply) -> None:
    """A 304's kind of end: nothing after the header, but END_STREAM apart from it."""
    await reply.head(200, [CORS, ("content-length", "0")])
    await reply.end()


async def broken_off(request: Request, reply: Reply) -> None:
    await reply.head(200, [CORS, ("content-length", "9000")])
    await reply.body(b"x" * 3000)
    await asyncio.sleep(0.1)  # a reset overtakes what the client has not read
    await reply.reset()


async def echo(request: Request, reply: Reply) -> None:
    await reply.head(200, [CORS, ("content-length", str(len(request.body)))], end=not request.body)
    if request.body:
        await reply.body(request.body, end=True)


async def large(request: Request, reply: Reply) -> None:
    await reply.head(200, [CORS, ("content-length", str(PIECES * len(PIECE)))])
    for number in range(PIECES):
        await reply.body(PIECE, end=number == PIECES - 1)


async def switched(request: Request, reply: Reply) -> None:
    """Says back what it is told, until told no more."""
    await reply.upgrade([("connection", "upgrade"), ("upgrade", "echo")])
    while octets := await reply.receive():
        await reply.body(octets)


async def page(request: Request, reply: Reply) -> None:
    """Asks for what can be asked for by fetch."""
    asked = ["/plain", "/hinted", "/redirect", "/in-pieces", "/no-content", "/ended-apart", "/broken-off"]
    script = f"Promise.all({asked}.map(path => fetch(path).then(r => r.arrayBuffer()).catch(() => 0)))"
    text = f"<!doctype html><link rel=icon href=data:,><body><script>{script}</script>".encode()
    await reply.head(200, [("content-type", "text/html"), ("content-length", str(len(text)))])
    await reply.body(text, end=True)


PATHS: dict[str, Callable[[Request, Reply], Awaitable[None]]] = {
    "/": page,
    "/plain": plain,
    "/hinted": hinted,
    "/redirect": redirect,
    "/in-pieces": in_pieces,
    "/no-content": no_content,
    "/ended-apart": ended_apart,
    "/broken-off": broken_off,
    "/echo": echo,
    "/large": large,
    "/switched": switched,
}


async def answer(request: Request, reply: Reply) -> None:
    await PATHS[request.path](request, reply)


HOSTS: dict[str, Handler] = {HOST: answer, OTHER: answer}
