"""Bootstrap intervals: coverage, clusters, and equal results every time."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from replay.published.signed_rank import wilcoxon_signed_rank
from reports.statistics.bootstrap import (
    Floats,
    bootstrap,
    bootstrap_quantile_ratio,
    hodges_lehmann,
    holm,
    resamples,
    sample_weights,
    weighted_quantile,
)


def first_mean(means: Floats) -> Floats:
    first: Floats = means[:, 0]
    return first


def test_every_replicate_weighs_as_many_pages_as_the_sample_has() -> None:
    complete = np.array([[True, True, False], [True, True, True], [False, False, True]])
    weights = np.concatenate(list(resamples(complete, replicates=250, seed=1)))
    assert weights.shape == (250, 3, 3)
    assert weights.sum(axis=(1, 2)) == pytest.approx(3)
    assert not weights[:, ~complete].any()


def test_the_sample_gives_each_page_the_same_weight_whatever_its_seeds() -> None:
    complete = np.array([[True, False], [True, True]])
    assert sample_weights(complete).tolist() == [[1, 0], [0.5, 0.5]]


def test_the_same_seed_gives_the_same_replicates_and_another_gives_others() -> None:
    columns = np.random.default_rng(1).normal(size=(20, 3, 1))
    complete = np.ones((20, 3), dtype=bool)
    first, again, other = (
        bootstrap(columns, complete, first_mean, replicates=300, seed=seed).replicates for seed in (5, 5, 6)
    )
    assert (first == again).all()
    assert not (first == other).all()


def test_draws_that_are_not_cached_are_the_same(monkeypatch: pytest.MonkeyPatch) -> None:
    columns = np.random.default_rng(1).normal(size=(20, 3, 1))
    complete = np.ones((20, 3), dtype=bool)
    kept = bootstrap(columns, complete, first_mean, replicates=150, seed=5).replicates
    monkeypatch.setattr("reports.statistics.bootstrap.KEPT", 0)
    assert (bootstrap(columns, complete, first_mean, replicates=150, seed=5).replicates == kept).all()


def test_unknown_loads_do_not_enter_a_mean() -> None:
    columns = np.array([[[1.0], [np.nan]], [[3.0], [5.0]]])
    complete = np.array([[True, False], [True, True]])
    estimate = bootstrap(columns, complete, first_mean, replicates=50, seed=1)
    assert estimate.value == pytest.approx((1 + 4) / 2)
    assert np.isfinite(estimate.replicates).all()


def test_seeds_of_a_page_do_not_count_as_pages() -> None:
    """Ten equal seeds of a page add nothing: the interval depends on the pages."""
    pages = np.random.default_rng(3).normal(size=(40, 1, 1))
    widths = [
        np.ptp(
            bootstrap(
                np.repeat(pages, seeds, axis=1),
                np.ones((40, seeds), bool),
                first_mean,
                replicates=2000,
                seed=1,
            ).replicates[:]
        )
        for seeds in (1, 10)
    ]
    assert widths[1] == pytest.approx(widths[0], rel=0.25)


def test_the_interval_covers_the_true_mean_about_as_often_as_stated() -> None:
    rng = np.random.default_rng(11)
    complete = np.ones((40, 3), dtype=bool)
    covered = 0
    for trial in range(200):
        columns = rng.normal(size=(40, 1, 1)) + rng.normal(size=(40, 3, 1))
        interval = bootstrap(columns, complete, first_mean, replicates=400, seed=trial).interval(0.95)
        covered += interval.lower <= 0 <= interval.upper
    assert 0.90 <= covered / 200 <= 0.99


def test_a_constant_ratio_of_quantiles_has_an_interval_without_width() -> None:
    times = np.random.default_rng(2).lognormal(size=(30, 3, 2))
    complete = np.ones((30, 3), dtype=bool)
    ratio = bootstrap_quantile_ratio(
        1.1 * times, times, complete, profile_weights=np.array([0.7, 0.3]), share=0.95, replicates=200, seed=1
    )
    assert ratio.value == pytest.approx(1.1)
    assert ratio.replicates == pytest.approx(1.1)


@given(st.lists(st.floats(-1e6, 1e6), min_size=1, max_size=30), st.floats(0.01, 1))
def test_a_quantile_with_equal_weights_is_the_exact_order_statistic(
    values: list[float], share: float
) -> None:
    ordered = np.sort(np.array(values))
    place = int(np.ceil(share * len(values) - 1e-9)) - 1
    assert weighted_quantile(ordered, np.ones((1, len(values))), share)[0] == ordered[place]


def test_signed_ranks_agree_with_a_worked_example() -> None:
    """Ranks 1 to 10 with only rank 1 and 2 negative: W+ = 52, n = 10, continuity corrected z = 2.446."""
    differences = np.array([-1.0, -2.0, 3, 4, 5, 6, 7, 8, 9, 10])
    assert wilcoxon_signed_rank(differences) == pytest.approx(0.01443, abs=2e-4)


def test_signed_ranks_of_zero_differences_prove_nothing() -> None:
    assert wilcoxon_signed_rank(np.zeros(8)) == 1.0


def test_hodges_lehmann_of_shifted_differences_is_the_shift() -> None:
    assert hodges_lehmann(np.full(9, 2.5)) == 2.5


def test_holm_never_lets_a_worse_p_value_overtake_a_better_one() -> None:
    assert holm([0.01, 0.011, 0.012]) == pytest.approx([0.03, 0.03, 0.03])
    assert holm([]) == []
