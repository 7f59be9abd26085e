"""Quantiles of paired page loads by a bootstrap over pages, and estimates that are robust against tails."""

from collections.abc import Sequence
from typing import TypeAlias

import numpy as np
from numpy.typing import NDArray

Floats: TypeAlias = NDArray[np.float64]
Mask: TypeAlias = NDArray[np.bool_]


def weighted_quantile(sorted_values: Floats, weights: Floats, share: float) -> Floats:
    """The smallest value with at least `share` of the weight at or below it, for each row of `weights`.

    >>> weighted_quantile(np.array([1.0, 2.0, 3.0]), np.array([[1.0, 1.0, 1.0], [0.0, 0.0, 1.0]]), 0.5)
    array([2., 3.])
    """
    cumulative = np.cumsum(weights, axis=-1)
    # Rounding may leave the running sum just short of the share.
    reached = cumulative >= share * cumulative[..., -1:] - 1e-9
    found: Floats = sorted_values[np.argmax(reached, axis=-1)]
    return found


def hodges_lehmann(differences: Floats) -> float:
    """Hodges-Lehmann estimator: the median of all pairwise means, which is robust against the tails.

    >>> hodges_lehmann(np.array([1.0, 2.0, 30.0]))
    8.75
    """
    first, second = np.triu_indices(len(differences))
    return float(np.median((differences[first] + differences[second]) / 2))


def holm(p_values: Sequence[float]) -> list[float]:
    """Adjust p-values for multiple testing (Holm 1979); the order is kept.

    >>> holm([0.04, 0.01, 0.5])
    [0.08, 0.03, 0.5]
    """
    adjusted = [0.0] * len(p_values)
    worst = 0.0
    for place, index in enumerate(sorted(range(len(p_values)), key=lambda index: p_values[index])):
        worst = max(worst, min(1.0, (len(p_values) - place) * p_values[index]))
        adjusted[index] = worst
    return adjusted
