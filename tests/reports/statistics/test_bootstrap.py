"""Ratios of quantiles by a bootstrap over pages, and robust estimates."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from reports.statistics.bootstrap import hodges_lehmann, holm, weighted_quantile
from reports.statistics.quantiles import quantile_ratios
from reports.statistics.signed_rank import wilcoxon_signed_rank


def test_a_constant_ratio_of_quantiles_has_an_interval_without_width() -> None:
    times = np.random.default_rng(2).lognormal(size=(30, 3, 2))
    complete = np.ones((30, 3), dtype=bool)
    found = quantile_ratios(
        [1.1 * times, 0.5 * times],
        times,
        complete,
        profile_weights=np.array([0.7, 0.3]),
        share=0.95,
        replicates=200,
        seed=1,
    )
    assert np.exp(found.means) == pytest.approx([1.1, 0.5])
    assert found.standard_errors == pytest.approx([0, 0], abs=1e-12)


def test_the_interval_of_a_ratio_of_medians_holds_the_truth_about_as_often_as_stated() -> None:
    rng = np.random.default_rng(4)
    complete = np.ones((60, 1), dtype=bool)
    covered = 0
    for trial in range(150):
        base = rng.lognormal(size=(60, 1, 1))
        other = base * rng.lognormal(sigma=0.3, size=(60, 1, 1))
        found = quantile_ratios(
            [other], base, complete, profile_weights=np.ones(1), share=0.5, replicates=199, seed=trial
        )
        (interval,) = found.intervals(0.9)
        covered += interval.lower <= 0 <= interval.upper
    assert covered / 150 >= 0.85


def test_incomplete_loads_do_not_enter_a_quantile() -> None:
    times = np.array([[[1.0], [np.nan]], [[3.0], [3.0]], [[2.0], [2.0]]])
    complete = np.array([[True, False], [True, True], [True, True]])
    found = quantile_ratios(
        [2 * times], times, complete, profile_weights=np.ones(1), share=0.9, replicates=50, seed=1
    )
    assert np.exp(found.means) == pytest.approx([2.0])


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
