"""One harm bound held against what the loads show of it, wherever it was asked."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Literal

from releases.interval import Interval
from reports.document.standing_text import spell
from reports.recommendation.effects import NotEstimable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from reports.recommendation.effects import Harm
    from reports.recommendation.rule import Margin, Rule

Verdict = Literal["passed", "failed", "too few loads", "not measured"]

SEVERITY: tuple[Verdict, ...] = ("passed", "not measured", "too few loads", "failed")
"""The worst of several verdicts is the last of these."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class HarmVerdict:
    """One margin, asked of one candidate against one incumbent, where it came out worst."""

    margin: Margin
    against: int
    condition: str
    """Where: the ordinary cells, or one of the rule's harm conditions."""
    worsening: Interval | None
    limit: float
    """The margin's, or its worsening_limit."""
    is_level: bool
    """Whether the candidate's own level was held, rather than its worsening."""
    verdict: Verdict
    reason: str | None
    """Why it was not measured."""

    @property
    def permits(self) -> bool:
        """Whether the candidate may stand: what was not measured stops it only where it is required."""
        return self.verdict == "passed" or (self.verdict == "not measured" and not self.margin.is_required)

    @property
    def could_permit(self) -> bool:
        """Whether more loads could make it stand."""
        return self.verdict != "failed"

    @property
    def is_shown(self) -> bool:
        """Whether the harm is beyond doubt, rather than not ruled out."""
        return self.verdict == "failed" and self.worsening is not None and self.worsening.lower >= self.limit

    @property
    def stop(self) -> str:
        """Why the candidate may not stand."""
        if self.worsening is None:
            return f"{self.margin.title} could not be measured ({self.reason})"
        kind = "a level of" if self.is_level else "worse by"
        told = f"{self.margin.title}, {kind} {spell(self.worsening, self.margin.unit)}"
        if self.verdict == "too few loads":
            return f"{told}, is known too poorly to be held against {self.limit:g} {self.margin.unit}"
        where = "" if self.condition == "ordinary" else f" in {self.condition}"
        return f"{told}{where}, is not shown to stay below {self.limit:g} {self.margin.unit}"


def judge(
    margin: Margin, against: int, found: Mapping[str, Harm | NotEstimable], rule: Rule
) -> HarmVerdict | None:
    """The worst of all conditions in which it was asked; None where it was asked in none."""
    asked = {"ordinary", *(one.id for one in rule.asked)}
    verdicts = [
        _judge_one(margin, against, condition, harm, rule)
        for condition, harm in found.items()
        if condition in asked
    ]
    return max(verdicts, key=_badness, default=None)


def _badness(verdict: HarmVerdict) -> tuple[int, float]:
    over = verdict.worsening.upper - verdict.limit if verdict.worsening else 0.0
    return SEVERITY.index(verdict.verdict), over


def _judge_one(
    margin: Margin, against: int, condition: str, harm: Harm | NotEstimable, rule: Rule
) -> HarmVerdict:
    if isinstance(harm, NotEstimable):
        return HarmVerdict(
            margin=margin,
            against=against,
            condition=condition,
            worsening=None,
            limit=margin.limit,
            is_level=margin.is_level,
            verdict="not measured",
            reason=harm.reason,
        )
    limit, is_level = margin.limit, margin.is_level
    if margin.worsening_limit is not None and harm.is_broken_by_incumbent(limit):
        assert harm.over_incumbent
        harm, limit, is_level = harm.over_incumbent, margin.worsening_limit, False
    interval = harm.interval(rule.confidence)
    return HarmVerdict(
        margin=margin,
        against=against,
        condition=condition,
        worsening=interval,
        limit=limit,
        is_level=is_level,
        verdict=verdict_of(interval, limit, is_equivalence=margin.is_equivalence),
        reason=None,
    )


def verdict_of(interval: Interval, limit: float, *, is_equivalence: bool = False) -> Verdict:
    """Non-inferiority: shown not to be worse by the margin, not merely not shown to be worse.

    Where even a candidate without any harm would not be told from one beyond the margin, the loads are too few.

    >>> [verdict_of(Interval(0.1, 0.1 - w, 0.1 + w), 0.5) for w in (0.3, 0.45, 0.6)]
    ['passed', 'failed', 'too few loads']
    """
    if is_equivalence and interval.estimate < 0:
        interval = Interval(-interval.estimate, -interval.upper, -interval.lower)
    if interval.upper < limit and (not is_equivalence or interval.lower > -limit):
        return "passed"
    if interval.lower < limit and interval.upper - interval.estimate >= limit:
        return "too few loads"
    return "failed"
