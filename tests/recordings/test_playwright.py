"""What Playwright writes into a HAR file while it loads a page is, repaired, what the server sent."""

import asyncio
import collections
import json
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from playwright.async_api import async_playwright

from firstflight.settings import from_environment
from localweb import recipes
from localweb.modes import Mode
from localweb.server import LocalWeb
from localweb.serving.log import SentResponse
from recordings.reading import HAR, read_file

pytestmark = pytest.mark.browser

PAGE = 4


async def record(mode: Mode, file: Path) -> list[SentResponse]:
    chromium = from_environment().chromium
    web = LocalWeb(recipes.load_bundled()[PAGE : PAGE + 1], mode=mode)
    async with web, async_playwright() as playwright:
        browser = await playwright.chromium.launch(
            executable_path=chromium, args=[*web.browser_flags, "--no-sandbox"]
        )
        context = await browser.new_context(record_har_path=file, record_har_content="omit")
        page = await context.new_page()
        await page.goto(f"https://{web.sites[0]}/", wait_until="networkidle")
        await context.close()
        await browser.close()
    return web.log.responses


@pytest.mark.parametrize("mode", [Mode.H1TLS, Mode.H2])
def test_sizes_of_playwrights_har_are_those_that_the_server_counted(mode: Mode, tmp_path: Path) -> None:
    har = tmp_path / "page.har"
    sent = asyncio.run(record(mode, har))

    (protocol,) = {
        entry["response"]["httpVersion"] for entry in json.loads(har.read_text())["log"]["entries"]
    }
    assert protocol == {Mode.H1TLS: "HTTP/1.1", Mode.H2: "HTTP/2.0"}[mode]
    recorded = collections.Counter(
        (
            urlsplit(exchange.url).hostname,
            exchange.status,
            sizes.wire_bytes,
            sizes.header_bytes,
            sizes.body_bytes,
        )
        for exchange in read_file(har, HAR).load.exchanges
        for sizes in [exchange.sizes]
    )
    counted = collections.Counter(
        (response.host, response.status, None, None, 0)  # Playwright counts 0 bytes of a redirect over HTTP/2
        if mode is Mode.H2 and response.status == 302
        else (response.host, response.status, response.wire_bytes, response.header_bytes, response.body_bytes)
        for response in sent
    )
    assert len(sent) > 10
    assert recorded == counted
