"""Visits the pages of the zoo in the current network namespace, and returns what crawler,
server and capture recorded."""

import asyncio
import dataclasses
import itertools
import resource
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from playwright.async_api import Playwright, async_playwright

from crawler.browser.browser import Browser
from crawler.browser.logstream import read_clocks
from crawler.capture.capture import capture_loopback
from crawler.visit.attempt import Observation
from crawler.visit.visit import visit_page
from firstflight.settings import from_environment
from tests.crawler.visiting import unhurried
from tests.zoo.case import Page
from tests.zoo.pages import visited_pages
from tests.zoo.serving.capture import run_tcpdump
from tests.zoo.serving.process import serve_hosts
from tests.zoo.serving.server import Spoken

BUDGET_S = 240.0
TOLD = (
    *("outcome", "stop_reason", "error", "status", "coverage", "decrypted_coverage", "received_bytes"),
    *("load_us", "first_paint_us", "first_contentful_paint_us", "largest_contentful_paint_us"),
)


def visit_all(protocol: Spoken) -> list[dict[str, Any]]:
    """Return, for each page that is visited in this protocol,
    `_visit_one` with what the server and the capture saw."""
    return asyncio.run(_visit_all(protocol))


async def _visit_all(protocol: Spoken) -> list[dict[str, Any]]:
    visits: list[dict[str, Any]] = []
    async with async_playwright() as playwright:
        for _, pages in itertools.groupby(visited_pages(protocol), key=lambda page: page.security):
            visits += await _visit_web(playwright, protocol, list(pages))
    return visits


async def _visit_web(playwright: Playwright, protocol: Spoken, pages: Sequence[Page]) -> list[dict[str, Any]]:
    hosts = f"tests.zoo.pages:{protocol.upper()}"
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        with (
            run_tcpdump(folder) as captured,
            serve_hosts(hosts, protocol=protocol, folder=folder, security=pages[0].security) as web,
            capture_loopback(is_theirs_alone=True) as capture,
            unhurried(),
        ):
            assert capture is not None, "loopback cannot be captured"
            chromium = from_environment().chromium
            async with Browser.launch(
                chromium,
                flags=web.browser_flags,
                quic=protocol == "h3",
                playwright=playwright,
                capture=capture,
            ) as browser:
                seen = [await _visit_one(browser, page) for page in pages]
    truth = {
        "connections": [dataclasses.asdict(connection) for connection in web.truth.connections],
        "responses": [dataclasses.asdict(response) for response in web.truth.responses],
        "tcp": [[*ends, size] for ends, size in captured.carried.tcp.items()],
        "udp": [[*ends, datagrams] for ends, datagrams in captured.carried.udp.items()],
    }
    return [observation | {"truth": truth} for observation in seen]


async def _visit_one(browser: Browser, page: Page) -> dict[str, Any]:
    """Return what the crawler stored of one page, when its recording ended by the wall clock,
    and the memory it took."""
    before = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss
    began = time.monotonic_ns() // 1000
    observation: Observation = await visit_page(browser, page.host, budget_s=BUDGET_S, settle_s=page.settle_s)
    wall_ns, monotonic_ns = read_clocks()
    started = round(observation.visit["started_at"].timestamp() * 1e6)
    return {
        "host": page.host,
        "visit": {name: observation.visit[name] for name in TOLD},
        "connections": observation.connections,
        "responses": observation.responses,
        "started_us": started - (wall_ns - monotonic_ns) // 1000,
        "began_us": began,
        "recorded_us": round(observation.visit["ended_at"].timestamp() * 1e6),
        "ended_us": time.monotonic_ns() // 1000,
        "grown_kib": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss - before,
    }
