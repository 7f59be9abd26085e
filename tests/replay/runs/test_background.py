"""Flows of other people: as much as their share says, in numbers that do not grow with the rate."""

import random
import statistics

import pytest

from replay.networks.populations import profile
from replay.runs.background import SHORT_FLOWS_BPS, SHORT_SIZES, TAIL, background, pareto_mean

RATES_BPS = (80_000, 1_200_000, 2_000_000, 12_000_000, 158_000_000, 1_000_000_000)


@pytest.mark.parametrize("down_bps", RATES_BPS)
def test_a_background_asks_for_its_share_of_the_bottleneck(down_bps: int) -> None:
    for load in (0.05, 0.5):
        assert 8 * background(load, down_bps).bytes_per_s == pytest.approx(load * down_bps)


def test_a_slow_line_has_short_flows_alone() -> None:
    for flows in (
        background(0.05, bps) for bps in (80_000, profile("avgdc-2010-mid").down_bps, SHORT_FLOWS_BPS)
    ):
        assert flows.large_per_s == 0
        assert flows.short_per_s > 0


def test_a_fast_line_has_larger_flows_and_not_more_of_them() -> None:
    fewer, many = (background(0.05, bps).flows_per_s for bps in (158_000_000, 1_000_000_000))
    assert many == pytest.approx(fewer, rel=0.1)
    assert many < 25
    assert background(0.05, 10**9).large_bytes > 6 * background(0.05, 158 * 10**6).large_bytes


def test_no_flow_takes_more_than_a_tenth_of_a_second_of_the_line() -> None:
    for flows, bps in ((background(0.5, bps), bps) for bps in RATES_BPS if bps > SHORT_FLOWS_BPS):
        assert SHORT_SIZES[-1] <= flows.least_bytes < flows.most_bytes <= 0.1 * bps / 8


def test_the_mean_of_the_bounded_pareto_is_that_of_its_draws() -> None:
    draws = random.Random(1)
    share = (1_000 / 100_000) ** TAIL
    sizes = [1_000 * (1 - draws.random() * (1 - share)) ** (-1 / TAIL) for _ in range(200_000)]
    assert (min(sizes), max(sizes)) == pytest.approx((1_000, 100_000), rel=0.1)
    assert statistics.fmean(sizes) == pytest.approx(pareto_mean(1_000, 100_000), rel=0.03)
