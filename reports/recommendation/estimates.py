"""All estimates that the rule needs, computed before any bound is applied."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Iterator, Mapping
from typing import ParamSpec, TypeVar

from reports.recommendation.effects import Gain, Harm, gain, harm
from reports.recommendation.rule import CANDIDATES, RULE, Candidate, Margin, Role, Rule
from reports.recommendation.self_comparison import SelfComparison, compare_with_itself
from reports.recommendation.window_pair import NotEstimable, TooFewLoads, WindowPair
from reports.statistics.paired_loads import PairedLoads

NOT_REPLAYED = NotEstimable("not replayed: `firstflight replay run --harm core`")

ORDINARY = "ordinary"
"""Names the cells that gains are measured in, beside the ids of harm conditions."""

P = ParamSpec("P")
T = TypeVar("T")


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Estimates:
    """Gains and harms of every candidate, and how much of the replay they rest on."""

    candidates: tuple[Candidate, ...]
    """The replayed candidates, smallest first."""
    incumbents: tuple[int, ...]
    """Harm is estimated against each incumbent, gain against the first."""
    gains: Mapping[tuple[int, int], Gain | NotEstimable]
    """Gains by (window, window that it is compared with)."""
    harms: Mapping[tuple[str, int, int], Mapping[str, Harm | NotEstimable]]
    """Harms by (margin, candidate, incumbent), then by harm condition."""
    aa: SelfComparison | NotEstimable
    pages: int
    """Pages of the smallest comparison."""
    seeds: int
    """Paired seeds of the page with fewest."""
    coverage_percent: float
    """Smallest coverage over profiles, windows and harm conditions."""
    harm_conditions: tuple[str, ...]
    """The replayed harm conditions."""
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
    """Compute every estimate.

    `last_years` is the window that the last report in force recommends. `harm_loads` has the loads of the replayed
    harm conditions by id.
    """
    in_conditions = harm_loads or {}
    candidates = tuple(candidate for candidate in CANDIDATES if candidate.segments in loads.windows)
    incumbents = tuple(dict.fromkeys((last_years or rule.permanent_incumbent, rule.permanent_incumbent)))
    windows = [candidate.segments for candidate in candidates]

    def pair(there: PairedLoads, candidate: int, other: int, role: Role) -> WindowPair:
        population = populations[role]
        return WindowPair(loads=there, candidate=candidate, other=other, population=population, rule=rule)

    # Each candidate is compared with the incumbent and with every smaller candidate.
    gains = {
        (a, b): _estimated(gain, pair(loads, a, b, "average"))
        for a in windows
        for b in windows
        if a > b or (a != b and b == incumbents[0])
    }
    paired = [found for found in gains.values() if isinstance(found, Gain)]
    return Estimates(
        candidates=candidates,
        incumbents=incumbents,
        gains=gains,
        harms={
            (margin.id, window, incumbent): {
                condition: _estimated(harm, pair(there, window, incumbent, margin.population), margin)
                if there
                else NOT_REPLAYED
                for condition, there in _conditions(margin, loads, in_conditions, rule)
            }
            for margin in rule.margins
            for window in windows
            for incumbent in incumbents
            if window != incumbent
        },
        aa=_estimated(
            compare_with_itself,
            loads,
            rule.permanent_incumbent,
            populations["average"],
            confidence=rule.confidence,
        ),
        pages=min((found.pages for found in paired), default=0),
        seeds=min((found.seeds for found in paired), default=0),
        coverage_percent=min(one.least_coverage_percent for one in (loads, *in_conditions.values())),
        harm_conditions=tuple(one.id for one in rule.harm_conditions if one.id in in_conditions),
        congestion_control=loads.congestion_control,
    )


def _conditions(
    margin: Margin, loads: PairedLoads, in_conditions: Mapping[str, PairedLoads], rule: Rule
) -> Iterator[tuple[str, PairedLoads | None]]:
    """The conditions that a margin applies to, with their loads; None if a deciding condition was not replayed."""
    if ORDINARY in margin.asked_in:
        yield ORDINARY, loads
    for one in rule.harm_conditions:
        if one.kind in margin.asked_in and (one.is_core or one.id in in_conditions):
            yield one.id, in_conditions.get(one.id)


def _estimated(compute: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | NotEstimable:
    try:
        return compute(*args, **kwargs)
    except TooFewLoads as exc:
        return NotEstimable(str(exc))
