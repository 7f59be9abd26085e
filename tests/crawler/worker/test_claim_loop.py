"""The claim loop over real PostgreSQL; only the browser is played."""

import asyncio
import contextlib
import dataclasses
import threading
from collections.abc import AsyncIterator
from typing import Any

import pytest
from sqlalchemy import Engine, text

from crawler.browser.browser import Browser
from crawler.browser.identity import Identity
from crawler.errors import BrowserMissing, LaunchFailed
from crawler.visit.attempt import BrowserDied, Observation
from crawler.worker import claims
from crawler.worker.claim_loop import (
    DIED,
    MEMORY,
    PAGES,
    QUEUE_EMPTY,
    STOPPED,
    TIME_OVER,
    BrowserDiffers,
    Limits,
    Tally,
    record_browser,
)
from storage.crawls import crawls
from tests.crawler.worker.played_browsers import (
    Browsers,
    ending,
    endless,
    fine,
    run,
    sites,
    visits,
)
from tests.factories.limited import time_passes
from tests.factories.made_up_visits import BEGAN, observation, plan_crawl

IDENTITY = Identity(
    product="Chromium 156.0",
    built_on=BEGAN,
    user_agent="UA",
    flags=("--disable-quic", "--host-resolver-rules=a"),
    client_hints="Sec-CH-UA-Mobile: ?0",
)


def test_a_crawl_runs_until_its_queue_is_empty(database: Engine) -> None:
    crawl = plan_crawl(database, sites=7)
    played = Browsers(fine)
    tally = run(database, crawl, played, browsers=3)
    assert tally == Tally(ended=QUEUE_EMPTY, visits=7, final=7)
    assert sorted(played.visited) == [f"s{rank}.test" for rank in range(1, 8)]
    assert (played.launched, played.running) == (3, 0)
    assert sites(database) == [(rank, 1, None, True) for rank in range(1, 8)]


def test_a_crawl_that_is_done_needs_no_browser(database_18: Engine) -> None:
    crawl = plan_crawl(database_18, sites=1)
    run(database_18, crawl, Browsers(fine))
    played = Browsers(fine)
    assert run(database_18, crawl, played) == Tally(ended=QUEUE_EMPTY)
    assert played.launched == 0


def test_a_visit_is_written_while_the_next_page_loads(
    database_18: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    next_loads = threading.Event()
    store = claims.store_visit

    def waiting(*args: Any) -> claims.StoredVisit:
        assert next_loads.wait(60), "the next visit did not begin before the first was written"
        return store(*args)

    async def telling(host: str) -> Observation:
        if host == "s2.test":
            next_loads.set()
        return observation()

    monkeypatch.setattr(claims, "store_visit", waiting)
    crawl = plan_crawl(database_18, sites=3)
    assert run(database_18, crawl, Browsers(telling), browsers=1).final == 3


def test_a_site_that_fails_gets_its_attempts_and_each_is_kept(database_18: Engine) -> None:
    crawl = plan_crawl(database_18, sites=2, attempts=3)
    tally = run(database_18, crawl, Browsers(ending("dns")))
    assert tally == Tally(ended=QUEUE_EMPTY, visits=6, final=2)
    assert sites(database_18) == [(1, 3, None, True), (2, 3, None, True)]


def test_a_browser_that_dies_leaves_a_row_and_is_replaced(database_18: Engine) -> None:
    async def deadly(host: str) -> Observation:
        if host == "s2.test":
            raise BrowserDied("gone", observation("crash"))
        return observation()

    crawl = plan_crawl(database_18, sites=3, attempts=2)
    played = Browsers(deadly)
    tally = run(database_18, crawl, played, browsers=1)
    assert tally == Tally(ended=QUEUE_EMPTY, visits=4, final=3, browsers_replaced={DIED: 2})
    assert played.launched == 3 - (played.visited[-1] == "s2.test")
    with database_18.connect() as connection:
        ends = connection.scalars(text("SELECT outcome FROM visit WHERE rank = 2 ORDER BY attempt")).all()
    assert ends == ["crash", "crash"]


def test_no_visit_begins_after_the_minutes_and_the_last_one_is_kept(database_18: Engine) -> None:
    async def slow(host: str) -> Observation:
        time_passes(31)
        return observation()

    crawl = plan_crawl(database_18, sites=50)
    tally = run(database_18, crawl, Browsers(slow), browsers=1, minutes=0.5)
    assert tally.ended == TIME_OVER
    assert tally.visits == visits(database_18) == 1
    assert all(owner is None for _, _, owner, _ in sites(database_18))


def test_a_stopped_crawl_gives_its_claims_back_and_is_taken_up_again(database: Engine) -> None:
    crawl = plan_crawl(database, sites=4)
    stop = asyncio.Event()

    async def until_stopped(host: str) -> Observation:
        if host == "s1.test":
            return observation()
        if host == "s3.test":
            asyncio.get_running_loop().call_later(0.1, stop.set)
        return await endless(host)

    tally = run(database, crawl, Browsers(until_stopped), stop=stop)
    assert (tally.ended, tally.visits) == (STOPPED, 1)
    assert sites(database) == [(1, 1, None, True), *((rank, 0, None, False) for rank in (2, 3, 4))]
    assert run(database, crawl, Browsers(fine)) == Tally(ended=QUEUE_EMPTY, visits=3, final=3)
    assert visits(database) == 4


def test_a_browser_that_dies_of_our_own_end_is_no_crash_of_the_page(database_18: Engine) -> None:
    crawl = plan_crawl(database_18, sites=1)
    stop = asyncio.Event()

    async def killed_with_us(host: str) -> Observation:
        asyncio.get_running_loop().call_later(0.05, stop.set)
        raise BrowserDied("Ctrl-C reached it first", observation("crash"))

    assert run(database_18, crawl, Browsers(killed_with_us), stop=stop, browsers=1).visits == 0
    assert sites(database_18) == [(1, 0, None, False)]


def test_a_visit_whose_site_was_taken_over_writes_nothing_and_says_so(database: Engine) -> None:
    crawl = plan_crawl(database, sites=1)
    lines: list[str] = []

    async def too_slow(host: str) -> Observation:
        if not played.visited[1:]:
            with database.begin() as connection:
                connection.execute(text("UPDATE site SET lease_expires_at = now() - interval '1 hour'"))
            other = claims.claim_site(database, crawl, owner="other")
            assert other is not None
            claims.store_visit(database, crawl, other, observation())
        return observation()

    played = Browsers(too_slow)
    tally = run(database, crawl, played, browsers=1, lines=lines)
    assert tally == Tally(ended=QUEUE_EMPTY, lost=1)
    assert lines == [
        "s1.test: the claim expired and another crawler took it over; nothing of this visit was stored"
    ]
    with database.connect() as connection:
        assert connection.scalars(text("SELECT owner FROM visit")).all() == ["other"]


def test_a_run_waits_for_sites_that_others_hold(database_18: Engine) -> None:
    crawl = plan_crawl(database_18, sites=1)
    dead = claims.claim_site(database_18, crawl, owner="a crawler that was killed")
    assert dead is not None
    with database_18.begin() as connection:
        connection.execute(text("UPDATE site SET lease_expires_at = now() + interval '1 second'"))
    assert run(database_18, crawl, Browsers(fine)) == Tally(ended=QUEUE_EMPTY, visits=1, final=1)
    assert sites(database_18) == [(1, 2, None, True)]


def test_a_missing_browser_ends_the_run_and_claims_nothing(database_18: Engine) -> None:
    @contextlib.asynccontextmanager
    async def none() -> AsyncIterator[Browser]:
        raise BrowserMissing("no browser")
        yield

    crawl = plan_crawl(database_18)
    browsers = Browsers(fine)
    browsers.launch = none  # type: ignore[method-assign]
    with pytest.raises(BrowserMissing):
        run(database_18, crawl, browsers)
    assert sites(database_18) == [(rank, 0, None, False) for rank in (1, 2, 3)]


def test_a_bug_in_one_visit_ends_the_run_and_its_site_comes_last_in_the_next(database_18: Engine) -> None:
    async def broken(host: str) -> Observation:
        if host == "s2.test":
            raise ZeroDivisionError
        return await endless(host)

    crawl = plan_crawl(database_18)
    with pytest.raises(ZeroDivisionError):
        run(database_18, crawl, Browsers(broken))
    assert sites(database_18) == [(1, 0, None, False), (2, 1, None, False), (3, 0, None, False)]
    repaired = Browsers(fine)
    assert run(database_18, crawl, repaired, browsers=1) == Tally(ended=QUEUE_EMPTY, visits=3, final=3)
    assert repaired.visited == ["s1.test", "s3.test", "s2.test"]


def test_a_browser_is_replaced_after_its_pages_and_when_its_memory_passes_the_bound(
    database_18: Engine,
) -> None:
    async def hungry(host: str) -> Observation:
        played.memory = 1_000_001 if host == "s8.test" else 1_000_000
        return observation()

    crawl = plan_crawl(database_18, sites=9)
    played = Browsers(hungry)
    limits = Limits(pages_per_browser=3, browser_memory_mb=1)
    tally = run(database_18, crawl, played, browsers=1, limits=limits)
    assert tally == Tally(ended=QUEUE_EMPTY, visits=9, final=9, browsers_replaced={PAGES: 2, MEMORY: 1})
    assert played.launched == 4


def test_a_browser_too_large_from_its_start_visits_one_page_all_the_same(database_18: Engine) -> None:
    crawl = plan_crawl(database_18, sites=2)
    played = Browsers(fine, memory=10**9)
    tally = run(database_18, crawl, played, browsers=1, limits=Limits(browser_memory_mb=1))
    assert (tally.final, tally.browsers_replaced) == (2, {MEMORY: 2})


def test_a_browser_found_dead_between_two_visits_costs_no_site_an_attempt(database_18: Engine) -> None:
    async def last(host: str) -> Observation:
        played.alive = host != "s1.test"
        return observation()

    crawl = plan_crawl(database_18, sites=2)
    played = Browsers(last)
    launch = played.launch

    @contextlib.asynccontextmanager
    async def revived() -> AsyncIterator[Browser]:
        played.alive = True
        async with launch() as browser:
            yield browser

    played.launch = revived  # type: ignore[method-assign]
    tally = run(database_18, crawl, played, browsers=1)
    assert tally == Tally(ended=QUEUE_EMPTY, visits=2, final=2, browsers_replaced={DIED: 1})
    assert sites(database_18) == [(1, 1, None, True), (2, 1, None, True)]


@pytest.mark.parametrize("failures", [2, 3])
def test_a_browser_that_does_not_start_is_tried_thrice(
    database_18: Engine, failures: int, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("crawler.worker.claim_loop.LAUNCH_PAUSE_S", 0.01)
    crawl = plan_crawl(database_18, sites=1)
    played = Browsers(fine)
    launch, lines = played.launch, list[str]()

    @contextlib.asynccontextmanager
    async def sometimes() -> AsyncIterator[Browser]:
        nonlocal failures
        failures -= 1
        if failures >= 0:
            raise LaunchFailed("no room")
        async with launch() as browser:
            yield browser

    played.launch = sometimes  # type: ignore[method-assign]
    with contextlib.ExitStack() as stack:
        if failures == 3:
            stack.enter_context(pytest.raises(LaunchFailed))
        run(database_18, crawl, played, browsers=1, lines=lines)
    assert lines == ["no room; trying again"] * 2
    assert sites(database_18) == [(1, int(played.launched), None, bool(played.launched))]


def test_another_browser_build_is_refused_before_it_visits(database_18: Engine) -> None:
    crawl = plan_crawl(database_18)
    stop = asyncio.Event()

    async def once(host: str) -> Observation:
        stop.set()
        return await fine(host)

    run(database_18, crawl, Browsers(once), browsers=1, stop=stop)
    newer = Browsers(fine, product="Chromium 157.0")
    with pytest.raises(BrowserDiffers, match=r"Chromium 157\.0"):
        run(database_18, crawl, newer)
    assert newer.visited == []


def test_a_browser_is_recorded_once_and_another_build_is_refused(database: Engine) -> None:
    crawl = plan_crawl(database)
    record_browser(database, crawl, IDENTITY)
    elsewhere = dataclasses.replace(IDENTITY, flags=("--host-resolver-rules=b", "--disable-quic"))
    record_browser(database, crawl, elsewhere)
    for other in (
        dataclasses.replace(IDENTITY, product="Chromium 157.0"),
        dataclasses.replace(IDENTITY, user_agent="another"),
        dataclasses.replace(IDENTITY, client_hints="another"),
        dataclasses.replace(IDENTITY, flags=("--host-resolver-rules=a",)),
    ):
        with pytest.raises(BrowserDiffers, match="this crawl began with"):
            record_browser(database, crawl, other)
    with database.connect() as connection:
        (stored,) = crawls(connection)
    assert (stored.browser, stored.browser_built_on, stored.user_agent) == ("Chromium 156.0", BEGAN, "UA")
    assert stored.client_hints == "Sec-CH-UA-Mobile: ?0"
    assert stored.browser_flags == "--disable-quic\n--host-resolver-rules=a"
