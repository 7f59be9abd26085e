"""Plays simulated worlds through the rule's intervals, the rule and a replay in stages, and writes the tables into docs/methods.md.

python -m benchmarks.simulations [--repetitions 1000] [--only fixed|stages]

Results are kept in build/bench/simulations.json and stages.json: the same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import functools
import json
from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks import results
from benchmarks.simulations import characteristics, coverage, staged, staged_text

DOCUMENT = Path("docs/methods.md")
STEP = 50

Run = Callable[[int, int], collections.Counter[str]]
"""Plays the draws of a world from one number to another."""


def text(
    covered: list[coverage.Coverage], verdicts: Mapping[str, Mapping[str, int]], repetitions: int
) -> str:
    """Both tables of fixed sizes."""
    return (
        f"How often intervals of 95 % hold the truth, in {repetitions:,} draws of each world:\n\n{coverage.markdown(covered)}\n"
        f"The rule's answer in {repetitions:,} draws of each world, with {characteristics.PAGES} pages and "
        f"{characteristics.SEEDS} seeds:\n\n{characteristics.markdown(verdicts)}"
    )


def put(document: str, mark: str, tables: str) -> str:
    """The document with the tables between the two lines of a mark."""
    begin, end = f"<!-- {mark}: begin -->\n", f"<!-- {mark}: end -->\n"
    before, rest = document.split(begin)
    return before + begin + tables + end + rest.split(end)[1]


def main() -> None:
    """Play every world, keep the counts as they come, and write the tables."""
    parser = argparse.ArgumentParser(prog="scripts/bench simulations", description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=1000, help="draws of each world (default 1000)")
    parser.add_argument(
        "--only",
        choices=["fixed", "stages"],
        help="fixed: the tables of fixed sizes; stages: the one of stages",
    )
    told = parser.parse_args()
    if told.only != "stages":
        write("simulations", fixed(told.repetitions))
    if told.only != "fixed":
        write("stages", in_stages(told.repetitions))


def write(mark: str, tables: str) -> None:
    """Put tables into the document."""
    DOCUMENT.write_text(put(DOCUMENT.read_text(encoding="utf-8"), mark, tables), encoding="utf-8")


def fixed(repetitions: int) -> str:
    """Coverage, and answers of the rule to loads of a fixed number."""
    runs = {
        world.id: (functools.partial(characteristics.run, world), repetitions)
        for world in characteristics.WORLDS
    }
    whole = played("simulations", runs)
    covered = [
        coverage.coverage(world, repetitions=repetitions)
        for world in tqdm(coverage.WORLDS, unit="world", disable=None)
    ]
    whole["coverage"] = [dataclasses.asdict(one) for one in covered]
    print(results.write("simulations", whole))
    return text(covered, whole["verdicts"], repetitions)


def in_stages(repetitions: int) -> str:
    """Answers of replays in stages."""
    runs = {
        staged_text.key(world, setting): (functools.partial(staged.run, world, setting), repetitions)
        for setting in staged.SETTINGS
        for world in characteristics.WORLDS
    }
    whole = played("stages", runs)
    return staged_text.text(whole["verdicts"], commit=whole["commit"][:8], date=whole["measured_at"][:10])


def played(name: str, runs: Mapping[str, tuple[Run, int]]) -> dict[str, Any]:
    """Play so many draws of each run, going on with those that the same commit kept, and keep the counts as they come."""
    facts = results.provenance()
    path = results.FOLDER / f"{name}.json"
    earlier = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    same = earlier.get("commit") == facts["commit"] and not facts["commit"].endswith("-dirty")
    counts: dict[str, dict[str, int]] = earlier["verdicts"] if same else {}
    whole: dict[str, Any] = facts | {"verdicts": counts}
    with tqdm(total=sum(most for _, most in runs.values()), unit="draw", disable=None) as progress:
        for key, (run, most) in runs.items():
            done = sum(counts.get(key, {}).values())
            progress.update(min(done, most))
            for begin in range(done, most, STEP):
                end = min(begin + STEP, most)
                counts[key] = dict(collections.Counter(counts.get(key, {})) + run(begin, end))
                progress.update(end - begin)
                results.write(name, whole)
    return whole


if __name__ == "__main__":
    main()
