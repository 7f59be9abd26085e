"""Loads the examples with Chromium, in the network namespace that it is called in, and tells what everybody saw."""

from __future__ import annotations

import asyncio
import dataclasses
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING, Any

from playwright.async_api import async_playwright

from crawler.browser import Browser
from firstflight.settings import from_environment
from tests.web.serving.capture import capturing
from tests.web.serving.examples import HOST
from tests.web.serving.process import playing
from tests.web.serving.security import Security

if TYPE_CHECKING:
    from collections.abc import Sequence

    from playwright.async_api import Playwright

    from tests.web.serving.server import Spoken

LOAD_MS = 10_000


def load(webs: Sequence[tuple[Spoken, dict[str, Any]]]) -> list[dict[str, Any]]:
    """For each protocol and security: the server's truth, what the capture carried to clients, and what the page says."""
    return asyncio.run(_load(webs))


async def _load(webs: Sequence[tuple[Spoken, dict[str, Any]]]) -> list[dict[str, Any]]:
    async with async_playwright() as playwright:
        told = []
        for protocol, security in webs:
            with tempfile.TemporaryDirectory() as folder:
                told.append(await _load_one(playwright, Path(folder), protocol, Security(**security)))
        return told


async def _load_one(
    playwright: Playwright, folder: Path, protocol: Spoken, security: Security
) -> dict[str, Any]:
    hosts = "tests.web.serving.examples:HOSTS"
    with (
        capturing(folder) as captured,
        playing(hosts, protocol=protocol, folder=folder, security=security) as web,
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
        "connections": [dataclasses.asdict(one) for one in web.truth.connections],
        "responses": [dataclasses.asdict(one) for one in web.truth.responses],
        "carried": [[*ends, size] for ends, size in captured.carried.tcp.items()],
        "loaded": loaded,
    }
