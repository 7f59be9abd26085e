"""Every estimate that the rule asks for, before any bound is held against it."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, ParamSpec, TypeVar

from reports.recommendation.effects import Gain, NotEstimable, TooFewLoads, aa, gain, harm
from reports.recommendation.rule import CANDIDATES, RULE

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping

    from reports.recommendation.effects import Harm, SelfComparison
    from reports.recommendation.rule import Candidate, Margin, Role, Rule
    from reports.statistics.paired_loads import PairedLoads

NOT_REPLAYED = NotEstimable("not replayed: `firstflight replay run --harm core`")

ORDINARY = "ordinary"
"""The cells that a gain is measured in."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimates:
    """What the loads say; what they cannot bear is kept as the reason why."""

    candidates: tuple[Candidate, ...]
    """Those that were replayed, smallest first."""
    incumbents: tuple[int, ...]
    """Harm is held against each, gain against the first."""
    gains: Mapping[tuple[int, int], Gain | NotEstimable]
    """By (window, window it is compared with)."""
    harms: Mapping[tuple[str, int, int], Mapping[str, Harm | NotEstimable]]
    """By (margin, candidate, incumbent), then by the condition that it was asked in."""
    aa: SelfComparison | NotEstimable
    pages: int
    seeds: int
    coverage_percent: float
    """Of the profile and window where it is least, in any condition."""
    harm_conditions: tuple[str, ...]
    """Those that were replayed."""
    congestion_control: str

    @property
    def incumbent(self) -> int:
        """The window in force."""
        return self.incumbents[0]


def estimates_of(
    loads: PairedLoads,
    populations: Mapping[Role, Mapping[str, float]],
    *,
    rule: Rule = RULE,
    last_years: int | None = None,
    harm_loads: Mapping[str, PairedLoads] | None = None,
) -> Estimates:
    """Compute every estimate. `last_years` is the window that the last report with force recommends.

    `harm_loads` are those of the rule's harm conditions that were replayed, by their ids.
    """
    beside = harm_loads or {}
    candidates = tuple(candidate for candidate in CANDIDATES if candidate.segments in loads.windows)
    incumbents = tuple(dict.fromkeys((last_years or rule.permanent_incumbent, rule.permanent_incumbent)))
    gains = _gains(loads, [candidate.segments for candidate in candidates], incumbents[0], populations, rule)
    paired = [found for found in gains.values() if isinstance(found, Gain)]
    return Estimates(
        candidates=candidates,
        incumbents=incumbents,
        gains=gains,
        harms={
            (margin.id, candidate.segments, incumbent): {
                where: _or_reason(
                    harm, there, margin, candidate.segments, incumbent, populations[margin.population], rule
                )
                if there
                else NOT_REPLAYED
                for where, there in _asked(margin, loads, beside, rule)
            }
            for margin in rule.margins
            for candidate in candidates
            for incumbent in incumbents
            if candidate.segments != incumbent
        },
        aa=_or_reason(
            aa, loads, rule.permanent_incumbent, populations["average"], confidence=rule.confidence
        ),
        pages=min((found.pages for found in paired), default=0),
        seeds=min((found.seeds for found in paired), default=0),
        coverage_percent=min(one.least_coverage_percent for one in (loads, *beside.values())),
        harm_conditions=tuple(one.id for one in rule.harm_conditions if one.id in beside),
        congestion_control=loads.congestion_control,
    )


def _asked(
    margin: Margin, loads: PairedLoads, beside: Mapping[str, PairedLoads], rule: Rule
) -> Iterator[tuple[str, PairedLoads | None]]:
    """Where a bound is asked, with the loads there; None where a condition that decides was not replayed."""
    if ORDINARY in margin.asked_in:
        yield ORDINARY, loads
    for one in rule.harm_conditions:
        if one.kind in margin.asked_in and (one.is_core or one.id in beside):
            yield one.id, beside.get(one.id)


def _gains(
    loads: PairedLoads,
    windows: list[int],
    incumbent: int,
    populations: Mapping[Role, Mapping[str, float]],
    rule: Rule,
) -> dict[tuple[int, int], Gain | NotEstimable]:
    """Of each window over the incumbent and over every smaller one: what the choice may ask for."""
    pairs = {(a, b) for a in windows for b in windows if a > b or (a != b and b == incumbent)}
    return {(a, b): _or_reason(gain, loads, a, b, populations["average"], rule) for a, b in sorted(pairs)}


def _or_reason(compute: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | NotEstimable:
    try:
        return compute(*args, **kwargs)
    except TooFewLoads as exc:
        return NotEstimable(str(exc))
