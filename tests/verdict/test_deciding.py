"""Decisions in stages over made-up worlds whose answers are known."""

from collections.abc import Sequence

import numpy as np

from tests.verdict.worlds import PACED, RULE_OF_ONE, TEN, World, saving
from verdict.deciding import Decision, Loaded, decide
from verdict.rule import NEARLY
from verdict.sampling import Prices, StagePlan

PRICES = Prices(network=0.06, load=0.02)
STRATA = range(8)
BUDGET_S = 600.0


def decided(world: World) -> Decision:
    seconds = 0.0

    def load(plans: Sequence[StagePlan]) -> Loaded:
        nonlocal seconds
        networks = sum(sum(plan.networks.values()) for plan in plans)
        draws = sum(plan.pages * sum(plan.networks.values()) for plan in plans)
        seconds += plans[-1].loads * PRICES.load + sum(plans[-1].networks.values()) * PRICES.network
        each = max(1, draws // networks)
        evidence = world.evidence(np.random.default_rng(5), pages=500, networks=networks, each=each)
        return Loaded(evidence=evidence, everyone=None, seconds=seconds, prices=PRICES)

    *_, last = decide(load, RULE_OF_ONE, strata=STRATA, budget_s=BUDGET_S)
    return last


def test_a_gain_of_five_per_cent_at_half_the_price_is_recommended_before_the_budget_is_used() -> None:
    decision = decided(saving(5, 0.19))
    assert (decision.answer.kind, decision.answer.policy, decision.answer.is_settled) == (
        "raise",
        PACED,
        True,
    )
    assert decision.looks[-1].fraction < 1


def test_what_saves_nothing_ends_with_the_window_in_force() -> None:
    decision = decided(saving(0, 0.5))
    assert (decision.answer.kind, decision.answer.policy) == ("stays", TEN)


def test_a_decision_ends_with_its_budget_and_says_what_is_open() -> None:
    decision = decided(saving(4, 0.25))
    assert (decision.answer.kind, decision.answer.is_settled) == ("open", False)
    assert decision.looks[-1].fraction >= NEARLY
    assert len(decision.plans) == len(decision.looks)
