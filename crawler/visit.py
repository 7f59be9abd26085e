"""One visit: a home page is loaded in a fresh context and all that crossed the network becomes rows."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import datetime
import secrets
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from crawler.errors import (
    BadResponse,
    BrowserDied,
    ConnectError,
    NetworkChanged,
    PageCrashed,
    TLSError,
    VisitError,
    VisitTimeout,
)
from crawler.logstream import now_ms
from crawler.navigation import visit_error
from crawler.observation import Observation
from crawler.page import EVENTS, PageFacts
from crawler.rows import Rows, Times, rows, text

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

    from crawler.browser import Browser
    from crawler.exchange import Exchange
    from crawler.fold import Traffic

QUIET_S = 0.5
"""A page is quiet when no request has been outstanding for so long."""

SETTLE_S = 10.0
"""A page that is not quiet so long after its load event is left as it is."""

POLL_S = 0.1
CLEANUP_S = 5.0
"""For what the budget does not cover: the end of the log, closing the page."""

HTTPS_SHARE = 0.5
"""Share of the budget after which a host that has not answered by https is tried by http."""

UNANSWERED = (ConnectError, TLSError, BadResponse, VisitTimeout)
"""Ends of an https try after which http is tried, where no response had come."""


@dataclasses.dataclass(slots=True)
class _Load:
    """One try of one scheme."""

    scheme: str
    started_at: datetime.datetime
    start_ms: int
    facts: PageFacts = dataclasses.field(default_factory=PageFacts)
    stop_reason: str = "failed"
    error: VisitError | None = None
    last_event_s: float = 0.0
    url: str = ""
    """Where the page was when recording stopped."""
    ended_at: datetime.datetime | None = None
    lost: bool = False
    """Whether the recording itself is not whole."""
    broken: str | None = None
    """Why the browser must be replaced; what it had recorded may be whole all the same."""


async def visit(
    browser: Browser, host: str, *, budget_s: float, settle_s: float = SETTLE_S, salt: bytes | None = None
) -> Observation:
    """Visit `host`, by https first, then by http, in at most `budget_s` seconds (and ten for cleaning up).

    Whatever the page does, there is an observation. BrowserDied, which carries it, says that the browser
    is of no use any more. http is tried where https brought no response (refused, reset, no TLS, silent
    for half the budget). Rows, times and outcome are those of one try alone: of http, or of https where
    http did not even connect.

    Hashes of queries are salted with `salt`, or with a salt of this visit's own that nobody keeps: then they
    tell queries of one visit apart, and are good for nothing else.
    """
    deadline = asyncio.get_running_loop().time() + budget_s
    salt = salt or secrets.token_bytes(16)
    load, traffic = await _try(
        browser, "https", host, deadline, settle_s, first_byte_s=budget_s * HTTPS_SHARE
    )
    if isinstance(load.error, UNANSWERED) and not load.broken and not _answered(traffic):
        second, second_traffic = await _try(browser, "http", host, deadline, settle_s)
        if second.broken or not isinstance(second.error, ConnectError):
            load, traffic = second, second_traffic
    observation = _observation(browser, load, traffic, salt)
    if load.broken:
        raise BrowserDied(load.broken, observation)
    return observation


async def _try(
    browser: Browser,
    scheme: str,
    host: str,
    deadline: float,
    settle_s: float,
    *,
    first_byte_s: float = float("inf"),
) -> tuple[_Load, Traffic]:
    load = _Load(scheme, datetime.datetime.now(datetime.UTC), browser.log.begin())
    loop = asyncio.get_running_loop()
    answer_by = min(deadline, loop.time() + first_byte_s)
    context: BrowserContext | None = None
    try:
        async with asyncio.timeout_at(deadline + CLEANUP_S / 2):
            context = await browser.context()
            await _record(load, context, f"{scheme}://{host}/", answer_by, deadline, settle_s, browser)
    except TimeoutError:
        load.error, load.lost = VisitTimeout("the browser did not answer"), True
        load.broken = "the browser did not answer in time"
    except PlaywrightError as exc:
        load.error = visit_error(exc)
    browser.log.stop()
    load.ended_at = datetime.datetime.now(datetime.UTC)
    if isinstance(load.error, PageCrashed):
        load.broken = f"the page crashed: {load.error}"
    if context is None or not await browser.drained(context):
        load.lost = True
        load.broken = load.broken or "the browser is gone"
    traffic = browser.log.finish()
    if context is not None:
        await _close(context, load)
    if not browser.alive:
        load.broken = load.broken or "the browser died"
    return load, traffic


async def _record(
    load: _Load,
    context: BrowserContext,
    url: str,
    answer_by: float,
    deadline: float,
    settle_s: float,
    browser: Browser,
) -> None:
    """Navigate, wait for the load event, then for quiet; how it went is left in `load`."""
    loop = asyncio.get_running_loop()
    page = await context.new_page()
    crashed: asyncio.Future[None] = loop.create_future()
    page.on("crash", lambda _: None if crashed.done() else crashed.set_result(None))
    popups: set[asyncio.Task[None]] = set()
    context.on("page", lambda popup: _shut(popup, popups))
    await _listen(load, context, page)
    navigation = asyncio.ensure_future(_navigate(load, page, url, answer_by, deadline, settle_s, browser))
    try:
        await asyncio.wait({navigation, crashed}, return_when=asyncio.FIRST_COMPLETED)
        if crashed.done():
            load.error, load.stop_reason = PageCrashed("the renderer died"), "failed"
        else:
            await navigation
    finally:
        load.url = page.url
        navigation.cancel()
        crashed.cancel()
        for popup in popups:
            popup.cancel()  # a stuck browser would never close them, and the context's end does it too
        await asyncio.gather(navigation, *popups, return_exceptions=True)


async def _listen(load: _Load, context: BrowserContext, page: Page) -> None:
    session = await context.new_cdp_session(page)
    loop = asyncio.get_running_loop()

    def listen(method: str) -> None:
        def take(params: dict[str, Any]) -> None:
            load.facts.feed(method, params)
            load.last_event_s = loop.time()

        session.on(method, take)

    for method in EVENTS:
        listen(method)
    # Nothing of the bodies is kept for us: they would be asked for by nobody.
    await session.send("Network.enable", {"maxTotalBufferSize": 0, "maxResourceBufferSize": 0})
    await session.send("Page.enable")


async def _navigate(
    load: _Load,
    page: Page,
    url: str,
    answer_by: float,
    deadline: float,
    settle_s: float,
    browser: Browser,
) -> None:
    loop = asyncio.get_running_loop()
    load.started_at, load.start_ms = datetime.datetime.now(datetime.UTC), now_ms()
    try:
        await page.goto(url, wait_until="commit", timeout=_left_ms(answer_by))
        await _loaded(load, page, deadline)
    except PlaywrightError as exc:
        load.error = visit_error(exc)
        load.stop_reason = "budget" if isinstance(load.error, VisitTimeout) else "failed"
        return
    settled = loop.time() + settle_s
    if await _quiet(load, page.context, browser, min(deadline, settled)):
        load.stop_reason = "quiet"
    elif settled <= deadline:
        load.stop_reason = "busy"
    else:
        load.error, load.stop_reason = VisitTimeout("the time budget ran out"), "budget"


async def _loaded(load: _Load, page: Page, deadline: float) -> None:
    """Wait for the load event; a document that broke off may never have one, and is waited for no longer."""
    loaded = asyncio.ensure_future(page.wait_for_load_state("load", timeout=_left_ms(deadline)))
    try:
        while not loaded.done() and not load.facts.document_failed:
            await asyncio.wait({loaded}, timeout=POLL_S)
        if loaded.done():
            await loaded
    finally:
        loaded.cancel()
        await asyncio.gather(loaded, return_exceptions=True)


async def _quiet(load: _Load, context: BrowserContext, browser: Browser, until: float) -> bool:
    """Wait until nothing has been outstanding for QUIET_S; False if it is not by `until`.

    The page's own events are cheap to ask but know nothing of workers; the network log knows all but lags
    until it is flushed: so the log is asked when the page is quiet.
    """
    loop = asyncio.get_running_loop()
    while loop.time() < until:
        quiet_for = loop.time() - load.last_event_s
        if load.facts.outstanding == 0 and quiet_for >= QUIET_S:
            if not await browser.drained(context):
                return False
            log = browser.log
            if not log.open_requests and now_ms() - log.last_request_ms >= QUIET_S * 1000:
                return True
        await asyncio.sleep(min(POLL_S, max(0.0, until - loop.time())))
    return False


def _left_ms(deadline: float) -> float:
    """Playwright takes 0 for no limit at all."""
    return max(1.0, (deadline - asyncio.get_running_loop().time()) * 1000)


def _shut(popup: Page, tasks: set[asyncio.Task[None]]) -> None:
    async def close() -> None:
        with contextlib.suppress(PlaywrightError):
            await popup.close()

    tasks.add(asyncio.ensure_future(close()))


async def _close(context: BrowserContext, load: _Load) -> None:
    try:
        async with asyncio.timeout(CLEANUP_S / 2):
            await context.close()
    except (TimeoutError, PlaywrightError):
        load.broken = load.broken or "the browser did not close its page"


def _answered(traffic: Traffic) -> bool:
    """Whether anything came back for the page itself."""
    return any(one.frame == "main frame" and one.sizes()[0] for one in traffic.exchanges)


def _main(traffic: Traffic, url: str) -> int | None:
    """Index of the exchange that brought the main document: the last of the main frame that is no redirect."""
    found = [
        (index, exchange)
        for index, exchange in enumerate(traffic.exchanges)
        if exchange.frame == "main frame" and _is_document(exchange)
    ]
    here = [index for index, exchange in found if exchange.url.partition("#")[0] == url.partition("#")[0]]
    return here[-1] if here else found[-1][0] if found else None


def _is_document(exchange: Exchange) -> bool:
    return exchange.status is not None and (exchange.status == 304 or not 300 <= exchange.status < 400)


def _outcome(load: _Load, main: dict[str, Any] | None, *, disturbed: bool) -> str:
    if isinstance(load.error, PageCrashed) or load.lost:
        return "crash"
    if disturbed:
        return NetworkChanged.outcome
    if main is not None and (main["status"] or 0) >= 400:
        return "http_error"
    if load.error is not None:
        return load.error.outcome
    return BadResponse.outcome if main is None or main["failure"] else "ok"


def _observation(browser: Browser, load: _Load, traffic: Traffic, salt: bytes) -> Observation:
    made: Rows = rows(
        traffic, load.facts.asked, start_ms=load.start_ms, salt=salt, error_name=browser.log.error_name
    )
    index = _main(traffic, load.url)
    main = None if index is None else made.responses[index]
    error = str(load.error) if load.error else main["failure"] if main else None
    return Observation(
        visit={
            "outcome": _outcome(load, main, disturbed=traffic.is_disturbed),
            "stop_reason": load.stop_reason,
            "error": text(error),
            "scheme": load.scheme,
            "status": main["status"] if main else None,
            "main_response_id": main["id"] if main else None,
            "final_scheme": main["scheme"] if main else None,
            "final_host": main["host"] if main else None,
            "hsts_upgrades": traffic.hsts_upgrades,
            "started_at": load.started_at,
            "ended_at": load.ended_at,
            "load_us": Times(load.start_ms).us(load.facts.load_ms),
            "received_bytes": made.received_bytes,
            "coverage": made.coverage,
            "decrypted_coverage": made.decrypted_coverage,
            "wall": None,
            "consent": None,
            "retry_after_s": None,
            "log_lines_lost": None,
            "unfiltered_egress": True,
        },
        connections=made.connections,
        responses=made.responses,
    )
