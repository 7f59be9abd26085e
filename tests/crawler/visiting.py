"""Visits to a web of the tests."""

from typing import Any

from crawler.browser.browser import Browser
from crawler.capture.capture import Capture
from crawler.visit.observation import Observation
from crawler.visit.visit import SETTLE_S, visit_page
from firstflight.settings import from_environment


async def visit_hosts(
    web: Any,
    *hosts: str,
    quic: bool = False,
    capture: Capture | None = None,
    budget_s: float = 60.0,
    settle_s: float = SETTLE_S,
) -> list[Observation]:
    """Serve a web, and visit its hosts one after the other with one browser."""
    chromium = from_environment().chromium
    async with (
        web,
        Browser.launch(chromium, flags=web.browser_flags, quic=quic, capture=capture) as browser,
    ):
        return [await visit_page(browser, host, budget_s=budget_s, settle_s=settle_s) for host in hosts]
