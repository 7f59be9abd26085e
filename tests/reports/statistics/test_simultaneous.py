"""Simultaneous intervals: coverage in worlds with a known truth, invariances,
and agreement of bounds and p-values."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from reports.statistics import simultaneous
from reports.statistics.bootstrap import Floats
from reports.statistics.simultaneous import page_means, simultaneous_intervals, standard_errors


def gains(pages: int = 40, candidates: int = 4, draw: int = 1) -> Floats:
    """Log ratios in which pages differ alike for all candidates, and a little for each."""
    rng = np.random.default_rng(draw)
    common, own = rng.normal(size=(pages, 1)), rng.normal(size=(pages, candidates))
    found: Floats = 0.03 * common + 0.02 * own - 0.01 * np.arange(candidates)
    return found


def test_the_same_seed_gives_the_same_intervals_and_another_seed_gives_others() -> None:
    first, again, other = (
        simultaneous_intervals(gains(), 0.95, seed=seed, replicates=500) for seed in (1, 1, 2)
    )
    assert first == again
    assert first != other


def test_draws_do_not_depend_on_how_many_are_made_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    whole = page_means(gains(), seed=3, replicates=300).draws
    monkeypatch.setattr("reports.statistics.simultaneous.CHUNK", 1000)
    simultaneous.draw_pages.cache_clear()
    parts = page_means(gains(), seed=3, replicates=300).draws
    simultaneous.draw_pages.cache_clear()
    assert parts == pytest.approx(whole, rel=1e-12)


def test_the_standard_error_is_that_of_a_mean() -> None:
    values = gains()
    expected = values.std(axis=0, ddof=1) / math.sqrt(len(values))
    assert standard_errors(values) == pytest.approx(expected)
    assert page_means(values, seed=1, replicates=200).standard_errors == pytest.approx(expected)


def test_with_normal_pages_the_quantile_is_students() -> None:
    """t of 39 degrees of freedom: 2.023 for 97.5 %."""
    rng = np.random.default_rng(5)
    found = [
        page_means(rng.normal(size=(40, 1)), seed=draw, replicates=1999).draws[:, 0] for draw in range(20)
    ]
    assert np.mean([np.quantile(one, 0.975) for one in found]) == pytest.approx(2.023, abs=0.1)


@settings(max_examples=30, deadline=None)
@given(st.floats(-5, 5), st.floats(0.01, 100), st.integers(0, 2**32 - 1))
def test_a_change_of_origin_and_unit_moves_the_ends_alike(shift: float, scale: float, seed: int) -> None:
    before = simultaneous_intervals(gains(), 0.9, seed=seed, replicates=99)
    after = simultaneous_intervals(shift + scale * gains(), 0.9, seed=seed, replicates=99)
    for one, other in zip(before, after, strict=True):
        for name in ("estimate", "lower", "upper"):
            assert getattr(other, name) == pytest.approx(
                shift + scale * getattr(one, name), rel=1e-7, abs=1e-8 * (1 + abs(shift))
            )


def test_no_interval_is_narrower_than_students() -> None:
    """A sample whose tails are lighter than normal ones: the bootstrap alone would give less."""
    values = np.where(np.arange(20) % 2, 1.0, -1.0)[:, np.newaxis]
    found = page_means(values, seed=1, replicates=1999)
    (interval,) = found.intervals(0.95)
    assert -interval.lower >= 2.093 * found.standard_errors[0] - 1e-3
    assert interval.upper >= 2.093 * found.standard_errors[0] - 1e-3


def test_a_change_of_sign_swaps_the_ends() -> None:
    before = simultaneous_intervals(gains(), 0.95, seed=1, replicates=999)
    after = simultaneous_intervals(-gains(), 0.95, seed=1, replicates=999)
    for one, other in zip(before, after, strict=True):
        assert (-other).lower == pytest.approx(one.lower)
        assert (-other).upper == pytest.approx(one.upper)


def test_the_order_of_candidates_makes_no_difference_and_their_number_does() -> None:
    values = gains()
    ahead = simultaneous_intervals(values, 0.95, seed=1, replicates=999)
    back = simultaneous_intervals(values[:, ::-1], 0.95, seed=1, replicates=999)[::-1]
    assert [one.lower for one in ahead] == pytest.approx([one.lower for one in back])
    alone = simultaneous_intervals(values[:, :1], 0.95, seed=1, replicates=999)[0]
    assert ahead[0].lower < alone.lower < alone.upper < ahead[0].upper


def test_a_candidate_twice_costs_nothing_because_draws_are_shared() -> None:
    """Bonferroni would widen the interval."""
    values = gains()[:, :1]
    alone = simultaneous_intervals(values, 0.95, seed=1, replicates=999)
    twice = simultaneous_intervals(np.hstack([values, values]), 0.95, seed=1, replicates=999)
    for one in twice:
        assert [one.lower, one.upper] == pytest.approx([alone[0].lower, alone[0].upper])


def test_a_page_of_weight_zero_is_left_out() -> None:
    values = gains()
    weights = np.ones(len(values))
    weights[0] = 0
    values[0] = 1e6
    found = simultaneous_intervals(values, 0.95, seed=1, replicates=500, weights=weights)
    assert found == simultaneous_intervals(values[1:], 0.95, seed=1, replicates=500)


def test_the_scale_of_weights_makes_no_difference() -> None:
    weights = np.random.default_rng(2).uniform(0.2, 3, size=40)
    one, other = (
        simultaneous_intervals(gains(), 0.95, seed=1, replicates=500, weights=factor * weights)
        for factor in (1, 50)
    )
    for here, there in zip(one, other, strict=True):
        assert here.lower == pytest.approx(there.lower)
        assert here.estimate == pytest.approx(there.estimate)


def test_pages_that_are_all_equal_give_an_interval_without_width() -> None:
    found = simultaneous_intervals(np.full((20, 2), 0.3), 0.95, seed=1, replicates=200)
    assert [end for one in found for end in (one.lower, one.upper)] == pytest.approx([0.3] * 4)


def test_too_few_replicates_for_a_quantile_leave_an_end_open() -> None:
    found = simultaneous_intervals(gains(), 0.999, seed=1, replicates=200)
    assert all((one.lower, one.upper) == (-math.inf, math.inf) for one in found)


def test_one_page_with_an_effect_among_many_without_bounds_nothing_on_its_side() -> None:
    """A draw in which that page does not occur has no spread, and says nothing of the page's effect."""
    values = np.zeros((20, 1))
    values[0] = 1.0
    (found,) = simultaneous_intervals(values, 0.95, seed=1, replicates=999)
    assert found.upper == math.inf


@pytest.mark.parametrize("confidence", [0.8, 0.9, 0.95, 0.975])
def test_a_p_value_is_small_exactly_where_the_lower_bound_is_above_the_threshold(confidence: float) -> None:
    for draw in range(40):
        found = page_means(gains(draw=draw) + 0.02, seed=draw, replicates=499)
        above = found.lower_bounds(confidence) > 0
        assert (above == (found.p_values() <= 1 - confidence + 1e-12)).all()


def test_a_two_sided_interval_ends_where_one_sided_bounds_of_half_the_error_do() -> None:
    found = page_means(gains(), seed=1, replicates=999)
    two_sided = found.intervals(0.95)
    assert [one.lower for one in two_sided] == found.lower_bounds(0.975).tolist()
    assert [one.upper for one in two_sided] == found.upper_bounds(0.975).tolist()


@pytest.mark.parametrize(
    ("values", "weights"),
    [
        (np.zeros((1, 2)), None),
        (np.zeros((3, 1)), np.array([1.0, 0, 0])),
        (np.array([[1.0], [np.nan]]), None),
        (np.zeros((3, 1)), np.array([1.0, -1, 1])),
        (np.zeros((3, 1)), np.ones(2)),
        (np.zeros(3), None),
    ],
)
def test_a_sample_that_says_nothing_is_refused(values: Floats, weights: Floats | None) -> None:
    with pytest.raises(ValueError, match=r"page|finite"):
        page_means(values, seed=1, replicates=10, weights=weights)


@pytest.mark.parametrize(
    ("pages", "tails"), [(30, "normal"), (25, "heavy"), (25, "skewed")], ids=lambda one: str(one)
)
def test_six_intervals_hold_their_means_together_about_as_often_as_stated(pages: int, tails: str) -> None:
    """95 % within what 400 repetitions can tell, and the 1 % that skewed tails cost at 25 pages."""
    rng = np.random.default_rng(17)

    def draw(*shape: int) -> Floats:
        if tails == "normal":
            return rng.normal(size=shape)
        if tails == "heavy":
            return rng.standard_t(3, size=shape)
        return np.asarray(rng.lognormal(sigma=0.8, size=shape) - math.exp(0.32))

    covered = 0
    for trial in range(400):
        values = draw(pages, 1) + draw(pages, 6)
        found = simultaneous_intervals(values, 0.95, seed=trial, replicates=399)
        covered += all(one.lower <= 0 <= one.upper for one in found)
    assert 0.92 <= covered / 400 <= 0.98
