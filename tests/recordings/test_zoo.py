"""What Playwright's HAR says of frames and workers is what the server sent, or is not known."""

import asyncio
import dataclasses
from pathlib import Path
from typing import Any

import pytest
from playwright.async_api import async_playwright

from firstflight.settings import from_environment
from recordings.reading import HAR, read_file
from recordings.rows import page_rows
from tests.zoo.others import FRAMES, WORKERS
from tests.zoo.serving.namespace import in_namespace
from tests.zoo.serving.process import serve_hosts
from tests.zoo.serving.server import Spoken

pytestmark = pytest.mark.browser

PAGES = {page.host: page for page in (FRAMES, WORKERS)}

MAIN_SCRIPTS = {"/worker/main", "/module-worker/main"}
"""Scripts of which Chromium counts the header alone."""

UNKNOWN = {
    *("other.test/font/f", "other.test/uncredentialed/with", "other.test/uncredentialed/without"),
    "workers.test/module-worker/main",
}
"""Responses that may have no size: a font and images that cannot be decoded, and a script that is shorter
than its header."""

SETTLE_MS = 5000
"""Time after the load event in which workers ask for the rest, in milliseconds."""

UNCOUNTED_FRAMING = 32
"""Most bytes of the frames' headers of a small body."""


def record(protocol: Spoken, host: str, folder: str) -> list[dict[str, Any]]:
    """Load a page of the zoo with a HAR file in the current network namespace; what the server sent."""
    return asyncio.run(_record(protocol, host, Path(folder)))


async def _record(protocol: Spoken, host: str, folder: Path) -> list[dict[str, Any]]:
    with serve_hosts(f"tests.zoo.pages:{protocol.upper()}", protocol=protocol, folder=folder) as web:
        async with async_playwright() as playwright:
            browser = await playwright.chromium.launch(
                executable_path=from_environment().chromium, args=[*web.browser_flags, "--no-sandbox"]
            )
            context = await browser.new_context(record_har_path=folder / "page.har")
            page = await context.new_page()
            await page.goto(f"https://{host}/")
            await page.wait_for_timeout(SETTLE_MS)
            await context.close()
            await browser.close()
    return [dataclasses.asdict(response) for response in web.truth.responses]


@pytest.mark.parametrize("protocol", ["h1tls", "h2"])
@pytest.mark.parametrize("host", PAGES)
def test_frames_and_workers_have_the_type_and_no_other_size_than_the_server_sent(
    protocol: Spoken, host: str, tmp_path: Path
) -> None:
    sent = {
        f"{response['host']}{response['path']}": response
        for response in in_namespace("tests.recordings.test_zoo:record", protocol, host, str(tmp_path))
    }
    load = read_file(tmp_path / "page.har", HAR).load
    rows = page_rows(load, 1).responses
    paths = [exchange.url.partition("//")[2] for exchange in load.exchanges]
    types = dict(zip(paths, (row["resource_type"] for row in rows), strict=True))
    assert types[f"{host}/"] == "document"
    assert {types[path] for path in paths if path.endswith(("/frame", "frame/inner"))} <= {"iframe"}
    mains = {path for path in paths if path.removeprefix(host) in MAIN_SCRIPTS}
    assert {types[path] for path in mains} <= {"worker"}
    assert len(paths) > 5
    known = {path: row for path, row in zip(paths, rows, strict=True) if row["wire_bytes"] is not None}
    assert set(paths) - known.keys() <= UNKNOWN
    for path, row in known.items():
        wire, body = sent[path]["wire_bytes"], sent[path]["body_bytes"]
        basis = "derived" if path in mains else "counted"
        assert (path, row["size_basis"], row["body_bytes"]) == (path, basis, body)
        assert wire - (UNCOUNTED_FRAMING if path in mains else 0) <= row["wire_bytes"] <= wire
