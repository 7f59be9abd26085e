"""Records an attempt: navigates in a fresh context, waits for load and quiet, and reads the log to its end.

No other module translates Playwright's errors into errors of visits."""

import asyncio
import datetime
import re
from typing import Any

from playwright.async_api import BrowserContext, Page
from playwright.async_api import Error as PlaywrightError
from playwright.async_api import TimeoutError as PlaywrightTimeoutError

from crawler.browser.browser import Browser
from crawler.browser.logstream import now_ms, read_clocks
from crawler.browser.open_pages import OpenPage, close_quietly
from crawler.browser.processes import WorkMeter
from crawler.capture.capture import HANDED_OVER_MS, Capture
from crawler.devtools.document import MainDocument
from crawler.errors import (
    BadResponse,
    ConnectError,
    DNSError,
    NavigationAborted,
    NetworkChanged,
    PageCrashed,
    RedirectLoop,
    TLSError,
    VisitError,
    VisitTimeout,
)
from crawler.netlog.open_requests import QUIET_MS
from crawler.visit.attempt import SchemeAttempt

POLL_S = 0.1

CLEANUP_S = 10.0
"""Seconds beyond the budget for both attempts: for the log's end and closing the page."""

RECORDED_BY_S = 2.5
"""Time beyond the budget after which a browser that does not answer is given up, in seconds."""
DRAINED_BY_S = 7.5
"""Time beyond the budget after which the end of the log is given up, in seconds."""

DRAIN_S = 2.5
"""Time limit for the log of a page that still runs, in seconds; then the page is ended,
and the rest is waited for."""
CLOSE_S = 2.5

HANDED_OVER_TRIES = 10
"""Maximum number of waits for captured packets of bytes that the log has, on a busy machine."""

NOT_CLOSED = "the browser did not close its page"

LINKS_S = 1.0

LINKS = """(() => {
  const found = []
  for (const link of Array.from(Document.prototype.querySelectorAll.call(document, 'a[href]')).slice(0, 2000)) {
    if (typeof link.href === 'string' && link.href.length <= 2048) found.push(link.href)
  }
  return found
})()"""  # noqa: E501
"""Returns the browser's canonical URLs of links; a page may have replaced `document.querySelectorAll`."""

NET_ERRORS: list[tuple[str, type[VisitError]]] = [
    ("NAME_", DNSError),
    ("DNS_", DNSError),
    ("ICANN_NAME_COLLISION", DNSError),
    ("CONNECTION_CLOSED", BadResponse),
    ("CONNECTION_", ConnectError),
    ("ADDRESS_", ConnectError),
    ("INTERNET_DISCONNECTED", ConnectError),
    ("NETWORK_CHANGED", NetworkChanged),
    ("NETWORK_", ConnectError),
    ("SOCKET_", ConnectError),
    ("TIMED_OUT", ConnectError),
    ("SSL_", TLSError),
    ("CERT_", TLSError),
    ("BAD_SSL_CLIENT_AUTH_CERT", TLSError),
    ("ECH_", TLSError),
    ("TOO_MANY_REDIRECTS", RedirectLoop),
    ("EMPTY_RESPONSE", BadResponse),
    ("INVALID_", BadResponse),
    ("RESPONSE_", BadResponse),
    ("INCOMPLETE_", BadResponse),
    ("CONTENT_", BadResponse),
    ("HTTP", BadResponse),
    ("QUIC_", BadResponse),
    ("UNSAFE_REDIRECT", BadResponse),
]
"""Errors by the beginning of Chromium's error name.

The first that fits decides; without one the navigation was aborted.
"""

_CRASHED = re.compile(r"\b(?:Page|Target) crashed")
"""Playwright's message of a crash; no URL has a space."""

_NET_ERROR = re.compile(r"net::ERR_([A-Z0-9_]+)")


class Recorder:
    """Records one attempt in one browser; its times are those of the event loop's clock."""

    def __init__(self, browser: Browser, scheme: str, *, answer_by: float, deadline: float) -> None:
        """End the attempt at `deadline`, or at `answer_by` without a byte of an answer."""
        self._browser = browser
        self._answer_by = answer_by
        self._deadline = deadline
        self._is_stuck = False
        self._began_ms = browser.log.begin()
        self.attempt = SchemeAttempt(
            scheme,
            datetime.datetime.now(datetime.UTC),
            self._began_ms,
            refuses=browser.guard.refuses if browser.guard else None,
        )

    async def record(self, place: str, *, settle_s: float, links: bool) -> SchemeAttempt:
        """Load `place`, a host with a path; the attempt says how it ended."""
        attempt, browser = self.attempt, self._browser
        context: BrowserContext | None = None
        try:
            async with asyncio.timeout_at(self._deadline + RECORDED_BY_S):
                opened = await browser.pages.take()
                context = opened.context
                await self._load(opened, f"{attempt.scheme}://{place}", settle_s)
        except TimeoutError:
            attempt.error = VisitTimeout("the browser did not answer")
            attempt.broken = "the browser did not answer in time"
            self._is_stuck = True
            if attempt.document is not None and attempt.document.is_shown:
                attempt.stop_reason = (
                    "budget"  # the page keeps it busy; the end of the log tells what is lost
                )
            else:
                attempt.lost = True
        except PlaywrightError as exc:
            attempt.error = translate_error(exc)
        if attempt.stop_ms is None:
            attempt.stop_ms = browser.log.stop(now_ms())
        attempt.ended_at = datetime.datetime.now(datetime.UTC)
        if isinstance(attempt.error, PageCrashed):
            attempt.broken = f"the page crashed: {attempt.error}"
        await self._read_to_end(context)
        if context is not None:
            attempt.links = await _links(context) if links and not attempt.broken else []
            await self._close(context)
        if not browser.alive:
            attempt.mark_broken("the browser died")
        return attempt

    async def _load(self, opened: OpenPage, url: str, settle_s: float) -> None:
        popups: set[asyncio.Task[None]] = set()
        opened.context.on("page", lambda popup: popups.add(asyncio.ensure_future(close_quietly(popup))))
        self._listen(opened.frame_id)
        navigation = asyncio.ensure_future(self._navigate(opened.page, url, settle_s))
        try:
            await asyncio.wait({navigation, opened.crashed}, return_when=asyncio.FIRST_COMPLETED)
            if opened.crashed.done():
                self.attempt.error, self.attempt.stop_reason = PageCrashed("the renderer died"), "failed"
            else:
                await navigation
        finally:
            navigation.cancel()
            for popup in popups:
                popup.cancel()  # a stuck browser would never close them, and the context's end does it too
            await asyncio.gather(navigation, *popups, return_exceptions=True)

    def _listen(self, frame_id: str) -> None:
        self.attempt.document = MainDocument(frame_id)
        loop = asyncio.get_running_loop()
        self._browser.pipe_tee.listen(frame_id, lambda event: self.attempt.hear(event, loop.time()))

    async def _navigate(self, page: Page, url: str, settle_s: float) -> None:
        attempt, loop = self.attempt, asyncio.get_running_loop()
        wall_ns, monotonic_ns = read_clocks()
        attempt.started_at = datetime.datetime.fromtimestamp(wall_ns / 1e9, datetime.UTC)
        attempt.start_ms = monotonic_ns // 1_000_000
        try:
            await self._wait_for_commit(page, url)
            await self._wait_for_load(page)
        except (PlaywrightError, VisitTimeout) as exc:
            attempt.error = exc if isinstance(exc, VisitTimeout) else translate_error(exc)
            attempt.stop_reason = "budget" if isinstance(attempt.error, VisitTimeout) else "failed"
            return
        self._browser.pages.prepare()
        if await self._wait_for_quiet(page.context, settle_s):
            attempt.stop_reason = "quiet"
        elif loop.time() < self._deadline:
            attempt.stop_reason = "busy"
        else:
            attempt.error, attempt.stop_reason = VisitTimeout("the time budget ran out"), "budget"

    async def _wait_for_commit(self, page: Page, url: str) -> None:
        """Wait until the browser shows the document; VisitTimeout without a byte by `answer_by`."""
        timeout_ms = _left_s(self._deadline) * 1000
        going = asyncio.ensure_future(page.goto(url, wait_until="commit", timeout=timeout_ms))
        try:
            await asyncio.wait({going}, timeout=_left_s(self._answer_by))
            if not going.done():
                await self._browser.drain(page.context, timeout_s=_left_s(self._deadline))
            if going.done() or self._browser.log.is_answered:
                await self._wait_for_answer(going)
            else:
                raise VisitTimeout("the time budget ran out")
        finally:
            going.cancel()
            await asyncio.gather(going, return_exceptions=True)

    async def _wait_for_load(self, page: Page) -> None:
        """Wait for the load event, which may never come once the document broke off."""
        timeout_ms = _left_s(self._deadline) * 1000
        loaded = asyncio.ensure_future(page.wait_for_load_state("load", timeout=timeout_ms))
        document = self.attempt.document
        try:
            while not loaded.done() and not (document and document.broke_off):
                if asyncio.get_running_loop().time() >= self._deadline:
                    await self._wait_for_answer(loaded)
                await asyncio.wait({loaded}, timeout=POLL_S)
            if loaded.done():
                await loaded
        finally:
            loaded.cancel()
            await asyncio.gather(loaded, return_exceptions=True)

    async def _wait_for_answer(self, task: asyncio.Future[Any]) -> None:
        """Wait for Playwright; VisitTimeout when the budget is over.

        Playwright has the same limit, but very many frames keep its driver too busy to hold it.
        """
        await asyncio.wait({task}, timeout=_left_s(self._deadline))
        if not task.done():
            raise VisitTimeout("the time budget ran out")
        await task

    async def _wait_for_quiet(self, context: BrowserContext, settle_s: float) -> bool:
        """Wait until the network is idle (`crawler.netlog.open_requests`), and end the recording there.

        False if that is not so within `settle_s`, or by the deadline. Neither time counts while the browser's
        threads wait for a processor, and the network is not idle while they have something to do: what they
        ask for next comes later on a busy machine, and after a long task of the page.

        The page's own events are cheap to ask but know nothing of workers, nor of bodies that the page does
        not read. The network log knows all but lags, so it is asked when the page's events have stood still.
        """
        attempt, browser, loop = self.attempt, self._browser, asyncio.get_running_loop()
        settled = loop.time() + settle_s
        meter = await asyncio.to_thread(WorkMeter, browser.pid)
        while True:
            left_s = min(self._deadline, settled + meter.waited_ms / 1000) - loop.time()
            if left_s <= 0:
                return False
            wait_s, read_ms = attempt.last_event_s + QUIET_MS / 1000 - loop.time(), None
            if wait_s <= 0:
                read_ms = await browser.drain(context, timeout_s=left_s)
                if read_ms is None:
                    return False
            await asyncio.to_thread(meter.read, now_ms())
            if read_ms is not None:
                idle_ms = browser.log.idle_at_ms
                wait_s = (idle_ms + meter.busy_ms(idle_ms - QUIET_MS) - read_ms) / 1000
                if wait_s <= 0 and not meter.is_ready and attempt.last_event_s * 1000 <= read_ms:
                    attempt.stop_ms = browser.log.stop(read_ms)  # before any other event is heard
                    return True
            # An end of a request in the meantime is seen in time: QUIET_MS have then to pass since that end.
            await asyncio.sleep(min(max(wait_s, POLL_S), QUIET_MS / 1000))

    async def _read_to_end(self, context: BrowserContext | None) -> None:
        attempt, browser = self.attempt, self._browser
        # The log of a quiet page has been read: what comes until the page is torn down is no part of the
        # visit. More bytes may have come for requests that are still open.
        is_read = attempt.stop_reason == "quiet" and not browser.log.has_open_requests
        if context is None or not (is_read or await self._drain_log(context)):
            attempt.lost = True
            attempt.mark_broken("the browser is gone")
        await browser.pipe_tee.catch_up()
        browser.pipe_tee.stop()
        attempt.log_lines_lost = browser.log.lines_lost
        attempt.traffic = browser.log.finish()
        if browser.capture is not None:
            await self._take_packets(browser.capture, is_read=is_read)

    async def _take_packets(self, capture: Capture, *, is_read: bool) -> None:
        traffic, stop_ms = self.attempt.traffic, self.attempt.stop_ms or now_ms()
        if not is_read:
            await asyncio.sleep(HANDED_OVER_MS / 1000)  # more may have come than the log says
        ends = [
            (
                (transport.local_address, transport.local_port),
                (transport.remote_address, transport.remote_port),
            )
            for transport in traffic.transports
        ]
        sizes = [transport.received_bytes for transport in traffic.transports]
        for _ in range(HANDED_OVER_TRIES):
            if not any(capture.is_behind(*where, size) for where, size in zip(ends, sizes, strict=True)):
                break
            await asyncio.sleep(HANDED_OVER_MS / 1000)
        self.attempt.captured = [capture.take(*where) for where in ends]
        self.attempt.unnamed_bytes = capture.unnamed_bytes(
            traffic.ends, since_ms=self._began_ms, until_ms=stop_ms
        )

    async def _drain_log(self, context: BrowserContext) -> bool:
        """Wait for the end of the log, if need be by ending the page."""
        until = self._deadline + DRAINED_BY_S
        limit_s = min(DRAIN_S, _left_s(until))
        if not self._is_stuck and await self._browser.drain(context, timeout_s=limit_s) is not None:
            return True
        if not self._browser.alive:
            return False
        self.attempt.mark_broken("the page left the browser no time for anything else")
        await self._browser.end_pages()
        return await self._browser.drain(context, timeout_s=_left_s(until)) is not None

    async def _close(self, context: BrowserContext) -> None:
        try:
            async with asyncio.timeout(min(CLOSE_S, _left_s(self._deadline + CLEANUP_S))):
                await context.close()
        except (TimeoutError, PlaywrightError):
            self.attempt.mark_broken(NOT_CLOSED)


def _left_s(deadline: float) -> float:
    """Return the seconds until `deadline`, never 0, which is Playwright's no limit."""
    return max(0.001, deadline - asyncio.get_running_loop().time())


async def _links(context: BrowserContext) -> list[str]:
    """Return the links of the main document, read in a world that its scripts cannot reach."""
    if not context.pages:
        return []
    try:
        async with asyncio.timeout(LINKS_S):
            session = await context.new_cdp_session(context.pages[0])
            tree = await session.send("Page.getFrameTree")
            frame_id = tree["frameTree"]["frame"]["id"]
            world = await session.send("Page.createIsolatedWorld", {"frameId": frame_id})
            result = await session.send(
                "Runtime.evaluate",
                {"expression": LINKS, "contextId": world["executionContextId"], "returnByValue": True},
            )
    except (TimeoutError, PlaywrightError):
        return []
    value = result["result"].get("value")
    return [str(url) for url in value] if isinstance(value, list) else []


def translate_error(exc: PlaywrightError) -> VisitError:
    """Translate an error, with Chromium's name of it.

    >>> translate_error(PlaywrightError("Page.goto: net::ERR_NAME_NOT_RESOLVED at https://a.test/"))
    DNSError('net::ERR_NAME_NOT_RESOLVED')
    """
    message = exc.message
    match = _NET_ERROR.search(message)
    if match:
        kind = next((kind for prefix, kind in NET_ERRORS if match[1].startswith(prefix)), NavigationAborted)
        return kind(match[0])
    if isinstance(exc, PlaywrightTimeoutError):
        return VisitTimeout("the time budget ran out")
    first_line = (message.strip() or "unknown").splitlines()[0].removeprefix("Page.goto: ")[:200]
    return PageCrashed(first_line) if _CRASHED.search(first_line) else NavigationAborted(first_line)
