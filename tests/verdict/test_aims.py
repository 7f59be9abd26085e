"""What is loaded next by rule 7, and decisions in stages over made-up loads."""

import dataclasses
from collections.abc import Sequence

import numpy as np
import pytest

from replay.runs.policy import Policy
from tests.verdict.made_up import FAR, PACED, TEN, noisy
from verdict.deciding import Decision, Loaded, decide
from verdict.evidence import Evidence
from verdict.judgement import Look, judge
from verdict.rule import RULE, Rule
from verdict.sampling import HALF_LOADED_LOADS, Aim, Prices, StagePlan, aim_of, next_plan

FREE = dataclasses.replace(RULE, guards=())
PRICES = Prices(network=0.06, load=0.02)


def aim(
    effects: dict[Policy, tuple[float, float]], *, fraction: float, rule: Rule = FREE, noise: float = 0.02
) -> Aim:
    rule = rule.over(*effects)
    look = Look(evidence=noisy(np.random.default_rng(1), 3000, effects, noise=noise), fraction=fraction)
    return aim_of(judge([look], rule, ends=False), look, rule)


def test_what_is_settled_is_loaded_no_more() -> None:
    assert aim({FAR: (6.0, 0.05), PACED: (1.5, 0.8)}, fraction=0.9).windows == ()


def test_from_an_eighth_of_the_budget_on_what_looks_worth_it_is_loaded_alone() -> None:
    effects = {FAR: (3.0, 0.05), PACED: (1.5, 0.5)}
    assert aim(effects, fraction=1 / 16, noise=0.1).windows == (FAR, PACED)
    assert aim(effects, fraction=1 / 8, noise=0.1).windows == (FAR,)


def test_errors_of_net_benefit_in_both_units_are_to_shrink() -> None:
    names = {name for factors in aim({FAR: (3.0, 0.05)}, fraction=0.1, noise=0.3).factors for name in factors}
    assert names == {("net benefit per load", FAR), ("net benefit in sum", FAR)}


def test_what_is_worth_it_is_loaded_where_everyone_has_it() -> None:
    guarded = aim({FAR: (6.0, 0.05)}, fraction=0.9, rule=RULE)
    assert (guarded.windows, guarded.everyone) == ((FAR,), (FAR,))
    assert aim({FAR: (6.0, 0.05)}, fraction=0.9).everyone == ()


def test_what_looks_worth_it_late_is_loaded_where_everyone_has_it_before_it_is_shown() -> None:
    assert aim({FAR: (3.0, 0.05)}, fraction=1 / 16, noise=0.1, rule=RULE).everyone == ()
    assert aim({FAR: (3.0, 0.05)}, fraction=1 / 8, noise=0.1, rule=RULE).everyone == (FAR,)
    assert aim({FAR: (3.0, 0.05)}, fraction=1 / 8, noise=0.1).everyone == ()


def test_loads_of_a_half_loaded_line_take_a_quarter_of_a_stage() -> None:
    rule = RULE.over(FAR)
    evidence = noisy(np.random.default_rng(1), 3000, {FAR: (3.0, 0.05)}, noise=0.1)
    look = Look(evidence=evidence, fraction=1 / 8)
    aim_here = aim_of(judge([look], rule, ends=False), look, rule)
    plan = next_plan(aim_here, evidence, rule, fraction=1 / 8, budget_s=7200, prices=PRICES)
    assert plan is not None
    draws = plan.pages * sum(plan.networks.values())
    seconds = plan.loads * PRICES.load + sum(plan.networks.values()) * PRICES.network
    shared = 2 * plan.everyone_share * draws * HALF_LOADED_LOADS * PRICES.load
    assert seconds + shared == pytest.approx(7200 / 8, rel=0.02)
    assert shared == pytest.approx((seconds + shared) / 4, rel=0.2)


def decided(
    effects: dict[Policy, tuple[float, float]], *, rule: Rule, slower_percent: float = 0.0
) -> Decision:
    seconds = 0.0

    def load(plans: Sequence[StagePlan]) -> Loaded:
        nonlocal seconds
        draws = sum(plan.pages * sum(plan.networks.values()) for plan in plans)
        seconds += plans[-1].loads * PRICES.load + sum(plans[-1].networks.values()) * PRICES.network
        evidence = noisy(np.random.default_rng(5), draws, effects)
        everyone = shared(evidence, slower_percent) if any(plan.everyone for plan in plans) else None
        return Loaded(evidence=evidence, everyone=everyone, seconds=seconds, prices=PRICES)

    *_, last = decide(load, rule.over(*effects), strata=range(8), budget_s=900)
    return last


def shared(evidence: Evidence, slower_percent: float) -> Evidence:
    """The same loads on a half-loaded line, where others' short flows take so much longer."""
    rng = np.random.default_rng(6)
    short_ms = np.exp(rng.normal(4, 0.3, len(evidence)))
    slower = np.exp(np.log1p(slower_percent / 100) + 0.02 * rng.standard_normal(len(evidence)))
    columns = [short_ms if policy == TEN else short_ms * slower for policy in evidence.windows]
    return dataclasses.replace(
        evidence, values={**evidence.values, "short_flow_ms": np.column_stack(columns)}
    )


def test_a_decision_ends_once_all_is_settled() -> None:
    decision = decided({FAR: (6.0, 0.02), PACED: (1.5, 0.9)}, rule=FREE)
    assert (decision.answer.kind, decision.answer.policy) == ("raise", FAR)
    assert decision.answer.is_settled
    assert decision.looks[-1].fraction < 1


def test_the_first_stage_has_what_is_shown_for_the_picture_too() -> None:
    decision = decided({FAR: (6.0, 0.02)}, rule=FREE)
    assert decision.plans[0].windows == (Policy(3), Policy(6), TEN, FAR)


@pytest.mark.parametrize(("slower_percent", "kind"), [(1.0, "raise"), (5.0, "stays")])
def test_a_guard_is_loaded_before_a_policy_is_recommended(slower_percent: float, kind: str) -> None:
    decision = decided({FAR: (6.0, 0.02)}, rule=RULE, slower_percent=slower_percent)
    assert decision.answer.kind == kind
    assert any(plan.everyone == (FAR,) for plan in decision.plans)
