"""The interval at which a running crawl writes its progress, on a simulated clock, and what it writes."""

import asyncio
import dataclasses
from pathlib import Path

import pytest
from sqlalchemy import Engine

from crawler.campaign.gate import Bounds
from crawler.campaign.seal import seal
from crawler.worker import claims
from firstflight.progress import AT_MOST, EVERY_S, measure_progress, repeat, write_gated, write_sealed
from schema.crawls import name_of
from storage.crawls import find_crawl
from storage.progress import Hour, read_progress
from tests.factories.made_up_visits import BEGAN, observation, plan_crawl


class Days:
    """Time that passes when something tells, or sleeps; it ends after so many seconds."""

    def __init__(self, counting_s: float, lasting_s: float) -> None:
        self.counting_s, self.lasting_s = counting_s, lasting_s
        self.now = 0.0
        self.told: list[float] = []

    def tell(self) -> None:
        self.told.append(self.now)
        self.now += self.counting_s

    async def sleep(self, seconds: float) -> None:
        self.now += seconds
        if self.now >= self.lasting_s:
            raise asyncio.CancelledError


@pytest.mark.parametrize(("counting_s", "every_s"), [(0.01, 15.01), (0.75, 15.75), (3, 63), (120, 2520)])
def test_it_tells_every_fifteen_seconds_and_takes_a_twentieth_of_the_time_at_most(
    counting_s: float, every_s: float
) -> None:
    days = Days(counting_s, lasting_s=40 * every_s)
    with pytest.raises(asyncio.CancelledError):
        asyncio.run(repeat(days.tell, clock=lambda: days.now, sleep=days.sleep))
    between = [later - sooner for sooner, later in zip(days.told, days.told[1:], strict=False)]
    assert len(between) > 30
    assert between == pytest.approx([every_s] * len(between))
    assert min(between) >= EVERY_S
    assert len(days.told) * counting_s <= AT_MOST * days.now


def test_what_is_written_has_hours_lanes_failures_and_bounds_and_names_no_site(
    database_18: Engine, tmp_path: Path
) -> None:
    crawl = plan_crawl(database_18, sites=4)
    for outcome in ("ok", "dns"):
        claim = claims.claim_site(database_18, crawl, owner="host/4711/ab12cd34/1")
        assert claim is not None
        seen = observation(outcome)
        error = None if outcome == "ok" else f"net::ERR_NAME_NOT_RESOLVED at https://{claim.host}/"
        seen = dataclasses.replace(seen, visit={**seen.visit, "error": error})
        claims.store_visit(database_18, crawl, claim, seen)
    with database_18.connect() as connection:
        progress = measure_progress(connection, crawl, tmp_path / "progress")
        write_gated(connection, crawl, tmp_path, bounds=Bounds(visited=0.1), wrong=["too few"])
    assert progress.hours == (Hour(at=BEGAN, outcomes={"dns": 1, "ok": 1}),)
    (lane,) = progress.lanes
    assert (lane.name, lane.claimed, lane.visits, lane.failed) == ("host/4711", 0, 2, 1)
    (failure,) = progress.failures
    assert (failure.rank, failure.outcome, failure.error) == (2, "dns", "net::ERR_NAME_NOT_RESOLVED")
    assert {bound.name: bound.share for bound in progress.bounds}["visited"] == 0.25
    assert progress.disk is not None
    assert 0 < progress.disk.free < progress.disk.size
    assert progress.disk.database > 0
    (written,) = read_progress(tmp_path)
    assert written.gated is not None
    assert written.gated.failures == ("too few",)
    assert written.bounds[0].limit == 0.1
    (file,) = tmp_path.glob("*.json")
    assert "s2.test" not in file.read_text()


def test_the_last_progress_of_a_sealed_crawl_stays_with_what_the_gate_said(
    database_18: Engine, tmp_path: Path
) -> None:
    crawl = plan_crawl(database_18, sites=1)
    claim = claims.claim_site(database_18, crawl, owner="host/1/a/1")
    assert claim is not None
    claims.store_visit(database_18, crawl, claim, observation("ok"))
    with database_18.connect() as connection:
        write_gated(connection, crawl, tmp_path, bounds=Bounds(covered=0.5), wrong=[])
    seal(database_18, crawl)
    with database_18.connect() as connection:
        write_sealed(connection, find_crawl(connection, str(name_of(crawl))), tmp_path)
    (last,) = read_progress(tmp_path)
    assert last.sealed_at is not None
    assert last.gated is not None
    assert [bound.limit for bound in last.bounds if bound.name == "covered"] == [0.5]
