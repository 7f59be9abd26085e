"""The Wilcoxon signed-rank test for paired differences."""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np

if TYPE_CHECKING:
    from numpy.typing import NDArray


def wilcoxon_signed_rank(differences: NDArray[np.float64]) -> float:
    """Two-sided p-value by the normal approximation, with ties; zeros are dropped, as by Wilcoxon."""
    moved = differences[differences != 0]
    n = len(moved)
    if n == 0:
        return 1.0
    _, inverse, ties = np.unique(np.abs(moved), return_inverse=True, return_counts=True)
    ranks = (np.cumsum(ties) - (ties - 1) / 2)[inverse]
    positive = float(ranks[moved > 0].sum())
    variance = n * (n + 1) * (2 * n + 1) / 24 - float((ties**3 - ties).sum()) / 48
    # 0.5 is the continuity correction.
    distance = max(0.0, abs(positive - n * (n + 1) / 4) - 0.5)
    return math.erfc(distance / math.sqrt(2 * variance))
