"""Hosts for the server's own tests, with a reply of each kind."""

import asyncio
import base64
import hashlib
from collections.abc import Awaitable, Callable

from localweb.serving.handler import Handler, Reply, ServedRequest

HOST, OTHER = "zoo.test", "other.test"
TEXT = b"all work and no play makes jack a dull boy\n" * 400
CORS = ("access-control-allow-origin", "*")
PIECES = 4
PIECE = bytes(1 << 20)


async def plain(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, [CORS, ("content-length", str(len(TEXT)))])
    await reply.body(TEXT, end=True)


async def send_hint(request: ServedRequest, reply: Reply) -> None:
    await reply.inform(103, [("link", "</plain>; rel=preload; as=fetch")])
    await plain(request, reply)


async def redirect(request: ServedRequest, reply: Reply) -> None:
    location = ("location", f"{request.scheme}://{OTHER}/plain")
    await reply.head(302, [CORS, location, ("content-length", "5")])
    await reply.body(b"moved", end=True)


async def in_pieces(request: ServedRequest, reply: Reply) -> None:
    """Chunks in HTTP/1.1, DATA frames else, with a trailer."""
    framing = [("transfer-encoding", "chunked")] if request.protocol == "http/1.1" else []
    await reply.head(200, [CORS, *framing])
    for piece in (b"abc", TEXT, b"d" * 70_000):
        await reply.body(piece)
    await reply.end([("x-checksum", "1")])


async def no_content(request: ServedRequest, reply: Reply) -> None:
    await reply.head(204, [CORS], end=True)


async def ended_apart(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, [CORS, ("content-length", "0")])
    await reply.end()


async def broken_off(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, [CORS, ("content-length", "9000")])
    await reply.body(b"x" * 3000)
    await asyncio.sleep(0.1)  # a reset overtakes what the client has not read
    await reply.reset()


def endless(stopped: list[str]) -> Handler:
    """Return a host that writes until its client stops it, and then adds the path to `stopped`; /other is
    empty."""

    async def answer(request: ServedRequest, reply: Reply) -> None:
        if request.path == "/other":
            await no_content(request, reply)
            return
        await reply.head(200, [])
        try:
            while True:
                await reply.body(bytes(16_384))
        except ConnectionError:
            stopped.append(request.path)
            raise

    return answer


async def echo(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, [CORS, ("content-length", str(len(request.body)))], end=not request.body)
    if request.body:
        await reply.body(request.body, end=True)


async def large(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, [CORS, ("content-length", str(PIECES * len(PIECE)))])
    for number in range(PIECES):
        await reply.body(PIECE, end=number == PIECES - 1)


async def socket(request: ServedRequest, reply: Reply) -> None:
    """Upgrade to a WebSocket (RFC 6455) that sends one message, then reads until the client has gone."""
    key = request.headers.get("sec-websocket-key", "") + "258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
    accepted = base64.b64encode(hashlib.sha1(key.encode()).digest()).decode()
    upgrade = [("connection", "upgrade"), ("upgrade", "websocket"), ("sec-websocket-accept", accepted)]
    await reply.upgrade(upgrade)
    await reply.body(b"\x81\x05hello")
    while await reply.receive():
        pass


SCRIPT = """
const read = (path, options) => fetch(path, options).then(r => r.arrayBuffer()).then(b => b.byteLength).catch(() => -1);
const talk = () => new Promise(done => {
  const socket = new WebSocket(`${location.protocol.replace("http", "ws")}//${location.host}/socket`);
  socket.onmessage = event => { socket.close(); done(event.data.length); };
  socket.onerror = () => done(-1);
});
const loaded = (async () => Object.fromEntries([
  ...await Promise.all(PATHS.map(async path => [path, await read(path)])),
  ["/echo", await read("/echo", {method: "POST", body: "x".repeat(40000)})],
  ["/socket", await talk()],
]))();
"""  # noqa: E501
ASKED = [
    "/plain",
    "/hinted",
    "/redirect",
    "/in-pieces",
    "/no-content",
    "/ended-apart",
    "/broken-off",
    "/large",
]


async def page(request: ServedRequest, reply: Reply) -> None:
    """Send a page that requests the other paths and keeps their sizes in `loaded`; -1 for an error."""
    script = f"const PATHS = {ASKED};{SCRIPT}"
    text = f"<!doctype html><link rel=icon href=data:,><body><script>{script}</script>".encode()
    await reply.head(200, [("content-type", "text/html"), ("content-length", str(len(text)))])
    await reply.body(text, end=True)


PATHS: dict[str, Callable[[ServedRequest, Reply], Awaitable[None]]] = {
    "/": page,
    "/plain": plain,
    "/hinted": send_hint,
    "/redirect": redirect,
    "/in-pieces": in_pieces,
    "/no-content": no_content,
    "/ended-apart": ended_apart,
    "/broken-off": broken_off,
    "/echo": echo,
    "/large": large,
    "/socket": socket,
}


async def answer(request: ServedRequest, reply: Reply) -> None:
    await PATHS[request.path](request, reply)


HOSTS: dict[str, Handler] = {HOST: answer, OTHER: answer}
