"""Visits a home page: loads it in a fresh context and turns all that crossed the network into rows."""

import asyncio
import secrets

from crawler.browser.browser import Browser
from crawler.visit.observation import BrowserDied, Observation
from crawler.visit.recorder import Recorder

SETTLE_S = 10.0
"""Time after the load event in which a page may become quiet, in seconds; then it is left as it is."""

HTTPS_SHARE = 0.5
"""Share of the budget after which a host that has sent no byte by https is tried by http."""


async def visit_page(
    browser: Browser,
    host: str,
    *,
    budget_s: float,
    settle_s: float = SETTLE_S,
    salt: bytes | None = None,
    path: str = "/",
    links: bool = False,
) -> Observation:
    """Visit `path` (and query) of `host`, by https and then by http,
    in at most `budget_s` seconds and CLEANUP_S.

    There is an observation whatever the page does. BrowserDied carries it if the browser is of no further
    use. http is tried where https brought no response (refused, reset, no TLS, silent for half the budget).
    Rows, times and outcome are those of one attempt alone: of https, unless http says more.

    Hashes of queries are salted with `salt` or, by default, with a salt that nobody keeps: those tell apart
    the queries of this visit alone.
    """
    loop = asyncio.get_running_loop()
    began = loop.time()
    deadline = began + budget_s
    by_https = Recorder(browser, "https", answer_by=began + budget_s * HTTPS_SHARE, deadline=deadline)
    attempt = await by_https.record(host + path, settle_s=settle_s, links=links)
    if attempt.wants_http and attempt.broken:
        attempt.end_without_browser()
    elif attempt.wants_http and loop.time() >= deadline:
        attempt.end_without_time()
    elif attempt.wants_http:
        by_http = Recorder(browser, "http", answer_by=deadline, deadline=deadline)
        second = await by_http.record(host + path, settle_s=settle_s, links=links)
        if second.outweighs(attempt):
            attempt = second
        else:
            attempt.broken = second.broken
    observation = await asyncio.to_thread(  # other browsers' pages go on meanwhile
        attempt.observation, salt=salt or secrets.token_bytes(16), error_name=browser.log.error_name
    )
    if attempt.broken:
        raise BrowserDied(attempt.broken, observation)
    return observation
