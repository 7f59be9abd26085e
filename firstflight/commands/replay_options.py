"""What a replay is asked for: the options that `firstflight replay plan`, `run` and `merge` share."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeVar

import click

from firstflight.commands.conditions import MOST_SEGMENTS, arms, conditions_options
from firstflight.commands.replay_sources import find_source, source_options
from firstflight.commit import code_commit
from releases import slow_start
from releases.catalogue import ReleaseError
from replay.errors import ReplayError
from replay.networks.population_csv import PopulationError, read_population
from replay.networks.populations import DECIDING, PROFILES, profiles_of
from replay.runs.cells import plan, sample
from replay.runs.chunks import plan_of
from replay.runs.replay_folder import plan_facts
from reports.recommendation.harm_conditions import CORE, HARM_CONDITIONS
from reports.recommendation.rule import RULE_VERSION
from storage.signatures import SigningFailed

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from firstflight.settings import Settings
    from replay.networks.profiles import Population, Profile
    from replay.runs.cells import Cell

Command = TypeVar("Command", bound="Callable[..., Any]")

EXPECTED = (ReplayError, ReleaseError, PopulationError, SigningFailed, OSError)

WINDOWS = ",".join(map(str, slow_start.WINDOWS))

MOST_WINDOWS = 48
"""A guest has room for 64 (lab/guest/main.c), those of the background and of competing downloads among them."""


def parse_windows(_ctx: click.Context, _option: click.Parameter, value: str) -> tuple[int, ...]:
    """Distinct numbers of segments, from a comma-separated list."""
    words = value.split(",")
    if not all(word.isascii() and word.isdecimal() and 1 <= int(word) <= MOST_SEGMENTS for word in words):
        raise click.BadParameter(
            f"{value!r} is no list of windows of 1 to {MOST_SEGMENTS} segments, such as {WINDOWS}"
        )
    found = tuple(dict.fromkeys(int(word) for word in words))
    if len(found) > MOST_WINDOWS:
        raise click.BadParameter(f"a guest has room for {MOST_WINDOWS} windows, and these are {len(found)}")
    return found


def parse_profiles(_ctx: click.Context, _option: click.Parameter, value: str | None) -> tuple[Profile, ...]:
    """Distinct profiles, from a comma-separated list of ids; none without one."""
    if value is None:
        return ()
    known = {one.id: one for one in PROFILES}
    words = list(dict.fromkeys(value.split(",")))
    if unknown := [word for word in words if word not in known]:
        raise click.BadParameter(f"no profile {', '.join(unknown)}; there are {', '.join(known)}")
    return tuple(known[word] for word in words)


OPTIONS = (
    click.option(
        "--iw",
        "windows",
        callback=parse_windows,
        metavar="N,...",
        default=WINDOWS,
        show_default=True,
        help="Initial windows of the servers, in segments.",
    ),
    click.option(
        "--profiles",
        callback=parse_profiles,
        metavar="ID,...",
        help="Networks by id: docs/populations.md has their families, an unknown id lists all.  [default: those that a recommendation rests on]",
    ),
    click.option(
        "--population",
        type=click.Path(path_type=Path, dir_okay=False, exists=True),
        metavar="FILE.csv",
        help="Networks of your own in place of --profiles, a line each: bandwidth_kbps, rtt_ms, loss, weight.",
    ),
    click.option("--population-measured", metavar="YYYY-MM", help="When those were measured; goes with it."),
    click.option("--population-source", metavar="TEXT", help="Where they come from; the report prints it."),
    click.option(
        "--pages",
        type=click.IntRange(1),
        help="So many of the pages, evenly spread over their sizes.  [default: all]",
    ),
    click.option(
        "--seeds",
        type=click.IntRange(1, 1000),
        default=3,
        show_default=True,
        help="Loads of each page, network, window and condition; they differ in when the page begins and in other "
        "people's traffic.",
    ),
    conditions_options,
    click.option(
        "--harm",
        type=click.Choice(["none", "core", "all"]),
        default="none",
        show_default=True,
        help="The harm conditions too (queues, other people's load, everyone at the window): core is what a "
        "recommendation needs.",
    ),
    click.option(
        "--harm-pages",
        type=click.IntRange(1),
        default=25,
        show_default=True,
        help="Pages that are replayed under them, evenly spread over their sizes.",
    ),
    click.option(
        "--responses", is_flag=True, help="Write responses.parquet too: times and flights of each response."
    ),
)


def replay_options(command: Command) -> Command:
    """All of them and the sources, on a command that passes them to `plan_replay`."""
    for option in reversed(OPTIONS):
        command = option(command)
    return source_options(command)


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedReplay:
    """A replay before its first cell."""

    cells: Sequence[Cell]
    folder: Path
    """Of what it leaves."""
    facts: dict[str, Any]
    """Every choice that its cells depend on."""
    responses: bool

    @property
    def plan(self) -> dict[str, Any]:
        """What all its chunks have in common."""
        return plan_of(self.facts, self.cells, responses=self.responses)


def plan_replay(
    settings: Settings,
    *,
    crawl: str | None,
    hars: tuple[Path, ...],
    logs: tuple[Path, ...],
    windows: tuple[int, ...],
    profiles: tuple[Profile, ...],
    population: Path | None,
    population_measured: str | None,
    population_source: str | None,
    pages: int | None,
    seeds: int,
    harm: str,
    harm_pages: int,
    responses: bool,
    **conditions: Any,  # noqa: ANN401  # the options of conditions.py
) -> PlannedReplay:
    """The cells of these options; UsageError, or one of EXPECTED."""
    populations: tuple[Population, ...] = DECIDING
    if population:
        if profiles:
            raise click.UsageError("--population brings its own networks: leave --profiles out")
        imported = read_population(
            population, measured=population_measured or "", source=population_source or ""
        )
        profiles, populations = imported.profiles, imported.populations
    elif population_measured or population_source:
        raise click.UsageError("--population-measured and --population-source belong to --population")
    profiles = profiles or profiles_of(populations)
    source = find_source(settings, crawl=crawl, hars=hars, logs=logs)
    recipes = sample(source.recipes, pages or len(source.recipes))
    cells = plan(recipes, profiles, windows=windows, seeds=seeds, conditions=arms(**conditions))
    if harm != "none":
        asked = [one.conditions for one in (CORE if harm == "core" else HARM_CONDITIONS)]
        some = sample(recipes, harm_pages)
        cells += plan(some, profiles, windows=windows, seeds=seeds, conditions=asked)
    facts = plan_facts(
        cells,
        {**source.facts, "pages_there": len(source.recipes)},
        commit=code_commit(settings.commit),
        rule_version=RULE_VERSION,
        populations=populations,
    )
    return PlannedReplay(
        cells=cells, folder=settings.replays / source.folder, facts=facts, responses=responses
    )
