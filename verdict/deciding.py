"""Loads stage after stage until the rule settles every candidate, or the budget is used."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence

from replay.runs.policy import Policy
from verdict.evidence import Evidence
from verdict.judgement import ListAnswer, Look, judge
from verdict.rule import Rule, next_look
from verdict.sampling import Prices, StagePlan, aim_of, first_plan, next_plan


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Loaded:
    """All loads so far."""

    evidence: Evidence
    everyone: Evidence | None
    """On a half-loaded line where all traffic follows the policy."""
    seconds: float
    prices: Prices


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Decision:
    """A decision, with the stages and looks that led to it."""

    plans: tuple[StagePlan, ...]
    looks: tuple[Look, ...]
    everyone: Evidence | None
    answer: ListAnswer


def first_windows(rule: Rule) -> tuple[Policy, ...]:
    """Return all candidates, and what is shown beside them."""
    return (*rule.candidates, *rule.shown)


def decide(
    load: Callable[[Sequence[StagePlan]], Loaded], rule: Rule, *, strata: Sequence[int], budget_s: float
) -> Iterator[Decision]:
    """Load stages until no candidate is open or `budget_s` is used, and yield what each decides.

    `load` loads the last stage, and returns all loads so far.
    """
    plans, looks = [first_plan(first_windows(rule), rule, strata)], list[Look]()
    while True:
        loaded = load(plans)
        fraction = min(loaded.seconds / budget_s, 1.0)
        looks.append(Look(evidence=loaded.evidence, fraction=fraction))
        ends = next_look(rule.looks, fraction) is None
        answer = judge(looks, rule, ends=ends, everyone=loaded.everyone)
        yield Decision(plans=tuple(plans), looks=tuple(looks), everyone=loaded.everyone, answer=answer)
        plan = next_plan(
            aim_of(answer, looks[-1], rule),
            loaded.evidence,
            rule,
            fraction=fraction,
            budget_s=budget_s,
            prices=loaded.prices,
        )
        if plan is None:
            return
        plans.append(plan)
