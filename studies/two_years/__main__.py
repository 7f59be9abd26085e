"""Load the pages of two years over the same networks, and compare what a larger window does to them.

python -m studies.two_years ROUNDS

Writes pairs.parquet beside this module, and of it verdict/two-years.json; without rounds, the latter alone.
"""

import dataclasses
import sys
import time
from collections.abc import Iterator
from typing import cast

import msgspec
import pyarrow.parquet as pq

from firstflight.commands.replay.lab import find_lab
from firstflight.commands.replay.sources import ReplaySource, release_source
from firstflight.commit import code_commit
from firstflight.recorded import import_pages
from firstflight.settings import Settings, from_environment
from recordings.pages.same_sites import site_keys
from recordings.pages.sets import SETS
from replay.recipes.page_recipe import Recipe
from replay.runs.facts import LoadsPlan
from studies.two_years.comparing import INCUMBENT, PAIRS, compare, pairs_of
from verdict.calibration import instrument
from verdict.question import STRATA, ReplayQuestion
from verdict.sampling import StagePlan
from verdict.stages import Stages
from verdict.two_years import ALIKE, ALL, CANDIDATE, RESULTS, SAME, YEARS

RUN = 60
"""Seed of the networks and pages."""

ROUND = StagePlan(
    networks=dict.fromkeys(STRATA, 2), pages=4, windows=(INCUMBENT, CANDIDATE), again=0.0, everyone=()
)
"""The loads of a round for one kind of pages of one year."""


ALIKE_ROUND = dataclasses.replace(ROUND, networks=dict.fromkeys(STRATA, 3))
"""The one round of pages whose recorders are made alike."""


def load(rounds: int) -> None:
    """Load the rounds that are not stored yet, and write the pairs of all."""
    settings = from_environment()
    stages = dict(questions(settings))
    loaded = {}
    for number in range(1, rounds + 1):
        for (pages, year), stages_of_year in stages.items():
            if pages == ALIKE and number > 1:
                continue
            began = time.monotonic()
            loaded[pages, year] = stages_of_year([ALIKE_ROUND if pages == ALIKE else ROUND] * number)
            seconds = loaded[pages, year].seconds
            print(
                number,
                pages,
                year,
                f"{seconds:.0f} s of a core, {time.monotonic() - began:.0f} s",
                flush=True,
            )
    table = pairs_of({key: loads.evidence for key, loads in loaded.items()})
    pq.write_table(table, PAIRS, compression="zstd", compression_level=19)


def write_results() -> None:
    table = pq.read_table(PAIRS)
    results = {pages: compare(table, pages) for pages in (SAME, ALL, ALIKE)}
    RESULTS.write_bytes(msgspec.json.format(msgspec.json.encode(results)) + b"\n")


def questions(settings: Settings) -> Iterator[tuple[tuple[str, int], Stages]]:
    sources = {
        year: release_source(import_pages(settings, SETS[name]).release) for year, name in YEARS.items()
    }
    sites = {year: by_site(source, YEARS[year]) for year, source in sources.items()}
    shared = sorted(set.intersection(*(set(site) for site in sites.values())))
    lab = find_lab(settings.cache_dir)
    for pages in (SAME, ALL, ALIKE):
        for year, source in sources.items():
            recipes = source.recipes if pages == ALL else [sites[year][site] for site in shared]
            if pages == ALIKE:
                recipes = list(map(equalise, recipes))
            facts = {
                **source.facts,
                "commit": code_commit(settings.commit),
                **instrument(),
                "pages": pages,
            }
            folder = settings.replays / f"{source.folder}.two-years-{pages}"
            question = ReplayQuestion(recipes=recipes, incumbent=INCUMBENT, run=RUN)
            yield (pages, year), Stages(folder, question, lab, cast("LoadsPlan", facts), guests=1)


def equalise(recipe: Recipe) -> Recipe:
    """Return a page without pauses of browser, servers and resolvers, whose distances are all drawn."""
    return dataclasses.replace(
        recipe,
        origins=tuple(
            dataclasses.replace(origin, distance_us=None, resolver_delay_us=0) for origin in recipe.origins
        ),
        objects=tuple(
            dataclasses.replace(object_, browser_delay_us=0, server_delay_us=0, usual_delay_us=0)
            for object_ in recipe.objects
        ),
    )


def by_site(source: ReplaySource, name: str) -> dict[int, Recipe]:
    """Return the pages of sites that other sets have, under the number of the site: the same random events in
    every set."""
    keys = {page: int(site.removeprefix("site-")) for page, site in site_keys(name).items()}
    return {
        site: dataclasses.replace(recipe, page=f"site-{site}", visit_id=site)
        for recipe in source.recipes
        if (site := keys.get(recipe.visit_id)) is not None
    }


if __name__ == "__main__":
    if len(sys.argv) > 1:
        load(int(sys.argv[1]))
    write_results()
