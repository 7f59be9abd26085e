"""Rows of the NetLog that Chromium writes while it loads pages are what the server sent,
as far as the capture mode tells."""

from __future__ import annotations

import asyncio
from collections import Counter
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import async_playwright

from firstflight.settings import from_environment
from localweb import recipes
from localweb.modes import Mode
from localweb.server import LocalWeb
from localweb.serving.log import SentResponse
from recordings.netlog.release import content_of, read_file
from tests.recordings.netlog.test_counting import STATED

pytestmark = pytest.mark.browser

PAGES = slice(4, 6)
"""Bundled pages with few objects."""


async def record(mode: Mode, capture: str, file: Path) -> tuple[list[str], list[SentResponse]]:
    """Load pages of the local web one after the other with a NetLog; their hosts,
    and what the server sent."""
    web = LocalWeb(recipes.load_bundled()[PAGES], mode=mode)
    async with web, async_playwright() as playwright:
        flags = [f"--log-net-log={file}", f"--net-log-capture-mode={capture}", "--no-sandbox"]
        browser = await playwright.chromium.launch(
            executable_path=from_environment().chromium, args=[*web.browser_flags, *flags]
        )
        context = await browser.new_context()
        for site in web.sites:
            page = await context.new_page()
            await page.goto(f"https://{site}/", wait_until="networkidle")
            await page.close()
        await context.close()
        await browser.close()
    return list(web.sites), web.log.responses


@pytest.mark.parametrize("mode", [Mode.H1TLS, Mode.H2])
@pytest.mark.parametrize("capture", ["Everything", "Default"])
def test_sizes_of_chromiums_netlog_are_those_that_the_server_counted(
    mode: Mode, capture: str, tmp_path: Path
) -> None:
    log = tmp_path / "log.json"
    sites, sent = asyncio.run(record(mode, capture, log))
    is_whole = mode is Mode.H1TLS or capture == "Everything"
    tables = content_of([read_file(log)], STATED, month="2026-09").tables

    def known(host: str, status: int | None, wire: Any, header: Any, body: Any) -> tuple[Any, ...]:  # or null
        return (host, status, wire, header, body) if is_whole else (host, status, body)

    assert [row["host"] for row in tables["visit"]] == sites
    assert Counter(
        known(row["host"], row["status"], row["wire_bytes"], row["header_bytes"], row["body_bytes"] or 0)
        for row in tables["response"]
    ) == Counter(
        known(response.host, response.status, response.wire_bytes, response.header_bytes, response.body_bytes)
        for response in sent
    )
    assert {row["size_basis"] for row in tables["response"]} == {"counted" if is_whole else None}
    assert {row["is_covered"] for row in tables["visit"]} == {True if capture == "Everything" else None}
