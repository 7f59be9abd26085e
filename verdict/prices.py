"""Prices that the experiment of 2010 paid for a larger window, in its two units."""

import math
from collections.abc import Sequence

from replay.backcast.published import BASE, EXPERIMENT, LATENCY, QUANTILES, RETRANSMITTED, DataCenter

LAST_QUANTILE = 0.999

AT_LAST_MS: dict[tuple[DataCenter, int], float] = {
    ("AvgDC", 3): 10883,
    ("AvgDC", 10): 8463,
    ("SlowDC", 3): 18661,
    ("SlowDC", 10): 16091,
}
"""Latency of search at LAST_QUANTILE (Table 3), which the back-cast does not repeat: too few loads show
it."""


def gain_in_sum_percent(center: DataCenter) -> float:
    """Return the fall of the mean latency of search from three to ten segments, in per cent (Table 3 of
    Dukkipati et al. 2010).

    >>> round(gain_in_sum_percent("SlowDC"), 2)
    8.75
    """
    return 100 * (1 - LATENCY[center, EXPERIMENT].mean / LATENCY[center, BASE].mean)


def gain_per_load_percent(center: DataCenter) -> float:
    """Return the fall of the geometric mean of the latency of search from three to ten segments, in per cent.

    The difference of mean logarithms is the integral of the logarithms' quantiles over their probability,
    read off the six quantiles of Table 3: linear between them, and as far as to 0 and 1 as the outermost are.

    >>> round(gain_per_load_percent("SlowDC"), 1)
    5.9
    """
    ten, three = (
        (*LATENCY[center, window].quantiles, AT_LAST_MS[center, window]) for window in (EXPERIMENT, BASE)
    )
    changes = [math.log(now / before) for now, before in zip(ten, three, strict=True)]
    return -100 * math.expm1(
        _integral((0.0, *QUANTILES, LAST_QUANTILE, 1.0), (changes[0], *changes, changes[-1]))
    )


def _integral(at: Sequence[float], values: Sequence[float]) -> float:
    return math.fsum(
        (at[step + 1] - at[step]) * (values[step] + values[step + 1]) / 2 for step in range(len(at) - 1)
    )


def resent_pp(center: DataCenter) -> float:
    """Return how many more of its segments search sent again, in percentage points (Table 7).

    >>> round(resent_pp("SlowDC"), 2)
    0.52
    """
    segments = RETRANSMITTED[center, "search"]
    return segments[EXPERIMENT] - segments[BASE]


def price_per_load_pp(center: DataCenter) -> float:
    """Return percentage points sent again for each per cent of the geometric mean saved.

    >>> round(price_per_load_pp("SlowDC"), 3), round(price_per_load_pp("AvgDC"), 3)
    (0.088, 0.02)
    """
    return resent_pp(center) / gain_per_load_percent(center)


def price_in_sum_pp(center: DataCenter) -> float:
    """Return percentage points sent again for each per cent of the mean saved.

    >>> round(price_in_sum_pp("SlowDC"), 3), round(price_in_sum_pp("AvgDC"), 3)
    (0.059, 0.015)
    """
    return resent_pp(center) / gain_in_sum_percent(center)
