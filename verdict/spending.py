"""Error probability over looks and over a family of intervals.

Over looks it is spent as O'Brien and Fleming's bounds do (Lan and DeMets, Biometrika 70, 1983), with the part
of the budget that is used as information. Within a look the intervals of a family share it by their joint
distribution: the largest of correlated values exceeds a bound more rarely than that of independent ones
(Westfall and Young 1993; Hothorn, Bretz and Westfall, Biometrical Journal 50, 2008).
"""

import functools
import math
from collections.abc import Sequence
from statistics import NormalDist

import numpy as np

from verdict.student import Floats

NORMAL = NormalDist()

DRAWS = 1 << 15
"""Draws of a family; their tail has a relative error of 3 % at an error of 5 %."""

LEAST_SHOWN = 64
"""Draws beyond a bound that show it; that of rarer ones is Bonferroni's."""


def spent(fraction: float, *, error: float) -> float:
    """Return the error probability that may be spent when `fraction` of the budget is used.

    >>> [round(spent(fraction, error=0.05), 4) for fraction in (0.0, 0.25, 0.5, 1.0)]
    [0.0, 0.0001, 0.0056, 0.05]
    """
    if fraction <= 0:
        return 0.0
    return 2 * NORMAL.cdf(NORMAL.inv_cdf(error / 2) / math.sqrt(min(fraction, 1.0)))


def joint_tail(correlation: Floats, parts: Sequence[float], *, error: float) -> float:
    """Return the tail p for which intervals with tails of `parts` times p all hold with probability 1 -
    `error`.

    `correlation` is that of the estimates, [estimate, estimate]. The tail is never below Bonferroni's.

    >>> for correlation in (0.0, 0.9, 1.0):
    ...     matrix = np.where(np.eye(10) == 1, 1.0, correlation)
    ...     print(round(joint_tail(matrix, [1.0] * 10, error=0.05), 3))
    0.003
    0.009
    0.025
    """
    shares = np.array(parts)
    least = error / 2 / float(shares.sum())
    allowed = int(error * DRAWS)
    if allowed < LEAST_SHOWN:
        return least
    size = np.abs(_draws(len(shares)) @ _root(correlation).T)
    groups = [(part, size[:, shares == part].max(axis=1)) for part in np.unique(shares)]
    low, high = least, error / 2 / float(shares.max())
    for _ in range(30):
        tail = (low + high) / 2
        beyond = np.zeros(DRAWS, np.bool_)
        for part, largest in groups:
            beyond |= largest > NORMAL.inv_cdf(1 - part * tail)
        low, high = (tail, high) if int(beyond.sum()) <= allowed else (low, tail)
    return low


@functools.lru_cache(maxsize=4)
def _draws(size: int) -> Floats:
    return np.random.default_rng(7).standard_normal((DRAWS, size))


def _root(correlation: Floats) -> Floats:
    """Return a root of the nearest positive matrix; variances stay 1."""
    values, vectors = np.linalg.eigh(correlation)
    root = vectors * np.sqrt(np.maximum(values, 0))
    scaled: Floats = root / np.linalg.norm(root, axis=1, keepdims=True)
    return scaled
