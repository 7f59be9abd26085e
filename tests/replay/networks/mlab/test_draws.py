"""Networks drawn anew have the distribution of the cloud, and every draw by itself does."""

import numpy as np
import pytest

from replay.networks.mlab.draws import SLOW, draw_networks
from replay.networks.mlab.files import find_month, read_countries
from replay.networks.mlab.joint import world
from replay.networks.mlab.sample import SLOW_SHARE, slowness
from replay.networks.profiles import FRAME_BYTES


def test_draws_are_independent_and_repeat_by_seed_and_number() -> None:
    four = draw_networks(range(4), seed=1)
    assert four == draw_networks(range(2), seed=1) + draw_networks([2, 3], seed=1)
    assert len({network.profile.id for network in four}) == len(four) == 4 * 64
    rates, others = (
        {network.profile.down_bps for network in draw_networks(range(4), seed=seed)} for seed in (1, 2)
    )
    assert len(rates & others) < 10  # of 32,768 networks in the cloud


def test_every_draw_has_all_strata_and_its_slow_tenth() -> None:
    for number in range(3):
        draw = draw_networks([number], seed=5)
        assert [network.stratum for network in draw] == list(range(64))
        assert sum(network.weight for network in draw) == pytest.approx(1)
        assert sum(network.weight for network in draw if network.slow_weight) == pytest.approx(SLOW_SHARE)
        assert sum(network.slow_weight for network in draw) == pytest.approx(1)
        mbps, rtt_ms = np.array(
            [(network.profile.down_bps / 1e6, network.profile.rtt_us / 1e3) for network in draw]
        ).T
        speed = slowness(mbps, rtt_ms)
        assert min(speed[:SLOW]) > max(speed[SLOW:]) * 0.999
        assert all(
            network.profile.rtt_us * network.profile.down_bps >= 8e6 * FRAME_BYTES * 0.999 for network in draw
        )


def test_hundreds_of_draws_have_the_distribution_of_the_cloud() -> None:
    networks = draw_networks(range(300), seed=9)
    cloud = world(read_countries(find_month("2025-10")).countries)
    weights = np.array([network.weight for network in networks])
    for values, source in (
        (np.array([network.profile.down_bps / 1e6 for network in networks]), cloud.bandwidth_mbps),
        (np.array([network.profile.rtt_us / 1e3 for network in networks]), cloud.rtt_ms),
        (np.array([network.profile.loss for network in networks]), cloud.loss),
    ):
        order = np.argsort(values, kind="stable")
        ends = np.cumsum(weights[order]) / weights.sum()
        for share in (0.1, 0.25, 0.5, 0.75, 0.9):
            value = values[order][np.searchsorted(ends, share)]
            assert value == pytest.approx(np.quantile(source, share), rel=0.05, abs=1e-5)
    assert cloud.country is not None
    for code in ("US", "IN", "DE"):
        share = weights[[network.profile.country == code for network in networks]].sum() / weights.sum()
        assert share == pytest.approx((cloud.country == code).mean(), abs=0.01)


def test_no_class_of_rate_rests_on_a_few_queues() -> None:
    networks = draw_networks(range(10), seed=1)
    for low, high in ((0, 6e6), (6e6, 25e6), (25e6, 2e9)):
        profiles = [network.profile for network in networks if low <= network.profile.down_bps < high]
        depths = np.bincount([int(5 * (profile.queue_place or 0)) for profile in profiles], minlength=5)
        assert depths.min() >= 10
