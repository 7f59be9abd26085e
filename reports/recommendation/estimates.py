"""All estimates that the rule needs, computed before any bound is applied."""

import dataclasses
import itertools
from collections.abc import Callable, Mapping
from typing import ParamSpec, TypeVar

from reports.recommendation.candidates import CANDIDATES, Candidate
from reports.recommendation.effects import Gain, Harm, gains, harms
from reports.recommendation.mixture import ORDINARY, Arms, arms_of
from reports.recommendation.rule import RULE, Role, Rule
from reports.recommendation.self_comparison import SelfComparison, compare_with_alias, compare_with_itself
from reports.recommendation.window_family import NotEstimable, TooFewLoads, WindowFamily
from reports.statistics.paired_loads import PairedLoads

__all__ = ["NOT_REPLAYED", "ORDINARY", "Estimates", "estimates_of"]

NOT_REPLAYED = NotEstimable("not replayed: `firstflight replay run --harm core`")

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
    beside: Mapping[tuple[str, int], Gain | NotEstimable]
    """Gains over the incumbent by (estimand, window) in the estimands that do not decide."""
    harms: Mapping[tuple[str, int, int], Mapping[str, Harm | NotEstimable]]
    """Harms by (margin, candidate, incumbent), then by harm condition."""
    aa: SelfComparison | NotEstimable
    """The permanent incumbent against itself with other seeds."""
    aa_alias: SelfComparison | NotEstimable
    """The permanent incumbent against itself by another route, in other guests, in another order."""
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
    alias_loads: PairedLoads | None = None,
) -> Estimates:
    """Compute every estimate.

    `last_years` is the window that the last report in force recommends. `harm_loads` has the loads of the
    replayed harm conditions by id, and `alias_loads` those of the permanent incumbent by its alias route.
    """
    in_conditions = harm_loads or {}
    candidates = tuple(candidate for candidate in CANDIDATES if candidate.window in loads.windows)
    incumbents = tuple(dict.fromkeys((last_years or rule.permanent_incumbent, rule.permanent_incumbent)))
    windows = tuple(candidate.window for candidate in candidates)

    def family(arms: Arms, others: tuple[int, ...], other: int, role: Role) -> WindowFamily:
        return WindowFamily(arms=arms, windows=others, other=other, population=populations[role], rule=rule)

    ordinary = [(loads, 1.0)]
    found = _gains(
        lambda others, other: gains(family(ordinary, others, other, "average")),
        windows,
        incumbents[0],
        rule.windows_in_use,
    )
    paired = [one for one in found.values() if isinstance(one, Gain)]
    return Estimates(
        candidates=candidates,
        incumbents=incumbents,
        gains=found,
        beside=_beside(
            rule,
            family(ordinary, tuple(one for one in windows if one != incumbents[0]), incumbents[0], "average"),
        ),
        harms=_harms(family, loads, in_conditions, windows, incumbents, rule),
        aa=_estimated(
            compare_with_itself,
            loads,
            rule.permanent_incumbent,
            populations["average"],
            rule=rule,
        ),
        aa_alias=_estimated(
            compare_with_alias,
            loads,
            alias_loads,
            rule.permanent_incumbent,
            populations["average"],
            rule=rule,
        ),
        pages=min((one.pages for one in paired), default=0),
        seeds=min((one.seeds for one in paired), default=0),
        coverage_percent=min(one.least_coverage_percent for one in (loads, *in_conditions.values())),
        harm_conditions=tuple(one.id for one in rule.harm_conditions if one.id in in_conditions),
        congestion_control=loads.congestion_control,
    )


def _harms(
    family: Callable[[Arms, tuple[int, ...], int, Role], WindowFamily],
    loads: PairedLoads,
    in_conditions: Mapping[str, PairedLoads],
    windows: tuple[int, ...],
    incumbents: tuple[int, ...],
    rule: Rule,
) -> dict[tuple[str, int, int], dict[str, Harm | NotEstimable]]:
    """Every harm by margin, window and incumbent; a margin that no replayed condition asks about has none."""
    harmed: dict[tuple[str, int, int], dict[str, Harm | NotEstimable]] = {
        (margin.id, window, incumbent): {}
        for margin in rule.margins
        for window in windows
        for incumbent in incumbents
        if window != incumbent
    }
    for margin, incumbent in itertools.product(rule.margins, incumbents):
        others = tuple(window for window in windows if window != incumbent)
        for condition, arms in arms_of(margin, loads, in_conditions, rule):
            there = tuple(one for one in others if all(one in some.windows for some, _ in arms or ()))
            by_window = (
                _estimated(harms, family(arms, there, incumbent, margin.population), margin)
                if arms and there
                else NOT_REPLAYED
            )
            for window in others:
                of_window = harmed[margin.id, window, incumbent]
                of_window[condition] = (
                    by_window if isinstance(by_window, NotEstimable) else by_window.get(window, NOT_REPLAYED)
                )
    return harmed


def _gains(
    compute: Callable[[tuple[int, ...], int], dict[int, Gain]],
    windows: tuple[int, ...],
    incumbent: int,
    in_use: int,
) -> dict[tuple[int, int], Gain | NotEstimable]:
    """Gains over the incumbent and over the windows in use, of all others together;
    and of each window over each smaller one.

    Each set of windows that is compared with the same one has intervals that hold together.
    """
    found: dict[tuple[int, int], Gain | NotEstimable] = {}
    for other in windows:
        is_baseline = other in (incumbent, in_use)
        others = tuple(window for window in windows if window > other or (is_baseline and window != other))
        if others:
            by_window = _estimated(compute, others, other)
            for window in others:
                found[window, other] = by_window if isinstance(by_window, NotEstimable) else by_window[window]
    return found


def _beside(rule: Rule, family: WindowFamily) -> dict[tuple[str, int], Gain | NotEstimable]:
    """The gain of each window in each estimand that does not decide."""
    found: dict[tuple[str, int], Gain | NotEstimable] = {}
    for one in rule.estimands:
        if one.is_primary or not family.windows:
            continue
        by_window = _estimated(gains, family, one.column)
        for window in family.windows:
            found[one.id, window] = by_window if isinstance(by_window, NotEstimable) else by_window[window]
    return found


def _estimated(compute: Callable[P, T], *args: P.args, **kwargs: P.kwargs) -> T | NotEstimable:
    try:
        return compute(*args, **kwargs)
    except TooFewLoads as exc:
        return NotEstimable(str(exc))
