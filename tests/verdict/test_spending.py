"""Error spent over looks, and shared within a family."""

from statistics import NormalDist

import numpy as np
import pytest

from verdict.spending import joint_tail, spent

LOOKS = (1 / 16, 1 / 8, 1 / 4, 1 / 2, 1.0)


def test_error_is_spent_as_obrien_and_fleming_do() -> None:
    # Lan and DeMets 1983, alpha 0.05 two-sided: 2 - 2 Phi(1.96 / sqrt(t)).
    assert spent(0.5, error=0.05) == pytest.approx(0.00557, abs=1e-5)
    assert spent(0.25, error=0.05) == pytest.approx(8.9e-5, abs=1e-6)
    assert spent(1.0, error=0.05) == pytest.approx(0.05)


def test_all_looks_together_spend_the_error_and_no_more() -> None:
    whole = [spent(look, error=0.05) for look in LOOKS]
    assert whole == sorted(whole)
    assert spent(1.7, error=0.05) == pytest.approx(0.05)
    assert spent(0.0, error=0.05) == 0


def test_a_family_holds_together_as_often_as_it_says() -> None:
    rng = np.random.default_rng(3)
    root = rng.standard_normal((12, 4))
    covariance = root @ root.T + np.eye(12)
    deviation = np.sqrt(np.diag(covariance))
    correlation = covariance / np.outer(deviation, deviation)
    parts = [1.0] * 4 + [0.5] * 4 + [0.05] * 4
    tail = joint_tail(correlation, parts, error=0.05)
    bounds = np.array([NormalDist().inv_cdf(1 - part * tail) for part in parts])
    drawn = rng.multivariate_normal(np.zeros(12), correlation, 100_000)
    assert float((abs(drawn) > bounds).any(axis=1).mean()) == pytest.approx(0.05, abs=0.004)


def test_correlated_estimates_waste_less_than_bonferroni() -> None:
    alike = np.full((10, 10), 0.9) + 0.1 * np.eye(10)
    assert joint_tail(alike, [1.0] * 10, error=0.05) > 2 * 0.05 / 2 / 10
    assert joint_tail(np.eye(10), [1.0] * 10, error=0.05) >= 0.05 / 2 / 10


def test_what_is_too_rare_for_draws_is_shared_as_bonferroni_does() -> None:
    alike = np.full((10, 10), 0.9) + 0.1 * np.eye(10)
    assert joint_tail(alike, [1.0] * 10, error=1e-5) == pytest.approx(1e-5 / 2 / 10)
