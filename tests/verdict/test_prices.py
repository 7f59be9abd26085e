"""The prices of 2010, computed by hand from the paper's tables."""

import math

import pytest

from verdict.prices import (
    gain_in_sum_percent,
    gain_per_load_percent,
    price_in_sum_pp,
    price_per_load_pp,
)
from verdict.rule import RULE

SLOW_MS = {  # quantile: latency at ten segments, at three (Dukkipati et al. 2010, Table 3)
    0.1: (204, 211),
    0.5: (458, 474),
    0.9: (1067, 1194),
    0.95: (1689, 1954),
    0.99: (5076, 5986),
    0.999: (16091, 18661),
}


def test_the_price_per_load_follows_from_the_six_quantiles_by_trapezoids() -> None:
    logs = {at: math.log(ten / three) for at, (ten, three) in SLOW_MS.items()}
    area = 0.1 * logs[0.1] + 0.001 * logs[0.999]
    area += 0.4 * (logs[0.1] + logs[0.5]) / 2 + 0.4 * (logs[0.5] + logs[0.9]) / 2
    area += 0.05 * (logs[0.9] + logs[0.95]) / 2 + 0.04 * (logs[0.95] + logs[0.99]) / 2
    area += 0.009 * (logs[0.99] + logs[0.999]) / 2
    gain = 100 * (1 - math.exp(area))
    assert gain == pytest.approx(5.88, abs=0.005)
    assert gain_per_load_percent("SlowDC") == pytest.approx(gain)
    assert price_per_load_pp("SlowDC") == pytest.approx((3.50 - 2.98) / gain)


def test_the_price_in_sum_follows_from_the_means() -> None:
    assert gain_in_sum_percent("SlowDC") == pytest.approx(100 * (823 - 751) / 823)
    assert price_in_sum_pp("SlowDC") == pytest.approx(0.52 / 8.7485, rel=1e-4)


def test_the_rule_has_these_prices_to_three_places() -> None:
    assert RULE.price_per_load_pp == round(price_per_load_pp("SlowDC"), 3)
    assert RULE.price_in_sum_pp == round(price_in_sum_pp("SlowDC"), 3)
