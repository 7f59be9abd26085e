"""Handlers for the cases."""

import asyncio
import base64
import gzip
import itertools
import re

from localweb.serving.handler import Handler, Reply, ServedRequest

TEXT = b"all work and no play makes jack a dull boy\n" * 400

GZIP = gzip.compress(TEXT, mtime=0)
BROTLI = base64.b64decode("Gy9DYB0JNk52bZ7FYPkWVpdiZG7NBqKQFzbggL3Ewo3kDrViNItiwBags3Fc/F8dgCY+Bg==")
ZSTD = base64.b64decode(
    "KLUv/WAwQqUBALQCYWxsIHdvcmsgYW5kIG5vIHBsYXkgbWFrZXMgamFjayBhIGR1bGwgYm95CgEAExjcrso="
)
"""TEXT, as zlib of Node.js 26 compresses it."""

CORS = "access-control-allow-origin: *"
FRESH = "cache-control: max-age=3600"
NO_STORE = "cache-control: no-store"
HTML = "content-type: text/html; charset=utf-8"
SCRIPT = "content-type: text/javascript"
STYLE = "content-type: text/css"
EVENTS = "content-type: text/event-stream"
ENDLESS = 3600.0
PIXEL = base64.b64decode("R0lGODlhAQABAIAAAAAAAP///yH5BAEAAAAALAAAAAABAAEAAAIBRAA7")


def fields(*lines: str) -> list[tuple[str, str]]:
    parted = (line.partition(":") for line in lines)
    return [(name.strip(), value.strip()) for name, _, value in parted]


def answer(body: bytes = b"", *lines: str, status: int = 200, pause_s: float = 0.0) -> Handler:
    """A response with a Content-Length, and without its body to HEAD."""

    async def handle(request: ServedRequest, reply: Reply) -> None:
        await asyncio.sleep(pause_s)
        head = fields(f"content-length: {len(body)}", *lines)
        if request.method == "HEAD" or not body:
            await reply.head(status, head, end=True)
            return
        await reply.head(status, head)
        await reply.body(body)
        await reply.end()

    return handle


def page(markup: str, *lines: str) -> Handler:
    """A document that asks for no icon."""
    body = f"<!doctype html><meta charset=utf-8><link rel=icon href=data:,><body>{markup}"
    return answer(body.encode(), HTML, *lines)


def script(source: str, *lines: str) -> Handler:
    return answer(source.encode(), SCRIPT, *lines)


def bodiless(*lines: str, status: int, end_apart: bool = False) -> Handler:
    """A header section alone; with `end_apart` the end of the stream comes after it, on its own."""

    async def handle(request: ServedRequest, reply: Reply) -> None:
        await reply.head(status, fields(*lines), end=not end_apart)
        if end_apart:
            await reply.end()

    return handle


def pieces(*parts: bytes, trailers: tuple[str, ...] = (), pause_s: float = 0.0) -> Handler:
    """A body of unknown length: chunked in HTTP/1.1, DATA frames elsewhere."""

    async def handle(request: ServedRequest, reply: Reply) -> None:
        await reply.head(200, fields(*framing_field(request)))
        for part in parts:
            await reply.body(part)
            await asyncio.sleep(pause_s)
        await reply.end(fields(*trailers))

    return handle


def framing_field(request: ServedRequest) -> tuple[str, ...]:
    return ("transfer-encoding: chunked",) if request.protocol == "http/1.1" else ()


def revalidate(body: bytes, *, end_apart: bool = False) -> Handler:
    """Send a response with a validator, or 304 to a request that has the validator."""
    whole = answer(body, 'etag: "1"', "cache-control: no-cache")
    same = bodiless('etag: "1"', "cache-control: no-cache", status=304, end_apart=end_apart)

    async def handle(request: ServedRequest, reply: Reply) -> None:
        await (same if "if-none-match" in request.headers else whole)(request, reply)

    return handle


def redirect_with_body(to: str, *lines: str, status: int = 302, body: bytes = b"moved") -> Handler:
    """A redirect with a body; `to` without a scheme keeps that of the request."""

    async def handle(request: ServedRequest, reply: Reply) -> None:
        where = f"{request.scheme}:{to}" if to.startswith("//") else to
        await answer(body, f"location: {where}", *lines, status=status)(request, reply)

    return handle


def send_part(
    *parts: bytes, lines: tuple[str, ...] = (), length: int | None = None, gap_s: float = 0.0
) -> Handler:
    """Send a body without its end; the browser reads all that is sent, whenever it gives up."""

    async def handle(request: ServedRequest, reply: Reply) -> None:
        how = framing_field(request) if length is None else (f"content-length: {length}",)
        await reply.head(200, fields(*how, *lines))
        for part in parts:
            await reply.body(part)
            await asyncio.sleep(gap_s)

    return handle


async def silence(request: ServedRequest, reply: Reply) -> None: ...


def broken_off(part: bytes, *, length: int, how: str) -> Handler:
    """Send a body that ends early: by `reset`, by `close` or by `end`."""

    async def handle(request: ServedRequest, reply: Reply) -> None:
        await reply.head(200, fields(f"content-length: {length}", CORS))
        await reply.body(part)
        await asyncio.sleep(0.2)  # a reset overtakes what still lies in the client's buffer
        await getattr(reply, how)()
        reply.entry.is_complete = False

    return handle


def ranges(whole: bytes, *lines: str) -> Handler:
    """Serve a file in ranges (RFC 9110 §14)."""

    async def handle(request: ServedRequest, reply: Reply) -> None:
        match = re.fullmatch(r"bytes=(\d+)-(\d*)", request.headers.get("range", ""))
        if match is None:
            await answer(whole, "accept-ranges: bytes", *lines)(request, reply)
            return
        start, stop = int(match[1]), min(int(match[2] or len(whole)), len(whole) - 1)
        content_range = f"content-range: bytes {start}-{stop}/{len(whole)}"
        part = whole[start : stop + 1]
        await answer(part, content_range, "accept-ranges: bytes", *lines, status=206)(request, reply)

    return handle


def taking_turns(*handlers: Handler) -> Handler:
    turns = itertools.cycle(handlers)

    async def handle(request: ServedRequest, reply: Reply) -> None:
        await next(turns)(request, reply)

    return handle


def once(handler: Handler, then: Handler) -> Handler:
    """Use `handler`, which sets a cookie, for requests without a cookie, and else `then`."""

    async def handle(request: ServedRequest, reply: Reply) -> None:
        await (then if "cookie" in request.headers else handler)(request, reply)

    return handle
