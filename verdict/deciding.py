"""Loads in stages until all is settled by a rule, or the budget is used."""

import dataclasses
from collections.abc import Callable, Iterator, Sequence
from typing import Generic, Protocol, TypeVar

import verdict.rule7.judgement as rule7_judgement
from replay.runs.policy import Policy
from verdict.evidence import Evidence
from verdict.judgement import Answer, Look, judge
from verdict.rule import Rule, next_look
from verdict.rule7 import aims
from verdict.rule7.rule import Rule as Rule7
from verdict.sampling import Aim, Plan, Prices, Schedule, aim_of, first_plan, next_plan

A = TypeVar("A")
"""The answer of a rule."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Loaded:
    """All loads so far."""

    evidence: Evidence
    everyone: Evidence | None
    """Loads on a half-loaded line where all traffic has the window; None before any."""
    seconds: float
    """Seconds of a core that they took."""
    prices: Prices


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Decision(Generic[A]):
    """What was decided, by which stages and looks."""

    plans: tuple[Plan, ...]
    looks: tuple[Look, ...]
    everyone: Evidence | None
    answer: A


class Decider(Protocol[A]):
    """A rule as it decides on loads in stages."""

    @property
    def rule(self) -> Schedule:
        """What decides how loads are shared out."""

    @property
    def windows(self) -> tuple[Policy, ...]:
        """Policies of the first stage."""

    def judge(self, looks: Sequence[Look], everyone: Evidence | None, *, ends: bool) -> A:
        """Return the answer; with `ends` no loads follow, whatever it is."""

    def aim(self, answer: A, look: Look) -> Aim:
        """Return what more loads are to tell."""


@dataclasses.dataclass(frozen=True, slots=True)
class ByOnePrice:
    """Rule 6."""

    rule: Rule

    @property
    def windows(self) -> tuple[Policy, ...]:
        """All candidates."""
        return self.rule.candidates

    def judge(self, looks: Sequence[Look], everyone: Evidence | None, *, ends: bool) -> Answer:  # noqa: ARG002
        """Return the answer; each look spends as much of the error, the last one too."""
        return judge(looks, self.rule, everyone=everyone)

    def aim(self, answer: Answer, look: Look) -> Aim:
        """Return what more loads are to tell."""
        return aim_of(answer, look.evidence, self.rule, fraction=look.fraction)


@dataclasses.dataclass(frozen=True, slots=True)
class ByTwoUnits:
    """Rule 7."""

    rule: Rule7

    @property
    def windows(self) -> tuple[Policy, ...]:
        """All candidates, and what is loaded for the picture."""
        return (*self.rule.candidates, *self.rule.shown)

    def judge(
        self, looks: Sequence[Look], everyone: Evidence | None, *, ends: bool
    ) -> rule7_judgement.Answer:
        """Return the answer; the last look spends what is left of the error."""
        return rule7_judgement.judge(looks, self.rule, ends=ends, everyone=everyone)

    def aim(self, answer: rule7_judgement.Answer, look: Look) -> Aim:
        """Return what more loads are to tell."""
        return aims.aim_of(answer, look, self.rule)


def decide(
    load: Callable[[Sequence[Plan]], Loaded], decider: Decider[A], *, strata: Sequence[int], budget_s: float
) -> Iterator[Decision[A]]:
    """Load stage after stage until no candidate is open or `budget_s` is used, and yield what each decides.

    `load` loads the last of the stages, and returns all loads so far.
    """
    rule = decider.rule
    plans, looks = [first_plan(decider.windows, rule, strata)], list[Look]()
    while True:
        loaded = load(plans)
        fraction = min(loaded.seconds / budget_s, 1.0)
        looks.append(Look(evidence=loaded.evidence, fraction=fraction))
        ends = next_look(rule.looks, fraction) is None
        answer = decider.judge(looks, loaded.everyone, ends=ends)
        yield Decision(plans=tuple(plans), looks=tuple(looks), everyone=loaded.everyone, answer=answer)
        plan = next_plan(
            decider.aim(answer, looks[-1]),
            loaded.evidence,
            rule,
            fraction=fraction,
            budget_s=budget_s,
            prices=loaded.prices,
        )
        if plan is None:
            return
        plans.append(plan)
