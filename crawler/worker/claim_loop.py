"""The claim loop: browsers side by side take sites from the queue until it is empty or time is over.

The browser is passed in: this module knows only that it visits hosts and may die.
"""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
import functools
import os
import platform
import secrets
from collections.abc import Callable, Coroutine, Iterable
from contextlib import AbstractAsyncContextManager
from types import TracebackType
from typing import Self

from sqlalchemy import Engine, select, update

from crawler.browser.browser import Browser
from crawler.browser.identity import Identity
from crawler.control.network import CrawlNetwork
from crawler.control.watch import PACING, Pacing, Watch
from crawler.errors import CrawlerError, LaunchFailed
from crawler.visit.attempt import BrowserDied, Observation
from crawler.visit.visit import VisitPage, visit_site
from crawler.worker import claims
from crawler.worker.claims import Claim, Leases
from crawler.worker.database_retry import DatabaseRetry
from schema.tables import Crawl
from storage.engine import DatabaseError

QUEUE_EMPTY = "queue empty"
TIME_OVER = "time over"
STOPPED = "stopped"

WAIT_S = 0.5

GIVE_UP_S = 5.0

LAUNCH_TRIES = 3
LAUNCH_PAUSE_S = 1.0
"""Pause between two launches, in seconds, in which the cause of a failure may go."""

DIED = "died"
PAGES = "pages"
MEMORY = "memory"

SIGNAL_SETTLES_S = 0.2
"""Time in which our own signal arrives: Ctrl-C reaches the browser too, whose death may be seen first."""

SURROUNDING_FLAGS = (
    "--host-resolver-rules=",
    "--ignore-certificate-errors-spki-list=",
    "--net-log-capture-mode=",
)
"""Flags that may differ between runs of a crawl: the local web's address, and until version 0.2 what the log
contains.
"""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Limits:
    """Limits at which a run replaces a browser or gives up."""

    pages_per_browser: int = 200
    browser_memory_mb: int = 1500
    database_retry_s: float = 300.0
    """Seconds for which an unreachable database is retried."""


DEFAULTS = Limits()


@dataclasses.dataclass(kw_only=True, slots=True)
class Tally:
    """Counts of one run."""

    ended: str = STOPPED
    visits: int = 0
    final: int = 0
    """Sites that this run gave their final visit."""
    lost: int = 0
    browsers_replaced: dict[str, int] = dataclasses.field(default_factory=dict)


@dataclasses.dataclass(kw_only=True, slots=True)
class ClaimLoop:
    """One run of one process."""

    engine: Engine
    crawl: Crawl
    launch: Callable[[], AbstractAsyncContextManager[Browser]]
    visit: VisitPage
    browsers: int
    minutes: float
    """No visit begins after it."""
    stop: asyncio.Event
    on_stored: Callable[[Claim, Observation, claims.StoredVisit], None]
    say: Callable[[str], None]
    """Called with a line about events that do not go into the data."""
    limits: Limits = DEFAULTS
    revive: Callable[[], object] | None = None
    network: CrawlNetwork | None = None
    """Probed to learn whether visits failed by a fault of ours."""
    pacing: Pacing = PACING
    tally: Tally = dataclasses.field(default_factory=Tally)
    process: str = dataclasses.field(
        default_factory=lambda: f"{platform.node()}/{os.getpid()}/{secrets.token_hex(4)}"
    )
    _deadline: float = 0.0
    _database: DatabaseRetry = dataclasses.field(init=False)
    _leases: Leases = dataclasses.field(init=False)
    _watch: Watch = dataclasses.field(init=False)

    def __post_init__(self) -> None:
        """Make what all browsers share."""
        self._database = DatabaseRetry(
            retry_for_s=self.limits.database_retry_s, stop=self.stop, say=self.say, revive=self.revive
        )
        self._leases = Leases(self.engine, self.crawl)
        self._watch = Watch(self.network, stop=self.stop, say=self.say, pacing=self.pacing)

    async def run(self) -> Tally:
        """Crawl until the end; an error of one browser ends all, gives their claims back, and is raised."""
        self._deadline = asyncio.get_running_loop().time() + self.minutes * 60
        with self._leases:
            ends = await asyncio.gather(
                *(self._browse(f"{self.process}/{number}") for number in range(1, self.browsers + 1)),
                return_exceptions=True,
            )
        for end in ends:
            if isinstance(end, BaseException):
                raise end
        if not self.stop.is_set():
            left = await self._database(claims.count_open_sites, self.engine, self.crawl)
            self.tally.ended = TIME_OVER if left else QUEUE_EMPTY
        return self.tally

    async def _browse(self, owner: str) -> None:
        with contextlib.ExitStack() as failed:
            failed.callback(self.stop.set)
            while await self._has_work():
                reason = await self._run_browser(owner)
                if reason is None:
                    break
                replaced = self.tally.browsers_replaced
                replaced[reason] = replaced.get(reason, 0) + 1
            failed.pop_all()

    def _is_over(self) -> bool:
        return self.stop.is_set() or asyncio.get_running_loop().time() >= self._deadline

    async def _has_work(self) -> bool:
        if self._is_over():
            return False
        return await self._database(claims.count_open_sites, self.engine, self.crawl) > 0

    async def _run_browser(self, owner: str) -> str | None:
        """Run a browser; return why another must replace it, None if nothing is left."""
        async with contextlib.AsyncExitStack() as stack:
            browser = await self._launch(stack)
            if browser is None:
                return None
            await self._database(record_browser, self.engine, self.crawl, browser.identity)
            return await self._make_visits(browser, owner)

    async def _launch(self, stack: contextlib.AsyncExitStack) -> Browser | None:
        """Launch a browser that ends with `stack`; None if the crawl is stopped."""
        for tries_left in reversed(range(LAUNCH_TRIES)):
            try:
                return await stack.enter_async_context(self.launch())
            except LaunchFailed as exc:
                await self._pause(LAUNCH_PAUSE_S)
                if self.stop.is_set():
                    return None
                if not tries_left:
                    raise
                self.say(f"{exc}; trying again")
        raise AssertionError

    async def _make_visits(self, browser: Browser, owner: str) -> str | None:
        """Make visits, each written while the next page loads; return why the browser must be replaced."""
        pages = 0
        async with _BackgroundTask() as writing:
            while not self._is_over():
                reason = await self._find_reason_to_replace(browser, pages)
                if reason is not None:
                    return reason
                if await self._watch.is_down() or self._is_over():
                    if not await self._has_work():
                        break
                    continue
                claim = await self._database(claims.claim_site, self.engine, self.crawl, owner=owner)
                if claim is not None:
                    pages += 1
                    if not await self._take(browser, claim, writing):
                        return DIED
                    continue
                await writing.done()  # it may be the last
                if await self._has_work():
                    # Others hold the rest: they may give it back, or their leases expire.
                    await self._pause(WAIT_S)
                else:
                    break
        return None

    async def _find_reason_to_replace(self, browser: Browser, pages: int) -> str | None:
        """Return why a browser should visit no more; called before each claim."""
        if not browser.alive:
            return DIED
        if pages >= self.limits.pages_per_browser:
            return PAGES
        used = await asyncio.to_thread(browser.memory_bytes) if pages else 0
        return MEMORY if used > self.limits.browser_memory_mb * 1_000_000 else None

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            await asyncio.wait_for(self.stop.wait(), seconds)

    async def _take(self, browser: Browser, claim: Claim, writing: _BackgroundTask) -> bool:
        """Visit a site, and begin to write the visit or to give the claim back; False when the browser must
        be replaced.
        """
        async with contextlib.AsyncExitStack() as stack:
            stack.enter_context(self._leases.hold(claim))
            stack.push_async_exit(functools.partial(self._give_back, claim))
            began = asyncio.get_running_loop().time()
            async with self._watch.watch_visit():
                observation, alive = await self._observe(browser, claim)
            if observation is not None:
                observation = await self._watch.judge(observation, host=claim.host, began=began)
            await writing.done()
            writing.begin(self._end(claim, observation, stack.pop_all()))
        return alive

    async def _end(
        self, claim: Claim, observation: Observation | None, held: contextlib.AsyncExitStack
    ) -> None:
        """Write a visit, or else give its claim back, while the lease is held."""
        async with held:
            if observation is None:
                await self._database(claims.release_claim, self.engine, claim)
            else:
                await self._write(claim, observation)

    async def _give_back(
        self,
        claim: Claim,
        kind: type[BaseException] | None,
        _error: BaseException | None,
        _traceback: TracebackType | None,
    ) -> None:
        """Give a claim back if its visit raised an error.

        A site on which our own code breaks counts an attempt: else it would come first again.
        """
        if kind is not None:
            bug = issubclass(kind, Exception) and not issubclass(kind, CrawlerError | DatabaseError)
            with contextlib.suppress(DatabaseError):
                await asyncio.to_thread(claims.release_claim, self.engine, claim, counts=bug)

    async def _observe(self, browser: Browser, claim: Claim) -> tuple[Observation | None, bool]:
        """Return the visit's observation, None if it was stopped; and whether the browser is usable."""
        visiting = asyncio.ensure_future(
            visit_site(
                self.visit,
                browser,
                claim.host,
                budget_s=self.crawl.budget_s,
                loads=self.crawl.loads,
                inner=self.crawl.inner_pages,
            )
        )
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
                visiting.exception()  # retrieved, or asyncio would log it: how a stopped visit ends does not matter  # noqa: E501

    async def _write(self, claim: Claim, observation: Observation) -> None:
        """Write a visit in a thread; a write that has begun is not cancelled."""
        try:
            result = await asyncio.shield(
                self._database(claims.store_visit, self.engine, self.crawl, claim, observation)
            )
        except claims.LeaseLost as exc:
            self.tally.lost += 1
            self.say(str(exc))
            return
        self.tally.visits += 1
        self.tally.final += result.is_final
        self.on_stored(claim, observation, result)


class _BackgroundTask:
    def __init__(self) -> None:
        self._task: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        await self.done()

    def begin(self, work: Coroutine[None, None, None]) -> None:
        assert self._task is None
        self._task = asyncio.ensure_future(work)

    async def done(self) -> None:
        task, self._task = self._task, None
        if task is not None:
            await task


class BrowserDiffers(CrawlerError):
    """This machine's browser is not the browser that the crawl began with."""


def record_browser(engine: Engine, crawl: Crawl, identity: Identity) -> None:
    ours = {
        "browser": identity.product,
        "browser_built_on": identity.built_on,
        "browser_flags": "\n".join(identity.flags),
        "user_agent": identity.user_agent,
        "client_hints": identity.client_hints,
    }
    with engine.begin() as connection:
        connection.execute(update(Crawl).where(Crawl.id == crawl.id, Crawl.browser.is_(None)).values(ours))
        recorded = connection.execute(
            select(Crawl.browser, Crawl.user_agent, Crawl.client_hints, Crawl.browser_flags).where(
                Crawl.id == crawl.id
            )
        ).one()
    for what, theirs, mine in (
        ("browser", recorded.browser, identity.product),
        ("User-Agent", recorded.user_agent, identity.user_agent),
        ("client hints", recorded.client_hints, identity.client_hints),
        (
            "flags",
            _join_measuring_flags(recorded.browser_flags.split("\n")),
            _join_measuring_flags(identity.flags),
        ),
    ):
        if theirs != mine:
            raise BrowserDiffers(
                f"this crawl began with {what} {theirs!r}, and this machine's is {mine!r}: "
                "install that build, or plan another crawl"
            )


def _join_measuring_flags(flags: Iterable[str]) -> str:
    return " ".join(sorted(flag for flag in flags if not flag.startswith(SURROUNDING_FLAGS)))
