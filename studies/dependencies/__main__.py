"""Score inferred parents, and replay the same pages by inferred and by recorded ones."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from firstflight.settings import from_environment
from recordings.pages.initiators import INFERRED, REDIRECT
from replay.lab import kernel, player
from replay.lab.guest_process import Lab
from replay.networks.mlab.draws import DrawnNetwork, draw_networks
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import plan, sample
from replay.runs.initial_window import Paced
from replay.runs.run import replay
from studies.csv_table import write_table
from studies.dependencies.pages import RECORDED, Page, read_pages, recipe_of

PAGES, NETWORKS_A_PAGE, SEED = 160, 8, 1
WINDOWS = (10, 16, Paced(16))
HEAD = ("what", "inferred", "recorded", "difference")
HERE = Path(__file__).parent


def main(folder: Path) -> None:
    """Write scores.csv and gains.csv."""
    pages = list(read_pages(folder))
    write_table(HERE / "scores.csv", ("rule", "requests", "right_percent"), scores(pages))
    both = {
        number: (inferred, recorded)
        for number, one in enumerate(pages)
        if (inferred := recipe_of(one, one.inferred)) and (recorded := recipe_of(one, one.recorded))
    }
    chosen = {one.visit_id for one in sample([pair[0] for pair in both.values()], PAGES)}
    pairs = [pair for pair in both.values() if pair[0].visit_id in chosen]
    depths = [median(pair[place].depth for pair in pairs) for place in (0, 1)]
    rows: list[Sequence[object]] = [("depth, median", *depths, depths[0] - depths[1])]
    rows += gains(pairs)
    write_table(HERE / "gains.csv", HEAD, rows)
    for row in rows:
        print(*row)


def scores(pages: Sequence[Page]) -> list[tuple[object, ...]]:
    """Share of right parents by the rule that inferred them, where Chrome named one."""
    of_rule: Counter[str] = Counter()
    right: Counter[str] = Counter()
    for page in pages:
        for inferred, recorded in zip(page.inferred, page.recorded, strict=True):
            if recorded.rule != RECORDED or inferred.rule == REDIRECT:
                continue
            for rule in (inferred.rule, "all", *(("inferred",) if inferred.rule in INFERRED else ())):
                of_rule[rule] += 1
                right[rule] += inferred.entry == recorded.entry
    return [(rule, count, f"{100 * right[rule] / count:.1f}") for rule, count in of_rule.most_common()]


def gains(pairs: Sequence[tuple[Recipe, Recipe]]) -> list[tuple[object, ...]]:
    """Page time saved by each window, by both kinds of dependencies over the same networks."""
    cache = from_environment().cache_dir
    lab = Lab(kernel=kernel.locate(cache), player=player.build_player(cache, print))
    drawn = draw_networks(range(NETWORKS_A_PAGE), seed=SEED)
    random = np.random.default_rng(SEED)
    logs: dict[str, np.ndarray[Any, Any]] = {}
    shares = np.array([one.weight for one in drawn]) / NETWORKS_A_PAGE
    networks = [
        [drawn[place] for place in random.choice(len(drawn), NETWORKS_A_PAGE, replace=False, p=shares)]
        for _ in pairs
    ]
    for place, name in enumerate(("inferred", "recorded")):
        logs[name] = page_logs([pair[place] for pair in pairs], networks, lab)
    found: list[tuple[object, ...]] = []
    for at, window in enumerate(WINDOWS[1:], start=1):
        effects = {name: some[:, at] - some[:, 0] for name, some in logs.items()}
        texts = [gain_text(effects[name]) for name in ("inferred", "recorded")]
        found.append((f"G of {window!r}, %", *texts, gain_text(effects["inferred"] - effects["recorded"])))
    return found


def gain_text(effects: np.ndarray[Any, Any]) -> str:
    """Gain in per cent with its standard error over pages."""
    gain = 100 * (1 - np.exp(effects.mean()))
    return f"{gain:.2f} ± {100 * effects.std(ddof=1) / np.sqrt(len(effects)):.2f}"


def page_logs(
    recipes: Sequence[Recipe], networks: Sequence[Sequence[DrawnNetwork]], lab: Lab
) -> np.ndarray[Any, Any]:
    """Mean logarithm of page time [page, window]; networks were drawn by their weights."""
    cells = [
        cell
        for recipe, some in zip(recipes, networks, strict=True)
        for cell in plan([recipe], [one.profile for one in some], windows=WINDOWS, seeds=1)
    ]
    rows = replay(lab, cells, guests=2).rows
    times: dict[tuple[str, str], dict[int, float]] = {}
    for row in rows:
        if row["state"] == "done":
            window = Paced(row["iw"]) if row["pacing"] else row["iw"]
            times.setdefault((row["page"], row["profile"]), {})[window] = np.log(row["page_ms"])
    whole = {key: some for key, some in times.items() if len(some) == len(WINDOWS)}
    return np.array(
        [
            np.mean(
                [
                    [some[window] for window in WINDOWS]
                    for (page, _), some in whole.items()
                    if page == recipe.page
                ],
                axis=0,
            )
            for recipe in recipes
        ]
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
