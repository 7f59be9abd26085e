"""A page that loads responses over HTTP/3 which are easily counted wrong, and its hosts."""

import asyncio
from collections.abc import Awaitable, Callable

from localweb.serving.handler import Handler, Reply, ServedRequest

HOST, OTHER = "quic.test", "other.test"
TEXT = b"all work and no play makes jack a dull boy\n" * 100
CORS = ("access-control-allow-origin", "*")

SCRIPT = """
const read = (url, options) => fetch(url, {cache: "no-store", ...options}).then(r => r.arrayBuffer()).catch(() => 0);
const leave = async url => {
  const reader = (await fetch(url)).body.getReader();
  for (let left = 5; left; left--) await reader.read();
  await reader.cancel();
};
(async () => {
  await Promise.all([
    ...["/plain", "/plain", "/plain", "/pieces", "/hinted", "/nothing", "/empty", "/broken", "/header"].map(path => read(path)),
    read("/plain", {method: "HEAD"}),
    leave("/endless"),
    read("/moved"),
    read("/upload", {method: "POST", body: "x".repeat(40000)}),
  ]);
  await read("https://other.test/closed");
  await read("https://other.test/plain");
})();
"""  # noqa: E501
PAGE = f"<!doctype html><link rel=icon href=data:,><body><script>{SCRIPT}</script>".encode()


async def page(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, [("content-type", "text/html")])
    await reply.body(PAGE, end=True)


async def plain(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, [CORS, ("content-length", str(len(TEXT)))], end=request.method == "HEAD")
    if request.method != "HEAD":
        await reply.body(TEXT, end=True)


async def pieces(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, [CORS])
    for size in (1, 63, 64, 5000, 70_000):
        await reply.body(b"p" * size)
    await reply.end([("x-checksum", "1")])


async def hinted(request: ServedRequest, reply: Reply) -> None:
    await reply.inform(103, [("link", "</plain>; rel=preload; as=fetch")])
    await plain(request, reply)


async def nothing(request: ServedRequest, reply: Reply) -> None:
    await reply.head(204, [CORS], end=True)


async def empty(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, [CORS, ("content-length", "0")])
    await reply.end()


async def broken(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, [CORS, ("content-length", "9000")])
    await reply.body(b"x" * 3000)
    await asyncio.sleep(0.1)  # a reset overtakes what the client has not read
    await reply.reset()


async def header(request: ServedRequest, reply: Reply) -> None:
    """A response with a header section longer than its body, and than a packet."""
    await reply.head(200, [CORS, ("x-large", "h" * 5000)])
    await reply.body(b"b", end=True)


async def endless(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, [CORS])
    while True:
        await reply.body(b"e" * 700)
        await asyncio.sleep(0.02)


async def moved(request: ServedRequest, reply: Reply) -> None:
    await reply.head(302, [CORS, ("location", f"https://{OTHER}/plain"), ("content-length", "5")])
    await reply.body(b"moved", end=True)


async def closed(request: ServedRequest, reply: Reply) -> None:
    """A response during which the connection ends: the next request needs another."""
    await reply.head(200, [CORS, ("content-length", "9000")])
    await reply.body(b"x" * 3000)
    await asyncio.sleep(0.3)  # what the path delays must come before the end
    await reply.close()


PATHS: dict[str, Callable[[ServedRequest, Reply], Awaitable[None]]] = {
    "/": page,
    "/plain": plain,
    "/pieces": pieces,
    "/hinted": hinted,
    "/nothing": nothing,
    "/empty": empty,
    "/broken": broken,
    "/header": header,
    "/endless": endless,
    "/moved": moved,
    "/upload": plain,
    "/closed": closed,
}


async def answer(request: ServedRequest, reply: Reply) -> None:
    await PATHS[request.path](request, reply)


HOSTS: dict[str, Handler] = {HOST: answer, OTHER: answer}
