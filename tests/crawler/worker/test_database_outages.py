"""A crawl whose database goes away waits for it, and writes nothing by halves."""

import asyncio
import contextlib
from collections.abc import Iterator

import psycopg
import pytest
from sqlalchemy import Engine, text

from crawler.visit.attempt import Observation
from crawler.worker.claim_loop import QUEUE_EMPTY, Limits, Tally
from storage.engine import DatabaseError
from tests.crawler.worker.played_browsers import Browsers, fine, run, sites, visits
from tests.factories.made_up_visits import observation, plan_crawl


@contextlib.contextmanager
def closed(database: Engine) -> Iterator[None]:
    """Refuse new connections to the database, and end those that there are."""
    url = database.url.set(drivername="postgresql", database="postgres").render_as_string(hide_password=False)
    name = database.url.database
    with psycopg.connect(url, autocommit=True) as other:
        other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS false")
        other.execute("SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = %s", [name])
        try:
            yield
        finally:
            other.execute(f"ALTER DATABASE {name} ALLOW_CONNECTIONS true")


def test_a_database_that_stays_away_ends_the_run_and_nothing_is_half_written(database: Engine) -> None:
    crawl = plan_crawl(database, sites=5)

    async def cut(host: str) -> Observation:
        if len(played.visited) == 3:
            while visits(database) < 2:  # the second is written while the third loads
                await asyncio.sleep(0.01)
            stack.enter_context(closed(database))
        return observation()

    played = Browsers(cut)
    with contextlib.ExitStack() as stack, pytest.raises(DatabaseError):
        run(database, crawl, played, browsers=1, limits=Limits(database_retry_s=0.5))
    assert visits(database) == 2
    with database.begin() as connection:  # as time would
        connection.execute(text("UPDATE site SET lease_expires_at = now() WHERE owner IS NOT NULL"))
    assert run(database, crawl, Browsers(fine)) == Tally(ended=QUEUE_EMPTY, visits=3, final=3)
    with database.connect() as connection:
        counted = "SELECT count(*), count(DISTINCT rank) FROM visit WHERE is_final"
        assert tuple(connection.execute(text(counted)).one()) == (5, 5)


def test_a_database_that_comes_back_in_time_is_waited_for_and_no_visit_is_lost(database: Engine) -> None:
    crawl = plan_crawl(database, sites=5)
    lines: list[str] = []

    async def cut(host: str) -> Observation:
        if len(played.visited) == 3:
            stack.enter_context(closed(database))
            asyncio.get_running_loop().call_later(1.5, stack.close)
        return observation()

    played = Browsers(cut)
    with contextlib.ExitStack() as stack:
        tally = run(database, crawl, played, browsers=2, lines=lines)
    assert tally == Tally(ended=QUEUE_EMPTY, visits=5, final=5)
    assert sites(database) == [(rank, 1, None, True) for rank in range(1, 6)]
    assert len(lines) == 2
    assert "waiting for it for up to 300 seconds" in lines[0]
    assert lines[1] == "the database is back"


def test_a_crawl_that_waits_for_its_database_can_be_stopped(database_18: Engine) -> None:
    crawl = plan_crawl(database_18, sites=2)
    stop = asyncio.Event()

    async def cut(host: str) -> Observation:
        stack.enter_context(closed(database_18))
        asyncio.get_running_loop().call_later(0.5, stop.set)
        return observation()

    with contextlib.ExitStack() as stack, pytest.raises(DatabaseError):
        run(database_18, crawl, Browsers(cut), browsers=1, stop=stop)
