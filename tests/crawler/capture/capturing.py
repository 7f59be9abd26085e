"""Visits and downloads with a capture; each function is called in a network namespace of its own."""

from __future__ import annotations

import asyncio
import concurrent.futures
import contextlib
import functools
import random
import socket
import tempfile
import threading
from pathlib import Path
from typing import TYPE_CHECKING, Any, ClassVar

from playwright.async_api import async_playwright

from crawler.browser.browser import Browser
from crawler.browser.channels import CAPTURE_MODE_FLAG
from crawler.capture.capture import MISSES_LIMIT, Capture, on_loopback
from crawler.capture.ring import open_socket
from crawler.capture.segments import flow
from crawler.visit.visit import visit
from firstflight.settings import from_environment
from tests.zoo.serving.process import playing

if TYPE_CHECKING:
    from crawler.capture.tcp_reassembly import TcpStream

KEPT_BYTES = 3000
"""Bytes of a connection that are captured: enough for the handshake, not for the page."""


class Leaky(Capture):
    """A capture that drops all but the first bytes of each connection."""

    def take(self, stream: TcpStream, size: int) -> bytes | None:
        given = self.given[stream] = self.given.get(stream, 0) + size
        return super().take(stream, size) if given <= KEPT_BYTES else None

    given: ClassVar[dict[TcpStream, int]] = {}


def visits(host: str) -> list[dict[str, Any]]:
    """Visits of one page, each by a new browser, until the one after the capture is no longer trusted."""
    return asyncio.run(_visits(host))


async def _visits(host: str) -> list[dict[str, Any]]:
    told = []
    with contextlib.ExitStack() as stack:
        folder = Path(stack.enter_context(tempfile.TemporaryDirectory()))
        web = stack.enter_context(playing("tests.zoo.pages:H2", protocol="h2", folder=folder))
        capture = Leaky(stack.enter_context(open_socket("lo")))
        stack.callback(capture.close)
        async with async_playwright() as playwright:
            for _ in range(MISSES_LIMIT + 1):
                was_trusted = capture.is_trusted
                async with Browser.launch(
                    from_environment().chromium,
                    flags=web.browser_flags,
                    playwright=playwright,
                    capture=capture,
                ) as browser:
                    seen = await visit(browser, host, budget_s=30)
                    told.append(
                        {
                            "outcome": seen.visit["outcome"],
                            "coverage": seen.visit["coverage"],
                            "logged": f"{CAPTURE_MODE_FLAG}Everything" in browser.identity.flags,
                        }
                    )
                if not was_trusted:
                    return told
    return told


def downloads(count: int, size: int) -> list[dict[str, Any]]:
    """Concurrent downloads, each with a thread that takes the bytes its client read from the capture."""
    with on_loopback() as capture, concurrent.futures.ThreadPoolExecutor(count) as pool:
        assert capture is not None
        return list(pool.map(functools.partial(_download, capture, size), range(count)))


def _download(capture: Capture, size: int, number: int) -> dict[str, Any]:
    sent = random.Random(number).randbytes(size)
    with socket.create_server(("127.0.0.1", 0)) as listening:
        client = socket.create_connection(listening.getsockname())
        server, _ = listening.accept()
    sending = threading.Thread(target=server.sendall, args=(sent,))
    sending.start()
    with client, server:
        stream = capture.claim(flow(client.getsockname(), client.getpeername()))
        assert stream is not None
        taken = bytearray()
        while len(taken) < size:
            read = len(client.recv(17_408))
            taken += capture.take(stream, read) or b""
        sending.join()
    return {"bytes": len(taken), "equal": taken == sent}
