"""Loads the examples with Chromium in the current network namespace, and returns what server,
capture and page saw."""

import asyncio
import dataclasses
import socket
import struct
import tempfile
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.async_api import Playwright, async_playwright

from crawler.browser.browser import Browser
from firstflight.settings import from_environment
from localweb.serving.handler import Reply, ServedOrigin, ServedRequest
from tests.zoo.serving.capture import run_tcpdump
from tests.zoo.serving.examples import HOST, PIECE
from tests.zoo.serving.pcap import Ends
from tests.zoo.serving.process import serve_hosts
from tests.zoo.serving.security import Security
from tests.zoo.serving.server import Spoken, ZooWeb

LOAD_MS = 30_000


def load(webs: Sequence[tuple[Spoken, dict[str, Any]]]) -> list[dict[str, Any]]:
    """Return, by protocol and security, the server's log, the bytes in the capture,
    and the sizes that the page read."""
    return asyncio.run(_load(webs))


async def _load(webs: Sequence[tuple[Spoken, dict[str, Any]]]) -> list[dict[str, Any]]:
    async with async_playwright() as playwright:
        loads = []
        for protocol, security in webs:
            with tempfile.TemporaryDirectory() as folder:
                loads.append(await _load_one(playwright, Path(folder), protocol, Security(**security)))
        return loads


async def _load_one(
    playwright: Playwright, folder: Path, protocol: Spoken, security: Security
) -> dict[str, Any]:
    hosts = "tests.zoo.serving.examples:HOSTS"
    with (
        run_tcpdump(folder) as captured,
        serve_hosts(hosts, protocol=protocol, folder=folder, security=security) as web,
    ):
        chromium = from_environment().chromium
        async with Browser.launch(chromium, flags=web.browser_flags, playwright=playwright) as browser:
            context = await browser.context()
            page = await context.new_page()
            scheme = "http" if protocol == "h1" else "https"
            await page.goto(f"{scheme}://{HOST}/", timeout=LOAD_MS)
            loaded = await page.evaluate("loaded")
            await context.close()
    return {
        "protocol": protocol,
        "connections": [dataclasses.asdict(connection) for connection in web.truth.connections],
        "responses": [dataclasses.asdict(response) for response in web.truth.responses],
        "carried": [[*ends, size] for ends, size in captured.carried.tcp.items()],
        "loaded": loaded,
    }


def abandon() -> list[dict[str, Any]]:
    """Return the same for clients that reset or close a connection in the middle of an endless reply."""
    return [asyncio.run(_abandon(is_reset=is_reset)) for is_reset in (True, False)]


async def _abandon(*, is_reset: bool) -> dict[str, Any]:
    async def endless(request: ServedRequest, reply: Reply) -> None:
        await reply.head(200, [("transfer-encoding", "chunked")])
        while True:
            await reply.body(PIECE)  # in one call, which TCP takes a part of

    loop = asyncio.get_running_loop()
    with tempfile.TemporaryDirectory() as folder, run_tcpdump(Path(folder)) as captured:
        async with ZooWeb({HOST: endless}, protocol="h1") as web:
            client = socket.socket()
            client.setblocking(False)
            await loop.sock_connect(client, web.endpoint(ServedOrigin("http", HOST)))
            await loop.sock_sendall(client, f"GET / HTTP/1.1\r\nHost: {HOST}\r\n\r\n".encode())
            await loop.sock_recv(client, 1000)
            await asyncio.sleep(0.2)  # until the server can hand over no more
            if is_reset:
                client.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
            else:
                client.shutdown(socket.SHUT_WR)
            await asyncio.sleep(0.1)
            client.close()
            (connection,) = web.log.connections
            while not connection.closed_us:
                await asyncio.sleep(0.01)
    server = (connection.server_address, connection.server_port)
    ends = Ends(*server, connection.client_address, connection.client_port)
    return {
        "sent_bytes": connection.sent_bytes,
        "unsent_bytes": connection.unsent_bytes,
        "carried": captured.carried.tcp[ends],
    }
