"""A replay of every page over every network at every window, as its file describes it."""

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

from replay.lab.guest_process import Lab
from replay.networks.copula import PAPER_POPULATIONS
from replay.networks.population_csv import CsvPopulation, PopulationError, read_population
from replay.networks.populations import PROFILES
from replay.networks.profiles import Population, Profile
from replay.networks.representatives import choose_representatives
from replay.networks.stored_populations import find_population
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import Cell, make_cells, sample
from replay.runs.conditions import Conditions
from replay.runs.facts import LoadsPlan
from replay.runs.parts import plan_of
from replay.runs.replay_folder import plan_facts
from verdict.question import HALF_LOADED
from verdict.replay_file import ReplayFile
from verdict.rule import VERSION


@dataclass(frozen=True, kw_only=True, slots=True)
class FullReplay:
    """A replay before its first cell runs."""

    cells: Sequence[Cell]
    facts: LoadsPlan
    sentence: str

    def plan(self, lab: Lab) -> LoadsPlan:
        facts: LoadsPlan = {**self.facts, "programs": dict(lab.sums())}
        return plan_of(facts, self.cells, responses=bool(self.facts["asked"]["responses"]))


def plan_replay(
    file: ReplayFile, recipes: Sequence[Recipe], source: LoadsPlan, *, populations: Path, commit: str
) -> FullReplay:
    """Return the replay of these pages; PopulationError or ReplayError.

    `source` are the pages' fields of stage.json, `populations` is the folder of stored ones.
    """
    profiles, weights, which = networks_of(file, populations)
    pages, policies, conditions = (
        sample(recipes, file.max_pages or len(recipes)),
        file.loaded,
        file.combinations(),
    )
    cells = make_cells(pages, profiles, policies=policies, seeds=file.seeds, conditions=conditions)
    if file.everyone_pages:
        planned = {cell.id for cell in cells}
        others = everyone_cells(sample(pages, file.everyone_pages), profiles, file)
        cells += [cell for cell in others if cell.id not in planned]
    facts = plan_facts(
        cells,
        {**source, "pages_there": len(recipes), "asked": file.asked},
        commit=commit,
        rule_version=VERSION,
        populations=weights,
    )
    sentence = (
        f"{len(pages):,} of {len(recipes):,} pages, {len(profiles)} networks ({which}), {len(policies)} "
        f"policies, {file.seeds} seeds: {len(cells):,} loads"
    )
    return FullReplay(cells=cells, facts=facts, sentence=sentence)


def everyone_cells(recipes: Sequence[Recipe], profiles: Sequence[Profile], file: ReplayFile) -> list[Cell]:
    """Return the half-loaded loads where all traffic has the window, and the incumbent by another route,
    one seed each.
    """
    half, alias = Conditions(neighbours=HALF_LOADED), Conditions(alias=True)
    return [
        *make_cells(recipes, profiles, policies=file.loaded, seeds=1, conditions=[half]),
        *make_cells(recipes, profiles, policies=[file.rule.incumbent], seeds=1, conditions=[alias]),
    ]


def networks_of(file: ReplayFile, folder: Path) -> tuple[tuple[Profile, ...], tuple[Population, ...], str]:
    """Return networks, the populations that weigh them, and which they are; PopulationError."""
    known = {profile.id: profile for profile in PROFILES}
    names = [file.networks] if isinstance(file.networks, str) else list(dict.fromkeys(file.networks))
    if not isinstance(file.networks, str) or file.networks in known:
        if unknown := [name for name in names if name not in known]:
            raise PopulationError(f"networks: no profile {', '.join(unknown)}; there are {', '.join(known)}")
        return tuple(known[name] for name in names), PAPER_POPULATIONS, "by their ids"
    population = population_of(file, folder)
    chosen = choose_representatives(population, file.max_networks)
    return (
        chosen.profiles,
        chosen.populations,
        f"for the {len(population.profiles)} of {chosen.populations[0].id}",
    )


def population_of(file: ReplayFile, folder: Path) -> CsvPopulation:
    """Return the networks of a CSV file or of a stored population, which knows its month and source."""
    path, measured, source = Path(str(file.networks)), file.population_measured, file.population_source
    if path.is_file() or path.suffix == ".csv":
        return read_population(path, measured=measured, source=source)
    if measured or source:
        raise PopulationError("networks: a stored population knows its month and source")
    return find_population(folder, str(file.networks))
