"""The price of a load as it is planned: it grows with the page and its background, and not with the rate."""

import dataclasses

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.networks.profiles import symmetric
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import Cell
from replay.runs.conditions import Competition, Conditions, Neighbours
from replay.runs.policy import Policy
from replay.runs.price import connections, core_s, core_seconds, longest_chain_seconds, page_seconds
from tests.factories.lab_networks import make_page, plain

HOSTS = 10
PAGE = make_page(
    1,
    *[{"parent": -1, "response_bytes": 15 * MSS_TIMESTAMPS}] * 75,
    page="a.test",
    origins=HOSTS,
    port=443,
    h2=True,
    tls_flight_bytes=3_000,
)
OBJECT = PAGE.objects[0]
NETWORKS = {2.7: 151, 12: 100, 49: 60, 158: 40, 375: 25, 1000: 15}


def load(mbps: float, arm: Conditions | None = None, page: Recipe = PAGE) -> Cell:
    where = symmetric("x", bps=round(mbps * 1e6), rtt_us=NETWORKS[mbps] * 1000, source="tests")
    return Cell(recipe=page, profile=where, policy=Policy(10), seed=1, conditions=arm or plain())


@pytest.mark.parametrize("mbps", NETWORKS)
def test_a_load_is_planned_within_its_bound_at_any_rate(mbps: float) -> None:
    assert 0.01 < core_s(load(mbps)) < 0.06
    assert 0.02 < core_s(load(mbps, plain(neighbours=Neighbours(load=0.5)))) < 0.15


def test_more_hosts_more_bytes_and_more_neighbours_cost_more() -> None:
    others = tuple(dataclasses.replace(object_, origin=HOSTS + object_.origin) for object_ in PAGE.objects)
    twice = dataclasses.replace(PAGE, origins=PAGE.origins * 2, objects=PAGE.objects + others)
    assert core_s(load(12, page=twice)) > 1.5 * core_s(load(12))
    competing = plain(competition=Competition(flows=1, congestion_control="cubic", iw=10))
    assert core_s(load(375, competing)) > 2 * core_s(load(375))


def test_a_page_takes_longer_than_its_bytes_and_longer_still_beside_others() -> None:
    half = plain(neighbours=Neighbours(load=0.5))
    transfer_s = 8 * PAGE.response_bytes / 12e6
    assert transfer_s < page_seconds(load(12)) < page_seconds(load(12, half))


def test_the_longest_chain_has_its_round_trips_delays_and_waits() -> None:
    slow = dataclasses.replace(OBJECT, parent=0, browser_delay_us=30_000, server_delay_us=200_000)
    last = dataclasses.replace(OBJECT, parent=0, waits_for=1, origin=1)
    page = dataclasses.replace(PAGE, objects=(OBJECT, slow, last))
    # The document takes TCP, TLS and the request, the slow one a request, and the last one all three again.
    assert longest_chain_seconds(load(12, page=page)) == pytest.approx(7 * 0.1 + 0.03 + 0.2)
    assert longest_chain_seconds(load(12, plain(server_delay=False), page)) == pytest.approx(0.73)
    far = dataclasses.replace(
        page, origins=tuple(dataclasses.replace(origin, distance_us=50_000) for origin in page.origins)
    )
    assert longest_chain_seconds(load(12, plain(distance="recorded"), far)) == pytest.approx(7 * 0.15 + 0.23)
    assert longest_chain_seconds(load(12, plain(discovery="last-byte"), page)) == pytest.approx(0.6)


def test_a_host_has_one_connection_over_h2_and_up_to_six_without() -> None:
    without = dataclasses.replace(PAGE.origins[0], h2=False)
    assert connections(PAGE) == HOSTS
    assert connections(dataclasses.replace(PAGE, origins=(without,) * HOSTS)) == 6 * HOSTS
    assert connections(dataclasses.replace(PAGE, origins=(without,) * HOSTS, objects=PAGE.objects[:12])) == 12


def test_a_plan_is_the_sum_of_its_loads() -> None:
    assert core_seconds([load(12), load(49)]) == pytest.approx(core_s(load(12)) + core_s(load(49)))
