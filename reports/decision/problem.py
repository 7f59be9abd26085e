"""The question that a replay in stages answers: pages, networks, candidates,
and how a stage's loads are chosen."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from functools import cached_property

import numpy as np

from releases.slow_start import MSS_TIMESTAMPS
from replay.networks.profiles import Population, Profile
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import Cell, sent
from replay.runs.chunks import core_seconds
from replay.runs.conditions import Conditions
from reports.decision.design import LEAST_A_NETWORK, allocate, pairs
from reports.decision.draws import Frame
from reports.decision.standing import Standing, targets, windows_of
from reports.decision.statements import Statement, statements_of
from reports.recommendation.mixture import ORDINARY
from reports.recommendation.rule import RULE, Role, Rule
from reports.statistics.bootstrap import Floats

PRICED_PAGES = 50
"""Pages whose prices stand for all in the plan of a stage."""


@dataclasses.dataclass(frozen=True, kw_only=True)
class Problem:
    """A population of pages and networks, and the windows of which the answer is one."""

    recipes: tuple[Recipe, ...]
    """By size."""
    networks: tuple[Profile, ...]
    """By rate."""
    populations: tuple[Population, ...]
    windows: tuple[int, ...]
    incumbent: int
    run: int = 1
    """Number of the run: others draw other pairs and other random events."""
    rule: Rule = RULE
    base: Conditions = dataclasses.field(default_factory=Conditions)
    """Conditions of ordinary loads."""

    @cached_property
    def statements(self) -> tuple[Statement, ...]:
        """All that the answer rests on."""
        return statements_of(self.rule, self.windows, incumbent=self.incumbent)

    @cached_property
    def frame(self) -> Frame:
        """Pages and networks as draws name them."""
        return Frame(
            pages=tuple(recipe.visit_id for recipe in self.recipes),
            networks=tuple(one.id for one in self.networks),
            down_bps=np.array([one.down_bps for one in self.networks], dtype=np.float64),
        )

    @cached_property
    def weights(self) -> Mapping[Role, Floats]:
        """Weights of the networks by role."""
        return {
            "slow" if one.slow else "average": np.array(
                [dict(one.weights).get(network.id, 0.0) for network in self.networks]
            )
            for one in self.populations
        }

    @cached_property
    def expected(self) -> Mapping[int, Floats]:
        """Page times by arithmetic."""
        return expected_log_ms(self.recipes, self.networks, self.windows)

    @cached_property
    def conditions(self) -> Mapping[str, Conditions]:
        """Conditions of the loads by id."""
        return {ORDINARY: self.base} | {one.id: one.conditions for one in self.rule.deciding_conditions}

    def by(self, rule: Rule) -> Problem:
        """The same question by another rule; what does not depend on the rule is not computed again."""
        other = dataclasses.replace(self, rule=rule)
        vars(other).update(frame=self.frame, weights=self.weights, expected=self.expected)
        return other

    def cell(
        self, page: int, network: int, window: int, seed: int, condition: str, *, alias: bool = False
    ) -> Cell:
        """A load by its places in the frame; `alias`: with its initial window from a second route."""
        return Cell(
            recipe=self.recipes[page],
            profile=self.networks[network],
            iw=int(window),
            seed=seed,
            conditions=dataclasses.replace(sent(self.conditions[condition], window), alias=alias),
        )

    def prices(self, condition: str) -> Floats:
        """Planned seconds of a core for a load over each network: the mean over pages of all sizes."""
        step = max(1, len(self.recipes) // PRICED_PAGES)
        pages = range(step // 2, len(self.recipes), step)
        return np.array(
            [
                core_seconds([self.cell(page, place, self.incumbent, 1, condition) for page in pages])
                / len(pages)
                for place in range(len(self.networks))
            ]
        )


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A stage's draws under one condition."""

    condition: str
    counts: tuple[int, ...]
    """Draws over each network."""
    first: int
    """Number of the first draw: as many as earlier stages drew."""
    windows: tuple[int, ...]
    again: bool
    """True if the incumbent is also loaded with a second seed, by an alias route, in other guests."""

    @property
    def draws(self) -> int:
        """Number of draws."""
        return sum(self.counts)

    @property
    def loads(self) -> int:
        """Number of loads."""
        return self.draws * (len(self.windows) + self.again)


def next_parts(
    problem: Problem, standing: Standing, *, seconds: float, drawn: Mapping[str, int]
) -> tuple[Part, ...]:
    """The parts of the next stage, for about so many planned `seconds` of a core;
    `drawn` counts draws so far by condition.

    Half of the time goes to ordinary loads, the rest to the harm conditions by equal parts; all of it to one
    side where the other has nothing to settle. Harm conditions are replayed for candidates that nothing
    speaks against so far.
    """
    wanted = targets(problem.statements, standing)
    asked: dict[str, list[Statement]] = {}
    for one in wanted:
        if one.condition == ORDINARY or standing.measured:
            asked.setdefault(one.condition, []).append(one)
    if not asked:
        asked[ORDINARY] = []
    others = [condition for condition in asked if condition != ORDINARY]
    half = 0.5 if others and ORDINARY in asked else 1.0
    found = []
    for condition, some in asked.items():
        share = half if condition == ORDINARY else half / len(others)
        part = _part(problem, standing, condition, some, seconds * share, drawn.get(condition, 0))
        if part.draws:
            found.append(part)
    return tuple(found)


def _part(
    problem: Problem,
    standing: Standing,
    condition: str,
    wanted: Sequence[Statement],
    seconds: float,
    drawn: int,
) -> Part:
    windows = windows_of(wanted, condition, incumbent=problem.incumbent)
    again = any(one.kind == "self" for one in wanted)
    roles = {one.population for one in wanted} or {"average"}
    weights = np.maximum.reduce([problem.weights[role] for role in sorted(roles)])
    prices = problem.prices(condition) * (len(windows) + again)
    need = np.zeros(len(weights))
    for one in wanted:
        effect = standing.measured.get(one.id)
        if effect is not None:
            need += effect.by_network / max(effect.excess**2, effect.error**2, 1e-12)
    least = 0 if drawn else LEAST_A_NETWORK
    shares = allocate(10_000, need, prices, weights) / 10_000
    left = seconds - least * float(prices[weights > 0].sum())
    draws = least * int((weights > 0).sum()) + max(0, int(left / float(prices @ shares)))
    counts = allocate(draws, need, prices, weights, least=least)
    return Part(condition=condition, counts=tuple(counts.tolist()), first=drawn, windows=windows, again=again)


def cells_of(problem: Problem, parts: Sequence[Part]) -> list[Cell]:
    """The loads of a stage."""
    return [
        problem.cell(pair.page, pair.network, window, seed, part.condition, alias=is_again)
        for part in parts
        for pair in pairs(
            np.array(part.counts, dtype=np.intp),
            first=part.first,
            pages=len(problem.recipes),
            run=problem.run,
            condition=part.condition,
        )
        for window, seed, is_again in [
            *((window, pair.seed, False) for window in part.windows),
            *([(problem.incumbent, pair.seed + 1, True)] if part.again else []),
        ]
    ]


def expected_log_ms(
    recipes: Sequence[Recipe], networks: Sequence[Profile], windows: Sequence[int]
) -> Mapping[int, Floats]:
    """Logarithm of page time in ms for each window, as [page, network],
    by arithmetic without loss or competing traffic.

    It is a control variate for the times that the replay measures. Its own error does not matter: the mean
    over all pages and networks is known exactly, and only what the replay adds to it is estimated. It counts
    handshakes, the rounds of slow start on each connection, and the bytes at the rate of the bottleneck.
    """
    rates = np.array([one.down_bps for one in networks], dtype=np.float64)[:, np.newaxis] / 8e3
    trips = np.array([one.rtt_us for one in networks], dtype=np.float64)[:, np.newaxis] / 1e3
    sizes = np.array(windows, dtype=np.float64)[np.newaxis] * MSS_TIMESTAMPS
    times = np.stack([_page_ms(recipe, rates=rates, trips=trips, windows=sizes) for recipe in recipes])
    logarithms = np.log(times)
    return {window: logarithms[:, :, place] for place, window in enumerate(windows)}


def _page_ms(recipe: Recipe, *, rates: Floats, trips: Floats, windows: Floats) -> Floats:
    """Time of the page's last byte, [network, window]; rates are in bytes per ms, windows in bytes."""
    begun: dict[int, Floats] = {}
    sent: dict[int, int] = {}
    rounds: dict[int, Floats] = {}
    ends: list[Floats] = []
    # No round is waited for after the window fills the path.
    full = np.log2(1 + np.maximum(rates * trips / windows, 1))
    start = np.zeros(full.shape)
    for one in recipe.objects:
        origin = one.origin
        wanted = ends[one.parent] if 0 <= one.parent < len(ends) else start
        if origin not in begun:
            handshakes = 2 if recipe.origins[origin].tls_flight_bytes else 1
            begun[origin] = wanted + handshakes * trips
            rounds[origin] = np.ones(full.shape)
        sent[origin] = sent.get(origin, 0) + one.response_bytes
        reached = np.minimum(np.ceil(np.log2(1 + sent[origin] / windows)), full)
        waits = np.maximum(reached - rounds[origin], 0)
        rounds[origin] = np.maximum(reached, 1)
        ends.append(np.maximum(wanted, begun[origin]) + (1 + waits) * trips + one.response_bytes / rates)
    last = np.maximum.reduce(ends)
    least: Floats = 2 * trips + recipe.response_bytes / rates
    return np.maximum(last, least)
