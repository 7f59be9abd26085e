"""Writes a crawl's progress to a file that the service reads."""

import asyncio
import contextlib
import dataclasses
import datetime
import functools
import shutil
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from pathlib import Path

from sqlalchemy import Connection, Engine, text

from crawler.campaign.gate import Bounds, compare_bounds, count_ends
from crawler.campaign.status import (
    count_hours,
    count_status,
    estimate_minutes_left,
    list_failures,
    list_lanes,
)
from schema.crawls import name_of
from schema.tables import Crawl
from storage.engine import DatabaseError
from storage.progress import Disk, Gated, Progress, read_progress, write_progress

DEFAULT_BOUNDS = Bounds()

EVERY_S = 15.0
AT_MOST = 0.05
"""Largest share of time spent counting; a large crawl is counted less often."""


@contextlib.asynccontextmanager
async def keep_progress(engine: Engine, crawl: Crawl, folder: Path) -> AsyncIterator[None]:
    """Write progress at the start, at intervals and at the end; a failed write does not stop the crawl."""
    telling = asyncio.create_task(repeat(functools.partial(_write_now, engine, crawl, folder)))
    try:
        yield
    finally:
        telling.cancel()
        await asyncio.gather(telling, return_exceptions=True)
        await asyncio.to_thread(_write_now, engine, crawl, folder)


async def repeat(
    tell: Callable[[], None],
    *,
    clock: Callable[[], float] = time.monotonic,
    sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
) -> None:
    while True:
        began = clock()
        await asyncio.to_thread(tell)
        await sleep(max(EVERY_S, (clock() - began) / AT_MOST))


def _write_now(engine: Engine, crawl: Crawl, folder: Path) -> None:
    with contextlib.suppress(DatabaseError, OSError), engine.connect() as connection:
        write_progress(folder, measure_progress(connection, crawl, folder))


def measure_progress(
    connection: Connection, crawl: Crawl, folder: Path, *, bounds: Bounds = DEFAULT_BOUNDS
) -> Progress:
    counted = count_status(connection, crawl)
    while not folder.exists():
        folder = folder.parent
    disk = shutil.disk_usage(folder)
    return Progress(
        crawl=str(name_of(crawl)),
        at=datetime.datetime.now(datetime.UTC),
        planned=counted.planned,
        done=counted.final,
        visits=counted.visits,
        received_bytes=counted.received_bytes,
        visits_per_hour=counted.visits_per_hour,
        minutes_left=estimate_minutes_left(counted),
        outcomes=counted.outcomes,
        planned_at=crawl.planned_at,
        sealed_at=crawl.sealed_at,
        claimed=counted.claimed,
        postponed=counted.postponed,
        hours=count_hours(connection, crawl),
        lanes=list_lanes(connection, crawl),
        failures=list_failures(connection, crawl),
        bounds=compare_bounds(count_ends(connection, crawl), bounds),
        old_list_month=counted.old_list_month,
        disk=Disk(free=disk.free, size=disk.total, database=database_bytes(connection)),
    )


def write_gated(
    connection: Connection, crawl: Crawl, folder: Path, *, bounds: Bounds, wrong: Sequence[str]
) -> None:
    """Write the progress with the gate's verdict, where the folder can be written."""
    progress = measure_progress(connection, crawl, folder, bounds=bounds)
    with contextlib.suppress(OSError):
        gated = Gated(at=progress.at, failures=tuple(wrong))
        write_progress(folder, dataclasses.replace(progress, gated=gated))


def write_sealed(connection: Connection, crawl: Crawl, folder: Path) -> None:
    progress = measure_progress(connection, crawl, folder)
    for before in read_progress(folder):
        if before.crawl == progress.crawl and before.gated is not None:
            progress = dataclasses.replace(progress, gated=before.gated, bounds=before.bounds)
    with contextlib.suppress(OSError):
        write_progress(folder, progress)


def database_bytes(connection: Connection) -> int:
    return int(connection.scalar(text("SELECT pg_database_size(current_database())")) or 0)
