"""The same pages in the replay: recipes of their crawl's release, over the same networks,
without other traffic."""

import dataclasses
from collections.abc import Mapping, Sequence
from pathlib import Path

from releases.catalogue import Release
from replay.lab.guest_process import Lab
from replay.networks.profiles import Profile
from replay.recipes.page_recipe import read_recipes
from replay.recipes.release_rows import rows
from replay.runs.cells import make_cells
from replay.runs.conditions import PLAIN, Neighbours
from replay.runs.policy import at_once
from replay.runs.responses import response_tables
from replay.runs.run import replay
from studies.page_loads.comparing import Load
from studies.page_loads.networks import WINDOWS
from studies.page_loads.serving import CONGESTION_CONTROL

CONDITIONS = dataclasses.replace(PLAIN, congestion_control=CONGESTION_CONTROL, neighbours=Neighbours())
"""Nobody else at the bottleneck, as on the real path."""


def replay_release(lab: Lab, release: Release, networks: Sequence[Profile], guests: int) -> list[Load]:
    """Replay all pages of a release; one seed, since without other traffic nothing is left to chance."""
    recipes = read_recipes(release)
    cells = make_cells(recipes, networks, policies=at_once(*WINDOWS), seeds=1, conditions=(CONDITIONS,))
    result = replay(lab, cells, guests=guests, responses=True)
    bad = [row for row in result.rows if row["state"] != "done"]
    if bad:
        raise RuntimeError(f"{len(bad)} cells are not done, the first because: {bad[0]['reason']}")
    urls = _urls(release)
    visits = {recipe.page: recipe.visit_id for recipe in recipes}
    loads = []
    for row, table in zip(result.rows, response_tables(result), strict=True):
        loads.append(
            Load(
                network=row["profile"],
                page=row["page"],
                iw=row["iw"],
                page_ms=row["page_ms"],
                document_ms=row["document_ms"],
                first_byte_ms=row["first_byte_ms"],
                responses={
                    urls[visits[row["page"]], response["response_id"]]: response["last_byte_ms"]
                    - response["sent_ms"]
                    for response in table.to_pylist()
                },
            )
        )
    return loads


def _urls(release: Release) -> Mapping[tuple[int, int], str]:
    """Return the URLs without their scheme, by visit and response."""
    return {(row["visit_id"], row["id"]): row["host"] + row["path"] for row in rows(release, "response")}


def release_of(folder: Path) -> Path:
    """Return the folder of the only release below a folder."""
    return next(folder.glob("releases/*/*/*/*/*/version=1"))
