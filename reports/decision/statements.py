"""Statements that an answer rests on: each says that an effect of a candidate lies below a limit of the rule.

A gain's effect is the mean over pages of the log ratio of page time, and "worthwhile" says that it lies below
the logarithm of 1 less the rule's minimum. A harm's effect is the margin's.
"""

import dataclasses
import math
from collections.abc import Iterator, Sequence
from typing import Literal

from reports.recommendation.mixture import ORDINARY
from reports.recommendation.rule import Margin, Role, Rule


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Statement:
    """An effect of a candidate lies below a limit."""

    id: str
    candidate: int
    other: int
    """Window that the candidate is compared with."""
    kind: Literal["gain", "harm", "self"]
    """self: the incumbent against itself with another seed, which must be found alike."""
    condition: str
    """"ordinary", or the id of a harm condition: the loads that it is measured in."""
    population: Role
    margin: Margin | None = None
    """None for a gain."""
    sign: int = 1
    """-1 for the second half of an equivalence: that the improvement lies below the limit."""
    log_limit: float = 0.0
    """Limit of a log ratio of page time; a margin has its own."""
    confirm_tail: float = 0.0
    """Probability over all looks of confirming it wrongly."""
    refute_tail: float = 0.0
    """Probability over all looks of refuting it wrongly."""

    @property
    def subject(self) -> str:
        """What is stated, in words."""
        if self.kind == "self":
            return f"comparison of IW {self.other} with itself at other seeds"
        if self.margin is None:
            return f"gain of IW {self.candidate} over IW {self.other}"
        where = "" if self.condition == ORDINARY else f" in {self.condition}"
        return f"{self.margin.title} at IW {self.candidate}{where}"


def statements_of(rule: Rule, windows: Sequence[int], *, incumbent: int) -> tuple[Statement, ...]:
    """Every statement about the windows besides the incumbent,
    each with its share of the rule's error probability.

    One half goes to gains, by equal parts. The other goes to the candidates' harms by equal parts: a
    candidate is admitted wrongly only if the one statement that is false is confirmed, but refused wrongly if
    any of its statements is refuted.
    """
    candidates = sorted(set(windows) - {incumbent})
    gains = list(_gains(rule, candidates, incumbent))
    harms = {window: list(_harms(rule, window, incumbent)) for window in candidates}
    half = (1 - rule.confidence) / 2
    found = [
        dataclasses.replace(one, confirm_tail=half / len(gains), refute_tail=half / len(gains))
        for one in gains
    ]
    for some in harms.values():
        share = half / len(candidates)
        found += [dataclasses.replace(one, confirm_tail=share, refute_tail=share / len(some)) for one in some]
    return (*found, *_itself(rule, incumbent))


def _itself(rule: Rule, incumbent: int) -> Iterator[Statement]:
    """The two halves of the equivalence of the incumbent with itself, at the rule's own confidence."""
    for sign, name in ((1, "slower"), (-1, "faster")):
        yield Statement(
            id=f"itself/{name}",
            candidate=incumbent,
            other=incumbent,
            kind="self",
            condition=ORDINARY,
            population="average",
            sign=sign,
            log_limit=math.log1p(rule.aa_tolerance_percent / 100),
            confirm_tail=(1 - rule.confidence) / 2,
            refute_tail=(1 - rule.confidence) / 2,
        )


def _gains(rule: Rule, candidates: Sequence[int], incumbent: int) -> Iterator[Statement]:
    """Gains over the incumbent, and over each smaller window."""
    windows = sorted({*candidates, incumbent})
    for window in windows:
        for other in windows:
            if window != other and (other == incumbent or window > other):
                yield Statement(
                    id=f"gain/{window!r}-{other!r}",
                    candidate=window,
                    other=other,
                    kind="gain",
                    condition=ORDINARY,
                    population="average",
                    log_limit=math.log1p(-rule.worthwhile_percent / 100),
                )


def _harms(rule: Rule, window: int, incumbent: int) -> Iterator[Statement]:
    others = dict.fromkeys((incumbent, rule.permanent_incumbent))
    for margin in rule.margins:
        if not margin.is_required:
            continue
        for other in others:
            for condition in conditions_of(margin, rule):
                for sign in (1, -1) if margin.is_equivalence else (1,):
                    if other != window:
                        yield Statement(
                            id=f"{margin.id}/{condition}/{window!r}-{other!r}{'' if sign > 0 else '/improvement'}",  # noqa: E501
                            candidate=window,
                            other=other,
                            kind="harm",
                            condition=condition,
                            population=margin.population,
                            margin=margin,
                            sign=sign,
                        )


def conditions_of(margin: Margin, rule: Rule) -> Iterator[str]:
    """Ids of the conditions in which a margin must hold.

    A margin that is held against the mixture of queues needs the ordinary cells alone where these are that
    mixture; where they are not, it must hold in each condition, which asks for more.
    """
    if ORDINARY in margin.asked_in:
        yield ORDINARY
        if margin.held_against == "mixture" and rule.has_queues_in_population:
            return
    yield from (one.id for one in rule.deciding_conditions if one.kind in margin.asked_in)
