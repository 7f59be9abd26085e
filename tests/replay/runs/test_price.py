"""The price of a load as it is planned: it grows with the page and its background, and not with the rate."""

from __future__ import annotations

import dataclasses

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.networks.profiles import symmetric
from replay.recipes.page_recipe import Object, Origin, Recipe
from replay.runs.cells import Cell
from replay.runs.chunks import core_seconds
from replay.runs.conditions import Competition, Conditions, Neighbours
from replay.runs.price import core_s, page_seconds

ORIGIN = Origin(host="a.test", port=443, h2=True, tls_flight_bytes=3_000, tls_after_bytes=0)
OBJECT = Object(response_id=1, origin=0, parent=-1, response_bytes=15 * MSS_TIMESTAMPS, is_document=True)
PAGE = Recipe(page="a.test", visit_id=1, origins=(ORIGIN,), objects=(OBJECT,) * 75, left_out=0)
NETWORKS = {2.7: 151, 12: 100, 49: 60, 158: 40, 375: 25, 1000: 15}


def load(mbps: float, arm: Conditions | None = None, page: Recipe = PAGE) -> Cell:
    where = symmetric("x", bps=round(mbps * 1e6), rtt_us=NETWORKS[mbps] * 1000, source="tests")
    return Cell(recipe=page, profile=where, iw=10, seed=1, conditions=arm or Conditions())


@pytest.mark.parametrize("mbps", NETWORKS)
def test_a_load_is_planned_within_its_bound_at_any_rate(mbps: float) -> None:
    assert 0.01 < core_s(load(mbps)) < 0.06
    assert 0.02 < core_s(load(mbps, Conditions(neighbours=Neighbours(load=0.5)))) < 0.15


def test_more_objects_more_bytes_and_more_neighbours_cost_more() -> None:
    twice = dataclasses.replace(PAGE, objects=PAGE.objects * 2)
    assert core_s(load(12, page=twice)) > 1.5 * core_s(load(12))
    competing = Conditions(competition=Competition(flows=1, congestion_control="cubic", iw=10))
    assert core_s(load(375, competing)) > 2 * core_s(load(375))


def test_a_page_takes_longer_than_its_bytes_and_longer_still_beside_others() -> None:
    half = Conditions(neighbours=Neighbours(load=0.5))
    transfer_s = 8 * PAGE.response_bytes / 12e6
    assert transfer_s < page_seconds(load(12)) < page_seconds(load(12, half))


def test_a_plan_is_the_sum_of_its_loads() -> None:
    assert core_seconds([load(12), load(49)]) == pytest.approx(core_s(load(12)) + core_s(load(49)))
