"""Browsers that are played, and a claim loop that runs with them over real PostgreSQL."""

from __future__ import annotations

import asyncio
import contextlib
import dataclasses
from collections.abc import AsyncIterator, Awaitable, Callable
from typing import TYPE_CHECKING, Any, cast

from sqlalchemy import text

from crawler.browser.browser import Browser
from crawler.browser.identity import Identity
from crawler.visit.attempt import Observation
from crawler.worker.claim_loop import ClaimLoop, Tally
from schema.tables import Crawl
from tests.factories.made_up_visits import observation

if TYPE_CHECKING:
    from sqlalchemy import Engine

    Visit = Callable[[str], Awaitable[Observation]]


@dataclasses.dataclass
class Browsers:
    """Plays Chromium: a visit to a host is the result of `visit`."""

    visit: Visit
    product: str = "Chromium 156.0"
    launched: int = 0
    running: int = 0
    alive: bool = True
    memory: int = 0
    visited: list[str] = dataclasses.field(default_factory=list)

    @contextlib.asynccontextmanager
    async def launch(self) -> AsyncIterator[Browser]:
        self.launched += 1
        self.running += 1
        self.identity = Identity(product=self.product, built_on=None, user_agent="UA", flags=())
        try:
            yield cast("Browser", self)
        finally:
            self.running -= 1

    def memory_bytes(self) -> int:
        return self.memory

    async def __call__(
        self, browser: Browser, host: str, *, budget_s: float, path: str = "/", links: bool = False
    ) -> Observation:
        self.visited.append(host)
        return await self.visit(host)


def loop(engine: Engine, crawl: Crawl, played: Browsers, **values: Any) -> ClaimLoop:
    given: dict[str, Any] = {"browsers": 2, "minutes": 1.0, "stop": asyncio.Event(), "lines": [], **values}
    lines = given.pop("lines")
    return ClaimLoop(
        engine=engine,
        crawl=crawl,
        launch=played.launch,
        visit=played,
        on_stored=lambda *_: None,
        say=lines.append,
        **given,
    )


def run(engine: Engine, crawl: Crawl, played: Browsers, **values: Any) -> Tally:
    async def within() -> Tally:
        async with asyncio.timeout(120):
            return await loop(engine, crawl, played, **values).run()

    return asyncio.run(within())


async def fine(host: str) -> Observation:
    return observation()


def ending(outcome: str) -> Visit:
    async def visited(host: str) -> Observation:
        return observation(outcome)

    return visited


async def endless(host: str) -> Observation:
    await asyncio.sleep(3600)
    raise AssertionError


def sites(engine: Engine) -> list[tuple[object, ...]]:
    with engine.connect() as connection:
        statement = "SELECT rank, attempts, owner, final_visit_id IS NOT NULL FROM site ORDER BY rank"
        return [tuple(row) for row in connection.execute(text(statement))]


def visits(engine: Engine) -> int:
    with engine.connect() as connection:
        return connection.scalar(text("SELECT count(*) FROM visit")) or 0
