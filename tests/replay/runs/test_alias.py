"""A window by a second route, in another guest and another order. These boot the guest's kernel."""

import dataclasses
from typing import Any

import pytest

from replay.lab.guest_process import Lab
from replay.networks.populations import profile
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.cells import plan
from replay.runs.conditions import Conditions
from replay.runs.run import replay
from reports.recommendation.rule import RULE
from reports.recommendation.self_comparison import compare_with_alias, compare_with_itself
from reports.statistics.paired_loads import pair_rows

pytestmark = pytest.mark.lab

MID = profile("avgdc-2010-mid")
BURSTY = dataclasses.replace(MID, id="bursty", loss=0.01, loss_burst=4.0)
CONDITIONS = [Conditions(), Conditions(alias=True)]


def page(number: int) -> Recipe:
    """A document and a dozen objects from two origins over TLS and HTTP/2."""
    one = Origin(host="a.test", port=443, h2=True, tls_flight_bytes=3_000, tls_after_bytes=500)
    return Recipe(
        page=f"{number}.test",
        visit_id=number,
        origins=(one, one),
        objects=tuple(
            Object(
                response_id=index + 1,
                origin=index % 2,
                parent=0 if index else -1,
                response_bytes=9_000 * number + 4_000 * index,
                is_document=not index,
            )
            for index in range(13)
        ),
        left_out=0,
    )


@pytest.fixture(scope="module")
def rows(lab: Lab) -> list[dict[str, Any]]:
    """Loads of three pages over two networks with loss at IW 3 and 10, by their own routes and by aliases."""
    pages = [page(number) for number in (1, 2, 3)]
    result = replay(
        lab, plan(pages, [MID, BURSTY], windows=(3, 10), seeds=2, conditions=CONDITIONS), guests=2
    )
    assert {row["reason"] for row in result.rows} == {None}
    assert len(result.guests) >= 2
    return result.rows


def test_loads_by_the_alias_equal_those_of_the_windows_own_route(rows: list[dict[str, Any]]) -> None:
    own, alias = (
        {
            (row["visit_id"], row["profile"], row["iw"], row["seed"]): {
                name: value for name, value in row.items() if name != "route"
            }
            for row in rows
            if row["route"] == route
        }
        for route in ("own", "alias")
    )
    assert len(own) == 24
    assert alias == own
    assert {row["snd_cwnd_min"] for row in rows if row["iw"] == 10} == {10}


def test_the_comparison_finds_a_window_equal_to_itself_and_not_to_another(rows: list[dict[str, Any]]) -> None:
    loads = pair_rows([row for row in rows if row["route"] == "own"], congestion_control="cubic")
    by_alias = [row for row in rows if row["route"] == "alias"]
    population = {MID.id: 0.5, BURSTY.id: 0.5}
    itself = compare_with_alias(
        loads, pair_rows(by_alias, congestion_control="cubic"), 10, population, rule=RULE
    ).longer_percent
    assert (itself.lower, itself.estimate, itself.upper) == (0, 0, 0)
    others = [row | {"iw": 10} for row in by_alias if row["iw"] == 3]
    another = compare_with_alias(
        loads, pair_rows(others, congestion_control="cubic"), 10, population, rule=RULE
    ).longer_percent
    assert abs(another.estimate) > 0.1


def test_odd_seeds_against_even_ones_find_nothing_and_would_find_a_tenth(lab: Lab) -> None:
    pages = [page(number) for number in range(1, 13)]
    result = replay(lab, plan(pages, [BURSTY], windows=(10,), seeds=8), guests=2)
    slower = [row | {"page_ms": row["page_ms"] * (1.1 if row["seed"] % 2 else 1)} for row in result.rows]
    itself, another = (
        compare_with_itself(
            pair_rows(rows, congestion_control="cubic"), 10, {BURSTY.id: 1.0}, rule=RULE
        ).longer_percent
        for rows in (result.rows, slower)
    )
    assert itself.lower < 0 < itself.upper
    assert another.upper - another.lower < 25
    assert not another.lower < 0 < another.upper
