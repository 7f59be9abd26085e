"""Quantiles of Student's t."""

import functools
import math

import numpy as np
from numpy.typing import NDArray

Floats = NDArray[np.float64]
Integers = NDArray[np.intp]
Mask = NDArray[np.bool_]


def student_tail(t: Floats, *, degrees: int) -> Floats:
    """Return the probability that Student's t with `degrees` of freedom exceeds `t` (Abramowitz and Stegun
    26.7.3, 26.7.4).

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
    tails: Floats = np.where(t < 0, 1 - tail, tail)
    return tails


@functools.lru_cache(maxsize=16384)
def student_quantile(tail: float, *, degrees: int) -> float:
    """Return the value that Student's t exceeds with probability `tail`, between 0 and a half.

    >>> round(student_quantile(0.025, degrees=29), 3), round(student_quantile(0.025, degrees=1), 2)
    (2.045, 12.71)
    """
    low, high = 0.0, 1e6
    for _ in range(100):
        middle = (low + high) / 2
        if float(student_tail(np.array(middle), degrees=degrees)) > tail:
            low = middle
        else:
            high = middle
    return (low + high) / 2
