"""A crawl's remaining time, and a watch that ends when nothing is left."""

import dataclasses
import datetime

import pytest
from sqlalchemy import Engine

from crawler.campaign.status import Status, count_status, list_lanes
from crawler.worker import claims
from firstflight.commands.crawl.status import describe_time_left, describe_watch, watch
from tests.factories.made_up_visits import observation, plan_crawl


def counted(engine: Engine) -> Status:
    crawl = plan_crawl(engine)
    with engine.connect() as connection:
        return count_status(connection, crawl)


def test_the_time_left_is_that_of_the_visits_left_at_the_rate_of_late(database_18: Engine) -> None:
    begun = counted(database_18)
    at = datetime.datetime(2026, 11, 30, 23, tzinfo=datetime.UTC)
    assert describe_time_left(begun, now=at) == ""
    half = dataclasses.replace(begun, planned=2000, final=1000, claimed=2, visits=1200, visits_per_hour=800.0)
    assert describe_time_left(half, now=at) == ", about 1 h 30 min left, until 2026-12-01 00:30 UTC"
    assert describe_time_left(dataclasses.replace(half, claimed=0), now=at) == ""


def test_a_watch_shows_each_count_and_ends_with_the_last_site(
    database_18: Engine, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = plan_crawl(database_18, sites=2)
    pauses = []

    def visit(seconds: float) -> None:
        pauses.append(seconds)
        claim = claims.claim_site(database_18, crawl, owner="me")
        assert claim is not None
        claims.store_visit(database_18, crawl, claim, observation("ok"))

    monkeypatch.setattr("firstflight.commands.crawl.status.time.sleep", visit)
    watch(database_18, "2026-11", every_s=30)
    shown = [line for line in capsys.readouterr().out.splitlines() if "sites done" in line]
    counts = [line.partition(": ")[2].partition(" sites")[0] for line in shown]
    assert counts == ["0 of 2", "1 of 2", "2 of 2"]
    assert pauses == [30, 30]


def test_a_watch_has_the_time_and_a_line_for_each_lane(database_18: Engine) -> None:
    crawl = plan_crawl(database_18, sites=6)
    for owner, outcome in (("a/7/dd/1", "ok"), ("a/7/dd/2", "dns"), ("b/9/ee/1", "ok")):
        claim = claims.claim_site(database_18, crawl, owner=owner)
        assert claim is not None
        claims.store_visit(database_18, crawl, claim, observation(outcome))
    assert claims.claim_site(database_18, crawl, owner="b/9/ee/1") is not None
    with database_18.connect() as connection:
        counted, running = count_status(connection, crawl), list_lanes(connection, crawl)
    at = datetime.datetime(2026, 11, 20, 12, 1, tzinfo=datetime.UTC)
    first, outcomes, *of_lanes = describe_watch("2026-11", counted, running, now=at)
    assert first.startswith("2026-11-20 12:01:00 UTC  2026-11: 2 of 6 sites done")
    assert outcomes == "  outcomes  2 ok"
    assert of_lanes == [
        "  b/9  holds 1; 1 visits in the last hour, 0 without a page; last 12:00:02",
        "  a/7  holds 0; 2 visits in the last hour, 1 without a page; last 12:00:02",
    ]
