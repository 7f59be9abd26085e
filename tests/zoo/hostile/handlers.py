"""Handlers that hostile pages are made of."""

import asyncio
import itertools

from localweb.serving.handler import Handler, Reply, ServedRequest

HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"


def response(body: bytes, *headers: str, status: str = "200 OK") -> bytes:
    lines = [f"HTTP/1.1 {status}", *headers, f"Content-Length: {len(body)}", "", ""]
    return "\r\n".join(lines).encode("latin-1") + body


def document(markup: str, *headers: str, status: str = "200 OK") -> bytes:
    """A page that asks for no icon."""
    body = f"<!doctype html><link rel=icon href=data:,><title>x</title><body>{markup}".encode()
    return response(body, "Content-Type: text/html; charset=utf-8", *headers, status=status)


def redirect(target: str) -> bytes:
    return response(b"moved", f"Location: {target}", status="302 Found")


def html(markup: str, **paths: bytes) -> Handler:
    """Serve a page and `paths` by their first segment; every other path is a small text."""
    all_paths = {"": document(markup)} | paths

    async def serve(request: ServedRequest, reply: Reply) -> None:
        plain = response(b"small", "Content-Type: text/plain")
        await reply.write(all_paths.get(request.path.split("/")[1], plain), end=True)

    return serve


def script(code: str, **paths: bytes) -> Handler:
    return html(f"<p>here</p><script>{code}</script>", **paths)


def raw(wire: bytes) -> Handler:
    async def serve(request: ServedRequest, reply: Reply) -> None:
        await reply.write(wire, end=True)

    return serve


def by_path(**pages: Handler) -> Handler:
    """Use a handler for each first segment of the path, or `root` if there is none for it."""

    async def serve(request: ServedRequest, reply: Reply) -> None:
        await pages.get(request.path.split("/")[1] or "root", pages["root"])(request, reply)

    return serve


def slowly(head: bytes, piece: bytes, every_s: float) -> Handler:
    """Send a head, and then a piece after every pause, without end."""

    async def serve(request: ServedRequest, reply: Reply) -> None:
        if head:
            await reply.write(head)
        while True:
            await asyncio.sleep(every_s)
            await reply.write(piece)

    return serve


def as_fast_as_it_goes(head: bytes, piece: bytes) -> Handler:
    """Send a head, and then the piece without end."""
    return slowly(head, piece, 0)


async def stall(request: ServedRequest, reply: Reply) -> None: ...


def redirects(every_s: float) -> Handler:
    count = itertools.count()

    async def serve(request: ServedRequest, reply: Reply) -> None:
        await asyncio.sleep(every_s)
        await reply.write(redirect(f"/{next(count)}"), end=True)

    return serve
