"""A failure of the crawl's own network becomes no site's outcome.

PostgreSQL is real; browsers and network are played.
"""

import asyncio
import dataclasses
from typing import Any

import pytest
from sqlalchemy import Engine, text

from crawler.control.network import NetworkFault
from crawler.control.watch import DISPUTES, NOT_RESOLVED, Pacing, is_whole, list_unresolved, mark_network_down
from crawler.errors import EgressUnavailable
from crawler.visit.attempt import Observation
from crawler.worker import claims
from crawler.worker.claim_loop import QUEUE_EMPTY, STOPPED, TIME_OVER, Tally
from schema.vocabulary import DISPUTED, UNCONFIRMED
from tests.crawler.control.weather import Silent, Weather
from tests.crawler.worker.played_browsers import Browsers, ending, fine, loop, run, sites, visits
from tests.factories.limited import time_passes
from tests.factories.made_up_visits import observation, plan_crawl, response

QUICK = Pacing(every_s=0.02, slow_s=0.1, down_s=0.02)
"""The default pacing, at a faster rate."""


DEAD = {"s3.test": "dns", "s7.test": "connect", "s8.test": "http_error"}
"""Outcomes of sites that fail by themselves."""


def crawled(engine: Engine, weather: Weather, played: Browsers, **values: Any) -> Tally:
    return run(engine, plan_crawl(engine, **values), played, network=weather, pacing=QUICK)


def outcomes(engine: Engine, *, final: bool = True) -> dict[str, str]:
    with engine.connect() as connection:
        statement = text("SELECT host, outcome FROM visit WHERE is_final = :final ORDER BY rank")
        return {host: outcome for host, outcome in connection.execute(statement, {"final": final})}  # noqa: C416


@pytest.mark.parametrize("attempts", [1, 2])
@pytest.mark.parametrize("guard", [False, True])
def test_sites_end_as_in_a_crawl_that_nothing_disturbed(database: Engine, attempts: int, guard: bool) -> None:
    weather = Weather()

    async def visited(host: str) -> Observation:
        if len(played.visited) in (5, 12) and weather.fault is None:
            weather.fails(guard=guard)
        if weather.fault is not None:
            return observation("ok" if guard else "timeout")
        return observation(DEAD.get(host, "ok"))

    played = Browsers(visited)
    tally = crawled(database, weather, played, sites=20, attempts=attempts)
    assert tally.final == 20
    assert outcomes(database) == {f"s{n}.test": DEAD.get(f"s{n}.test", "ok") for n in range(1, 21)}
    given = [outcome for outcome in outcomes(database, final=False).values() if outcome == "network_down"]
    assert 2 <= len(given) <= 4  # two browsers, two outages


def test_a_visit_given_back_is_kept_as_an_attempt_that_does_not_count(database_18: Engine) -> None:
    weather = Weather()

    async def dead(host: str) -> Observation:
        if len(played.visited) == 1:
            weather.fails()
        return observation("dns")

    played = Browsers(dead)
    crawled(database_18, weather, played, sites=1, attempts=2)
    with database_18.connect() as connection:
        rows = connection.execute(text("SELECT attempt, outcome, is_final FROM visit ORDER BY attempt")).all()
        assert [tuple(row) for row in rows] == [
            (1, "network_down", False),
            (2, "dns", False),
            (3, "dns", True),
        ]
        assert connection.scalar(text("SELECT count(*) FROM response WHERE visit_id = 1001")) == 2


def test_a_crawl_whose_network_is_down_says_so_once_and_claims_nothing(database_18: Engine) -> None:
    class Lasting(Weather):
        async def probe(self) -> NetworkFault | None:
            if self.probes == 4:
                time_passes(31)
            return await super().probe()

    weather, lines = Lasting(back_after=10**9), list[str]()
    weather.fails()
    played = Browsers(fine)
    tally = run(
        database_18, plan_crawl(database_18), played, network=weather, pacing=QUICK, lines=lines, minutes=0.5
    )
    assert tally == Tally(ended=TIME_OVER)
    assert lines == ["the network is down: cut. No site is visited until it is back"]
    assert weather.probes > 3
    assert sites(database_18) == [(rank, 0, None, False) for rank in (1, 2, 3)]


def test_the_end_of_an_outage_is_reported(database_18: Engine) -> None:
    weather, lines = Weather(), list[str]()
    weather.fails()
    run(database_18, plan_crawl(database_18), Browsers(fine), network=weather, pacing=QUICK, lines=lines)
    assert lines[1:] == ["the network is back after 0 s"]


def test_visits_that_are_whole_are_their_own_proof_and_no_canary_is_probed(database_18: Engine) -> None:
    weather = Weather()
    crawled(database_18, weather, Browsers(fine), sites=9)
    assert weather.probes == 1  # before the first


def test_a_dead_sites_failure_is_kept_when_a_canary_answers(database_18: Engine) -> None:
    weather = Weather()
    crawled(database_18, weather, Browsers(ending("dns")), sites=3, attempts=1)
    assert set(outcomes(database_18).values()) == {"dns"}
    assert 1 < weather.probes <= 4


def errors(engine: Engine) -> list[tuple[str, str | None, bool]]:
    with engine.connect() as connection:
        statement = text("SELECT outcome, error, is_final FROM visit ORDER BY rank, attempt")
        return [tuple(row) for row in connection.execute(statement)]


def test_a_name_that_another_resolver_knows_is_given_back_and_at_last_marked(database_18: Engine) -> None:
    weather = Weather(unresolved=frozenset({"s1.test"}))
    crawled(database_18, weather, Browsers(ending("dns")), sites=2, attempts=1)
    marked = ("dns", f"net::ERR_NAME_NOT_RESOLVED{DISPUTED}", True)
    assert errors(database_18) == [*[("network_down", None, False)] * DISPUTES, marked, ("dns", None, True)]


@pytest.mark.parametrize("attempts", [1, 2])
def test_a_name_of_which_no_other_resolver_tells_costs_a_visit_more_and_is_marked(
    database_18: Engine, attempts: int
) -> None:
    weather = Weather(untold=frozenset({"s1.test"}))
    crawled(database_18, weather, Browsers(ending("dns")), sites=2, attempts=attempts)
    error = f"net::ERR_NAME_NOT_RESOLVED{UNCONFIRMED}"
    ours = [("dns", error, number == attempts) for number in range(attempts + 1)]
    theirs = [("dns", None, number == attempts) for number in range(1, attempts + 1)]
    assert errors(database_18) == [*ours, *theirs]


def test_a_name_of_which_no_other_resolver_tells_may_resolve_again(database_18: Engine) -> None:
    async def visited(host: str) -> Observation:
        return observation("dns" if len(played.visited) == 1 else "ok")

    played = Browsers(visited)
    crawled(database_18, Weather(untold=frozenset({"s1.test"})), played, sites=1, attempts=1)
    assert outcomes(database_18) == {"s1.test": "ok"}


def test_a_name_that_resolves_again_ends_as_its_site_does(database_18: Engine) -> None:
    async def visited(host: str) -> Observation:
        return observation("ok" if played.visited.count(host) > 2 else "dns")

    weather, lines = Weather(unresolved=frozenset({"s1.test"})), list[str]()
    played = Browsers(visited)
    crawl = plan_crawl(database_18, sites=1, attempts=1)
    run(database_18, crawl, played, network=weather, pacing=QUICK, lines=lines)
    assert errors(database_18) == [*[("network_down", None, False)] * 2, ("ok", None, True)]
    assert lines == ["disputed"] * 2
    assert weather.known == ["s1.test"]


def test_the_name_in_question_is_that_of_the_document_that_failed() -> None:
    seen = observation("dns")
    failed = {**seen.responses[0], "failure": NOT_RESOLVED, "host": "elsewhere.test"}
    image = {**failed, "resource_type": "image", "host": "image.test"}
    assert list_unresolved(dataclasses.replace(seen, responses=[failed, image]), "s1.test") == [
        "elsewhere.test"
    ]
    assert list_unresolved(dataclasses.replace(observation(), more=[seen]), "s1.test") == ["s1.test"]
    assert list_unresolved(observation("connect"), "s1.test") == []


def test_browsers_share_probes(database_18: Engine) -> None:
    gate = asyncio.Event()

    async def dead(host: str) -> Observation:
        if len(played.visited) == 8:
            gate.set()
        await gate.wait()
        return observation("connect")

    weather, played = Weather(), Browsers(dead)
    crawl = plan_crawl(database_18, sites=8, attempts=1)
    run(database_18, crawl, played, browsers=8, network=weather, pacing=QUICK)
    assert weather.probes < 8


def test_a_visit_is_given_back_after_an_outage_that_ended_before_it(database_18: Engine) -> None:
    weather = Weather()

    async def slow(host: str) -> Observation:
        if len(played.visited) > 1:
            return observation()
        weather.fails()
        async with asyncio.timeout(60):
            while weather.fault is not None:
                await asyncio.sleep(0.02)
        return observation("timeout")

    played = Browsers(slow)
    crawled(database_18, weather, played, sites=2, attempts=1)
    assert outcomes(database_18) == {"s1.test": "ok", "s2.test": "ok"}
    assert list(outcomes(database_18, final=False).values()) == ["network_down"]


def test_a_failed_visit_is_not_written_before_a_canary_answers_so_a_kill_leaves_no_wrong_outcome(
    database_18: Engine,
) -> None:
    async def killed() -> list[tuple[object, ...]]:
        weather = Silent()
        crawl = plan_crawl(database_18, sites=1, attempts=1)
        stop = asyncio.Event()
        values: dict[str, Any] = {"stop": stop, "network": weather, "pacing": QUICK}
        crawling = loop(database_18, crawl, Browsers(ending("dns")), browsers=1, **values)
        running = asyncio.ensure_future(crawling.run())
        async with asyncio.timeout(30):
            await weather.hangs.wait()
        sites_left = sites(database_18)
        running.cancel()
        await asyncio.wait({running})
        return sites_left

    ((rank, attempts, owner, done),) = asyncio.run(killed())
    assert (rank, attempts, done) == (1, 1, False)
    assert owner is not None  # until its lease expires
    assert visits(database_18) == 0


def test_a_crawl_that_is_stopped_before_a_canary_answers_gives_the_site_back(database_18: Engine) -> None:
    stop = asyncio.Event()

    async def dead(host: str) -> Observation:
        stop.set()
        return observation("dns")

    weather = Weather()
    tally = run(
        database_18,
        plan_crawl(database_18, sites=1),
        Browsers(dead),
        stop=stop,
        network=weather,
        pacing=QUICK,
    )
    assert tally == Tally(ended=STOPPED)
    assert sites(database_18) == [(1, 0, None, False)]


def test_a_guard_that_is_lost_for_good_ends_the_run_and_its_sites_are_free(database_18: Engine) -> None:
    weather = Weather()

    async def dead(host: str) -> Observation:
        weather.lost = True
        return observation("dns")

    with pytest.raises(EgressUnavailable):
        crawled(database_18, weather, Browsers(dead), sites=2, attempts=1)
    assert sites(database_18) == [(rank, 0, None, False) for rank in (1, 2)]


def test_a_change_of_our_own_network_counts_for_no_attempt_either(database_18: Engine) -> None:
    async def changed(host: str) -> Observation:
        return observation("network_changed" if len(played.visited) < 4 else "ok")

    played = Browsers(changed)
    crawled(database_18, Weather(), played, sites=1, attempts=1)
    assert outcomes(database_18) == {"s1.test": "ok"}
    assert sites(database_18) == [(1, 4, None, True)]


def test_a_thousand_faults_of_ours_do_not_use_up_the_ids_of_a_sites_visits(
    database_18: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    async def changed(host: str) -> Observation:
        return observation("network_changed" if len(played.visited) < 9 else "dns")

    monkeypatch.setattr(claims, "OURS_LIMIT", 3)
    played = Browsers(changed)
    tally = crawled(database_18, Weather(), played, sites=1, attempts=2)
    assert tally.ended == QUEUE_EMPTY
    assert outcomes(database_18) == {"s1.test": "dns"}
    assert sites(database_18) == [(1, 5, None, True)]


LOST = {**response(1), "failure": "net::ERR_CONNECTION_TIMED_OUT"}
OWN = {**response(1), "failure": "net::ERR_ABORTED"}


@pytest.mark.parametrize(
    ("change", "responses", "whole"),
    [
        ({}, [response(1)], True),
        ({"outcome": "http_error"}, [response(1)], True),
        ({}, [OWN], True),
        ({}, [LOST], False),
        ({}, [{**response(1), "is_complete": True}], True),
        ({}, [{**response(1), "is_complete": False}], False),
        ({}, [{**OWN, "is_complete": False}], True),
        ({}, [response(1, wire_bytes=None)], False),
        ({"outcome": "timeout"}, [], False),
        ({"outcome": "blocked"}, [], False),
        ({"stop_reason": "busy"}, [response(1)], False),
        ({"scheme": "http"}, [response(1)], False),
    ],
)
def test_a_visit_is_whole_only_if_no_fault_of_the_network_can_have_touched_it(
    change: dict[str, Any], responses: list[dict[str, Any]], whole: bool
) -> None:
    seen = dataclasses.replace(observation(**change), responses=responses)
    assert is_whole(seen) is whole
    assert is_whole(dataclasses.replace(observation(), more=[seen])) is whole


def test_all_loads_of_a_visit_are_given_back_together() -> None:
    seen = mark_network_down(dataclasses.replace(observation(), more=[observation()]))
    assert [observation.visit["outcome"] for observation in (seen, *seen.more)] == ["network_down"] * 2


def test_a_lane_whose_network_is_down_ends_when_others_have_done_the_rest(database_18: Engine) -> None:
    weather = Weather(back_after=10**9)

    async def others(host: str) -> Observation:
        weather.fails()
        while (claim := claims.claim_site(database_18, crawl, owner="other")) is not None:
            claims.store_visit(database_18, crawl, claim, observation())
        return observation()

    crawl = plan_crawl(database_18, sites=3)
    tally = run(database_18, crawl, Browsers(others), browsers=1, network=weather, pacing=QUICK)
    assert tally == Tally(ended=QUEUE_EMPTY, visits=1, final=1)
