"""Simulated replays end as their worlds say."""

import numpy as np
import pytest

from replay.runs.policy import Policy
from studies.simulations.__main__ import is_wrong, mistakes, play
from studies.simulations.worlds import WORLDS, World


def world(name: str) -> World:
    return next(candidate for candidate in WORLDS if candidate.id == name)


def test_a_clear_gain_at_half_the_price_is_found() -> None:
    answer, _ = play(world("gain 5 %, half the price"), np.random.default_rng(1), minutes=30)
    assert (answer.kind, answer.window) == ("raise", Policy(16, "paced"))
    assert "wrong" not in mistakes(world("gain 5 %, half the price"), answer)


def test_where_nothing_is_gained_nothing_is_worth_it() -> None:
    answer, fraction = play(world("no effect"), np.random.default_rng(1), minutes=30)
    assert not answer.having("worth it")
    assert 0 < fraction <= 1


@pytest.mark.parametrize(
    ("verdict", "wrong"),
    [("worth it", True), ("not worth it", False), ("at the price", True), ("open", False)],
)
def test_a_verdict_is_held_against_the_truth(verdict: str, wrong: bool) -> None:
    assert is_wrong(world("gain 5 %, twice the price"), Policy(16, "paced"), verdict) is wrong
