"""Cases of responses that end early or late, never begin or never end."""

import asyncio
import base64
import hashlib

from localweb.serving.handler import Reply, ServedRequest
from tests.zoo.case import Case, Page
from tests.zoo.replies import (
    EVENTS,
    NO_STORE,
    TEXT,
    answer,
    broken_off,
    fields,
    framing_field,
    pieces,
    send_part,
    silence,
)

WEBSOCKET_KEY = b"258EAFA5-E914-47DA-95CA-C5AB0DC85B11"
"""Constant of the WebSocket handshake (RFC 6455 §1.3)."""


async def echo(request: ServedRequest, reply: Reply) -> None:
    """Upgrade to a WebSocket that sends a text, and returns all bytes that it receives."""
    key = request.headers.get("sec-websocket-key", "").encode() + WEBSOCKET_KEY  # HTTP/2 has none
    accept = base64.b64encode(hashlib.sha1(key, usedforsecurity=False).digest()).decode()
    await reply.upgrade(
        [("upgrade", "websocket"), ("connection", "Upgrade"), ("sec-websocket-accept", accept)]
    )
    await reply.body(b"\x81\x05hello")
    if await reply.receive():
        await reply.body(b"\x82\x7e" + (5000).to_bytes(2, "big") + bytes(5000))


async def refuse(request: ServedRequest, reply: Reply) -> None:
    reply.entry.scheme = reply.entry.scheme.replace("http", "ws")
    await answer(status=403)(request, reply)


async def trickle(request: ServedRequest, reply: Reply) -> None:
    """Send a body that never ends and never pauses for long."""
    await reply.head(200, fields(*framing_field(request)))
    while True:
        await reply.body(b"x" * 100)
        await asyncio.sleep(0.02)


READ_A_BIT = "const reader = (await fetch('HERE/x', {signal})).body.getReader(); await reader.read();"

ENDINGS = Page(
    host="endings.test",
    cases=(
        Case(
            id="aborted",
            routes={"HERE/x": send_part(TEXT, TEXT, length=1_000_000)},
            script=f"const quit = new AbortController(), signal = quit.signal; {READ_A_BIT}"
            "await pause(150); quit.abort();",
        ),
        Case(
            id="aborted-unanswered",
            routes={"HERE/x": silence},
            script="const quit = new AbortController(); get('HERE/x', {signal: quit.signal});"
            "await pause(150); quit.abort();",
        ),
        Case(
            id="timed-out",
            routes={"HERE/x": send_part(TEXT)},
            script="await get('HERE/x', {signal: AbortSignal.timeout(800)});",
        ),
        Case(
            id="reset",
            routes={"HERE/x": broken_off(TEXT, length=900_000, how="reset")},
            script="await get('HERE/x');",
        ),
        Case(
            id="short",
            routes={"//short.test/short/x": broken_off(TEXT, length=900_000, how="close")},
            script="await get('//short.test/short/x');",
        ),
        Case(
            id="short-stream",
            routes={"HERE/x": broken_off(TEXT, length=900_000, how="end")},
            script="await get('HERE/x');",
            apart=dict.fromkeys(("h1", "h1tls"), "a body ends by its length alone"),
        ),
    ),
)

STREAMS = Page(
    host="streams.test",
    cases=(
        Case(
            id="websocket",
            routes={"HERE/x": echo},
            script="const socket = new WebSocket(`${location.protocol.replace('http', "
            "'ws')}//${location.host}HERE/x`);socket.onmessage = event => { if (event.data === "
            "'hello') socket.send('more'); };",
        ),
        Case(
            id="websocket-refused",
            routes={"HERE/x": refuse},
            script="new WebSocket(`${location.protocol.replace('http', 'ws')}//${location.host}HERE/x`);",
        ),
        Case(
            id="websocket-to-another-host",
            routes={"THERE/x": echo},
            script="const socket = new WebSocket(`${location.protocol.replace('http', 'ws')}THERE/x`);"
            "socket.onmessage = event => { if (event.data === 'hello') socket.send('more'); };",
        ),
        Case(
            id="server-sent-events",
            routes={"HERE/x": send_part(*[b"data: tick\n\n"] * 5, lines=(EVENTS,), gap_s=0.05)},
            script="new EventSource('HERE/x');",
        ),
        Case(
            id="open-stream",
            routes={"HERE/x": send_part(*[TEXT] * 5, gap_s=0.02)},
            script="await get('HERE/x');",
        ),
        Case(id="long-poll", routes={"HERE/x": silence}, script="await get('HERE/x');"),
    ),
)

UNREAD = Page(
    host="unread.test",
    settle_s=20.0,
    cases=(
        Case(
            id="unread",
            routes={"HERE/x": answer(b"u" * 8_000_000, NO_STORE)},
            script="window.unread = await fetch('HERE/x');",
            bounded="the page never reads it, and the browser stops when its buffers are full",
        ),
        Case(
            id="read-late",
            routes={"HERE/x": answer(b"r" * 3_000_000, NO_STORE)},
            script="const found = await fetch('HERE/x'); await pause(1000); await found.arrayBuffer();",
        ),
    ),
)

SLOW = Page(
    host="slow.test",
    cases=(
        Case(id="slow-answer", routes={"HERE/x": answer(TEXT, pause_s=3.0)}, script="await get('HERE/x');"),
        Case(
            id="slow-body", routes={"HERE/x": pieces(TEXT, TEXT, pause_s=3.0)}, script="await get('HERE/x');"
        ),
    ),
)

ENDLESS = Page(
    host="endless.test",
    settle_s=1.0,
    stop_reasons=frozenset({"busy"}),
    cases=(
        Case(
            id="endless",
            routes={"HERE/x": trickle},
            script="await get('HERE/x');",
            bounded="it goes on after the recording has stopped",
        ),
    ),
)

PAGES = (ENDINGS, STREAMS, UNREAD, SLOW, ENDLESS)
