"""Plays simulated worlds through the rule's intervals and through the rule, and writes both tables into docs/methods.md.

python -m benchmarks.simulations [--repetitions 1000]

Results are kept in build/bench/simulations.json: the same command goes on where it stopped.
"""

from __future__ import annotations

import argparse
import collections
import dataclasses
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from tqdm import tqdm

from benchmarks import results
from benchmarks.simulations import characteristics, coverage

DOCUMENT = Path("docs/methods.md")
BEGIN, END = "<!-- simulations: begin -->\n", "<!-- simulations: end -->\n"
STEP = 50


def text(
    covered: list[coverage.Coverage], verdicts: Mapping[str, Mapping[str, int]], repetitions: int
) -> str:
    """Both tables."""
    return (
        f"How often intervals of 95 % hold the truth, in {repetitions:,} draws of each world:\n\n{coverage.markdown(covered)}\n"
        f"The rule's answer in {repetitions:,} draws of each world, with {characteristics.PAGES} pages and "
        f"{characteristics.SEEDS} seeds:\n\n{characteristics.markdown(verdicts)}"
    )


def put(document: str, tables: str) -> str:
    """The document with the tables between their marks."""
    before, rest = document.split(BEGIN)
    return before + BEGIN + tables + END + rest.split(END)[1]


def main() -> None:
    """Play every world, keep the counts as they come, and write the tables."""
    parser = argparse.ArgumentParser(prog="scripts/bench simulations", description=__doc__.partition("\n")[0])
    parser.add_argument("--repetitions", type=int, default=1000, help="draws of each world (default 1000)")
    repetitions: int = parser.parse_args().repetitions
    facts = results.provenance()
    path = results.FOLDER / "simulations.json"
    earlier = json.loads(path.read_text(encoding="utf-8")) if path.exists() else {}
    same = earlier.get("commit") == facts["commit"] and not facts["commit"].endswith("-dirty")
    counts: dict[str, dict[str, int]] = earlier["verdicts"] if same else {}
    whole: dict[str, Any] = facts | {"repetitions": repetitions, "verdicts": counts}
    with tqdm(total=repetitions * len(characteristics.WORLDS), unit="draw", disable=None) as progress:
        for world in characteristics.WORLDS:
            done = sum(counts.get(world.id, {}).values())
            progress.update(min(done, repetitions))
            for begin in range(done, repetitions, STEP):
                end = min(begin + STEP, repetitions)
                found = characteristics.run(world, begin, end)
                counts[world.id] = dict(collections.Counter(counts.get(world.id, {})) + found)
                progress.update(end - begin)
                results.write("simulations", whole)
    covered = [
        coverage.coverage(world, repetitions=repetitions)
        for world in tqdm(coverage.WORLDS, unit="world", disable=None)
    ]
    whole["coverage"] = [dataclasses.asdict(one) for one in covered]
    print(results.write("simulations", whole))
    DOCUMENT.write_text(
        put(DOCUMENT.read_text(encoding="utf-8"), text(covered, counts, repetitions)), encoding="utf-8"
    )


if __name__ == "__main__":
    main()
