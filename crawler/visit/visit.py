"""One visit: a home page is loaded in a fresh context and all that crossed the network becomes rows."""

from __future__ import annotations

import asyncio
import contextlib
import datetime
import secrets
from typing import TYPE_CHECKING, Any

from playwright.async_api import Error as PlaywrightError

from crawler.browser.logstream import now_ms, same_moment
from crawler.devtools.document import MainDocument
from crawler.errors import BrowserDied, PageCrashed, VisitTimeout
from crawler.visit.attempt import Attempt
from crawler.visit.links import links_of
from crawler.visit.navigation import visit_error

if TYPE_CHECKING:
    from playwright.async_api import BrowserContext, Page

    from crawler.browser.browser import Browser
    from crawler.visit.observation import Observation

QUIET_S = 0.5
"""A page is quiet when no request has been outstanding for so long."""

SETTLE_S = 10.0
"""A page that is not quiet so long after its load event is left as it is."""

POLL_S = 0.1

CLEANUP_S = 10.0
"""For what the budget does not cover, all tries together: the end of the log, closing the page."""

RECORDED_BY_S = 2.5
DRAINED_BY_S = 7.5
"""After the budget: when a browser that does not answer is given up, and when the end of the log is."""

DRAIN_S = 2.5
CLOSE_S = 2.5
"""At most, where budget is left."""

LINKS_S = 1.0
"""That a page has to name its links."""

HTTPS_SHARE = 0.5
"""Share of the budget after which a host from which not a byte has come by https is tried by http."""


async def visit(
    browser: Browser,
    host: str,
    *,
    budget_s: float,
    settle_s: float = SETTLE_S,
    salt: bytes | None = None,
    path: str = "/",
    links: bool = False,
) -> Observation:
    """Visit `path` (and query) of `host`, by https first, then by http, in at most `budget_s` seconds and CLEANUP_S.

    Whatever the page does, there is an observation. BrowserDied, which carries it, says that the browser
    is of no use any more. http is tried where https brought no response (refused, reset, no TLS, silent
    for half the budget). Rows, times and outcome are those of one try alone: of https, unless http says more.

    Hashes of queries are salted with `salt`, or with a salt of this visit's own that nobody keeps: then they
    tell queries of one visit apart, and are good for nothing else.
    """
    loop = asyncio.get_running_loop()
    deadline = loop.time() + budget_s
    answer_by = loop.time() + budget_s * HTTPS_SHARE
    one = await _try(browser, "https", host + path, answer_by, deadline, settle_s, links=links)
    if one.wants_http and one.broken:
        one.no_browser_left()
    elif one.wants_http and loop.time() >= deadline:
        one.no_time_left()
    elif one.wants_http:
        other = await _try(browser, "http", host + path, deadline, deadline, settle_s, links=links)
        if other.counts_after(one):
            one = other
        else:
            one.broken = other.broken
    observation = one.observation(salt=salt or secrets.token_bytes(16), error_name=browser.log.error_name)
    if one.broken:
        raise BrowserDied(one.broken, observation)
    return observation


async def _try(
    browser: Browser,
    scheme: str,
    place: str,
    answer_by: float,
    deadline: float,
    settle_s: float,
    *,
    links: bool,
) -> Attempt:
    one = Attempt(
        scheme,
        datetime.datetime.now(datetime.UTC),
        browser.log.begin(),
        refuses=browser.guard.refuses if browser.guard else None,
    )
    context: BrowserContext | None = None
    try:
        async with asyncio.timeout_at(deadline + RECORDED_BY_S):
            context = await browser.context()
            await _record(one, context, f"{scheme}://{place}", answer_by, deadline, settle_s, browser)
    except TimeoutError:
        one.error = VisitTimeout("the browser did not answer")
        one.broken = "the browser did not answer in time"
        if one.document is not None and one.document.is_shown:
            one.stop_reason = (
                "budget"  # the page keeps it busy: whether the recording is whole, its end will tell
            )
        else:
            one.lost = True
    except PlaywrightError as exc:
        one.error = visit_error(exc)
    one.stop_ms = browser.log.stop()
    one.ended_at = datetime.datetime.now(datetime.UTC)
    if isinstance(one.error, PageCrashed):
        one.broken = f"the page crashed: {one.error}"
    # Of a quiet page all has been read, and what may come until it is torn down is no part of the visit.
    is_read = one.stop_reason == "quiet"
    if context is None or not (is_read or await _drained(browser, context, one, deadline + DRAINED_BY_S)):
        one.lost = True
        one.broken = one.broken or "the browser is gone"
    await browser.pipe_tee.caught_up()
    browser.pipe_tee.stop()
    one.log_lines_lost = browser.log.lines_lost
    one.lost |= browser.log.is_missing_bytes
    one.traffic = browser.log.finish()
    if context is not None:
        one.links = await _links(context) if links and not one.broken else []
        await _close(context, one, deadline + CLEANUP_S)
    if not browser.alive:
        one.broken = one.broken or "the browser died"
    return one


async def _record(
    one: Attempt,
    context: BrowserContext,
    url: str,
    answer_by: float,
    deadline: float,
    settle_s: float,
    browser: Browser,
) -> None:
    """Navigate, wait for the load event, then for quiet; how it went is left in `one`."""
    loop = asyncio.get_running_loop()
    page = await context.new_page()
    crashed: asyncio.Future[None] = loop.create_future()
    page.on("crash", lambda _: None if crashed.done() else crashed.set_result(None))
    popups: set[asyncio.Task[None]] = set()
    context.on("page", lambda popup: _shut(popup, popups))
    await _listen(one, context, page, browser)
    navigation = asyncio.ensure_future(_navigate(one, page, url, answer_by, deadline, settle_s, browser))
    try:
        await asyncio.wait({navigation, crashed}, return_when=asyncio.FIRST_COMPLETED)
        if crashed.done():
            one.error, one.stop_reason = PageCrashed("the renderer died"), "failed"
        else:
            await navigation
    finally:
        navigation.cancel()
        crashed.cancel()
        for popup in popups:
            popup.cancel()  # a stuck browser would never close them, and the context's end does it too
        await asyncio.gather(navigation, *popups, return_exceptions=True)


async def _listen(one: Attempt, context: BrowserContext, page: Page, browser: Browser) -> None:
    session = await context.new_cdp_session(page)
    tree = await session.send("Page.getFrameTree")
    frame_id = tree["frameTree"]["frame"]["id"]  # which is the page's own, too
    one.document = MainDocument(frame_id)
    loop = asyncio.get_running_loop()
    browser.pipe_tee.listen(frame_id, lambda event: one.hear(event, loop.time()))
    await browser.pose(session)


async def _navigate(
    one: Attempt,
    page: Page,
    url: str,
    answer_by: float,
    deadline: float,
    settle_s: float,
    browser: Browser,
) -> None:
    loop = asyncio.get_running_loop()
    wall_ns, monotonic_ns = same_moment()
    one.started_at = datetime.datetime.fromtimestamp(wall_ns / 1e9, datetime.UTC)
    one.start_ms = monotonic_ns // 1_000_000
    try:
        await _committed(page, url, answer_by, deadline, browser)
        await _loaded(one, page, deadline)
    except (PlaywrightError, VisitTimeout) as exc:
        one.error = exc if isinstance(exc, VisitTimeout) else visit_error(exc)
        one.stop_reason = "budget" if isinstance(one.error, VisitTimeout) else "failed"
        return
    settled = loop.time() + settle_s
    if await _quiet(one, page.context, browser, min(deadline, settled)):
        one.stop_reason = "quiet"
    elif settled <= deadline:
        one.stop_reason = "busy"
    else:
        one.error, one.stop_reason = VisitTimeout("the time budget ran out"), "budget"


async def _committed(page: Page, url: str, answer_by: float, deadline: float, browser: Browser) -> None:
    """Wait until the browser shows the document; VisitTimeout if not a byte of an answer has come by `answer_by`."""
    going = asyncio.ensure_future(page.goto(url, wait_until="commit", timeout=_left_s(deadline) * 1000))
    try:
        await asyncio.wait({going}, timeout=_left_s(answer_by))
        if not going.done():
            await browser.drained(page.context, timeout_s=_left_s(deadline))
        if going.done() or browser.log.is_answered:
            await _ended_by(going, deadline)
        else:
            raise VisitTimeout("the time budget ran out")
    finally:
        going.cancel()
        await asyncio.gather(going, return_exceptions=True)


async def _loaded(one: Attempt, page: Page, deadline: float) -> None:
    """Wait for the load event; a document that broke off may never have one, and is waited for no longer."""
    loaded = asyncio.ensure_future(page.wait_for_load_state("load", timeout=_left_s(deadline) * 1000))
    try:
        while not loaded.done() and not (one.document and one.document.broke_off):
            if asyncio.get_running_loop().time() >= deadline:
                await _ended_by(loaded, deadline)
            await asyncio.wait({loaded}, timeout=POLL_S)
        if loaded.done():
            await loaded
    finally:
        loaded.cancel()
        await asyncio.gather(loaded, return_exceptions=True)


async def _ended_by(task: asyncio.Future[Any], deadline: float) -> None:
    """Wait for Playwright's answer; VisitTimeout when the budget is over.

    Playwright has the same limit, but a page with very many frames keeps its driver too busy to hold it.
    """
    await asyncio.wait({task}, timeout=_left_s(deadline))
    if not task.done():
        raise VisitTimeout("the time budget ran out")
    await task


async def _quiet(one: Attempt, context: BrowserContext, browser: Browser, until: float) -> bool:
    """Wait until nothing has been outstanding for QUIET_S; False if it is not by `until`.

    The page's own events are cheap to ask but know nothing of workers; the network log knows all but lags
    until it is flushed: so the log is asked when the page is quiet.
    """
    loop = asyncio.get_running_loop()
    while (left_s := until - loop.time()) > 0:
        wait_s = max(
            QUIET_S - (loop.time() - one.last_event_s), POLL_S if one.initiators.outstanding else 0.0
        )
        if wait_s <= 0:
            if not await browser.drained(context, timeout_s=_left_s(until)):
                return False
            log = browser.log
            wait_s = POLL_S if log.open_requests else QUIET_S - (now_ms() - log.last_request_ms) / 1000
            if wait_s <= 0:
                return True
        await asyncio.sleep(min(wait_s, left_s))
    return False


def _left_s(deadline: float) -> float:
    """Never 0, which Playwright takes for no limit at all."""
    return max(0.001, deadline - asyncio.get_running_loop().time())


def _shut(popup: Page, tasks: set[asyncio.Task[None]]) -> None:
    async def close() -> None:
        with contextlib.suppress(PlaywrightError):
            await popup.close()

    tasks.add(asyncio.ensure_future(close()))


async def _drained(browser: Browser, context: BrowserContext, one: Attempt, until: float) -> bool:
    """Wait for the end of the log; a page that keeps the browser too busy to get there is ended."""
    if await browser.drained(context, timeout_s=min(DRAIN_S, _left_s(until))):
        return True
    if not browser.alive:
        return False
    one.broken = one.broken or "the page left the browser no time for anything else"
    await browser.end_pages()
    return await browser.drained(context, timeout_s=min(DRAIN_S, _left_s(until)))


async def _links(context: BrowserContext) -> list[str]:
    """Links of the page, once its recording is over; none if it does not answer."""
    try:
        async with asyncio.timeout(LINKS_S):
            return await links_of(context.pages[0]) if context.pages else []
    except (TimeoutError, PlaywrightError):
        return []


async def _close(context: BrowserContext, one: Attempt, until: float) -> None:
    try:
        async with asyncio.timeout(min(CLOSE_S, _left_s(until))):
            await context.close()
    except (TimeoutError, PlaywrightError):
        one.broken = one.broken or "the browser did not close its page"
