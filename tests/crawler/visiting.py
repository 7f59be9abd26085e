"""Visits to a web of the tests."""

import contextlib
from collections.abc import Iterator
from typing import Any
from unittest import mock

from crawler.browser.browser import Browser
from crawler.capture.capture import Capture
from crawler.visit import recorder
from crawler.visit.attempt import Observation
from crawler.visit.visit import SETTLE_S, visit_page
from firstflight.settings import from_environment

AMPLE_S = 60.0
"""Budget of a visit that ends by itself, and time limit for the end of its log and for closing its page,
also on a busy machine, in seconds."""


@contextlib.contextmanager
def unhurried() -> Iterator[None]:
    """Wait for browsers that a busy machine holds up, which the crawler would replace."""
    with mock.patch.multiple(recorder, DRAIN_S=AMPLE_S, CLOSE_S=AMPLE_S):
        yield


async def visit_hosts(
    web: Any,
    *hosts: str,
    quic: bool = False,
    capture: Capture | None = None,
    budget_s: float = AMPLE_S,
    settle_s: float = SETTLE_S,
) -> list[Observation]:
    """Serve a web, and visit its hosts one after the other with one browser."""
    chromium = from_environment().chromium
    with unhurried():
        async with (
            web,
            Browser.launch(chromium, flags=web.browser_flags, quic=quic, capture=capture) as browser,
        ):
            return [await visit_page(browser, host, budget_s=budget_s, settle_s=settle_s) for host in hosts]
