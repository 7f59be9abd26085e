"""What would close an open verdict: more loads, or more pages."""

import math
from collections.abc import Sequence
from dataclasses import dataclass

from releases.interval import Interval
from replay.runs.policy import Policy
from verdict.effects import Effects, Name
from verdict.judgement import Judgement
from verdict.rule import Rule

MOST_TIMES = 100
"""Factor beyond which an experiment is not feasible, and no figure is stated."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Closing:
    """What an open window needs."""

    window: Policy
    loads: float | None
    """So many times the loads, over the same pages; None where no number of loads would do."""
    pages: float | None
    """Else so many times the pages, with as many times the loads; None where too little is known."""

    @property
    def sentence(self) -> str:
        """What it needs, in a sentence."""
        if self.loads is not None:
            return f"Deciding on IW {self.window} takes {_times(self.loads)} the loads."
        if self.pages is not None:
            pages = f"takes {_times(self.pages)} the pages"
            return f"Deciding on IW {self.window} {pages}; more loads alone will not do."
        return f"How many loads or pages decide on IW {self.window} is not known."


def _times(factor: float) -> str:
    """State a factor in words, without a figure beyond what is feasible.

    >>> _times(2.1), _times(136_890.2)
    ('about 3 times', 'more than 100 times')
    """
    return f"about {math.ceil(factor)} times" if factor <= MOST_TIMES else f"more than {MOST_TIMES} times"


def find_closing(effects: Effects, judgement: Judgement, rule: Rule) -> Closing:
    """Return what an open window needs, if its estimates stay as they are and its intervals shrink with what
    was drawn."""
    needs = [Closing(window=judgement.window, loads=1.0, pages=1.0)]
    gain, benefit = judgement.gain_percent, judgement.net_benefit_pp
    if gain.lower < rule.worthwhile_percent <= gain.upper:
        half = abs(gain.estimate - rule.worthwhile_percent)
        needs.append(_find_need(effects, {(rule.time, judgement.window): 1.0}, gain, half, judgement.window))
    if rule.price_pp is not None and benefit.lower < 0 <= benefit.upper:
        half = max(abs(benefit.estimate), rule.zone_pp - abs(benefit.estimate))
        factors = effects.net_benefit_factors(judgement.window, price_pp=rule.price_pp, time=rule.time)
        needs.append(_find_need(effects, factors, benefit, half, judgement.window))
    return Closing(
        window=judgement.window,
        loads=_most([need.loads for need in needs]),
        pages=_most([need.pages for need in needs]),
    )


def _most(times: Sequence[float | None]) -> float | None:
    """Return the largest; None if one is unknown."""
    known = [time for time in times if time is not None]
    return max(known) if len(known) == len(times) else None


def _find_need(
    effects: Effects, factors: dict[Name, float], interval: Interval, target: float, window: Policy
) -> Closing:
    """Return what shrinks half an interval to `target`."""
    parts = effects.components(factors)
    drawn = parts.networks + parts.pairs
    half = (interval.upper - interval.lower) / 2
    if not (math.isfinite(half) and target > 0 and drawn > 0):
        return Closing(window=window, loads=None, pages=None)
    part = (target / half) ** 2
    left = part * (parts.pages + drawn) - parts.pages
    return Closing(
        window=window, loads=max(1.0, drawn / left) if left > 0 else None, pages=max(1.0, 1 / part)
    )
