"""What stages measure: a control variate makes gains more exact and not wrong,
and draws go where they tell most."""

import numpy as np
import pytest

from releases.interval import Interval
from releases.slow_start import MSS_TIMESTAMPS
from replay.networks.profiles import symmetric
from reports.decision.design import EVEN_SHARE, allocate
from reports.decision.measuring import with_control
from reports.decision.problem import expected_log_ms
from reports.decision.weighted_sample import WeightedSample
from reports.statistics.bootstrap import Floats
from reports.statistics.exact import clopper_pearson
from tests.reports.decision.worlds import recipe

PAGES, NETWORKS = 400, 4
WEIGHTS = np.array([0.4, 0.3, 0.2, 0.1])
COUNTS = np.array([15, 25, 40, 20])
"""Draws over each network, which are not as its weight says."""


def drawn(rng: np.random.Generator) -> WeightedSample:
    """Pages by chance, each over one network."""
    networks = np.repeat(np.arange(NETWORKS), COUNTS)
    pages = rng.permutation(PAGES)[: len(networks)]
    counts = COUNTS[networks]
    return WeightedSample(pages, networks, WEIGHTS[networks] / counts, counts, PAGES, NETWORKS)


def world(rng: np.random.Generator, *, follows: float) -> tuple[Floats, Floats]:
    """A control of each page and network, and values that follow it as far as told,
    with chance of their own."""
    control = rng.gamma(1.5, 2.0, (PAGES, 1)) + rng.normal(size=(PAGES, NETWORKS)) + np.arange(NETWORKS)
    return control, 0.7 + follows * control + rng.normal(size=control.shape)


@pytest.mark.parametrize(("follows", "least", "most"), [(1.0, 0.5, 0.7), (-0.5, 0.6, 0.8), (0.0, 0.95, 1.05)])
def test_a_control_variate_cuts_the_error_as_far_as_values_follow_it(
    follows: float, least: float, most: float
) -> None:
    truth = 0.7 + follows * (3.0 + float(WEIGHTS @ np.arange(NETWORKS)))
    rng = np.random.default_rng(4)
    with_it, without = [], []
    for _ in range(600):
        control, values = world(rng, follows=follows)
        sample = drawn(rng)
        found = values[sample.pages, sample.networks]
        with_it.append(with_control(sample, found, control, WEIGHTS, 0.0))
        without.append(sample.measured(found, sample.mean(found), 0.0))
    missed = np.array([one.value - truth for one in with_it])
    errors = np.array([one.error for one in with_it])
    assert least < missed.std() / np.std([one.value for one in without]) < most
    assert abs(missed.mean()) < 3 * missed.std() / np.sqrt(len(missed))  # no bias
    assert errors.mean() == pytest.approx(missed.std(), rel=0.1)
    assert (abs(missed) < 1.96 * errors).mean() > 0.92


def test_the_mean_undoes_where_draws_went() -> None:
    sample = drawn(np.random.default_rng(5))
    assert sample.shares.sum() == pytest.approx(1)
    assert sample.mean(sample.networks.astype(float)) == pytest.approx(float(WEIGHTS @ np.arange(NETWORKS)))


@pytest.mark.parametrize("chances", [(0.02, 0.02, 0.02, 0.02), (0.0, 0.0, 0.0, 0.08), (0.03, 0.01, 0.0, 0.0)])
def test_bounds_of_rare_events_hold_wherever_the_events_are(chances: tuple[float, ...]) -> None:
    truth = 100 * float(WEIGHTS @ np.array(chances))
    rng = np.random.default_rng(6)
    held = []
    for _ in range(400):
        sample = drawn(rng)
        values = np.where(rng.random(len(sample.pages)) < np.array(chances)[sample.networks], 100.0, 0.0)
        found = sample.rare(values, None, sample.mean(values), 0.0)
        held.append(found.upper(0.05) >= truth)
        assert found.lower(0.05) == 0.0 <= found.value <= found.upper(0.05)
    assert np.mean(held) >= 0.95


def test_without_an_event_the_bounds_are_clopper_and_pearsons_of_pages() -> None:
    pages = np.arange(PAGES).repeat(2)  # each page over two networks is one page
    networks = np.tile([0, 1], PAGES)
    shares, counts = np.full(len(pages), 1 / len(pages)), np.full(len(pages), PAGES)
    none = np.zeros(len(pages))
    found = WeightedSample(pages, networks, shares, counts, PAGES, 2).rare(none, none, 0.0, 0.5)
    most = 100 * clopper_pearson(0, PAGES, 0.95)[1]
    assert (found.lower(0.025), found.upper(0.025)) == pytest.approx((-most, most))
    assert found.interval == Interval(0.0, -most, most)
    assert found.upper(1e-9) > found.upper(0.025)
    assert found.upper(0.0) == 100.0
    assert 1.96 * found.error == pytest.approx(most, rel=1e-4)


def test_draws_go_where_errors_are_large_and_loads_are_cheap() -> None:
    even, ones = np.full(2, 0.5), np.ones(2)
    assert allocate(100, np.zeros(2), ones, even).tolist() == [50, 50]
    assert allocate(100, np.zeros(2), ones, np.array([0.8, 0.2])).tolist() == [80, 20]
    # Four times the squared error is twice the draws, and four times the price half of them,
    # beside the even share.
    twice, half = (EVEN_SHARE / 2 + (1 - EVEN_SHARE) * part for part in (2 / 3, 1 / 3))
    assert allocate(3_000, np.array([4.0, 1.0]), ones, even).tolist() == [3_000 * twice, 3_000 * half]
    dear = allocate(3_000, ones, np.array([4.0, 1.0]), even)
    assert dear[0] == pytest.approx(dear[1] / 2, abs=1)


def test_every_network_with_a_weight_has_its_least_draws_and_no_other_has_any() -> None:
    found = allocate(20, np.array([9.0, 0.0, 0.0]), np.ones(3), np.array([0.5, 0.5, 0.0]), least=4)
    assert found.sum() == 20
    assert found[0] > found[1] >= 4
    assert found[2] == 0


@pytest.mark.parametrize(
    ("segments", "window", "trips"), [(10, 10, 3), (11, 10, 4), (30, 10, 4), (31, 10, 5), (31, 40, 3)]
)
def test_the_time_by_arithmetic_has_handshakes_rounds_and_bytes(
    segments: int, window: int, trips: int
) -> None:
    network = symmetric("x", bps=1_000_000_000, rtt_us=100_000, source="tests")
    size = segments * MSS_TIMESTAMPS
    found = np.exp(expected_log_ms([recipe(1, size)], [network], [window])[window])
    # TCP's and TLS's round trips, that of the request, and those that slow start waits for.
    assert found[0, 0] == pytest.approx(100 * trips + size * 8 / 1e6)
