"""Cases of one response with several readers, of which the first leaves.

Chromium's cache passes a cacheable response that is still arriving on to later readers. The log's events of
its body stay with the request of the first reader, which may have ended.
"""

import asyncio
import gzip

from localweb.serving.handler import Handler, Reply, ServedRequest
from tests.zoo.case import Case, Page
from tests.zoo.replies import FRESH, HTML, PIXEL, STYLE, TEXT, fields, ranges, script, taking_turns

IMAGE = "content-type: image/gif"
PIECES = 12
GAP_S = 0.08
"""Pieces that the body comes in, and the time between them, in seconds: in all a second."""

SECOND = "await pause(200); const second = get('HERE/x'); await pause(500);"
"""Has a second reader join in the middle."""


def slow(body: bytes, *lines: str, wait_s: float = 0.0, pieces: int = PIECES) -> Handler:
    async def handle(request: ServedRequest, reply: Reply) -> None:
        await asyncio.sleep(wait_s)
        await reply.head(200, fields(f"content-length: {len(body)}", FRESH, *lines))
        size = -(-len(body) // pieces)
        for start in range(0, len(body), size):
            await reply.body(body[start : start + size])
            await asyncio.sleep(GAP_S)
        await reply.end()

    return handle


async def reset_halfway(request: ServedRequest, reply: Reply) -> None:
    await reply.head(200, fields(f"content-length: {2 * len(TEXT)}", FRESH))
    for start in range(0, len(TEXT), 2000):
        await reply.body(TEXT[start : start + 2000])
        await asyncio.sleep(GAP_S)
    await reply.reset()


def left(case_id: str, first: str, leave: str, route: Handler, html: str = "") -> Case:
    """Return a case in which a second reader joins the first, which then leaves."""
    return Case(id=case_id, routes={"HERE/x": route}, html=html, script=f"{first} {SECOND} {leave}")


QUIT = "quit.abort();"
READER = "const quit = new AbortController(); get('HERE/x', {signal: quit.signal});"
KEEPER = "const quit = new AbortController(); window.held = await fetch('HERE/x', {signal: quit.signal});"
STORED = gzip.compress(TEXT, 0, mtime=0)
"""TEXT, encoded but not compressed, so that it comes in many pieces."""
MEGABYTES = b"m" * 3_000_000
"""More than the browser reads ahead of a page that does not read."""

JOINED = Page(
    host="joined.test",
    settle_s=15.0,
    cases=(
        left(
            "left-frame",
            "",
            "first.remove();",
            slow(TEXT, HTML),
            html="<iframe id=first src=HERE/x></iframe>",
        ),
        left(
            "left-image",
            "const image = Object.assign(new Image(), {src: 'HERE/x'});",
            "image.src = 'data:,';",
            slow(PIXEL + bytes(12_000), IMAGE),
        ),
        left(
            "left-sheet",
            "",
            "sheet.href = 'data:text/css,';",
            slow(b"p{}" * 4000, STYLE),
            html="<link id=sheet rel=stylesheet media=print href=HERE/x>",
        ),
        Case(
            id="left-worker",
            routes={
                "HERE/main": script("fetch('/left-worker/x').then(r => r.arrayBuffer());"),
                "HERE/x": slow(TEXT, pieces=30),
            },
            script=f"const worker = new Worker('HERE/main'); await pause(1000); {SECOND} worker.terminate();",
            initiators={"HERE/x": "HERE/main"},
        ),
        left(
            "left-prefetch", "", "link.remove();", slow(TEXT), html="<link id=link rel=prefetch href=HERE/x>"
        ),
    ),
)

ABORTED = Page(
    host="quit.test",
    settle_s=15.0,
    cases=(
        left("left-fetch", READER, QUIT, slow(TEXT)),
        left("left-encoded", READER, QUIT, slow(STORED, "content-encoding: gzip")),
        left("left-before-header", READER, QUIT, slow(TEXT, wait_s=0.8)),
        left("left-then-reset", READER, QUIT, reset_halfway),
        Case(
            id="left-by-all",
            routes={"HERE/x": slow(TEXT, pieces=6)},
            script=f"{READER} await pause(200); get('HERE/x', {{signal: quit.signal}}); await pause(100);"
            "quit.abort();",
            bounded="nobody reads the rest",
        ),
    ),
)

UNREAD = Page(
    host="held.test",
    settle_s=15.0,
    cases=(
        left("left-unread", KEEPER, QUIT, slow(MEGABYTES)),
        left("never-read", KEEPER, "", slow(MEGABYTES)),
        Case(
            id="range-beside-whole",
            routes={"HERE/x": ranges(TEXT, FRESH)},
            script="get('HERE/x'); get('HERE/x', {headers: {range: 'bytes=100-499'}});",
        ),
    ),
)

SERVICE_WORKER = """
addEventListener('activate', event => event.waitUntil(clients.claim()));
addEventListener('fetch', event => {
  if (event.request.url.endsWith('/x')) event.respondWith(fetch(event.request));
});
"""

SERVED = Page(
    host="shared.localhost",
    settle_s=15.0,
    cases=(
        Case(
            id="left-service-worker",
            routes={"HERE/main": script(SERVICE_WORKER, "service-worker-allowed: /"), "HERE/x": slow(TEXT)},
            script="await navigator.serviceWorker.register('HERE/main', {scope: '/'});"
            "if (!navigator.serviceWorker.controller)"
            " await new Promise(done => navigator.serviceWorker.oncontrollerchange = done);"
            f"{READER} {SECOND} {QUIT}",
        ),
    ),
)

LOCK_S = 20.0
"""Time for which a request waits for another that writes the same entry of Chromium's cache, in seconds."""

LOCKED = Page(
    host="locked.test",
    settle_s=40.0,
    is_long=True,
    cases=(
        Case(
            id="lock-timed-out",
            routes={
                "HERE/x": taking_turns(slow(TEXT, wait_s=LOCK_S + 2), slow(TEXT)),
                # Meanwhile the page is not quiet.
                "HERE/y": slow(TEXT, pieces=round((LOCK_S + 4) / GAP_S)),
            },
            script="get('HERE/x'); get('HERE/x'); get('HERE/y');",
        ),
    ),
)

PAGES = (JOINED, ABORTED, UNREAD, SERVED, LOCKED)
