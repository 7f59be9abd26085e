"""Simulated replays end as their worlds say."""

import numpy as np
import pytest

from replay.runs.policy import Policy
from studies.simulations.__main__ import is_wrong, mistakes, play
from studies.simulations.worlds import WORLDS, World, truth

PACED, FAR = Policy(16, "paced"), Policy(16, "paced", 100)


def world(name: str) -> World:
    return next(candidate for candidate in WORLDS if candidate.id == name)


def test_a_gain_far_away_is_found() -> None:
    august = world("as in August 2025")
    answer, _ = play(august, np.random.default_rng([2, 2]), minutes=120)
    assert answer.kind == "raise"
    assert answer.policy.beyond_ms == 100
    assert "wrong" not in mistakes(august, answer)


def test_where_nothing_is_gained_nothing_is_worth_it() -> None:
    answer, fraction = play(world("no effect"), np.random.default_rng(1), minutes=30)
    assert not answer.having("worth it")
    assert 0 < fraction <= 1


@pytest.mark.parametrize(
    ("standing", "wrong"),
    [("worth it", True), ("not worth it", False), ("at the price", True), ("open", False)],
)
def test_a_standing_is_held_against_the_truth(standing: str, wrong: bool) -> None:
    assert is_wrong(world("5 % for twice the price"), PACED, standing) is wrong


def test_a_policy_for_far_connections_changes_far_loads_alone() -> None:
    true = truth(world("far alone, for half the price"), FAR)
    assert true.gain_touched == pytest.approx(5)
    assert true.gain == pytest.approx(100 * (1 - 0.95**0.3135), rel=1e-3)
