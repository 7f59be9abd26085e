"""Claims are held while their visits go on, and no longer."""

import asyncio
import contextlib
import time
from typing import Any

import pytest
from sqlalchemy import Engine, text

from crawler.visit.attempt import Observation
from crawler.worker import claims
from crawler.worker.claim_loop import QUEUE_EMPTY, Tally
from crawler.worker.claims import Leases
from tests.crawler.worker.played_browsers import Browsers, run
from tests.factories.made_up_visits import observation, plan_crawl


def test_a_slow_visit_keeps_its_claim_beyond_the_lease(
    database_18: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def ask(statement: str, **values: object) -> object:
        with database_18.connect() as connection:
            return connection.scalar(text(statement), values)

    async def slow(host: str) -> Observation:
        first = ask("SELECT lease_expires_at FROM site")
        async with asyncio.timeout(30):
            while not ask("SELECT now() > :first", first=first):
                await asyncio.sleep(0.1)
        assert claims.claim_site(database_18, crawl, owner="other") is None
        return observation()

    monkeypatch.setattr(claims, "LEASE_S", 3.0)  # a busy machine may renew it two seconds late
    monkeypatch.setattr("crawler.worker.claims.RENEW_S", 0.2)
    crawl = plan_crawl(database_18, sites=1)
    assert run(database_18, crawl, Browsers(slow)) == Tally(ended=QUEUE_EMPTY, visits=1, final=1)


def test_a_visit_that_hangs_loses_its_claim(database_18: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    async def hangs(host: str) -> Observation:
        async with asyncio.timeout(30):
            while (claim := claims.claim_site(database_18, crawl, owner="other")) is None:
                await asyncio.sleep(0.1)
        claims.store_visit(database_18, crawl, claim, observation())
        return observation()

    monkeypatch.setattr(claims, "LEASE_S", 0.6)
    monkeypatch.setattr(claims, "MARGIN_S", 0.0)
    monkeypatch.setattr("crawler.worker.claims.RENEW_S", 0.2)
    crawl = plan_crawl(database_18, sites=1, budget_s=1.0)
    assert run(database_18, crawl, Browsers(hangs), browsers=1) == Tally(ended=QUEUE_EMPTY, lost=1)


def test_a_claim_that_is_held_twice_is_renewed_until_both_have_ended(
    database_18: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    def expires() -> Any:
        with database_18.connect() as connection:
            return connection.scalar(text("SELECT lease_expires_at FROM site"))

    monkeypatch.setattr("crawler.worker.claims.RENEW_S", 0.05)
    crawl = plan_crawl(database_18, sites=1)
    claim = claims.claim_site(database_18, crawl, owner="us")
    assert claim is not None
    with Leases(database_18, crawl) as leases, contextlib.ExitStack() as second:
        with leases.hold(claim):
            second.enter_context(leases.hold(claim))
        for _ in range(2):  # a renewal may have begun before the first ended
            now, deadline = expires(), time.monotonic() + 60
            while expires() == now:
                assert time.monotonic() < deadline
                time.sleep(0.02)
