"""The options that `firstflight replay plan`, `run` and `merge` share, and the replay that they describe."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, TypeVar

import click

from firstflight.commands.replay.conditions import CONDITION_OPTIONS, arms
from firstflight.commands.replay.sources import SOURCE_OPTIONS, find_source
from firstflight.commands.replay.windows import DEFAULT_WINDOWS, parse_windows
from firstflight.commit import code_commit
from firstflight.settings import Settings
from recordings.errors import RecordingError
from releases.catalogue import ReleaseError
from replay.errors import ReplayError
from replay.networks.copula import PAPER_POPULATIONS
from replay.networks.population_csv import MOST_ROWS, CsvPopulation, PopulationError, read_population
from replay.networks.populations import PROFILES
from replay.networks.profiles import Population, Profile
from replay.networks.representatives import representatives
from replay.networks.stored_populations import CURRENT, find_population
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import Cell, plan, sample
from replay.runs.chunks import core_seconds, plan_of
from replay.runs.conditions import Conditions
from replay.runs.replay_folder import plan_facts
from storage.signatures import SigningFailed
from verdict.question import HALF_LOADED
from verdict.rule import RULE, RULE_VERSION

Command = TypeVar("Command", bound="Callable[..., Any]")

EXPECTED = (ReplayError, ReleaseError, RecordingError, PopulationError, SigningFailed, OSError)

FEW_NETWORKS = 8
"""Networks of a population that a replay takes by default."""


def parse_profiles(_ctx: click.Context, _option: click.Parameter, value: str | None) -> tuple[Profile, ...]:
    """Read distinct profiles from a comma-separated list of ids."""
    if value is None:
        return ()
    known = {one.id: one for one in PROFILES}
    words = list(dict.fromkeys(value.split(",")))
    if unknown := [word for word in words if word not in known]:
        raise click.BadParameter(f"no profile {', '.join(unknown)}; there are {', '.join(known)}")
    return tuple(known[word] for word in words)


def parse_networks(_ctx: click.Context, _option: click.Parameter, value: str) -> int:
    """Read a number of networks, or `all`."""
    if value == "all":
        return MOST_ROWS
    if not value.isascii() or not value.isdecimal() or not 2 <= int(value) <= MOST_ROWS:
        raise click.BadParameter(f"{value!r} is neither a number from 2 to {MOST_ROWS} nor all")
    return int(value)


EVERYONE_OPTIONS = (
    click.option(
        "--everyone",
        is_flag=True,
        help="Also load pages on a half-loaded line where all traffic has the window, and IW 10 "
        "by another route: what the rule asks beside gain and price.",
    ),
    click.option(
        "--everyone-pages",
        type=click.IntRange(1),
        default=25,
        show_default=True,
        help="Number of those pages, sampled evenly by size.",
    ),
)


OPTIONS = (
    *SOURCE_OPTIONS,
    click.option(
        "--iw",
        "windows",
        callback=parse_windows,
        metavar="N,...",
        default=DEFAULT_WINDOWS,
        show_default=True,
        help="Initial windows of the servers, in segments, with a p if they are paced, as 16p; "
        "candidates: all that the rule may recommend.",
    ),
    click.option(
        "--profiles",
        callback=parse_profiles,
        metavar="ID,...",
        help="Networks by id (docs/populations.md) instead of a population, to compare networks; "
        "an unknown id lists all.",
    ),
    click.option(
        "--population",
        metavar="ID|FILE.csv",
        help="A stored population (`firstflight population list`), or your own networks, a line each: "
        f"bandwidth_kbps, rtt_ms, loss, weight.  [default: {CURRENT}]",
    ),
    click.option(
        "--networks",
        callback=parse_networks,
        metavar="N|all",
        default=str(FEW_NETWORKS),
        show_default=True,
        help="Number of the population's networks to use; each stands for a group of like ones.",
    ),
    click.option(
        "--population-measured",
        metavar="YYYY-MM",
        help="Month in which the networks of FILE.csv were measured.",
    ),
    click.option(
        "--population-source",
        metavar="TEXT",
        help="Source of the networks of FILE.csv; the report prints it.",
    ),
    click.option(
        "--pages",
        type=click.IntRange(1),
        help="Number of pages, sampled evenly by size.  [default: all]",
    ),
    click.option(
        "--seeds",
        type=click.IntRange(1, 1000),
        default=3,
        show_default=True,
        help="Loads of each page, network, window and condition; "
        "they differ in the start of the page and in the background traffic.",
    ),
    *CONDITION_OPTIONS,
    *EVERYONE_OPTIONS,
    click.option(
        "--responses", is_flag=True, help="Also write responses.parquet: times and flights of each response."
    ),
)


def in_words(seconds: float) -> str:
    """A time that somebody waits for, in minutes or hours.

    >>> in_words(163), in_words(20), in_words(5399), in_words(5400)
    ('3 minutes', '1 minute', '90 minutes', '1.5 hours')
    """
    minutes = max(1, round(seconds / 60))
    if seconds >= 1.5 * 3600:
        return f"{seconds / 3600:,.1f} hours"
    return "1 minute" if minutes == 1 else f"{minutes} minutes"


def replay_options(command: Command) -> Command:
    """Add OPTIONS to a command, which passes them to `plan_replay`."""
    for option in reversed(OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedReplay:
    """A replay before its first cell runs."""

    cells: Sequence[Cell]
    folder: Path
    """The folder that the replay is written to."""
    facts: dict[str, Any]
    """Everything that the cells depend on, for replay.json."""
    networks: str
    """What the networks are a part of."""
    windows: Sequence[int]
    """Windows of the pages' loads, a paced one for itself."""
    responses: bool

    @property
    def sentence(self) -> str:
        """The replay's extent and price in one line."""
        pages, networks, parameters = (self.facts[name] for name in ("recipes", "profiles", "parameters"))
        return (
            f"{pages['pages']:,} of {self.facts['pages_there']:,} pages, {len(networks)} networks "
            f"({self.networks}), {len(self.windows)} windows, {len(parameters['seeds'])} seeds: "
            f"{len(self.cells):,} loads, about {in_words(core_seconds(self.cells))} of a core"
        )

    @property
    def plan(self) -> dict[str, Any]:
        """The plan that all chunks state."""
        return plan_of(self.facts, self.cells, responses=self.responses)


def plan_replay(
    settings: Settings,
    *,
    crawl: str | None,
    recorded: bool,
    hars: tuple[Path, ...],
    logs: tuple[Path, ...],
    windows: tuple[int, ...],
    profiles: tuple[Profile, ...],
    population: str | None,
    population_measured: str | None,
    population_source: str | None,
    networks: int,
    pages: int | None,
    seeds: int,
    everyone: bool,
    everyone_pages: int,
    responses: bool,
    **conditions: Any,  # noqa: ANN401  # the options of conditions.py
) -> PlannedReplay:
    """The replay that the options describe; raises UsageError or one of EXPECTED."""
    profiles, populations, which = chosen_networks(
        settings, profiles, population, population_measured, population_source, networks=networks
    )
    source = find_source(settings, crawl=crawl, recorded=recorded, hars=hars, logs=logs)
    recipes = sample(source.recipes, pages or len(source.recipes))
    cells = plan(recipes, profiles, windows=windows, seeds=seeds, conditions=arms(**conditions))
    if everyone:
        some = sample(recipes, everyone_pages)
        known = {cell.id for cell in cells}
        cells += [cell for cell in everyone_cells(some, profiles, windows=windows) if cell.id not in known]
    facts_of_source = {**source.facts, "pages_there": len(source.recipes)}
    facts = plan_facts(
        cells,
        facts_of_source,
        commit=code_commit(settings.commit),
        rule_version=RULE_VERSION,
        populations=populations,
    )
    return PlannedReplay(
        cells=cells,
        folder=settings.replays / source.folder,
        facts=facts,
        networks=which,
        windows=windows,
        responses=responses,
    )


def everyone_cells(
    recipes: Sequence[Recipe], profiles: Sequence[Profile], *, windows: Sequence[int]
) -> list[Cell]:
    """Loads on a half-loaded line where all traffic has the window, and of the window in force by another
    route, one seed each."""
    half = [Conditions(neighbours=HALF_LOADED)]
    return [
        *plan(recipes, profiles, windows=windows, seeds=1, conditions=half),
        *plan(recipes, profiles, windows=[RULE.incumbent], seeds=1, conditions=[Conditions(alias=True)]),
    ]


def chosen_networks(
    settings: Settings,
    profiles: tuple[Profile, ...],
    population: str | None,
    measured: str | None,
    source: str | None,
    *,
    networks: int = MOST_ROWS,
) -> tuple[tuple[Profile, ...], tuple[Population, ...], str]:
    """The networks of a replay, the populations that weigh them, and which they are.

    Raises UsageError or PopulationError.
    """
    if profiles and population:
        raise click.UsageError("--population brings its own networks: leave --profiles out")
    if not population and (measured or source):
        raise click.UsageError("--population-measured and --population-source belong to --population")
    if profiles:
        return profiles, PAPER_POPULATIONS, "by --profiles"
    found = networks_of(settings, population or CURRENT, measured, source)
    chosen = representatives(found, networks)
    return chosen.profiles, chosen.populations, f"for the {len(found.profiles)} of {chosen.populations[0].id}"


def networks_of(settings: Settings, name: str, measured: str | None, source: str | None) -> CsvPopulation:
    """The networks of a CSV file, or of a stored population, which knows its month and source."""
    path = Path(name)
    if path.is_file() or path.suffix == ".csv":
        return read_population(path, measured=measured or "", source=source or "")
    if measured or source:
        raise click.UsageError("a stored population knows its month and source")
    return find_population(settings.populations, name)
