"""Pages that mean harm, and a server of their own process that serves them: `python hostile.py` prints its ports.

A page is the host that it is asked for: `busy.test` is PAGES["busy"].
"""

from __future__ import annotations

import asyncio
import base64
import contextlib
import dataclasses
import functools
import hashlib
import itertools
import json
import socket
import ssl
import sys
import zlib
from collections.abc import Awaitable, Callable
from typing import TypeAlias

from localweb.certificates import Authority

MIB = 1 << 20


@dataclasses.dataclass(frozen=True, slots=True)
class Request:
    """One request."""

    scheme: str
    host: str
    path: str
    query: str
    headers: dict[str, str]


Page: TypeAlias = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


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


def html(markup: str, **paths: bytes) -> Page:
    """A page with what lies below it: `paths` by first segment; anything else is a small text."""
    found = {"": document(markup)} | paths

    async def serve(request: Request, writer: asyncio.StreamWriter) -> None:
        plain = response(b"small", "Content-Type: text/plain")
        writer.write(found.get(request.path.split("/")[1], plain))

    return serve


def script(code: str, **paths: bytes) -> Page:
    """A page that is one script."""
    return html(f"<p>here</p><script>{code}</script>", **paths)


def raw(wire: bytes) -> Page:
    """The same bytes for every path."""

    async def serve(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(wire)

    return serve


def by_path(**pages: Page) -> Page:
    """Another page for each first segment of the path; `root` where there is none."""

    async def serve(request: Request, writer: asyncio.StreamWriter) -> None:
        await pages.get(request.path.split("/")[1] or "root", pages["root"])(request, writer)

    return serve


def slowly(head: bytes, piece: bytes, every_s: float) -> Page:
    """A head, and then a piece every so often, for ever."""

    async def serve(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(head)
        while True:
            await writer.drain()
            await asyncio.sleep(every_s)
            writer.write(piece)

    return serve


def as_fast_as_it_goes(head: bytes, piece: bytes) -> Page:
    """A head, and then the piece without end."""
    return slowly(head, piece, 0)


async def stalled(request: Request, writer: asyncio.StreamWriter) -> None:
    """No answer."""
    await asyncio.sleep(3600)


def redirects(every_s: float) -> Page:
    """Redirects to ever new addresses."""
    count = itertools.count()

    async def serve(request: Request, writer: asyncio.StreamWriter) -> None:
        await asyncio.sleep(every_s)
        writer.write(redirect(f"/{next(count)}"))

    return serve


async def nested(request: Request, writer: asyncio.StreamWriter) -> None:
    """Frames in frames, a hundred deep."""
    depth = int(request.path[1:] or 0)
    writer.write(document(f"<iframe src=/{depth + 1}></iframe>" if depth < 100 else "bottom"))


async def bottomless(request: Request, writer: asyncio.StreamWriter) -> None:
    """Three frames in every frame."""
    frames = "".join(f"<iframe src={request.path.rstrip('/')}/{n}></iframe>" for n in range(3))
    writer.write(document(frames))


async def websocket(request: Request, writer: asyncio.StreamWriter) -> None:
    """Messages of 64 kB as fast as they are taken."""
    digest = hashlib.sha1(
        f"{request.headers['sec-websocket-key']}258EAFA5-E914-47DA-95CA-C5AB0DC85B11".encode()
    )
    accept = base64.b64encode(digest.digest()).decode()
    lines = ["HTTP/1.1 101 Switching Protocols", "Upgrade: websocket", "Connection: Upgrade"]
    head = "\r\n".join([*lines, f"Sec-WebSocket-Accept: {accept}", "", ""]).encode()
    message = b"\x82\x7f" + (65536).to_bytes(8, "big") + bytes(65536)
    await as_fast_as_it_goes(head, message)(request, writer)


def gzip_bomb(mib: int) -> bytes:
    """Spaces, a thousand to one; after a full flush (RFC 1950's Z_FULL_FLUSH) equal input is equal output."""
    packing = zlib.compressobj(9, zlib.DEFLATED, 31)
    first, again = (packing.compress(b" " * MIB) + packing.flush(zlib.Z_FULL_FLUSH) for _ in range(2))
    return first + again * (mib - 1)


def zstd_bomb(blocks: int) -> bytes:
    """Blocks of 128 kB that are one repeated byte, four bytes each (RFC 8878 §3.1.1.2)."""
    size = 128 * 1024
    magic, descriptor, window = b"\x28\xb5\x2f\xfd", b"\x00", b"\x58"  # a window of 2 MiB
    repeated = ((size << 3) | (1 << 1)).to_bytes(3, "little") + b" "
    return (
        magic + descriptor + window + repeated * (blocks - 1) + ((size << 3) | 3).to_bytes(3, "little") + b" "
    )


BROTLI_BOMB = zlib.decompress(
    base64.b64decode(
        "eNo7/f+/PYOKw6ONDkXv///4/5+9gcVBRqzh3V/5////M0xg6DjMdGHv/8f//8szCDEURjDs+l7/5/9/ZgcmBT5uh+//+v//r2fwYDiSyPji3v+P///zM3A2WOgw3P1t/+//f0YFRoF21gXV/4+DLWF4tIGhZNSSUUuGoiXmAJQjnyo="
    )
)
"""512 MiB of spaces, in brotli, in zlib."""


def bomb(coding: str, make: Callable[[], bytes]) -> Page:
    """A page that is small until it is decoded; made when it is first asked for."""
    made = functools.cache(make)

    async def serve(request: Request, writer: asyncio.StreamWriter) -> None:
        writer.write(response(made(), "Content-Type: text/html", f"Content-Encoding: {coding}"))

    return serve


HTML = b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\n\r\n"
ATTACHMENT = response(
    b"x" * 5000, "Content-Type: application/zip", "Content-Disposition: attachment; filename=a.zip"
)
EVENTS = b"HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n\r\n"
WORKER = "new Worker(URL.createObjectURL(new Blob(['for(;;);'])))"
SERVICE_WORKER = b"""
self.addEventListener('install', event => skipWaiting());
self.addEventListener('activate', event => clients.claim());
self.addEventListener('fetch', event => event.respondWith(new Response('<p>mine</p>', {headers: {'Content-Type': 'text/html'}})));
"""
ASK_FOR_ALL = """
navigator.geolocation.getCurrentPosition(() => 0, () => 0);
navigator.geolocation.watchPosition(() => 0);
const tries = [
  () => Notification.requestPermission(), () => navigator.mediaDevices.getUserMedia({video: true, audio: true}),
  () => navigator.mediaDevices.getDisplayMedia({video: true}), () => navigator.clipboard.readText(),
  () => navigator.clipboard.writeText('x'), () => navigator.serial.requestPort(), () => navigator.usb.requestDevice({filters: []}),
  () => navigator.bluetooth.requestDevice({acceptAllDevices: true}), () => navigator.hid.requestDevice({filters: []}),
  () => navigator.requestMIDIAccess({sysex: true}), () => document.documentElement.requestFullscreen(),
  () => document.body.requestPointerLock(), () => navigator.keyboard.lock(), () => navigator.wakeLock.request('screen'),
  () => navigator.storage.persist(), () => document.requestStorageAccess(), () => showOpenFilePicker(),
  () => queryLocalFonts(), () => new IdleDetector().start(), () => navigator.credentials.get({password: true}),
  () => navigator.credentials.create({publicKey: {}}), () => new PaymentRequest([{supportedMethods: 'basic-card'}], {}).show(),
  () => navigator.registerProtocolHandler('mailto', '/?%s'), () => navigator.share({text: 'x'}),
  () => Object.assign(document.createElement('input'), {type: 'file'}).click(),
];
for (const one of tries) { try { Promise.resolve(one()).catch(() => 0); } catch (_) { } }
"""
SCHEMES = [
    "mailto:a@b.test",
    "tel:1",
    "intent://x#Intent;scheme=http;end",
    "file:///etc/passwd",
    "chrome://crash",
    "chrome://settings",
    "view-source:http://plain.test/",
    "javascript:alert(1)",
    "ftp://plain.test/",
    "about:srcdoc",
    "devtools://devtools/bundled/inspector.html",
    "filesystem:x",
    "x-unknown:y",
]
INVALID = b"\xff\xfe\x80\xc3\x28\xed\xa0\x80"  # no beginning, no middle, half a pair
GARBLED = (
    b"HTTP/1.1 200 "
    + INVALID
    + b"\r\nContent-Type: text/html; charset="
    + INVALID
    + b"\r\nSet-Cookie: a"
    + INVALID
    + b"=b"
    + INVALID
    + b"\r\nX-"
    + INVALID
    + b": "
    + INVALID
    + b"\r\nLink: </"
    + INVALID
    + b">; rel=preload; as=image\r\nContent-Length: 120\r\n\r\n"
    + (
        b"<link rel=icon href=data:,><title>"
        + INVALID
        + b"</title><img src='/"
        + INVALID
        + b"?"
        + INVALID
        + b"'>"
        + b"<script>fetch('/\\ud800?\\udfff')</script>"
    ).ljust(120, b" ")[:120]
)

PAGES: dict[str, Page] = {
    "plain": html("<img src=/one><img src=/two>"),
    # Redirects and navigations
    "redirects": redirects(0),
    "slow-redirects": redirects(1.5),
    "script-redirects": raw(document("<script>location.replace('/' + Math.random())</script>")),
    "meta-redirects": raw(document("<meta http-equiv=refresh content='0;url=/next'>")),
    "locations": script("for (let n = 0;; n++) location.href = '/' + n"),
    "fragments": script("let n = 0; setInterval(() => { location.hash = n++ })"),
    "push-states": script("for (let n = 0; n < 1e5; n++) history.pushState(n, '', '/pushed' + n)"),
    "schemes": script(f"for (const url of {json.dumps(SCHEMES)}) {{ open(url); location.href = url }}"),
    "chrome-crash": script("location.href = 'chrome://crash'"),
    "no-content": raw(b"HTTP/1.1 204 No Content\r\n\r\n"),
    "never-loads": by_path(root=html("<img src=/stalled>"), stalled=stalled),
    "sync-request": by_path(
        root=script("const r = new XMLHttpRequest(); r.open('GET', '/stalled', false); r.send()"),
        stalled=stalled,
    ),
    "document-write": script(
        "document.open(); document.write('<p>new</p><img src=/a>'); document.close();"
        "const f = document.body.appendChild(document.createElement('iframe')).contentDocument;"
        "f.open(); f.write('<img src=/b>'); f.close(); const w = open('about:blank'); w.document.write('<img src=/c>')"
    ),
    # Bodies and headers
    "endless": as_fast_as_it_goes(HTML, b"<p>on and on</p>\n" * 4096),
    "endless-script": by_path(
        root=html("<script src=/js></script>"),
        js=as_fast_as_it_goes(HTML.replace(b"html", b"javascript"), b"/*" + b"x" * 65536 + b"*/\n"),
    ),
    "endless-fetch": by_path(
        root=script("fetch('/more').then(r => r.text())"), more=as_fast_as_it_goes(HTML, bytes(65536))
    ),
    "endless-interim": as_fast_as_it_goes(
        b"", b"HTTP/1.1 103 Early Hints\r\nLink: </a>; rel=preload\r\n\r\n" * 100
    ),
    "gzip-bomb": bomb("gzip", lambda: gzip_bomb(512)),
    "zstd-bomb.secure": bomb("zstd", lambda: zstd_bomb(4096)),
    "brotli-bomb.secure": bomb("br", lambda: BROTLI_BOMB),
    "no-gzip": bomb("gzip", lambda: b"this is none"),
    "slow-header": slowly(b"", b"H", 1.0),
    "slow-body": slowly(HTML + b"<p>", b"x", 1.0),
    "slow-script": by_path(root=html("<script src=/js></script>"), js=slowly(HTML, b"/", 1.0)),
    "large-header": raw(document("fine", *(f"X-{n}: {'h' * 4000}" for n in range(62)))),
    "header-too-large": raw(document("never", *(f"X-{n}: {'h' * 4000}" for n in range(70)))),
    "endless-header": as_fast_as_it_goes(b"HTTP/1.1 200 OK\r\nX: ", b"h" * 65536),
    "garbled": by_path(root=raw(GARBLED)),
    "garbled-redirect": by_path(
        root=raw(
            b"HTTP/1.1 302 "
            + INVALID
            + b"\r\nLocation: /to/"
            + INVALID
            + b"?"
            + INVALID
            + b"\r\nContent-Length: 0\r\n\r\n"
        ),
        to=html("there"),
    ),
    "nuls": raw(b"HTTP/1.1 200 OK\r\nContent-Type: text/html\r\nContent-Length: 20\r\n\r\n" + b"<p>\0" * 5),
    "no-http": raw(b"SSH-2.0-OpenSSH_9.2\r\n" * 10),
    "wrong-length": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 99999999999999999999999\r\n\r\nx"),
    "two-lengths": raw(b"HTTP/1.1 200 OK\r\nContent-Length: 5\r\nContent-Length: 9\r\n\r\nxxxxxxxxx"),
    # Scripts that keep the processor
    "busy": script("for (;;);"),
    "busy-later": script("addEventListener('load', () => setTimeout(() => { for (;;); }))"),
    "busy-worker": script(WORKER),
    "busy-frame": html("<iframe src=/frame></iframe>", frame=document("<script>for(;;);</script>")),
    "busy-frame-elsewhere": html("<iframe src=http://busy.test/></iframe>"),
    "promises": script("const again = () => Promise.resolve().then(again); again()"),
    "console": script(
        "const x = 'x'.repeat(1e5); setInterval(() => { for (let n = 0; n < 100; n++) console.log(x, {n}) })"
    ),
    "exceptions": script(
        "setInterval(() => { for (let n = 0; n < 100; n++) setTimeout(() => { throw new Error('x'.repeat(1e4)) }) })"
    ),
    "print": script("for (let n = 0; n < 50; n++) print()"),
    "debugger": script("setInterval(() => { debugger })"),
    "regular-expression": script("/^(a+)+$/.test('a'.repeat(40) + 'b')"),
    # Memory
    "memory-hog": script("const all = []; for (;;) all.push(new Uint8Array(64 << 20).fill(1))"),
    "heap-hog": script("const all = []; for (;;) all.push(new Array(1e6).fill({}).map((_, n) => ({n})))"),
    "nodes": script("for (let n = 0; n < 1e5; n++) document.body.append(document.createElement('p'))"),
    "deep": html("<b>" * 100_000),
    "data-url": script(
        "const u = 'data:image/svg+xml,' + 'x'.repeat(1e7); new Image().src = u; fetch(u).catch(() => 0);"
        "document.body.appendChild(document.createElement('iframe')).src = 'data:text/html,' + 'x'.repeat(1e7)"
    ),
    "long-addresses": script("for (let n = 0; n < 40; n++) fetch('/' + 'x'.repeat(2e6)).catch(() => 0)"),
    # Frames and windows
    "nested": nested,
    "bottomless": bottomless,
    "frames": html("<iframe src=/leaf></iframe>" * 500),
    "flickering": script(
        "setInterval(() => { for (let n = 0; n < 20; n++) { const f = document.createElement('iframe');"
        "f.src = '/leaf'; document.body.append(f); f.remove() } })"
    ),
    "popups": script("for (let n = 0; n < 100; n++) open('/popup' + n)"),
    "popups-in-popups": raw(
        document("<script>open('/' + Math.random()); open('/' + Math.random())</script>")
    ),
    "popup-of-itself": script("if (!opener) open('/')"),
    "closing": script("close()"),
    "closing-later": script("addEventListener('load', () => setTimeout(() => close(), 100))"),
    "alerts": script("for (;;) alert(1)"),
    "dialogs": script("setInterval(() => { alert(1); confirm(2); prompt(3) })"),
    "before-unload": script(
        "onbeforeunload = e => { e.preventDefault(); return 'stay' }; setInterval(() => { location.href = '/x' })"
    ),
    # Requests
    "requests": script("for (let n = 0; n < 10000; n++) fetch('/' + n).catch(() => 0)"),
    "hosts": script(
        "for (let n = 0; n < 1000; n++) fetch('http://h' + n + '.plain.test/', {mode: 'no-cors'}).catch(() => 0)"
    ),
    "websocket": by_path(root=script("new WebSocket('ws://websocket.test/socket')"), socket=websocket),
    "event-source": by_path(
        root=script("new EventSource('/events')"), events=as_fast_as_it_goes(EVENTS, b"data: x\n\n" * 1000)
    ),
    "download": raw(ATTACHMENT),
    "downloads": script(
        "for (let n = 0; n < 100; n++) Object.assign(document.createElement('a'), {href: '/file' + n, download: n}).click()"
    ),
    "attachments": html("".join(f"<iframe src=/file/{n}></iframe>" for n in range(50)), file=ATTACHMENT),
    "download-later": script("location.href = '/file'", file=ATTACHMENT),
    "login": raw(document("who?", "WWW-Authenticate: Basic realm=x", status="401 Unauthorized")),
    "cookies": script("for (let n = 0; n < 1000; n++) document.cookie = n + '=' + 'x'.repeat(4000)"),
    "permissions.secure": script(ASK_FOR_ALL),
    "service-worker.secure": html(
        "<script>navigator.serviceWorker.register('/worker').then(() => navigator.serviceWorker.ready)"
        ".then(() => setTimeout(() => location.replace('/next'), 100))</script>",
        worker=response(SERVICE_WORKER, "Content-Type: text/javascript"),
    ),
    "slow-redirects.secure": redirects(1.5),
    "wants-certificate.secure": html("optional"),
    "needs-certificate.secure": html("never"),
}


class HostileWeb:
    """Serves PAGES: clear on one port, TLS for *.secure.test on another, and a port where no connection is taken."""

    def __init__(self) -> None:
        self.authority = Authority()
        self.stranger = Authority()
        self.contexts: dict[str, ssl.SSLContext] = {}
        self._filtered = socket.create_server(("127.0.0.1", 0), backlog=0)
        self._servers: list[asyncio.Server] = []
        self._waiting = [socket.socket() for _ in range(4)]

    async def listen(self) -> dict[str, object]:
        """Start; what the browser must know."""
        clear = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=8 * MIB)
        self._servers.append(clear)
        secure = await self._listen_tls(ssl.CERT_NONE)
        wants, needs = await self._listen_tls(ssl.CERT_OPTIONAL), await self._listen_tls(ssl.CERT_REQUIRED)
        filtered = self._filtered.getsockname()
        for one in self._waiting:  # a full backlog: the kernel drops what else comes, as a filter does
            one.setblocking(False)
            with contextlib.suppress(BlockingIOError):
                one.connect(filtered)
        rules = [
            f"MAP filtered.secure.test:80 127.0.0.1:{filtered[1]}",
            f"MAP wants-certificate.secure.test:443 127.0.0.1:{wants}",
            f"MAP needs-certificate.secure.test:443 127.0.0.1:{needs}",
            f"MAP *.secure.test:443 127.0.0.1:{secure}",
            f"MAP *.test:80 127.0.0.1:{clear.sockets[0].getsockname()[1]}",
            "MAP *.test:443 127.0.0.1:9",
            "MAP * ~NOTFOUND",
        ]
        trusted = f"--ignore-certificate-errors-spki-list={self.authority.spki_hash}"
        return {"browser_flags": [f"--host-resolver-rules={','.join(rules)}", trusted]}

    async def _listen_tls(self, client_certificate: ssl.VerifyMode) -> int:
        """The port."""
        context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
        context.verify_mode = client_certificate
        context.sni_callback = self._certify
        server = await asyncio.start_server(self._serve, "127.0.0.1", 0, limit=8 * MIB, ssl=context)
        self._servers.append(server)
        return int(server.sockets[0].getsockname()[1])

    def _certify(self, connection: ssl.SSLObject, host: str | None, _: ssl.SSLContext) -> int | None:
        host = host or ""
        if host not in self.contexts:
            signing = self.stranger if host.startswith("filtered.") else self.authority
            self.contexts[host] = signing.context(host, ["http/1.1"])
        connection.context = self.contexts[host]
        return None

    async def _serve(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        scheme = "https" if writer.get_extra_info("ssl_object") else "http"
        with contextlib.suppress(asyncio.IncompleteReadError, asyncio.LimitOverrunError, ConnectionError):
            while True:
                head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1").split("\r\n")
                _, target, _ = head[0].split(" ")
                headers = {
                    name.lower(): value.strip()
                    for name, _, value in (line.partition(":") for line in head[1:])
                }
                await reader.readexactly(int(headers.get("content-length", 0)))
                path, _, query = target.partition("?")
                host = headers["host"].removesuffix(".test")
                page = PAGES.get(host, PAGES["plain"])
                await page(Request(scheme, host, path, query, headers), writer)
                await writer.drain()
        writer.close()


async def main() -> None:
    web = HostileWeb()
    print(json.dumps(await web.listen()), flush=True)
    await asyncio.to_thread(sys.stdin.read)  # until whoever started it ends


if __name__ == "__main__":
    asyncio.run(main())
