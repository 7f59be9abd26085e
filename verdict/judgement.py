"""The judgement: a verdict on each candidate, the guards, and one answer with its confidence."""

import math
from collections.abc import Callable, Hashable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Literal

from releases.interval import Interval
from replay.runs.policy import Policy
from verdict.effects import Effects, measure, measure_again
from verdict.evidence import Evidence
from verdict.rule import Guard, Rule

Verdict = Literal["worth it", "not worth it", "at the price", "open"]

Kind = Literal["raise", "stays", "open", "no answer"]

Level = Literal["high", "medium", "low"]

LEAST_EQUAL = 30
"""Loads, every one equal to the last digit, that show a window equal to itself: fewer may be so by chance.

Ours.
"""

AGAIN_ERROR = 0.002
"""Probability that a sound replay is found to differ from itself. Ours."""


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Look:
    """All loads so far, when a part of the budget is used."""

    evidence: Evidence
    fraction: float = 1.0
    """Part of the budget that is used; a full replay uses all of it."""
    _known: dict[Hashable, Effects] = field(default_factory=dict, init=False, repr=False)

    def effects(self, rule: Rule) -> Effects:
        """Return the effects of the rule's candidates."""
        key = (rule.incumbent, *rule.rivals())
        return self.measured(key, lambda: measure(self.evidence, rule.rivals(), incumbent=rule.incumbent))

    def measured(self, key: Hashable, measure_effects: Callable[[], Effects]) -> Effects:
        """Return the effects of a key, measured once however often they are judged."""
        if key not in self._known:
            self._known[key] = measure_effects()
        return self._known[key]


@dataclass(frozen=True, slots=True, kw_only=True)
class Judgement:
    """The verdict on one candidate."""

    window: Policy
    verdict: Verdict
    gain_percent: Interval
    """Time saved in per cent; the ends are simultaneous over all candidates and looks, the nearest of any."""
    resent_pp: Interval
    """Payload sent again, in percentage points."""
    net_benefit_pp: Interval
    """Price times gain less payload sent again, in percentage points; the gain itself without a price."""
    milliseconds: Interval
    """Page time saved, by itself at 95 %."""
    pairs: int
    """Complete pairs of loads."""
    surpassed_by: tuple[Policy, ...] = ()
    """Larger windows worth it that are shown to save another 1 %."""


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardCheck:
    """A guard asked of a window."""

    guard: Guard
    window: Policy
    longer: Interval | None
    """Per cent longer than at the incumbent; None if it was not loaded."""

    @property
    def holds(self) -> bool | None:
        """Whether the limit is kept; None if there are too few loads to tell."""
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
        """Whether no difference is shown; None if there are too few loads for any interval."""
        ends = (self.gain_percent, self.resent_pp)
        if any(interval.excludes_zero for interval in ends):
            return False
        return True if all(math.isfinite(interval.upper - interval.lower) for interval in ends) else None


@dataclass(frozen=True, slots=True, kw_only=True)
class Reason:
    """What lowers the confidence."""

    level: Level
    """The most that the confidence can be."""
    sentence: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Answer:
    """The one answer of a replay."""

    kind: Kind
    window: Policy
    """The recommended window; the incumbent unless another is shown to be worth it."""
    is_settled: bool
    """True if no candidate is open."""
    judgements: tuple[Judgement, ...]
    guards: tuple[GuardCheck, ...]
    again: Again
    confidence: Level | None
    """None without an answer."""
    reasons: tuple[Reason, ...]
    broken: tuple[str, ...]
    """Why there is no answer, in sentences."""

    def having(self, verdict: Verdict) -> tuple[Policy, ...]:
        """Return the windows with a verdict."""
        return tuple(candidate.window for candidate in self.judgements if candidate.verdict == verdict)

    def of(self, window: Policy) -> Judgement:
        """Return the verdict on a window."""
        return next(candidate for candidate in self.judgements if candidate.window == window)

    @property
    def rival(self) -> Judgement | None:
        """The candidate that a reader asks about: the recommended one, else the one with the most net benefit
        of those that may save enough."""
        if any(candidate.window == self.window for candidate in self.judgements):
            return self.of(self.window)
        measured = [rival for rival in self.judgements if math.isfinite(rival.net_benefit_pp.estimate)]
        saving = [rival for rival in measured if rival.gain_percent.estimate >= 1] or measured
        return max(saving, key=lambda rival: rival.net_benefit_pp.estimate, default=None)


def judge(
    looks: Sequence[Look],
    rule: Rule,
    *,
    everyone: Evidence | None = None,
    broken: Iterable[str] = (),
    reasons: Iterable[Reason] = (),
) -> Answer:
    """Return the answer after the looks, the last of which has all loads.

    `everyone` are loads on a half-loaded line where all traffic has the window, `broken` what is wrong with
    the chain of evidence, `reasons` what else lowers the confidence.
    """
    judgements: dict[Policy, Judgement] = {}
    used = 0.0
    effects = None
    for look in looks:
        share = max(0.0, rule.spent(look.fraction) - used)
        used += share
        if share or look is looks[-1]:
            effects = look.effects(rule)
            for window in rule.rivals():
                before = judgements.get(window)
                judgements[window] = _judge_window(effects, window, rule, share, before=before)
    if effects is None:
        raise ValueError("a judgement needs a look")
    tail = (1 - rule.confidence) / 2
    worth = [candidate.window for candidate in judgements.values() if candidate.verdict == "worth it"]
    surpassed = {window: _surpassing(effects, window, worth, rule) for window in worth}
    candidates = tuple(
        replace(candidate, surpassed_by=surpassed.get(window, ())) for window, candidate in judgements.items()
    )
    guards = tuple(
        _ask_guard(guard, window, effects, everyone, tail, rule) for window in worth for guard in rule.guards
    )
    again = hold_against_itself(looks[-1].evidence, rule.incumbent, looks=len(rule.looks))
    broken = [*broken]
    if again.is_sound is False:
        broken.append(f"IW {rule.incumbent} differs from itself over other routes and guests.")
    return _answer(candidates, guards, again, rule, broken=broken, reasons=[*reasons])


def _judge_window(
    effects: Effects, window: Policy, rule: Rule, share: float, *, before: Judgement | None
) -> Judgement:
    tail = (1 - rule.confidence) / 2
    spent = tail * share / max(1, len(rule.rivals()))
    gain = effects.saved(rule.time, window, spent)
    resent = effects.saved("resent", window, spent)
    benefit = (
        gain
        if rule.price_pp is None
        else effects.net_benefit(window, spent, price_pp=rule.price_pp, time=rule.time)
    )
    if before is not None:
        gain, resent, benefit = (
            nearest(now, then)
            for now, then in (
                (gain, before.gain_percent),
                (resent, before.resent_pp),
                (benefit, before.net_benefit_pp),
            )
        )
    return Judgement(
        window=window,
        verdict=_verdict(gain, benefit, rule),
        gain_percent=gain,
        resent_pp=resent,
        net_benefit_pp=benefit,
        milliseconds=effects.saved("milliseconds", window, tail),
        pairs=int(effects.draws[effects.names[rule.time, window]]),
    )


def nearest(now: Interval, then: Interval) -> Interval:
    """Return the estimate now, with the nearest ends that were shown at any look."""
    return Interval(now.estimate, max(now.lower, then.lower), min(now.upper, then.upper))


def _verdict(gain: Interval, benefit: Interval, rule: Rule) -> Verdict:
    if rule.price_pp is None:
        if gain.lower >= rule.worthwhile_percent:
            return "worth it"
        return "not worth it" if gain.upper < rule.worthwhile_percent else "open"
    if gain.upper < rule.worthwhile_percent or benefit.upper < 0:
        return "not worth it"
    if gain.lower >= rule.worthwhile_percent and benefit.lower >= 0:
        return "worth it"
    return "at the price" if -rule.zone_pp <= benefit.lower and benefit.upper <= rule.zone_pp else "open"


def _surpassing(effects: Effects, window: Policy, worth: Sequence[Policy], rule: Rule) -> tuple[Policy, ...]:
    """Return the larger windows worth it that are shown to save another 1 % over this one."""
    tail = (1 - rule.confidence) / 2 / max(1, len(worth) - 1)
    return tuple(
        other
        for other in worth
        if other.window > window.window
        and effects.saved(rule.time, other, tail, over=window).lower >= rule.worthwhile_percent
    )


def _ask_guard(
    guard: Guard, window: Policy, effects: Effects, everyone: Evidence | None, tail: float, rule: Rule
) -> GuardCheck:
    guarded = effects
    if guard.everyone:
        if everyone is None:
            return GuardCheck(guard=guard, window=window, longer=None)
        guarded = measure(everyone, [window], incumbent=rule.incumbent)
    saved = guarded.saved(guard.quantity, window, tail)
    return GuardCheck(guard=guard, window=window, longer=-saved if math.isfinite(saved.estimate) else None)


def hold_against_itself(evidence: Evidence, incumbent: Policy, *, looks: int) -> Again:
    """Return how the incumbent by another route in other guests differs from itself; the error is spent
    evenly over the looks."""
    effects = measure_again(evidence, incumbent=incumbent)
    tail = AGAIN_ERROR / 2 / 2 / looks
    if effects.is_equal(least=LEAST_EQUAL):
        return Again(gain_percent=Interval(0.0, 0.0, 0.0), resent_pp=Interval(0.0, 0.0, 0.0))
    gain, resent = (effects.saved(quantity, incumbent, tail) for quantity in ("page", "resent"))
    return Again(gain_percent=gain, resent_pp=resent)


def _answer(
    judgements: tuple[Judgement, ...],
    guards: tuple[GuardCheck, ...],
    again: Again,
    rule: Rule,
    *,
    broken: Sequence[str],
    reasons: Sequence[Reason],
) -> Answer:
    violated = {guard.window for guard in guards if guard.holds is False}
    fit = [
        candidate
        for candidate in judgements
        if candidate.verdict == "worth it" and candidate.window not in violated
    ]
    chosen = choose(fit)
    is_open = any(candidate.verdict == "open" for candidate in judgements)
    kind: Kind = "raise" if chosen is not None else "open" if is_open else "stays"
    doubts = []
    if is_open:
        doubts.append("The loads leave a window open.")
    if again.is_sound is None:
        doubts.append(f"Too few loads compare IW {rule.incumbent} with itself.")
    doubts += [
        f"Too few loads tell whether IW {guard.window} keeps the limit on {guard.guard.what}."
        for guard in guards
        if guard.holds is None and guard.window == chosen
    ]
    reasons = (*reasons, *(Reason(level="medium", sentence=doubt) for doubt in doubts))
    confidence = confidence_after(reasons)
    return Answer(
        kind="no answer" if broken else kind,
        window=rule.incumbent if chosen is None or broken else chosen,
        is_settled=not is_open and not broken,
        judgements=judgements,
        guards=guards,
        again=again,
        confidence=None if broken else confidence,
        reasons=reasons,
        broken=tuple(broken),
    )


def confidence_after(reasons: Iterable[Reason]) -> Level:
    """Return the confidence that the reasons leave.

    >>> confidence_after([]), confidence_after([Reason(level="low", sentence="The lines are of 2020.")])
    ('high', 'low')
    """
    levels = {reason.level for reason in reasons}
    return "low" if "low" in levels else "medium" if "medium" in levels else "high"


def choose(fit: Sequence[Judgement]) -> Policy | None:
    """Return the smallest window that no larger one of these surpasses; of policies with one window that with
    the most net benefit, or what sends less at once."""
    windows = {candidate.window for candidate in fit}
    least = [candidate for candidate in fit if not windows & set(candidate.surpassed_by)]
    if not least:
        return None
    size = min(candidate.window.window for candidate in least)
    alike = [candidate for candidate in least if candidate.window.window == size]
    return max(
        sorted(alike, key=lambda candidate: candidate.window),
        key=lambda candidate: candidate.net_benefit_pp.estimate,
    ).window
