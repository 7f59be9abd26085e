"""Opens empty pages of a browser ahead of their use: the next one while the page before is being visited."""

import asyncio
import contextlib
import dataclasses
from collections.abc import Awaitable, Callable

from playwright.async_api import BrowserContext, CDPSession, Page
from playwright.async_api import Error as PlaywrightError

from crawler.devtools.document import LARGEST_PAINT


@dataclasses.dataclass(frozen=True, slots=True)
class OpenPage:
    """An empty page in a fresh profile, whose DevTools events are passed on."""

    context: BrowserContext
    page: Page
    frame_id: str
    crashed: asyncio.Future[None]


class OpenPages:
    """Opens the pages of one browser, one for each attempt at a visit.

    Opening takes some 80 ms, so the next page is opened while the one before is waited for to become quiet.
    It makes no request, and no page can tell that it is there.
    """

    def __init__(
        self,
        context: Callable[[], Awaitable[BrowserContext]],
        pose: Callable[[CDPSession], Awaitable[None]],
        is_heard: Callable[[str], bool],
    ) -> None:
        """Open pages in profiles made by `context`, after `pose`; `is_heard` tells whether events arrive."""
        self._context = context
        self._pose = pose
        self._is_heard = is_heard
        self._next: asyncio.Future[OpenPage] | None = None

    def prepare(self) -> None:
        if self._next is None:
            self._next = asyncio.ensure_future(self._open())

    async def take(self) -> OpenPage:
        """Take the prepared page, or a new one; PlaywrightError."""
        prepared, self._next = self._next, None
        if prepared is None:
            return await self._open()
        try:
            opened = await prepared
        except PlaywrightError:
            return await self._open()
        if self._is_heard(opened.frame_id) and not opened.crashed.done():
            return opened
        await close_quietly(opened.context)
        return await self._open()

    async def close(self) -> None:
        if self._next is not None:
            self._next.cancel()
            await asyncio.gather(self._next, return_exceptions=True)

    async def _open(self) -> OpenPage:
        context = await self._context()
        try:
            page = await context.new_page()
            crashed: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            page.on("crash", lambda _: None if crashed.done() else crashed.set_result(None))
            session = await context.new_cdp_session(page)
            tree, _, _ = await asyncio.gather(
                session.send("Page.getFrameTree"),
                session.send("PerformanceTimeline.enable", {"eventTypes": [LARGEST_PAINT]}),
                self._pose(session),
            )
        except PlaywrightError:
            await close_quietly(context)
            raise
        return OpenPage(context, page, tree["frameTree"]["frame"]["id"], crashed)


async def close_quietly(opened: BrowserContext | Page) -> None:
    with contextlib.suppress(PlaywrightError):
        await opened.close()
