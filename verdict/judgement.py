"""The judgement: a standing of each candidate, the guards, one answer, and whether other lists confirm it."""

import math
from collections.abc import Callable, Hashable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from releases.interval import Interval
from replay.runs.policy import Policy
from verdict.effects import LEAST_EQUAL, SLOW, Effects, Name, measure_again, percent_saved
from verdict.estimates import FAMILY, SHORT_FLOWS, correlate, measure
from verdict.evidence import Evidence
from verdict.rule import Guard, Rule, is_stock
from verdict.spending import joint_tail, spent

Kind = Literal["raise", "stays", "open", "no answer"]

Level = Literal["high", "medium", "low"]
"""How sure an answer is."""

AGAIN_ERROR = 0.002
"""Probability that a sound replay is found to differ from itself. Ours."""

Standing = Literal["worth it", "not recommended", "not worth it", "at the price", "open"]

LEAST_ERROR = 1e-6
"""Error probability below which a look shows nothing."""

GUARDED = {"short flows": SHORT_FLOWS, "slow tenth": SLOW}


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Look:
    """All loads so far, when a part of the budget is used."""

    evidence: Evidence
    fraction: float = 1.0
    """Part of the budget that is used."""
    _known: dict[Hashable, Effects] = field(default_factory=dict, init=False, repr=False)

    def measured(self, key: Hashable, measure_effects: Callable[[], Effects]) -> Effects:
        """Return a key's effects, measured once."""
        if key not in self._known:
            self._known[key] = measure_effects()
        return self._known[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardCheck:
    """A guard asked of a window."""

    guard: Guard
    window: Policy
    longer: Interval | None
    """Per cent longer than at the incumbent."""

    @property
    def holds(self) -> bool | None:
        """None if there are too few loads to tell."""
        if self.longer is None:
            return None
        if self.longer.upper <= self.guard.limit_percent:
            return True
        return False if self.longer.lower > self.guard.limit_percent else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Again:
    """The incumbent held against itself."""

    gain_percent: Interval
    resent_pp: Interval

    @property
    def is_sound(self) -> bool | None:
        """None if there are too few loads for any interval."""
        ends = (self.gain_percent, self.resent_pp)
        if any(interval.excludes_zero for interval in ends):
            return False
        return True if all(math.isfinite(interval.upper - interval.lower) for interval in ends) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """A reason that lowers the confidence."""

    level: Level
    """The most that the confidence can be."""
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The standing of one candidate. Its intervals are simultaneous over candidates, quantities and looks."""

    policy: Policy
    standing: Standing
    per_load_pp: Interval
    """Net benefit per load."""
    in_sum_pp: Interval
    """Net benefit in sum."""
    touched_percent: Interval
    """Page time saved of the loads that the policy touches."""
    pairs: int


@dataclass(frozen=True, slots=True, kw_only=True)
class ListAnswer:
    """The one answer over a list of pages."""

    kind: Kind
    policy: Policy
    """The incumbent unless another is worth it and keeps its guards."""
    is_settled: bool
    """True if more loads would change nothing."""
    judgements: tuple[Judgement, ...]
    guards: tuple[GuardCheck, ...]
    again: Again
    confidence: Level | None
    reasons: tuple[Reason, ...]
    broken: tuple[str, ...]

    def having(self, standing: Standing) -> tuple[Policy, ...]:
        return tuple(candidate.policy for candidate in self.judgements if candidate.standing == standing)

    def of(self, policy: Policy) -> Judgement:
        return next(candidate for candidate in self.judgements if candidate.policy == policy)


def judge(
    looks: Sequence[Look],
    rule: Rule,
    *,
    ends: bool,
    everyone: Evidence | None = None,
    broken: Iterable[str] = (),
    reasons: Iterable[Reason] = (),
) -> ListAnswer:
    """Return the answer after the looks, the last of which has all loads.

    With `ends` the last look spends what is left of the error. `everyone` are loads on a half-loaded line
    where all traffic has the policy; `broken` is what is wrong with the chain of evidence, `reasons` what
    else lowers the confidence.
    """
    broken, reasons = tuple(broken), tuple(reasons)

    def answer(*, is_last: bool) -> ListAnswer:
        judgements = judge_candidates(looks, rule, is_last=is_last)
        return _answer(judgements, looks[-1], rule, everyone, broken, reasons, is_last=is_last)

    so_far = answer(is_last=False)
    return answer(is_last=True) if ends and not so_far.is_settled else so_far


def judge_candidates(looks: Sequence[Look], rule: Rule, *, is_last: bool) -> tuple[Judgement, ...]:
    """Return every standing by the nearest ends of all looks; `is_last` spends all of the error."""
    names: list[Name] = [(quantity, policy) for policy in rule.candidates for quantity in FAMILY]
    intervals = dict.fromkeys(names, Interval(math.nan, -math.inf, math.inf))
    used = 0.0
    effects = None
    for look in looks:
        effects = measure_look(look, rule)
        until = rule.error if is_last and look is looks[-1] else spent(look.fraction, error=rule.error)
        error, used = until - used, max(until, used)
        for name, now in family_intervals(effects, names, rule, error=error).items():
            intervals[name] = nearest(now, intervals[name])
    if effects is None:
        raise ValueError("a judgement needs a look")
    judgements = []
    for policy in rule.candidates:
        per_load, in_sum, touched = (intervals[quantity, policy] for quantity in FAMILY)
        judgements.append(
            Judgement(
                policy=policy,
                standing=standing(per_load, in_sum, touched, rule),
                per_load_pp=per_load,
                in_sum_pp=in_sum,
                touched_percent=touched,
                pairs=int(effects.draws[effects.names[FAMILY[0], policy]]),
            )
        )
    return tuple(judgements)


def measure_look(look: Look, rule: Rule) -> Effects:
    guards = (GUARDED[guard.quantity] for guard in rule.guards if not guard.everyone)
    quantities = (*FAMILY, *guards)
    return look.measured(rule, lambda: measure(look.evidence, rule.candidates, rule, quantities=quantities))


def family_intervals(
    effects: Effects, names: Sequence[Name], rule: Rule, *, error: float
) -> dict[Name, Interval]:
    """Return intervals that hold together but for a probability of `error`; infinite if it is too little."""
    if not names:
        return {}
    parts = [rule.parts[FAMILY.index(quantity)] for quantity, _ in names]
    tail = joint_tail(correlate(effects, names), parts, error=error) if error >= LEAST_ERROR else 0.0
    return {name: effects.of(*name).interval(part * tail) for name, part in zip(names, parts, strict=True)}


def standing(per_load: Interval, in_sum: Interval, touched: Interval, rule: Rule) -> Standing:
    """Return a policy's standing before any guard."""
    if per_load.lower >= 0 and touched.lower >= rule.worthwhile_percent and is_borne_out(in_sum, rule):
        return "worth it"
    if per_load.upper < 0 or in_sum.upper < 0 or touched.upper < rule.worthwhile_percent:
        return "not worth it"
    is_near = -rule.zone_pp <= per_load.lower and per_load.upper <= rule.zone_pp
    return "at the price" if is_near else "open"


def looks_worth_it(per_load: Interval, in_sum: Interval, touched: Interval, rule: Rule) -> bool:
    is_worth = per_load.estimate >= 0 and in_sum.estimate >= 0
    return is_worth and touched.estimate >= rule.worthwhile_percent


def is_borne_out(in_sum: Interval, rule: Rule) -> bool:
    """Return whether the net benefit in sum does not refute that per load: 0 or more, within noise_pp.

    >>> [is_borne_out(Interval(0.01, 0.01 - half, 0.01 + half), Rule()) for half in (0.09, 0.11)]
    [True, False]
    """
    half = (in_sum.upper - in_sum.lower) / 2
    return in_sum.estimate >= 0 and in_sum.upper >= 0 and half <= rule.noise_pp


def _answer(
    judgements: tuple[Judgement, ...],
    look: Look,
    rule: Rule,
    everyone: Evidence | None,
    broken: tuple[str, ...],
    reasons: tuple[Reason, ...],
    *,
    is_last: bool,
) -> ListAnswer:
    worth = [candidate.policy for candidate in judgements if candidate.standing == "worth it"]
    guards = ask_guards(worth, measure_look(look, rule), everyone, rule)
    failed = {check.window for check in guards if is_failed(check, is_last=is_last)}
    judgements = tuple(
        replace(candidate, standing="not recommended") if candidate.policy in failed else candidate
        for candidate in judgements
    )
    again = hold_against_itself(look.evidence, rule.incumbent, looks=len(rule.looks))
    if again.is_sound is False:
        broken = (*broken, f"IW {rule.incumbent} differs from itself over other routes and guests.")
    chosen = choose(list_fit(judgements, guards), rule)
    is_open = any(not check.holds and check.window not in failed for check in guards) or any(
        candidate.standing == "open" for candidate in judgements
    )
    doubts = [
        *(["Some policies stay open."] if is_open else []),
        *([f"Too few loads compare IW {rule.incumbent} with itself."] if again.is_sound is None else []),
    ]
    reasons = (*(Reason(level="medium", sentence=doubt) for doubt in doubts), *reasons)
    kind: Kind = "raise" if chosen is not None else "open" if is_open else "stays"
    return ListAnswer(
        kind="no answer" if broken else kind,
        policy=rule.incumbent if chosen is None or broken else chosen,
        is_settled=not is_open and not broken,
        judgements=judgements,
        guards=guards,
        again=again,
        confidence=None if broken else confidence_after(reasons),
        reasons=reasons,
        broken=broken,
    )


def list_fit(judgements: Iterable[Judgement], guards: Iterable[GuardCheck]) -> list[Judgement]:
    """Return what may be recommended: worth it, and shown to keep every guard."""
    doubted = {check.window for check in guards if not check.holds}
    return [
        candidate
        for candidate in judgements
        if candidate.standing == "worth it" and candidate.policy not in doubted
    ]


def is_failed(check: GuardCheck, *, is_last: bool) -> bool:
    """Return whether a guard fails: exceeded or, after the last loads, not shown to be kept."""
    return check.holds is False or (is_last and check.holds is None and check.longer is not None)


def ask_guards(
    policies: Sequence[Policy], effects: Effects, everyone: Evidence | None, rule: Rule
) -> tuple[GuardCheck, ...]:
    """Return every guard of the policies, each by itself at 95 %."""
    shared = measure(everyone, policies, rule) if everyone is not None and policies else None
    return tuple(
        _ask(guard, policy, shared if guard.everyone else effects, rule)
        for policy in policies
        for guard in rule.guards
    )


def _ask(guard: Guard, policy: Policy, effects: Effects | None, rule: Rule) -> GuardCheck:
    saved = None
    if effects is not None:
        saved = effects.of(GUARDED[guard.quantity], policy).interval(rule.error / 2)
    is_known = saved is not None and math.isfinite(saved.estimate)
    return GuardCheck(guard=guard, window=policy, longer=-saved if saved is not None and is_known else None)


def choose(fit: Sequence[Judgement], rule: Rule) -> Policy | None:
    """Return the policy with the largest lower end of net benefit per load; of those near to it the
    smallest window, and then what an unchanged kernel can do.
    """
    if not fit:
        return None
    best = max(candidate.per_load_pp.lower for candidate in fit)
    alike = [candidate for candidate in fit if candidate.per_load_pp.lower >= best - rule.zone_pp]
    return min(
        alike,
        key=lambda candidate: (
            candidate.policy.window,
            not is_stock(candidate.policy),
            -candidate.per_load_pp.lower,
            candidate.policy,
        ),
    ).policy


def is_confirmed(judgement: Judgement, rule: Rule) -> bool:
    """Return whether another list confirms what is worth it on the first: 0 or more per load, shown to be
    no more than the zone below, and borne out in sum.
    """
    per_load = judgement.per_load_pp
    return (
        per_load.estimate >= 0 and per_load.lower >= -rule.zone_pp and is_borne_out(judgement.in_sum_pp, rule)
    )


@dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The recommendation over all lists, which are never pooled."""

    kind: Kind
    policy: Policy
    """The incumbent if nothing is worth it on the first list and confirmed on every other."""
    disagreeing: Mapping[Policy, tuple[str, ...]]
    """Lists that do not confirm it, by policy."""


def recommend(answer: ListAnswer, others: Mapping[str, ListAnswer], rule: Rule) -> Recommendation:
    """Return what is worth it on the first list and confirmed on every other, by the rule's choice."""
    fit = [] if answer.broken else list_fit(answer.judgements, answer.guards)
    disagreeing = {
        candidate.policy: tuple(
            name for name, other in others.items() if candidate.policy not in list_confirmed(other, rule)
        )
        for candidate in fit
    }
    chosen = choose([candidate for candidate in fit if not disagreeing[candidate.policy]], rule)
    is_unconfirmed = answer.kind == "raise" and chosen is None
    return Recommendation(
        kind="stays" if is_unconfirmed else answer.kind,
        policy=rule.incumbent if chosen is None else chosen,
        disagreeing=disagreeing,
    )


def list_confirmed(answer: ListAnswer, rule: Rule) -> tuple[Policy, ...]:
    """Return what a list confirms; nothing if its loads are broken."""
    return (
        () if answer.broken else tuple(mine.policy for mine in answer.judgements if is_confirmed(mine, rule))
    )


def nearest(now: Interval, then: Interval) -> Interval:
    """Return the latest estimate with the tightest ends of any look."""
    return Interval(now.estimate, max(now.lower, then.lower), min(now.upper, then.upper))


def hold_against_itself(evidence: Evidence, incumbent: Policy, *, looks: int) -> Again:
    """Return how the incumbent differs from itself; the error is spent evenly over the looks."""
    effects = measure_again(evidence, incumbent=incumbent)
    tail = AGAIN_ERROR / 2 / 2 / looks
    if effects.is_equal(least=LEAST_EQUAL):
        return Again(gain_percent=Interval(0.0, 0.0, 0.0), resent_pp=Interval(0.0, 0.0, 0.0))
    change, resent = (effects.of(quantity, incumbent).interval(tail) for quantity in ("page", "resent"))
    return Again(gain_percent=percent_saved(change), resent_pp=resent)


def confidence_after(reasons: Iterable[Reason]) -> Level:
    """Return the confidence that the reasons leave.

    >>> confidence_after([]), confidence_after([Reason(level="low", sentence="The lines are of 2020.")])
    ('high', 'low')
    """
    levels = {reason.level for reason in reasons}
    return "low" if "low" in levels else "medium" if "medium" in levels else "high"
