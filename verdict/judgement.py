"""What every judgement is made of: looks, guards, the policy in force against itself, and the confidence."""

import math
from collections.abc import Callable, Hashable, Iterable
from dataclasses import dataclass, field
from typing import Literal

from releases.interval import Interval
from replay.runs.policy import Policy
from verdict.effects import Effects, measure_again, percent_saved
from verdict.evidence import Evidence
from verdict.rule import Guard

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

    def measured(self, key: Hashable, measure_effects: Callable[[], Effects]) -> Effects:
        """Return the effects of a key, measured once however often they are judged."""
        if key not in self._known:
            self._known[key] = measure_effects()
        return self._known[key]


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


def nearest(now: Interval, then: Interval) -> Interval:
    """Return the estimate now, with the nearest ends that were shown at any look."""
    return Interval(now.estimate, max(now.lower, then.lower), min(now.upper, then.upper))


def hold_against_itself(evidence: Evidence, incumbent: Policy, *, looks: int) -> Again:
    """Return how the incumbent by another route in other guests differs from itself; the error is spent
    evenly over the looks."""
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
