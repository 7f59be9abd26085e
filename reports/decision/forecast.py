"""Power: half-intervals that a number of draws can be expected to reach,
and what an open answer would still take."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

from reports.decision.bounds import NORMAL, Measured
from reports.decision.spending import POWER
from reports.decision.standing import Standing, targets
from reports.decision.statements import Statement
from reports.recommendation.rule import HarmMeasure

SPREADS: Mapping[HarmMeasure | None, float] = {
    None: 20.0,
    "retransmitted_bytes": 4.0,
    "responses_retransmitted": 21.0,
    "connections_initial_loss": 20.0,
    "page_time_mean": 20.0,
    "page_time_p95": 120.0,
    "page_time_p99": 250.0,
    "page_time_p999": 700.0,
    "short_flow_time": 20.0,
    "bulk_time": 20.0,
    "probe_p95": 40.0,
}
"""Spread of a draw's contribution to each effect, in the effect's unit; None: gain in percent. A draw is a
page over a network of the world. From a first look of 128 draws of recorded pages over mlab-2025-10 at IW 30
against IW 10; responses by their own bytes, and short flows (10 to 26 by condition), from the edition 2026;
quantiles and other harm conditions are estimates of ours. Only the plan before the first stage uses them."""

PAGE_SPREADS: Mapping[HarmMeasure | None, float] = {
    None: 2.3,
    "retransmitted_bytes": 0.6,
    "responses_retransmitted": 1.3,
    "connections_initial_loss": 2.4,
    "page_time_mean": 6.4,
    "page_time_p95": 11.0,
}
"""Part of that spread that all draws of a page have in common, which only more pages reduce. From the
standard errors of the edition 2026 over 591 pages, of whose squares pages are some 64 %; other measures are
of other people's flows, whose spread is not the pages'."""

LAST_LOOK = 1 - (5 / 6) ** POWER
"""Share of the error probability that is left to the last of six looks."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Expectation:
    """What a plan can expect of a statement."""

    statement: Statement
    limit: float
    unit: str
    half: float
    """Expected distance of a bound from the estimate, at the last look."""
    half_of_pages: float
    """What is left of it however many draws there are of these pages."""

    @property
    def is_reachable(self) -> bool:
        """Return whether a candidate without any harm would probably pass."""
        return self.half <= self.limit

    @property
    def asks_for_pages(self) -> bool:
        """Return whether no budget suffices with so many pages."""
        return self.half_of_pages > self.limit


def expectations(
    statements: Sequence[Statement], draws: Mapping[str, float], *, pages: int, worthwhile: float
) -> Iterator[Expectation]:
    """Expected half-intervals with so many pages, and `draws` of them by condition;
    of each margin in each condition once."""
    seen: set[tuple[object, str]] = set()
    for one in statements:
        key = (one.margin and one.margin.id, one.condition)
        if one.kind == "self" or key in seen:
            continue
        seen.add(key)
        measure = one.margin.measure if one.margin else None
        spread = SPREADS[measure]
        of_pages = PAGE_SPREADS.get(measure, 0.0) / math.sqrt(pages)
        count = draws.get(one.condition, 0.0)
        yield Expectation(
            statement=one,
            limit=worthwhile if one.margin is None else one.margin.worsening_limit or one.margin.limit,
            unit="%" if one.margin is None else one.margin.unit,
            half=score(one.confirm_tail) * math.hypot(spread / math.sqrt(count), of_pages)
            if count
            else math.inf,
            half_of_pages=score(one.confirm_tail) * of_pages,
        )


def score(tail: float) -> float:
    """Normal score of the last look for a statement's error probability."""
    return -NORMAL.inv_cdf(tail * LAST_LOOK)


@dataclass(frozen=True, slots=True, kw_only=True)
class Need:
    """What an open statement would take if its effect is as measured."""

    statement: Statement
    effect: Measured | None
    times: float
    """Factor of draws; infinite where draws alone cannot settle it."""
    pages: int | None = None
    """Pages that would be needed, where the pages limit."""


def needs(statements: Sequence[Statement], standing: Standing) -> list[Need]:
    """What each statement that the answer waits for would take, the greatest need first."""
    if standing.is_settled:
        return []
    found = [_need(one, standing.measured.get(one.id)) for one in targets(statements, standing)]
    return sorted(found, key=lambda need: (-need.times, need.statement.id))


def _need(one: Statement, effect: Measured | None) -> Need:
    if effect is None or effect.excess == 0:
        return Need(statement=one, effect=effect, times=math.inf)
    tail = one.confirm_tail if effect.excess < 0 else one.refute_tail
    allowed = (effect.excess / score(tail)) ** 2
    of_draws = effect.error**2 - effect.between
    if effect.between < allowed:
        return Need(statement=one, effect=effect, times=max(1.0, of_draws / (allowed - effect.between)))
    return Need(
        statement=one,
        effect=effect,
        times=math.inf,
        pages=math.ceil(effect.pages * effect.error**2 / allowed),
    )
