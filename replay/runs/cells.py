"""Cells: the page loads of a replay, and their rows."""

import hashlib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from replay.lab.guest_process import GuestAnswer
from replay.networks.profiles import Profile
from replay.recipes.page_recipe import Recipe
from replay.recipes.variants import replace_http, warm_recipe
from replay.runs.background import LOAD, background
from replay.runs.conditions import Conditions
from replay.runs.origins import OriginSetting, origin_settings
from replay.runs.policy import Policy
from schema.computed_tables import CELL

TIMES = (
    "page",
    "document",
    "first_byte",
    "render_blocking",
    "response_latency",
    "short_flow",
    "probe_p95",
    "handshake_max",
)
"""Times that the player prints in nanoseconds, as NAME_ns; rows have NAME_ms."""

CellRow = dict[str, Any]
"""Values by column of schema.computed_tables.CELL; null where nothing was measured."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cell:
    """A page load over one network, by one policy of servers, under one set of conditions, with one seed."""

    recipe: Recipe
    profile: Profile
    policy: Policy
    seed: int
    conditions: Conditions

    @property
    def id(self) -> str:
        """Unique within a replay.

        It holds no host name: a hostile page must not reach the guest by it.
        """
        policy = str(self.policy).replace(" ", "-")
        return f"{self.recipe.visit_id}.{self.profile.id}.{policy}.{self.seed}.{self.conditions.id}"

    @property
    def network(self) -> Profile:
        return self.conditions.network(self.profile)

    @property
    def random_state(self) -> int:
        """Equal for all policies and conditions, so that cells pair by page, profile and seed."""
        text = f"{self.recipe.page}|{self.profile.id}|{self.seed}"
        return int.from_bytes(hashlib.sha256(text.encode()).digest()[:8], "big")

    @property
    def virtual_limit_s(self) -> float:
        """In virtual seconds: ten times the load's round trips and transfer, all delays, and a minute."""
        competing_flows = self.conditions.competition.flows if self.conditions.competition else 0
        sharing = (1 + competing_flows) / (1 - self.background_load)
        is_delayed = self.conditions.server_delay
        delays_us = sum(object_.think_us for object_ in self.recipe.objects) if is_delayed else 0
        delays_us += sum(object_.browser_delay_us for object_ in self.recipe.objects)
        if self.conditions.resolves_names:
            delays_us += sum(origin.resolver_delay_us or 0 for origin in self.recipe.origins)
        down_s = 8 * sharing * self.recipe.response_bytes / self.profile.down_bps
        up_s = 8 * sum(object_.request_bytes for object_ in self.recipe.objects) / self.profile.up_bps
        furthest_us = max(origin.distance_us for origin in self.origins)
        round_trips_s = self.recipe.depth * (self.profile.rtt_us + furthest_us) / 1e6
        return 60 + delays_us / 1e6 + 10 * (down_s + up_s + round_trips_s)

    @property
    def origins(self) -> list[OriginSetting]:
        return origin_settings(
            self.recipe.origins,
            senders=self.conditions.senders,
            distance=self.conditions.distance,
            http3=self.conditions.http3,
            country=self.profile.country,
            random_state=self.random_state,
        )

    @property
    def background_load(self) -> float:
        neighbours = self.conditions.neighbours
        return neighbours.load if neighbours else LOAD

    def command(self, page: int) -> str:
        """Return the player's command; `page` is the recipe's number in its guest."""
        others = background(self.background_load, self.profile.down_bps)
        at_most = f"{self.virtual_limit_s:.1f}"
        return f"cell {self.id} {page} {self.random_state} {others} {at_most}"


def make_cells(
    recipes: Sequence[Recipe],
    profiles: Sequence[Profile],
    *,
    policies: Sequence[Policy],
    seeds: int,
    conditions: Sequence[Conditions] = (Conditions(),),
) -> list[Cell]:
    """Return every combination; seeds count from 1."""
    kinds = {(each.warm_cache, each.http): each for each in conditions}
    loaded = [{kind: recipe_under(recipe, each) for kind, each in kinds.items()} for recipe in recipes]
    return [
        Cell(
            recipe=of_page[each.warm_cache, each.http],
            profile=profile,
            policy=policy,
            seed=seed,
            conditions=each,
        )
        for of_page in loaded
        for profile in profiles
        for each in conditions
        for policy in policies
        for seed in range(1, seeds + 1)
    ]


def recipe_under(recipe: Recipe, conditions: Conditions) -> Recipe:
    """Return a page's recipe under these conditions; RecipeError."""
    visited = warm_recipe(recipe) if conditions.warm_cache else recipe
    return replace_http(visited, conditions.http)


def sample(recipes: Sequence[Recipe], pages: int) -> list[Recipe]:
    """Return `pages` pages, evenly spread by size, with the smallest and the largest."""
    if pages >= len(recipes):
        return list(recipes)
    ordered = sorted(recipes, key=lambda recipe: (recipe.response_bytes, recipe.visit_id))
    step = (len(ordered) - 1) / max(1, pages - 1)
    return [ordered[round(place * step)] for place in range(pages)]


def row(cell: Cell, state: str, reason: str | None, answer: GuestAnswer | None) -> CellRow:
    facts = answer or {}
    if not cell.conditions.competition:
        facts = facts | {"competition_bytes": None}
    values = {
        "page": cell.recipe.page,
        "visit_id": cell.recipe.visit_id,
        "profile": cell.profile.id,
        "iw": cell.policy.window,
        "policy": str(cell.policy),
        **cell.conditions.columns(),
        "seed": cell.seed,
        "queue_bytes": cell.network.queue_bytes if cell.network.discipline == "tail-drop" else None,
        "state": state,
        "reason": reason,
        **{f"{name}_ms": milliseconds(facts.get(f"{name}_ns")) for name in TIMES},
    }
    return {name: values.get(name, facts.get(name)) for name in CELL.names}


def milliseconds(nanoseconds: int | None) -> float | None:
    """Return milliseconds to three decimals: cells repeat to the microsecond.

    >>> milliseconds(70_000_896)
    70.001
    """
    return None if nanoseconds is None else round(nanoseconds / 1e6, 3)
