"""What to load next: which windows, how many networks of each stratum, how many pages over each."""

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from replay.runs.policy import Policy
from verdict.effects import Effects, Name
from verdict.estimates import NET_BENEFIT, name_of
from verdict.evidence import Evidence
from verdict.judgement import ListAnswer, Look, looks_worth_it, measure_look
from verdict.rule import NEARLY, UNITS, Rule, next_look
from verdict.student import Floats, Integers

MOST_PAGES = 8
"""Most pages over a network in a stage: networks are most of the error. Ours."""

EVEN_SHARE = 0.3
"""Share of networks by the strata's shares alone, in case a spread was too small by chance. Ours."""

FAVOURED_FROM = 1 / 8
"""Part of the budget after which candidates that look worth it are loaded alone. Ours, by simulations."""

LEAST_NETWORKS = 2
"""Networks of each stratum in the first stage, which show a spread."""


HALF_LOADED_LOADS = 8
"""In loads: other traffic is simulated too."""

MOST_EVERYONE = 0.25
"""Largest part of a stage for loads on a half-loaded line. Ours."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Prices:
    """Prices of loads, in seconds of a core."""

    network: float
    """Calibration, paid once a guest."""
    load: float


@dataclass(frozen=True, slots=True, kw_only=True)
class StagePlan:
    """A stage: networks by stratum, pages over each, and windows."""

    networks: Mapping[int, int]
    pages: int
    windows: tuple[Policy, ...]
    again: float
    """Share of draws that hold the incumbent against itself."""
    everyone: tuple[Policy, ...] = ()
    """Windows that are also loaded where all traffic has them."""
    everyone_share: float = 1.0
    """Share of draws with these."""

    @property
    def loads(self) -> int:
        draws = self.pages * sum(self.networks.values())
        return round(draws * (len(self.windows) + self.again))


@dataclass(frozen=True, slots=True, kw_only=True)
class Aim:
    """The question that more loads are to answer."""

    windows: tuple[Policy, ...]
    """None if more loads would change nothing."""
    effects: Effects
    factors: tuple[Mapping[Name, float], ...]
    """Combinations whose errors are to shrink."""
    everyone: tuple[Policy, ...]


def first_plan(windows: Sequence[Policy], rule: Rule, strata: Sequence[int]) -> StagePlan:
    """Return the first stage, which shows what a load costs and how much networks and pages differ."""
    whole = tuple(sorted({*windows, rule.incumbent}))
    return StagePlan(
        networks=dict.fromkeys(strata, LEAST_NETWORKS),
        pages=1,
        windows=whole,
        again=most_again(rule, len(whole)),
    )


def next_plan(
    aim: Aim, evidence: Evidence, rule: Rule, *, fraction: float, budget_s: float, prices: Prices
) -> StagePlan | None:
    """Return the stage up to the next look; None if there is nothing more to tell.

    `fraction` of the budget, in seconds of a core, is used.
    """
    step = next_look(rule.looks, fraction)
    if step is None or not (aim.windows or aim.everyone):
        return None
    seconds = (step - fraction) * budget_s
    windows = tuple(sorted({rule.incumbent, *aim.windows}))
    again = most_again(rule, len(windows))
    a_draw = prices.load * (len(windows) + again)
    everyone_share = 1.0
    if aim.everyone:
        whole = prices.load * HALF_LOADED_LOADS * (1 + len(aim.everyone))
        everyone_share = min(1.0, a_draw * MOST_EVERYONE / (1 - MOST_EVERYONE) / whole)
        a_draw += everyone_share * whole
    pages = _pages_over_a_network(aim.effects, aim.factors, evidence, prices.network / a_draw)
    total = max(1, int(seconds / (prices.network + pages * a_draw)))
    return StagePlan(
        networks=allocate(total, evidence, aim.factors, aim.effects),
        pages=pages,
        windows=windows,
        again=again,
        everyone=aim.everyone,
        everyone_share=everyone_share,
    )


def aim_of(answer: ListAnswer, look: Look, rule: Rule) -> Aim:
    """Return what more loads are to tell: net benefits of open candidates in both units.

    From an eighth of the budget on, only those whose estimates are worth it are loaded, also on a
    half-loaded line: it may be shown at the last look that they are. What is worth it with a guard to be
    shown is loaded on.
    """
    favoured = _favoured(answer, look.fraction, rule)
    asks_everyone = any(guard.everyone for guard in rule.guards)
    guarded = {check.window for check in answer.guards if check.holds is None and check.guard.everyone}
    unshown = {check.window for check in answer.guards if check.holds is None}
    is_over = answer.is_settled or bool(answer.broken)
    windows = () if is_over else tuple(sorted({*(favoured or answer.having("open")), *unshown}))
    factors: tuple[dict[Name, float], ...] = tuple(
        {(name_of(NET_BENEFIT, unit), policy): 1.0} for policy in windows for unit in UNITS
    )
    return Aim(
        windows=windows,
        effects=measure_look(look, rule),
        factors=factors,
        everyone=() if is_over else tuple(sorted({*(favoured if asks_everyone else ()), *guarded})),
    )


def _favoured(answer: ListAnswer, fraction: float, rule: Rule) -> tuple[Policy, ...]:
    if fraction < NEARLY * FAVOURED_FROM:
        return ()
    undecided = [candidate for candidate in answer.judgements if candidate.standing == "open"]
    return tuple(
        candidate.policy
        for candidate in undecided
        if looks_worth_it(candidate.per_load_pp, candidate.in_sum_pp, candidate.touched_percent, rule)
    )


def most_again(rule: Rule, windows: int) -> float:
    """Return the share of draws in which the incumbent, held against itself, has its share of all loads.

    >>> round(most_again(Rule(), 9), 6)
    1.0
    """
    return min(1.0, rule.most_again * windows / (1 - rule.most_again))


def _pages_over_a_network(
    effects: Effects, factors: Sequence[Mapping[Name, float]], evidence: Evidence, price: float
) -> int:
    """Return the pages over a network, by the root of what networks and pairs add to the error and cost."""
    parts = [effects.components(factor) for factor in factors]
    networks = len(np.unique(evidence.places))
    of_networks = sum(part.networks for part in parts) * networks
    of_pairs = sum(part.pairs for part in parts) * len(evidence)
    if of_networks <= 0:
        return MOST_PAGES if price > 0.05 else 1
    return min(MOST_PAGES, max(1, round(math.sqrt(price * of_pairs / of_networks))))


def allocate(
    total: int, evidence: Evidence, factors: Sequence[Mapping[Name, float]], effects: Effects
) -> dict[int, int]:
    """Return the networks of each stratum by Neyman, in proportion to share and spread; at least one."""
    strata = sorted({network.stratum for network in evidence.networks})
    shares = np.array(
        [
            next(network.share for network in evidence.networks if network.stratum == number)
            for number in strata
        ]
    )
    of_network = np.searchsorted(strata, [network.stratum for network in evidence.networks])
    counts = np.bincount(of_network[np.unique(evidence.places)], minlength=len(strata))
    need = np.zeros(len(strata))
    for factor in factors:
        sums = effects.by_network[:, [effects.names[name] for name in factor]] @ np.array(
            list(factor.values())
        )
        squares = np.bincount(of_network[: len(sums)], sums**2, len(strata)) * counts
        need += squares / max(float(squares.sum()), 1e-300)
    spread: Floats = np.sqrt(need)
    even = shares / shares.sum()
    parts = even if spread.sum() <= 0 else EVEN_SHARE * even + (1 - EVEN_SHARE) * spread / spread.sum()
    counts_of_strata = round_to_sum(total * parts)
    return {number: int(count) for number, count in zip(strata, counts_of_strata, strict=True) if count}


def round_to_sum(exact: Floats) -> Integers:
    """Return the whole numbers with the same sum, by the largest remainder.

    >>> round_to_sum(np.array([1.4, 1.4, 1.2])).tolist()
    [2, 1, 1]
    """
    whole = np.floor(exact).astype(np.intp)
    left = round(float(exact.sum())) - int(whole.sum())
    whole[np.argsort(whole - exact, kind="stable")[:left]] += 1
    return whole


def page_order(pages: int, *, run: int, first: int) -> Iterator[tuple[int, int]]:
    """Yield pages from draw `first` on, each with its seed: every page once in a round.

    >>> pages = [page for page, _ in __import__("itertools").islice(page_order(4, run=1, first=0), 4)]
    >>> sorted(pages)
    [0, 1, 2, 3]
    """
    turn, place = divmod(first, pages)
    while True:
        order = np.random.default_rng([run, turn]).permutation(pages)
        for page in order[place:].tolist():
            yield page, 1 + (run - 1) * 10_000 + turn
        turn, place = turn + 1, 0
