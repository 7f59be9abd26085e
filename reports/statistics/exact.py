"""Exact distributions that the intervals need: Student's t, and Clopper and Pearson's bounds for a share."""

import functools
import math
from collections.abc import Callable

import numpy as np

from reports.statistics.bootstrap import Floats


def student_tail(t: Floats, *, degrees: int) -> Floats:
    """Probability that Student's t with `degrees` of freedom exceeds `t`
    (Abramowitz and Stegun 26.7.3, 26.7.4).

    >>> student_tail(np.array([0.0, 2.2281, -2.2281]), degrees=10).round(4)
    array([0.5  , 0.025, 0.975])
    """
    angle = np.arctan(np.abs(t) / math.sqrt(degrees))
    steps = np.arange(2 + degrees % 2, degrees, 2, dtype=float)
    terms = np.cumprod(np.concatenate([[1.0], (steps - 1) / steps]))
    powers = np.cos(angle)[..., np.newaxis] ** (np.arange(len(terms)) * 2 + degrees % 2)
    inside: Floats = np.sin(angle) * (powers @ terms)
    if degrees % 2:
        inside = 2 / math.pi * (angle + (inside if degrees > 1 else 0))
    tail = (1 - np.minimum(inside, 1)) / 2
    found: Floats = np.where(t < 0, 1 - tail, tail)
    return found


@functools.lru_cache(maxsize=64)
def student_quantile(tail: float, *, degrees: int) -> float:
    """The value that Student's t exceeds with probability `tail`, between 0 and a half.

    >>> round(student_quantile(0.025, degrees=29), 3), round(student_quantile(0.025, degrees=1), 2)
    (2.045, 12.71)
    """
    return _crossing(lambda t: float(student_tail(np.array(t), degrees=degrees)) - tail, 0.0, 1e6)


@functools.lru_cache(maxsize=4096)
def clopper_pearson(events: int, trials: int, confidence: float) -> tuple[float, float]:
    """Two-sided interval for a share of independent trials that have an event (Clopper and Pearson 1934).

    It covers the true share with at least `confidence`, whatever the share and the number of trials.

    >>> [round(100 * end, 2) for end in clopper_pearson(0, 100, 0.95)]
    [0.0, 3.62]
    >>> [round(100 * end, 2) for end in clopper_pearson(10, 100, 0.95)]
    [4.9, 17.62]
    """
    tail = (1 - confidence) / 2
    lower = 0.0 if events == 0 else _crossing(lambda p: tail - 1 + _at_most(events - 1, trials, p), 0.0, 1.0)
    upper = 1.0 if events == trials else _crossing(lambda p: _at_most(events, trials, p) - tail, 0.0, 1.0)
    return lower, upper


def _at_most(events: int, trials: int, share: float) -> float:
    """Probability of at most `events` events."""
    if share in (0.0, 1.0):
        return 1.0 if share == 0 or events == trials else 0.0
    logs = [
        math.lgamma(trials + 1)
        - math.lgamma(count + 1)
        - math.lgamma(trials - count + 1)
        + count * math.log(share)
        + (trials - count) * math.log1p(-share)
        for count in range(events + 1)
    ]
    return min(1.0, math.fsum(math.exp(one) for one in logs))


def _crossing(falling: Callable[[float], float], low: float, high: float) -> float:
    """Where a falling function crosses zero, by bisection to the last bits."""
    for _ in range(200):
        middle = (low + high) / 2
        if middle in (low, high):
            break
        low, high = (middle, high) if falling(middle) > 0 else (low, middle)
    return (low + high) / 2
