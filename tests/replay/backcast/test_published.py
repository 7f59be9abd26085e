"""The published figures of the back-cast, and the pages and networks that stand for their services."""

import numpy as np
import pytest

from replay.backcast.calibration import distance
from replay.backcast.measure import mean_and_quantiles
from replay.backcast.networks import LONGEST_RTT_MS, networks, populations
from replay.backcast.published import BASE, DATA_CENTERS, RETRANSMITTED, SERVICES, DataCenter, mix
from replay.backcast.services import Shape, pages, sizes


def test_the_mix_of_services_makes_the_published_whole_in_both_data_centers() -> None:
    shares = mix()
    assert sum(shares.values()) == pytest.approx(1)
    for center in DATA_CENTERS:
        whole = sum(share * RETRANSMITTED[center, service][BASE] for service, share in shares.items())
        assert whole == pytest.approx(RETRANSMITTED[center, "all"][BASE])


def test_sizes_of_every_service_ascend_from_its_curve() -> None:
    for service in SERVICES:
        shares, sizes_bytes = sizes(service)
        assert list(shares) == sorted(shares)
        assert list(sizes_bytes) == sorted(sizes_bytes)


def test_a_page_asks_over_its_flows_and_each_flow_in_turn() -> None:
    (page,) = pages("maps", Shape(12, 2), 1)
    assert len(page.objects) == 24
    assert len(page.origins) == 2, "a browser of the time opens six connections to a host"
    assert [object_.parent for object_ in page.objects] == [-1] * 12 + list(range(12))


@pytest.mark.parametrize("center", DATA_CENTERS)
def test_networks_keep_their_round_trips_where_rates_change(center: DataCenter) -> None:
    once, twice = networks(center), networks(center, rate_factor=2)
    assert all(b.down_bps == pytest.approx(2 * a.down_bps, abs=2) for a, b in zip(once, twice, strict=True))
    assert all(network.rtt_us <= LONGEST_RTT_MS * 1e3 for network in once if network.down_bps > 100_000)
    (weights,) = (
        dict(population.weights) for population in populations() if population.id.startswith(center.lower())
    )
    assert set(weights) == {network.id for network in once}
    assert sum(weights.values()) == pytest.approx(1)


def test_quantiles_are_weighted() -> None:
    mean, quantiles = mean_and_quantiles(np.array([1.0, 2.0]), np.array([0.9, 0.1]))
    assert mean == pytest.approx(1.1)
    assert quantiles == (1, 1, 1, 2, 2)


def test_a_figure_that_is_zero_is_further_than_any_factor_of_a_hundred() -> None:
    assert distance(0, 1) > distance(100, 1) == pytest.approx(distance(0.01, 1))
