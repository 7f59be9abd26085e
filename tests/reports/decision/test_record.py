"""The words of an outcome: effects as readers see them, in percent of page time."""

import math

import pytest

from releases.interval import Interval
from reports.decision.bounds import Measured
from reports.decision.record import in_words, limit_of
from reports.decision.statements import Statement, statements_of
from reports.recommendation.rule import RULE

STATEMENTS = {one.id: one for one in statements_of(RULE, [10, 16], incumbent=10)}


def told(one: Statement, percent: float) -> Interval:
    """What is said of page times that are `percent` longer, with an interval half as wide to each side."""
    lower, estimate, upper = sorted(math.log1p(factor * percent / 100) for factor in (0.5, 1.0, 1.5))
    found = Interval(estimate, lower, upper)
    return in_words(one, found if one.sign > 0 else -found)


def test_a_gain_is_the_percentage_of_page_time_that_is_saved() -> None:
    saved = told(STATEMENTS["gain/16-10"], -2.0)
    assert (saved.lower, saved.estimate, saved.upper) == pytest.approx((1.0, 2.0, 3.0))


@pytest.mark.parametrize("half", ["slower", "faster"])
def test_both_halves_of_the_comparison_with_itself_tell_the_same_change_of_page_time(half: str) -> None:
    one = STATEMENTS[f"itself/{half}"]
    change = told(one, 0.2)
    assert (change.lower, change.estimate, change.upper) == pytest.approx((0.1, 0.2, 0.3))
    effect = Measured(value=0.0, limit=one.log_limit, error=0.001, skewness=0.0, pages=30)
    assert limit_of(one, effect) == pytest.approx(RULE.aa_tolerance_percent)
