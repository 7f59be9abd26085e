"""Load pages of August 2025 beside copies that forgot their protocols, connections, Referers and headers.

python -m studies.forgetting FACTS ROUNDS

FACTS is the folder pages-2025-08 of facts (studies/recorded_pages). Loads the rounds that pairs.parquet does
not have yet, and writes them there and of it score.csv; without arguments, the latter alone.
"""

import dataclasses
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from firstflight.commands.replay.lab import find_lab
from firstflight.recorded import import_pages
from firstflight.settings import from_environment
from recordings.pages.same_sites import site_keys
from recordings.pages.sets import AUGUST_2025
from replay.networks.mlab.draws import DrawnNetwork, draw_networks
from replay.recipes.page_recipe import Recipe, read_recipes
from replay.runs.cells import Cell, make_cells
from replay.runs.policy import PACED, Policy
from replay.runs.run import replay
from studies.csv_table import write_table
from studies.forgetting.comparing import COPIES, FORGOTTEN, HEAD, PAIRS, RECORDED, SCHEMA, table_of
from studies.forgetting.forgotten import forget
from studies.recorded_pages.__main__ import write_set
from studies.recorded_pages.facts import RecordingFacts, read_recording
from studies.recorded_pages.rows import content_of, form_of

INCUMBENT, CANDIDATE = Policy(10), Policy(16, PACED)

SEED = 45

FIRST_ROUNDS, FEW, MORE = 5, 2, 4
"""Pages over each network of a round: few in the first rounds, more later, which costs less for a pair."""

SCORE = Path(__file__).with_name("score.csv")


def load(folder: Path, rounds: int) -> None:
    """Load every round, and write the pairs of all after each."""
    lab = find_lab(from_environment().cache_dir)
    recorded = read_recording(folder)
    recipes = {
        copy: recipes_of(recording)
        for copy, recording in ((RECORDED, recorded), (FORGOTTEN, forget(recorded, seed=SEED)))
    }
    recipes[FORGOTTEN] = {
        page: with_distances(recipe, recipes[RECORDED][page])
        for page, recipe in recipes[FORGOTTEN].items()
        if page in recipes[RECORDED]
    }
    both = sorted(set.intersection(*(set(of) for of in recipes.values())))
    print(f"{len(both)} pages", {copy: len(of) for copy, of in recipes.items()}, flush=True)
    tables = [pq.read_table(PAIRS)] if PAIRS.exists() else []
    for number in range(rounds_of(tables), rounds):
        began = time.monotonic()
        draws = choose(both, number)
        changes = {}
        for copy in COPIES:
            cells = cells_of(draws, recipes[copy])
            result = replay(lab, cells, guests=2)
            changes[copy] = changes_of(result.rows)
        tables.append(pairs_of(draws, recipes[RECORDED], changes))
        pq.write_table(pa.concat_tables(tables), PAIRS, compression="zstd", compression_level=19)
        print(number, len(tables[-1]), f"{time.monotonic() - began:.0f} s", flush=True)


def rounds_of(tables: Sequence[pa.Table]) -> int:
    """Return the number of rounds that are stored; a network's name has that of its round."""
    return len({name.split("-")[-2] for table in tables for name in table["network"].to_pylist()})


def recipes_of(recording: RecordingFacts) -> dict[int, Recipe]:
    """Return the recipes of a recording's pages by number, by way of a release as every replay's are."""
    with tempfile.TemporaryDirectory() as place:
        write_set(Path(place) / "set", content_of(recording), form=form_of(recording))
        settings = dataclasses.replace(from_environment(), data_dir=Path(place) / "data")
        release = import_pages(settings, Path(place) / "set").release
        return {recipe.visit_id: recipe for recipe in read_recipes(release)}


def with_distances(recipe: Recipe, recorded: Recipe) -> Recipe:
    """Return a recipe whose origins are as far as those of the recorded page: distances are not what is
    asked."""
    distances = {origin.host: origin.distance_us for origin in recorded.origins}
    origins = tuple(
        dataclasses.replace(origin, distance_us=distances.get(origin.host, origin.distance_us))
        for origin in recipe.origins
    )
    return dataclasses.replace(recipe, origins=origins)


Draws = Sequence[tuple[DrawnNetwork, int]]
"""Networks, each with the number of a page."""


def choose(pages: Sequence[int], number: int) -> Draws:
    """Return the draws of a round: pages at random over networks of every stratum."""
    networks = draw_networks([number], seed=SEED)
    random = np.random.default_rng([SEED, number])
    pages_a_network = FEW if number < FIRST_ROUNDS else MORE
    return [
        (network, int(page))
        for network in networks
        for page in random.choice(pages, pages_a_network, replace=False)
    ]


def cells_of(draws: Draws, recipes: Mapping[int, Recipe]) -> list[Cell]:
    """Return the loads of the draws by both policies."""
    return [
        cell
        for network, page in draws
        for cell in make_cells([recipes[page]], [network.profile], policies=(INCUMBENT, CANDIDATE), seeds=1)
    ]


def changes_of(rows: Sequence[Mapping[str, object]]) -> dict[tuple[str, int], tuple[float, float]]:
    """Return the change of the logarithm of page time and of the share sent again, by network and page."""
    loads: dict[tuple[str, int], dict[str, tuple[float, float]]] = {}
    for row in rows:
        if row["state"] == "done":
            key = str(row["profile"]), int(str(row["visit_id"]))
            page_ms, again, payload = (
                float(str(row[name])) for name in ("page_ms", "bytes_retransmitted", "payload_bytes")
            )
            loads.setdefault(key, {})[str(row["policy"])] = (np.log(page_ms), 100 * again / payload)
    return {
        key: (of[str(CANDIDATE)][0] - of[str(INCUMBENT)][0], of[str(CANDIDATE)][1] - of[str(INCUMBENT)][1])
        for key, of in loads.items()
        if len(of) == len((INCUMBENT, CANDIDATE))
    }


def pairs_of(
    draws: Draws,
    recipes: Mapping[int, Recipe],
    changes: Mapping[str, Mapping[tuple[str, int], tuple[float, float]]],
) -> pa.Table:
    """Return the draws whose loads are all complete."""
    return pa.Table.from_pylist(list(_rows(draws, recipes, changes)), schema=SCHEMA)


def _rows(
    draws: Draws,
    recipes: Mapping[int, Recipe],
    changes: Mapping[str, Mapping[tuple[str, int], tuple[float, float]]],
) -> Iterator[dict[str, object]]:
    sites = site_keys(AUGUST_2025)
    for network, page in draws:
        of = [changes[copy].get((network.profile.id, page)) for copy in COPIES]
        if any(change is None for change in of):
            continue
        yield {
            "page": page,
            "site": sites[page],
            "network": network.profile.id,
            "stratum": network.stratum,
            "share": network.weight,
            "round_trip_ms": round_trip_ms(network, recipes[page]),
        } | {
            f"{name}_{copy}": change[place]
            for copy, change in zip(COPIES, of, strict=True)
            for place, name in enumerate(("log_time", "resent_pp"))
            if change is not None
        }


def round_trip_ms(network: DrawnNetwork, recipe: Recipe) -> float:
    """Return the round trip to the server of the main document."""
    (cell,) = make_cells([recipe], [network.profile], policies=(INCUMBENT,), seeds=1)
    document = next(object_ for object_ in recipe.objects if object_.is_document)
    return (network.profile.rtt_us + cell.origins[document.origin].distance_us) / 1000


def score() -> None:
    rows = list(table_of(pq.read_table(PAIRS)))
    write_table(SCORE, HEAD, rows)
    for row in rows:
        print(*row, sep="; ")


if __name__ == "__main__":
    if len(sys.argv) > 1:
        load(Path(sys.argv[1]), int(sys.argv[2]))
    score()
