"""Exact distributions, held against printed tables and against counting."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.statistics.exact import clopper_pearson, student_quantile, student_tail


@pytest.mark.parametrize(
    ("degrees", "of_5", "of_1"),
    [(1, 12.706, 63.657), (2, 4.303, 9.925), (3, 3.182, 5.841), (10, 2.228, 3.169), (29, 2.045, 2.756), (120, 1.980, 2.617)],  # noqa: E501
)  # fmt: skip
def test_students_quantiles_are_those_of_the_printed_table(degrees: int, of_5: float, of_1: float) -> None:
    assert student_quantile(0.025, degrees=degrees) == pytest.approx(of_5, abs=6e-4)
    assert student_quantile(0.005, degrees=degrees) == pytest.approx(of_1, abs=6e-4)


def test_students_tail_with_many_degrees_is_the_normal_one() -> None:
    t = np.array([-1.5, 0.3, 1.96, 4.0])
    normal = np.array([math.erfc(one / math.sqrt(2)) / 2 for one in t])
    assert student_tail(t, degrees=5000) == pytest.approx(normal, rel=0.02)


def test_students_tail_is_whole_at_the_ends() -> None:
    assert student_tail(np.array([-np.inf, np.inf]), degrees=7).tolist() == pytest.approx([1, 0], abs=1e-12)


@pytest.mark.parametrize(
    ("events", "trials", "ends"),
    [(0, 20, (0, 0.1684)), (1, 20, (0.0013, 0.2487)), (5, 20, (0.0866, 0.4910)), (20, 20, (0.8316, 1)), (3, 60, (0.0104, 0.1392))],  # noqa: E501
)  # fmt: skip
def test_bounds_of_a_share_are_those_of_the_printed_table(
    events: int, trials: int, ends: tuple[float, float]
) -> None:
    assert clopper_pearson(events, trials, 0.95) == pytest.approx(ends, abs=6e-5)


@settings(deadline=None, max_examples=50)
@given(st.integers(1, 60), st.floats(0.01, 0.99), st.sampled_from([0.9, 0.95, 0.99]))
def test_bounds_of_a_share_cover_it_at_least_as_often_as_stated(
    trials: int, share: float, confidence: float
) -> None:
    """Exactly, by summing the binomial probabilities of the counts whose interval holds the share."""
    covered = math.fsum(
        math.comb(trials, events) * share**events * (1 - share) ** (trials - events)
        for events in range(trials + 1)
        if clopper_pearson(events, trials, confidence)[0]
        <= share
        <= clopper_pearson(events, trials, confidence)[1]
    )
    assert covered >= confidence - 1e-9


@settings(deadline=None, max_examples=50)
@given(st.integers(0, 50), st.integers(1, 200))
def test_more_trials_with_as_many_events_lower_both_bounds(events: int, more: int) -> None:
    few, many = (clopper_pearson(events, trials, 0.95) for trials in (50, 50 + more))
    assert many[0] <= few[0] + 1e-12
    assert many[1] <= few[1]
