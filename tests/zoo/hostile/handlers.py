"""Handlers that hostile pages are made of."""

from __future__ import annotations

import asyncio
import itertools
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from localweb.serving.handler import Handler, Reply, Request


HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def response(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    """A plain response."""
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def document(markup: str, *headers: str, status: str = "200 OK") -> bytes:
    """A page that asks for no icon."""
    body = f"<!doctype html><link rel=icon href=data:,><title>x</title><body>{markup}".encode()
    return response(body, "Content-Type: text/html; charset=utf-8", *headers, status=status)


def redirect(target: str) -> bytes:
    """A redirect."""
    return response(b"moved", f"Location: {target}", status="302 Found")


def html(markup: str, **paths: bytes) -> Handler:
    """A page with what lies below it: `paths` by first segment; anything else is a small text."""
    found = {"": document(markup)} | paths

    async def serve(request: Request, reply: Reply) -> None:
        plain = response(b"small", "Content-Type: text/plain")
        await reply.write(found.get(request.path.split("/")[1], plain), end=True)

    return serve


def script(code: str, **paths: bytes) -> Handler:
    """A page that is one script."""
    return html(f"<p>here</p><script>{code}</script>", **paths)


def raw(wire: bytes) -> Handler:
    """The same bytes for every path."""

    async def serve(request: Request, reply: Reply) -> None:
        await reply.write(wire, end=True)

    return serve


def by_path(**pages: Handler) -> Handler:
    """Another page for each first segment of the path; `root` where there is none."""

    async def serve(request: Request, reply: Reply) -> None:
        await pages.get(request.path.split("/")[1] or "root", pages["root"])(request, reply)

    return serve


def slowly(head: bytes, piece: bytes, every_s: float) -> Handler:
    """A head, and then a piece every so often, for ever."""

    async def serve(request: Request, reply: Reply) -> None:
        if head:
            await reply.write(head)
        while True:
            await asyncio.sleep(every_s)
            await reply.write(piece)

    return serve


def as_fast_as_it_goes(head: bytes, piece: bytes) -> Handler:
    """A head, and then the piece without end."""
    return slowly(head, piece, 0)


async def stalled(request: Request, reply: Reply) -> None:
    """No answer."""


def redirects(every_s: float) -> Handler:
    """Redirects to ever new addresses."""
    count = itertools.count()

    async def serve(request: Request, reply: Reply) -> None:
        await asyncio.sleep(every_s)
        await reply.write(redirect(f"/{next(count)}"), end=True)

    return serve
