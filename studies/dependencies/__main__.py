"""Score inferred parents, and replay the same pages by inferred and by recorded ones."""

import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

import numpy as np

from firstflight.commands.replay.lab import find_lab
from firstflight.settings import from_environment
from replay.lab.guest_process import Lab
from replay.networks.mlab.draws import DrawnNetwork, draw_networks
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import make_cells, sample
from replay.runs.policy import PACED, Policy
from replay.runs.run import replay
from studies.csv_table import write_table
from studies.dependencies.pages import RECORDED, Page, read_pages, recipe_of
from studies.recorded_pages.initiators import INFERRED, REDIRECT

PAGES, NETWORKS_A_PAGE, SEED = 160, 8, 1
POLICIES = (Policy(10), Policy(16), Policy(16, PACED))
HEAD = ("what", "inferred", "recorded", "difference")
HERE = Path(__file__).parent


def main(folder: Path) -> None:
    pages = list(read_pages(folder))
    write_table(HERE / "scores.csv", ("rule", "requests", "right_percent"), scores(pages))
    both = {
        number: (inferred, recorded)
        for number, page in enumerate(pages)
        if (inferred := recipe_of(page, page.inferred)) and (recorded := recipe_of(page, page.recorded))
    }
    chosen = {recipe.visit_id for recipe in sample([pair[0] for pair in both.values()], PAGES)}
    pairs = [pair for pair in both.values() if pair[0].visit_id in chosen]
    depths = [median(pair[place].depth for pair in pairs) for place in (0, 1)]
    rows: list[Sequence[object]] = [("depth, median", *depths, depths[0] - depths[1])]
    rows += gains(pairs)
    write_table(HERE / "gains.csv", HEAD, rows)
    for row in rows:
        print(*row)


def scores(pages: Sequence[Page]) -> list[tuple[object, ...]]:
    """Return the share of right parents by the rule that inferred them, where Chrome named one."""
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
    """Return the page time saved by each window, by both kinds of dependencies over the same networks."""
    lab = find_lab(from_environment().cache_dir)
    lines = draw_networks(range(NETWORKS_A_PAGE), seed=SEED)
    random = np.random.default_rng(SEED)
    logs: dict[str, np.ndarray[Any, Any]] = {}
    shares = np.array([line.weight for line in lines]) / NETWORKS_A_PAGE
    networks = [
        [lines[place] for place in random.choice(len(lines), NETWORKS_A_PAGE, replace=False, p=shares)]
        for _ in pairs
    ]
    for place, name in enumerate(("inferred", "recorded")):
        logs[name] = page_logs([pair[place] for pair in pairs], networks, lab)
    gains: list[tuple[object, ...]] = []
    for at, policy in enumerate(POLICIES[1:], start=1):
        effects = {name: page_effects[:, at] - page_effects[:, 0] for name, page_effects in logs.items()}
        texts = [gain_text(effects[name]) for name in ("inferred", "recorded")]
        gains.append((f"G of {policy}, %", *texts, gain_text(effects["inferred"] - effects["recorded"])))
    return gains


def gain_text(effects: np.ndarray[Any, Any]) -> str:
    """Return the gain in per cent with its standard error over pages."""
    gain = 100 * (1 - np.exp(effects.mean()))
    return f"{gain:.2f} ± {100 * effects.std(ddof=1) / np.sqrt(len(effects)):.2f}"


def page_logs(
    recipes: Sequence[Recipe], networks: Sequence[Sequence[DrawnNetwork]], lab: Lab
) -> np.ndarray[Any, Any]:
    """Return the mean logarithm of page time [page, window]; networks were drawn by their weights."""
    cells = [
        cell
        for recipe, page_networks in zip(recipes, networks, strict=True)
        for cell in make_cells(
            [recipe], [network.profile for network in page_networks], policies=POLICIES, seeds=1
        )
    ]
    rows = replay(lab, cells, guests=2).rows
    times: dict[tuple[str, str], dict[str, float]] = {}
    for row in rows:
        if row["state"] == "done":
            times.setdefault((row["page"], row["profile"]), {})[row["policy"]] = np.log(row["page_ms"])
    whole = {key: by_policy for key, by_policy in times.items() if len(by_policy) == len(POLICIES)}
    return np.array(
        [
            np.mean(
                [
                    [by_policy[str(policy)] for policy in POLICIES]
                    for (page, _), by_policy in whole.items()
                    if page == recipe.page
                ],
                axis=0,
            )
            for recipe in recipes
        ]
    )


if __name__ == "__main__":
    main(Path(sys.argv[1]))
