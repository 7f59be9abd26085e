"""The claim loop: browsers side by side take sites from the queue until it is empty or time is over.

The browser is handed in, so this module knows of Chromium only what it may do: visit a host, or die.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import os
import platform
import secrets
from typing import TYPE_CHECKING, Protocol

from crawler import store
from crawler.errors import BrowserDied
from schema.database import DatabaseError

if TYPE_CHECKING:
    from collections.abc import Callable
    from contextlib import AbstractAsyncContextManager

    from sqlalchemy import Engine

    from crawler.browser import Browser
    from crawler.observation import Observation
    from schema.tables import Crawl

QUEUE_EMPTY = "queue empty"
TIME_OVER = "time over"
STOPPED = "stopped"

WAIT_S = 0.5
"""Between two looks for a site while others hold all that are left."""

GIVE_UP_S = 5.0
"""That a visit may take to end when it is told to."""

SIGNAL_SETTLES_S = 0.2
"""Ctrl-C reaches the browser as well as us: a browser that dies of it may be seen before the signal is."""


class Visit(Protocol):
    """crawler.visit.visit, or what stands for it."""

    async def __call__(self, browser: Browser, host: str, *, budget_s: float) -> Observation:
        """Whatever the page does, there is an observation."""
        ...


@dataclasses.dataclass(kw_only=True, slots=True)
class Tally:
    """What one run did."""

    ended: str = STOPPED
    """QUEUE_EMPTY, TIME_OVER or STOPPED."""
    visits: int = 0
    final: int = 0
    """Sites that got their final visit."""
    lost: int = 0
    """Visits thrown away, since another crawler had taken the site over."""
    browsers_replaced: int = 0


@dataclasses.dataclass(kw_only=True, slots=True)
class Loop:
    """One run of one process."""

    engine: Engine
    crawl: Crawl
    launch: Callable[[], AbstractAsyncContextManager[Browser]]
    visit: Visit
    browsers: int
    minutes: float
    """No visit begins after this."""
    stop: asyncio.Event
    """Set from outside: visits in flight are given back."""
    stored: Callable[[store.Stored], None]
    """Told of every visit that was written."""
    say: Callable[[str], None]
    """Told a line about what does not go into the data."""
    tally: Tally = dataclasses.field(default_factory=Tally)
    process: str = dataclasses.field(
        default_factory=lambda: f"{platform.node()}/{os.getpid()}/{secrets.token_hex(4)}"
    )
    _deadline: float = 0.0

    async def run(self) -> Tally:
        """Crawl. A CrawlerError or DatabaseError of one browser ends them all, their claims given back."""
        self._deadline = asyncio.get_running_loop().time() + self.minutes * 60
        ends = await asyncio.gather(
            *(self._browse(f"{self.process}/{number}") for number in range(1, self.browsers + 1)),
            return_exceptions=True,
        )
        for end in ends:
            if isinstance(end, BaseException):
                raise end
        if not self.stop.is_set():
            left = await asyncio.to_thread(store.open_sites, self.engine, self.crawl)
            self.tally.ended = TIME_OVER if left else QUEUE_EMPTY
        return self.tally

    async def _browse(self, owner: str) -> None:
        """One browser after the other, until there is nothing left to do."""
        try:
            while await self._work_is_left():
                async with self.launch() as browser:
                    await asyncio.to_thread(store.record_browser, self.engine, self.crawl, browser.identity)
                    if await self._visits(browser, owner):
                        return
                self.tally.browsers_replaced += 1
        except BaseException:
            self.stop.set()
            raise

    async def _work_is_left(self) -> bool:
        if self.stop.is_set() or asyncio.get_running_loop().time() >= self._deadline:
            return False
        return await asyncio.to_thread(store.open_sites, self.engine, self.crawl) > 0

    async def _visits(self, browser: Browser, owner: str) -> bool:
        """Visit after visit; False when the browser must be replaced."""
        while not self.stop.is_set() and asyncio.get_running_loop().time() < self._deadline:
            claim = await asyncio.to_thread(store.claim, self.engine, self.crawl, owner=owner)
            if claim is not None:
                if not await self._take(browser, claim):
                    return False
            elif await self._work_is_left():
                # Others hold the rest: they may give it back, or their leases expire.
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self.stop.wait(), WAIT_S)
            else:
                break
        return True

    async def _take(self, browser: Browser, claim: store.Claim) -> bool:
        """One visit, written or given back; False when the browser must be replaced."""
        try:
            observation, alive = await self._observe(browser, claim)
            if observation is None:
                await asyncio.to_thread(store.release, self.engine, claim)
            else:
                await self._write(claim, observation)
        except BaseException:
            with contextlib.suppress(DatabaseError):
                await asyncio.to_thread(store.release, self.engine, claim)
            raise
        return alive

    async def _observe(self, browser: Browser, claim: store.Claim) -> tuple[Observation | None, bool]:
        """What the visit saw, None if it was stopped; and whether the browser is of further use."""
        visiting = asyncio.ensure_future(self.visit(browser, claim.host, budget_s=self.crawl.budget_s))
        stopping = asyncio.ensure_future(self.stop.wait())
        try:
            await asyncio.wait({visiting, stopping}, return_when=asyncio.FIRST_COMPLETED)
            if not visiting.done():
                return None, True
            try:
                return visiting.result(), True
            except BrowserDied as exc:
                await asyncio.sleep(SIGNAL_SETTLES_S)
                return (None if self.stop.is_set() else exc.observation), False
        finally:
            stopping.cancel()
            visiting.cancel()
            await asyncio.wait({visiting, stopping}, timeout=GIVE_UP_S)
            if visiting.done() and not visiting.cancelled():
                visiting.exception()  # retrieved: what a stopped visit ends in is of no interest

    async def _write(self, claim: store.Claim, observation: Observation) -> None:
        """In a thread, since writing a large page takes a while; begun, it is not broken off."""
        try:
            result = await asyncio.shield(
                asyncio.to_thread(store.store, self.engine, self.crawl, claim, observation)
            )
        except store.LeaseLost as exc:
            self.tally.lost += 1
            self.say(str(exc))
            return
        self.tally.visits += 1
        self.tally.final += result.is_final
        self.stored(result)
