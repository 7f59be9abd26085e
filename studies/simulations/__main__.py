"""Play simulated worlds through the rule's intervals, the rule and a replay in stages.

python -m studies.simulations [--repetitions 1000] [--only fixed|stages]

Counts are kept in build/bench/simulations.json and stages.json: the same command goes on where it stopped. At
the end the tables are written as CSV beside this module.
"""

import argparse
import collections
import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path

from tqdm import tqdm

from benchmarks import results
from studies.simulations import characteristics, coverage, staged, tables

FOLDER = Path(__file__).parent
STEP = 50

Run = Callable[[int, int], collections.Counter[str]]
"""Plays the draws of a world from one number to another."""


def main() -> None:
    """Play every world."""
    parser = argparse.ArgumentParser(
        prog="python -m studies.simulations", description=__doc__.partition("\n")[0]
    )
    parser.add_argument("--repetitions", type=int, default=1000, help="draws of each world (default 1000)")
    parser.add_argument(
        "--only",
        choices=["fixed", "stages"],
        help="fixed: the tables of fixed sizes; stages: the one of stages",
    )
    told = parser.parse_args()
    if told.only != "stages":
        fixed(told.repetitions)
    if told.only != "fixed":
        in_stages(told.repetitions)


def fixed(repetitions: int) -> None:
    """Count the coverage of intervals, and answers of the rule to loads of a fixed number."""
    runs = {
        world.id: (functools.partial(characteristics.run, world), repetitions)
        for world in characteristics.WORLDS
    }
    tables.write_rule(FOLDER, played("simulations", runs))
    covered = [
        coverage.coverage(world, repetitions=repetitions)
        for world in tqdm(coverage.WORLDS, unit="world", disable=None)
    ]
    tables.write_coverage(FOLDER, covered)


def in_stages(repetitions: int) -> None:
    """Count answers of replays in stages."""
    runs = {
        tables.key(world, setting): (functools.partial(staged.run, world, setting), repetitions)
        for setting in staged.SETTINGS
        for world in characteristics.WORLDS
    }
    tables.write_stages(FOLDER, played("stages", runs))


def played(name: str, runs: Mapping[str, tuple[Run, int]]) -> tables.Counts:
    """Play so many draws of each run, going on with those that the same commit kept,
    and keep the counts as they come."""
    facts = results.provenance()
    path = results.FOLDER / f"{name}.json"
    earlier = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    same = earlier.get("commit") == facts["commit"] and not facts["commit"].endswith("-dirty")
    counts: dict[str, dict[str, int]] = earlier["verdicts"] if same else {}
    with tqdm(total=sum(most for _, most in runs.values()), unit="draw", disable=None) as progress:
        for key, (run, most) in runs.items():
            done = sum(counts.get(key, {}).values())
            progress.update(min(done, most))
            for begin in range(done, most, STEP):
                end = min(begin + STEP, most)
                counts[key] = dict(collections.Counter(counts.get(key, {})) + run(begin, end))
                progress.update(end - begin)
                results.write(name, facts | {"verdicts": counts})
    return counts


if __name__ == "__main__":
    main()
