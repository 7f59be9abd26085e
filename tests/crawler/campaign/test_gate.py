"""The gate compares how the sites of a crawl ended with its bounds."""

import dataclasses
import datetime
import json
from pathlib import Path

import pytest
from click.testing import CliRunner, Result
from sqlalchemy import Engine

from crawler.campaign.gate import (
    Bounds,
    Ends,
    count_ends,
    count_usual_unresolved,
    describe_broken_bounds,
    find_clustered_failures,
    list_first_visits,
)
from crawler.campaign.seal import seal
from firstflight.main import main
from schema.vocabulary import ANSWERED, DISPUTED, OUR_FAULT, OUTCOMES, UNCONFIRMED
from tests.crawler.worker.stored_rows import store
from tests.factories.made_up_visits import BEGAN, observation, plan_crawl

GOOD = Ends(planned=1000, outcomes={"ok": 900, "dns": 80, "crash": 20}, ok_known=900, ok_covered=855)
"""Exactly at its bounds."""


def test_a_crawl_at_its_bounds_passes() -> None:
    assert list(describe_broken_bounds(GOOD, Bounds())) == []


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"planned": 1001}, "99.9 % of the sites have a final visit, and 100 % must"),
        ({"outcomes": {"ok": 499, "timeout": 501}}, "49.9 % of the visited sites answered, and 50 % must"),
        (
            {"ok_covered": 854},
            "94.8888 % of the visits that are ok have their bytes accounted for, and 95 % must",
        ),
        ({"ok_known": 0, "ok_covered": 0}, "none of the visits that are ok have their bytes"),
        (
            {"outcomes": {"ok": 979, "crash": 20, "network_changed": 1}},
            "2.1 % of the visits ended by a fault of ours (crash, network_changed, network_down, or",
        ),
        (
            {"disputed": 1},
            "2.1 % of the visits ended by a fault of ours (crash, network_changed, network_down, or",
        ),
        ({"outcomes": {"ok": 849, "dns": 151}}, "15.1 % of the names did not resolve, and 15 % may"),
    ],
)
def test_each_bound_can_be_broken_and_says_so(change: dict[str, int], words: str) -> None:
    (broken,) = describe_broken_bounds(dataclasses.replace(GOOD, **change), Bounds())  # type: ignore[arg-type]
    assert broken.startswith(words)


def test_a_crawl_without_sites_fails_its_gate() -> None:
    nothing = Ends(planned=0, outcomes={}, ok_known=0, ok_covered=0)
    assert len(list(describe_broken_bounds(nothing, Bounds()))) == 3


def test_the_outcomes_that_it_names_exist() -> None:
    assert set(OUTCOMES) > ANSWERED | OUR_FAULT


def run_gate(engine: Engine, data: Path, *options: str) -> Result:
    environment = {
        "FIRSTFLIGHT_DATA_DIR": str(data),
        "FIRSTFLIGHT_DATABASE_URL": engine.url.render_as_string(hide_password=False),
    }
    return CliRunner().invoke(main, ["crawl", "gate", "--crawl", "2026-11", *options], env=environment)


def test_the_command_counts_final_visits_alone_and_refuses_by_the_bounds_that_are_asked_for(
    database_18: Engine, tmp_path: Path
) -> None:
    crawl = plan_crawl(database_18, sites=5, attempts=2)
    # The second site is tried again, after the others had their turn;
    # nothing is known of the last one's bytes.
    visits = [("ok", 1.0), ("dns", None), ("ok", 1.0), ("http_error", 1.0), ("ok", None), ("ok", 0.5)]
    store(database_18, crawl, *(observation(outcome, coverage=coverage) for outcome, coverage in visits))
    with database_18.connect() as connection:
        ends = count_ends(connection, crawl)
    assert ends == Ends(planned=5, outcomes={"ok": 4, "http_error": 1}, ok_known=3, ok_covered=2)
    refused = run_gate(database_18, tmp_path)
    assert refused.exit_code == 1
    assert "5 of 5 sites visited: 4 ok, 1 http_error; 2 of 3 that are ok covered" in refused.stdout
    (line,) = refused.stderr.splitlines()
    assert line.endswith(
        "not good enough to be sealed: 66.6666 % of the visits that are ok have their bytes "
        "accounted for, and 95 % must"
    )
    passed = run_gate(database_18, tmp_path, "--set", "gate.covered=0.6", "--json")
    assert passed.exit_code == 0
    assert json.loads(passed.stdout)["shares"] == {
        "visited": 1,
        "answered": 1,
        "covered": 2 / 3,
        "our_fault": 0,
        "unresolved": 0,
    }


def test_it_refuses_a_crawl_in_which_failures_crowd_and_says_where(
    database_18: Engine, tmp_path: Path
) -> None:
    crawl = plan_crawl(database_18, sites=200, attempts=1)
    for rank in range(1, 201):
        outcome = "timeout" if 100 <= rank < 120 or rank % 10 == 0 else "ok"
        seen = observation(outcome, started_at=BEGAN + datetime.timedelta(seconds=rank))
        store(database_18, crawl, seen, owner="m1/1/ab/1" if rank % 2 else "m1/2/cd/1")
    refused = run_gate(database_18, tmp_path)
    assert refused.exit_code == 1
    assert (
        "16 of 16 sites failed from 2026-11-20 12:01:45 to 12:02:00, and 16 of 128 beside them"
        in refused.stderr
    )
    assert "process" not in refused.stderr
    passed = run_gate(database_18, tmp_path, "--set", "gate.uneven=0", "--json")
    assert (passed.exit_code, json.loads(passed.stdout)["uneven"]) == (0, [])


def test_names_that_resolve_at_a_later_attempt_alone_and_those_that_another_resolver_knows_are_told(
    database_18: Engine,
) -> None:
    crawl = plan_crawl(database_18, sites=100, attempts=2)
    store(database_18, crawl, *(observation("dns" if rank % 8 == 0 else "ok") for rank in range(1, 101)))
    disputed, untold = (
        observation("dns", error=f"net::ERR_NAME_NOT_RESOLVED{mark}") for mark in (DISPUTED, UNCONFIRMED)
    )
    store(database_18, crawl, *[observation()] * 9, *[disputed] * 2, untold)
    store(database_18, crawl, untold)
    with database_18.connect() as connection:
        ends = count_ends(connection, crawl)
        crowds = find_clustered_failures(connection, crawl, Bounds())
    assert (ends.outcomes, ends.disputed) == ({"ok": 97, "dns": 3}, 3)
    (excess,) = crowds
    assert str(excess).startswith("9 of 97 names did not resolve at first and did later")
    (broken_bound,) = describe_broken_bounds(ends, Bounds())
    assert broken_bound.startswith("3 % of the visits ended by a fault of ours")


def test_names_are_held_against_the_crawl_before_of_the_same_list(database_18: Engine) -> None:
    before = plan_crawl(database_18, sites=100, attempts=1, month="2026-10")
    store(database_18, before, *(observation("dns" if rank == 60 else "ok") for rank in range(1, 101)))
    seal(database_18, before)
    crawl = plan_crawl(database_18, sites=100, attempts=1)
    store(database_18, crawl, *(observation("dns" if rank % 5 == 0 else "ok") for rank in range(1, 101)))
    with database_18.connect() as connection:
        of_first = count_usual_unresolved(connection, before)
        clusters = find_clustered_failures(connection, crawl, Bounds())
        unsearched = find_clustered_failures(connection, crawl, Bounds(uneven=0))
    (excess,) = clusters
    assert (of_first, unsearched) == (None, [])
    assert (
        "20 of 100 sites did not resolve here, unlike in 2026-10.desktop.local.tcp.localweb, and 1 of 100"
        in str(excess)
    )


def test_a_site_counts_at_the_place_of_its_first_conclusive_visit(database_18: Engine) -> None:
    crawl = plan_crawl(database_18, sites=40, attempts=2)
    ends_of_first = ["network_down", "timeout", *["ok"] * 38]
    for outcome in [*ends_of_first, "ok", "dns"]:
        store(database_18, crawl, observation(outcome), owner=f"m/{len(outcome)}/x/1")
    with database_18.connect() as connection:
        assert find_clustered_failures(connection, crawl, Bounds()) == []
        first_visits = list_first_visits(connection, crawl)
    assert len(first_visits) == 40
    assert sum(site.failed for site in first_visits) == 1
    assert {site.process for site in first_visits if site.failed} == {f"m/{len('timeout')}/x"}
