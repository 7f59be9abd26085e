"""Writes a running crawl's progress to a file that the service reads."""

import asyncio
import contextlib
import datetime
import functools
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path

from sqlalchemy import Engine

from crawler.campaign.status import minutes_left, status
from schema.crawls import name_of
from schema.tables import Crawl
from storage.engine import DatabaseError
from storage.progress import Progress, write_progress

EVERY_S = 15.0
AT_MOST = 0.05
"""Upper limit of the share of time spent counting; a large crawl is counted less often."""


@contextlib.asynccontextmanager
async def told(engine: Engine, crawl: Crawl, folder: Path) -> AsyncIterator[None]:
    """Write progress at the start, at intervals and at the end. A failed write does not stop the crawl."""
    telling = asyncio.create_task(again_and_again(functools.partial(_tell, engine, crawl, folder)))
    try:
        yield
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        await asyncio.to_thread(_tell, engine, crawl, folder)


async def again_and_again(
    tell: Callable[[], None],
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    """Call `tell` at intervals until cancelled."""
    while True:
        began = clock()
        await asyncio.to_thread(tell)
        await sleep(max(EVERY_S, (clock() - began) / AT_MOST))


def _tell(engine: Engine, crawl: Crawl, folder: Path) -> None:
    with contextlib.suppress(DatabaseError, OSError):
        with engine.connect() as connection:
            counted = status(connection, crawl)
        write_progress(
            folder,
            Progress(
                crawl=str(name_of(crawl)),
                at=datetime.datetime.now(datetime.UTC),
                planned=counted.planned,
                done=counted.final,
                visits=counted.visits,
                received_bytes=counted.received_bytes,
                visits_per_hour=counted.visits_per_hour,
                minutes_left=minutes_left(counted),
                outcomes=counted.outcomes,
            ),
        )
