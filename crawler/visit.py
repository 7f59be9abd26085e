"""One visit: a home page is loaded in a fresh context and all that crossed the network becomes rows."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.browser import Browser
    from crawler.observation import Observation


async def visit(browser: Browser, host: str, *, budget_s: float) -> Observation:
    """Visit `host`, by https first, then by http, in at most `budget_s` seconds (and two for cleaning up).

    Whatever the page does, there is an observation. BrowserDied, which carries it, says that the browser
    is of no use any more.
    """
    raise NotImplementedError
