"""Verdicts on harm: each margin's bound applied in every harm condition, of which the worst counts."""

import dataclasses
from collections.abc import Mapping
from typing import Literal

from releases.formatting import interval_text, stated
from releases.interval import Interval
from reports.recommendation.effects import Effect, Harm
from reports.recommendation.mixture import MIXTURE, ORDINARY
from reports.recommendation.rule import Margin, Rule
from reports.recommendation.window_family import NotEstimable

Verdict = Literal["passed", "failed", "too few loads", "not measured"]

SEVERITY: tuple[Verdict, ...] = ("passed", "not measured", "too few loads", "failed")
"""Verdicts from the best to the worst."""


WORDS = {MIXTURE: "the mixture of queues"}
"""Conditions in the words of a sentence."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HarmVerdict:
    """The verdict on one margin for a candidate against an incumbent, in the condition where it is worst."""

    margin: Margin
    against: int
    condition: str
    """"ordinary", or the id of a harm condition."""
    worsening: Interval | None
    limit: float
    """The margin's limit or worsening_limit."""
    is_level: bool
    """True if the limit bounds the candidate's own level, and not its worsening."""
    verdict: Verdict
    reason: str | None
    """Why the harm was not measured."""

    @property
    def permits(self) -> bool:
        """Return whether the verdict lets the candidate stand. What is required and not measured does not."""
        return self.verdict == "passed" or not self.margin.is_required

    @property
    def could_permit(self) -> bool:
        """Return whether more loads could let the candidate stand."""
        return self.verdict != "failed" or not self.margin.is_required

    @property
    def is_shown(self) -> bool:
        """Return whether a harm that decides is proved, and not only possible."""
        return (
            self.margin.is_required
            and self.verdict == "failed"
            and self.worsening is not None
            and self.worsening.lower >= self.limit
        )

    @property
    def objection(self) -> str:
        """The reason why the candidate is not admissible, as a clause."""
        margin, limit = self.margin, stated(self.limit, self.margin.unit)
        if self.worsening is None:
            return f"{margin.title} could not be measured ({self.reason})"
        kind = "a level of" if self.is_level else "worse by"
        measured = f"{margin.title}, {kind} {interval_text(self.worsening, margin.unit, near=[self.limit])}"
        if self.verdict == "too few loads":
            return f"{measured}, is known too poorly to be compared with {limit}"
        where = "" if self.condition == ORDINARY else f" in {WORDS.get(self.condition, self.condition)}"
        return f"{measured}{where}, is not shown to stay below {limit}"


def judge(
    margin: Margin, against: int, found: Mapping[str, Harm | NotEstimable], rule: Rule
) -> HarmVerdict | None:
    """The worst verdict over the conditions that decide; None if the harm was estimated in none of them."""
    deciding = {ORDINARY, MIXTURE, *(one.id for one in rule.deciding_conditions)}
    verdicts = [
        _judge_one(margin, against, condition, harm, rule)
        for condition, harm in found.items()
        if condition in deciding
    ]
    return max(verdicts, key=_badness, default=None)


def _badness(verdict: HarmVerdict) -> tuple[int, float]:
    excess = verdict.worsening.upper - verdict.limit if verdict.worsening else 0.0
    return SEVERITY.index(verdict.verdict), excess


def _judge_one(
    margin: Margin, against: int, condition: str, harm: Harm | NotEstimable, rule: Rule
) -> HarmVerdict:
    limit, is_level = margin.limit, margin.is_level
    interval: Interval | None = None
    verdict: Verdict = "not measured"
    if not isinstance(harm, NotEstimable):
        effect: Effect = harm.effect
        if margin.worsening_limit is not None and harm.is_broken_by_incumbent(limit):
            assert harm.over_incumbent
            effect, limit, is_level = harm.over_incumbent, margin.worsening_limit, False
        interval = effect.interval(rule.confidence)
        verdict = verdict_of(interval, limit, is_equivalence=margin.is_equivalence)
    return HarmVerdict(
        margin=margin,
        against=against,
        condition=condition,
        worsening=interval,
        limit=limit,
        is_level=is_level,
        verdict=verdict,
        reason=harm.reason if isinstance(harm, NotEstimable) else None,
    )


def verdict_of(interval: Interval, limit: float, *, is_equivalence: bool = False) -> Verdict:
    """Test for non-inferiority: passed only if a worsening of `limit` is ruled out.

    The loads are too few if the interval is so wide that a candidate without harm would not pass.

    >>> from releases.interval import Interval
    >>> [verdict_of(Interval(0.1, 0.1 - w, 0.1 + w), 0.5) for w in (0.3, 0.45, 0.6)]
    ['passed', 'failed', 'too few loads']
    """
    if is_equivalence and interval.estimate < 0:
        interval = -interval
    if interval.upper < limit and (not is_equivalence or interval.lower > -limit):
        return "passed"
    if interval.lower < limit and interval.upper - interval.estimate >= limit:
        return "too few loads"
    return "failed"
