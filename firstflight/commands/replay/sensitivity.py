"""Loads of a few pages at the ends of every input that could turn the answer: the sensitivity replays of a report's ledger."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from firstflight.settings import Settings
from replay.networks.population_csv import CsvPopulation
from replay.networks.profiles import Profile
from replay.networks.representatives import representatives
from replay.networks.stored_populations import find_population, stored_ids
from replay.recipes.page_recipe import Recipe
from replay.recipes.warm_cache import has_freshness
from replay.runs.cells import Cell, plan
from replay.runs.conditions import Conditions
from replay.runs.replay_folder import population_facts
from reports.recommendation.inputs import ENDS

SEEDS = 1
"""Seeds of a load at the end of an input."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SensitivityReplay:
    """Loads at the ends of the inputs, and the populations of those ends."""

    cells: Sequence[Cell]
    populations: Mapping[str, list[dict[str, Any]]]
    """Facts of an end's average and slow population, by what the end adds to a population's id."""


def sensitivity_replay(
    settings: Settings,
    recipes: Sequence[Recipe],
    profiles: Sequence[Profile],
    *,
    population: str | None,
    networks: int,
    windows: Sequence[int],
) -> SensitivityReplay:
    """Plan the loads over `profiles` and over those stored relatives of the `population` that there are; None has none."""
    conditions = [end.conditions for end in ENDS if not end.population]
    cells: list[Cell] = []
    for is_warm in (False, True):
        # What no header tells may be used again has no second visit.
        some = [one for one in recipes if not is_warm or has_freshness(one)]
        arms = [one for one in conditions if one.warm_cache == is_warm]
        cells += plan(some, profiles, windows=windows, seeds=SEEDS, conditions=arms)
    there = relatives(settings, population, networks) if population else {}
    for one in there.values():
        cells += plan(recipes, one.profiles, windows=windows, seeds=SEEDS, conditions=[Conditions()])
    return SensitivityReplay(
        cells=cells,
        populations={
            name: [population_facts(part) for part in one.populations] for name, one in there.items()
        },
    )


def relatives(settings: Settings, population: str, networks: int) -> dict[str, CsvPopulation]:
    """The stored populations that stand for an end of an input, by what the end adds to the id."""
    known = stored_ids(settings.populations)
    wanted = {end.population: f"{population}-{end.population}" for end in ENDS if end.population}
    return {
        suffix: representatives(find_population(settings.populations, name), networks)
        for suffix, name in wanted.items()
        if name in known
    }
