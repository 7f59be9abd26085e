"""The question of a decision: pages, networks drawn anew and conditions; and the loads of its stages."""

import collections
import dataclasses
import itertools
from collections.abc import Iterator, Sequence

import numpy as np

from replay.networks.mlab.draws import OTHERS, SLOW, DrawnNetwork, draw_networks
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import Cell, recipe_under
from replay.runs.conditions import Conditions, Neighbours
from replay.runs.policy import Policy
from verdict.evidence import Network
from verdict.sampling import StagePlan, page_order

STRATA = tuple(range(SLOW + OTHERS))

HALF_LOADED = Neighbours(load=0.5, everyone=True)
"""Other traffic asks for the half, with the page's own window."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReplayQuestion:
    """A replay's question: which initial window is worth it, over these pages and the world's networks."""

    recipes: Sequence[Recipe]
    incumbent: Policy
    run: int = 1
    """Other runs draw other networks, pages and random events."""
    conditions: Conditions = dataclasses.field(default_factory=Conditions)

    @property
    def everyone(self) -> Conditions:
        return dataclasses.replace(self.conditions, neighbours=HALF_LOADED)

    def networks(self, plans: Sequence[StagePlan]) -> list[list[DrawnNetwork]]:
        """Return each stage's networks; each stratum goes on with its next draws."""
        used: collections.Counter[int] = collections.Counter()
        stages = []
        for plan in plans:
            first = min(used[network] for network in plan.networks)
            last = max(used[stratum] + count for stratum, count in plan.networks.items())
            drawn = draw_networks(range(first, last), seed=self.run)
            stages.append(
                [
                    network
                    for network in drawn
                    if network.draw - used[network.stratum] in range(plan.networks.get(network.stratum, 0))
                ]
            )
            used.update(plan.networks)
        return stages

    def cells(self, plans: Sequence[StagePlan]) -> list[Cell]:
        """Return the loads of the last stage: every window of a page over a network, with the same random
        events.

        A share also loads the incumbent by another route, and a share `Plan.everyone` on a half-loaded
        line.
        """
        *before, plan = plans
        networks = self.networks(plans)[-1]
        earlier = sum(earlier_plan.pages * sum(earlier_plan.networks.values()) for earlier_plan in before)
        pages = page_order(len(self.recipes), run=self.run, first=earlier)
        loaded = {recipe.visit_id: recipe_under(recipe, self.conditions) for recipe in self.recipes}
        draws = len(networks) * plan.pages
        order = np.random.default_rng([self.run, earlier]).permutation(draws)
        again, everyone = order < plan.again * draws, order < plan.everyone_share * draws
        each = itertools.chain.from_iterable(itertools.repeat(network, plan.pages) for network in networks)
        pairs = zip(each, pages, strict=False)
        return [
            Cell(
                recipe=loaded[self.recipes[page].visit_id],
                profile=network.profile,
                policy=window,
                seed=seed,
                conditions=conditions,
            )
            for number, (network, (page, seed)) in enumerate(pairs)
            for window, conditions in self._loads(
                plan, is_again=bool(again[number]), with_everyone=bool(everyone[number])
            )
        ]

    def _loads(
        self, plan: StagePlan, *, is_again: bool, with_everyone: bool
    ) -> Iterator[tuple[Policy, Conditions]]:
        for window in plan.windows:
            yield window, self.conditions
        if is_again:
            yield self.incumbent, dataclasses.replace(self.conditions, alias=True)
        for window in (self.incumbent, *plan.everyone) if plan.everyone and with_everyone else ():
            yield window, self.everyone


def network_of(drawn: DrawnNetwork) -> Network:
    return Network(
        id=drawn.profile.id,
        stratum=drawn.stratum,
        share=drawn.weight,
        slow_share=drawn.slow_weight,
        rtt_ms=drawn.profile.rtt_us / 1e3,
        down_bps=float(drawn.profile.down_bps),
    )
