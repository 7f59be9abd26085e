import itertools
from statistics import NormalDist

import pytest

from replay.networks.copula import (
    PAPER_POPULATIONS,
    PAPER_PROFILES,
    conditional_median_share,
    fig3,
    from_fig3,
    quantile,
)
from replay.networks.populations import PROFILES, profile


def test_ids_are_unique_and_each_has_a_source() -> None:
    for kind in (PROFILES, PAPER_POPULATIONS):
        assert len({entry.id for entry in kind}) == len(kind)
        assert all(entry.source and entry.version >= 1 for entry in kind)


def test_a_populations_weights_sum_to_one_over_profiles_that_exist() -> None:
    known = {profile.id for profile in PROFILES}
    for population in PAPER_POPULATIONS:
        assert {name for name, _ in population.weights} <= known
        assert sum(weight for _, weight in population.weights) == pytest.approx(1)


def test_the_papers_populations_are_an_average_one_and_a_slow_one() -> None:
    assert [population.slow for population in PAPER_POPULATIONS] == [False, True]


def test_profiles_are_what_they_were_when_first_written_into_a_release() -> None:
    assert {
        paper_profile.id: (paper_profile.down_bps, paper_profile.up_bps, paper_profile.rtt_us)
        for paper_profile in PAPER_PROFILES
    } == {
        "avgdc-2010-low": (490_000, 128_000, 91_800),
        "avgdc-2010-mid": (1_191_000, 298_000, 66_000),
        "avgdc-2010-high": (2_791_000, 698_000, 45_000),
        "slowdc-2010-median": (502_000, 128_000, 73_900),
    }


def test_six_connections_at_a_window_of_thirty_overflow_every_queue() -> None:
    assert all(
        paper_profile.queue_bytes + paper_profile.bdp_bytes < 6 * 30 * 1514
        for paper_profile in PAPER_PROFILES
    )


def test_published_profiles_are_what_their_sources_print() -> None:
    slow_4g = profile("lighthouse-mobile-slow-4g")
    assert (slow_4g.down_bps, slow_4g.up_bps) == (round(1.6 * 1024 * 1024), 750 * 1024)
    cable = profile("wpt-cable")
    assert (cable.down_bps, cable.up_bps, cable.rtt_us) == (5_000_000, 1_000_000, 28_000)
    assert [(network.rtt_us, network.loss) for network in PROFILES if network.id.startswith("baidu")] == [
        (37_820, 0.0),
        (56_140, 0.0),
        (40_820, 0.001),
        (119_570, 0.01),
    ]


@pytest.mark.parametrize(
    ("quantity", "data_center"), list(itertools.product(["bw_kbps", "rtt_ms"], ["AvgDC", "SlowDC"]))
)
def test_the_digitised_curves_rise_to_one(quantity: str, data_center: str) -> None:
    shares, values = fig3(quantity, data_center)
    assert len(shares) == 101
    assert list(shares) == sorted(shares)
    assert list(values) == sorted(values)
    assert shares[-1] == 1


def test_a_quantile_at_a_point_of_the_curve_is_that_point() -> None:
    shares, values = fig3("bw_kbps", "AvgDC")
    for share, value in zip(shares, values, strict=True):
        assert quantile("bw_kbps", "AvgDC", share) == pytest.approx(value)


def test_the_conditional_median_agrees_with_sampling_the_copula() -> None:
    # Physics of the copula: among pairs whose bandwidth lies near the quantile,
    # the RTT's median is where we say.
    import random

    generator, rho, share = random.Random(6928), -0.6, 1 / 6
    score = NormalDist().inv_cdf(share)
    near: list[float] = []
    while len(near) < 4_000:
        bandwidth = generator.gauss(score, 0.05)
        near.append(NormalDist().cdf(rho * bandwidth + (1 - rho**2) ** 0.5 * generator.gauss(0, 1)))
    assert sorted(near)[len(near) // 2] == pytest.approx(conditional_median_share(share, rho=rho), abs=0.02)


def test_without_correlation_every_bandwidth_has_the_same_delay() -> None:
    low, high = (from_fig3("x", "AvgDC", share, rho=0.0) for share in (1 / 6, 5 / 6))
    assert low.rtt_us == high.rtt_us
    assert low.down_bps < high.down_bps
