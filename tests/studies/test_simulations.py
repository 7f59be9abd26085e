"""Simulated replays end as their worlds say."""

import numpy as np
import pytest

from replay.runs.policy import Policy
from studies.simulations.__main__ import RULES, is_wrong, mistakes, play
from studies.simulations.worlds import WORLDS, World, truth

PACED, FAR = Policy(16, "paced"), Policy(16, "paced", 100)


def world(name: str) -> World:
    return next(candidate for candidate in WORLDS if candidate.id == name)


def test_by_one_price_a_clear_gain_at_half_the_price_is_found() -> None:
    half = world("5 % for half the price")
    answer, _ = play(RULES[6], half, np.random.default_rng(1), minutes=30)
    assert (answer.kind, answer.window) == ("raise", PACED)
    assert "wrong" not in mistakes(RULES[6], half, answer)


def test_in_two_units_a_gain_far_away_is_found_that_one_price_does_not_see() -> None:
    august = world("as in August 2025")
    answer, _ = play(RULES[7], august, np.random.default_rng([2, 2]), minutes=120)
    assert answer.kind == "raise"
    assert answer.policy.beyond_ms == 100
    assert "wrong" not in mistakes(RULES[7], august, answer)
    assert not RULES[6].is_worth(august, PACED)


@pytest.mark.parametrize("rule", RULES)
def test_where_nothing_is_gained_nothing_is_worth_it(rule: int) -> None:
    answer, fraction = play(RULES[rule], world("no effect"), np.random.default_rng(1), minutes=30)
    assert not answer.having("worth it")
    assert 0 < fraction <= 1


@pytest.mark.parametrize("rule", RULES)
@pytest.mark.parametrize(
    ("verdict", "wrong"),
    [("worth it", True), ("not worth it", False), ("at the price", True), ("open", False)],
)
def test_a_verdict_is_held_against_the_truth(rule: int, verdict: str, wrong: bool) -> None:
    assert is_wrong(RULES[rule], world("5 % for twice the price"), PACED, verdict) is wrong


def test_a_policy_for_far_connections_changes_far_loads_alone() -> None:
    true = truth(world("far alone, for half the price"), FAR)
    assert true.gain_touched == pytest.approx(5)
    assert true.gain == pytest.approx(100 * (1 - 0.95**0.3135), rel=1e-3)
