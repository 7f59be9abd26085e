"""Measures how long the rule takes to an answer: recorded pages over M-Lab's world,
replayed until the answer is settled.

python -m benchmarks.decide [--runs 3] [--budget 45m] [--pages N]

Each run has other pairs of page and network and other random events. The stages of a run are kept in
build/bench/decide: the same command goes on where it stopped.
"""

import argparse
import json
import os
import subprocess
import sys
from typing import Any

from benchmarks import results

POPULATION = "mlab-2025-10"


def decided(number: int, arguments: argparse.Namespace) -> dict[str, Any]:
    """The outcome of a run by firstflight's own command; its progress goes to standard error."""
    command = [sys.executable, "-m", "firstflight", "replay", "run", "--recorded", "--population", POPULATION]
    command += ["--until", "decided", "--budget", arguments.budget, "--run", str(number), "--json"]
    if arguments.pages:
        command += ["--pages", str(arguments.pages)]
    environment = os.environ | {"FIRSTFLIGHT_DATA_DIR": str((results.FOLDER / "decide").resolve())}
    found = subprocess.run(command, env=environment, stdout=subprocess.PIPE, check=False)
    if found.returncode:
        sys.exit(
            f"run {number} ended with exit code {found.returncode}; "
            "the same command goes on from its last stage"
        )
    outcome: dict[str, Any] = json.loads(found.stdout)
    return outcome


def summary(runs: list[dict[str, Any]]) -> dict[str, Any]:
    """The answer of the first run, what it cost, and the answers of the others.

    None for an answer that is not settled.

    >>> one = {"answer": "IW 16", "is_settled": True, "possible_answers": ["IW 16"], "core_minutes": 20.0, "loads": 9}
    >>> two = one | {"answer": None, "is_settled": False, "possible_answers": ["no change", "IW 16"]}
    >>> found = summary([one, two])
    >>> found["answer"], found["is_settled"], found["answers_of_other_seeds"], found["is_contradicted"]
    ('IW 16', True, [None], False)
    >>> summary([one, one | {"answer": "no change", "possible_answers": ["no change"]}])["is_contradicted"]
    True
    """  # noqa: E501
    first, *others = runs
    left = set.intersection(*(set(run["possible_answers"]) for run in runs))
    return {
        **{name: first[name] for name in ("answer", "is_settled", "core_minutes", "loads")},
        "answers_of_other_seeds": [run["answer"] if run["is_settled"] else None for run in others],
        "is_contradicted": not left,
    }


def main() -> None:
    """Run, print each answer, and write build/bench/decide.json."""
    parser = argparse.ArgumentParser(prog="scripts/bench decide", description=__doc__.partition("\n")[0])
    parser.add_argument(
        "--runs", type=int, default=3, choices=range(1, 101), metavar="N", help="runs (default 3)"
    )
    parser.add_argument(
        "--budget", default="45m", metavar="TIME", help="most wall time of a run (default 45m)"
    )
    parser.add_argument("--pages", type=int, metavar="N", help="pages (default: all 591)")
    arguments = parser.parse_args()
    facts = results.provenance()
    runs = []
    for number in range(1, arguments.runs + 1):
        runs.append(decided(number, arguments))
        print(f"run {number}: {runs[-1]['sentence']}", flush=True)
        whole = (
            facts | {"budget": arguments.budget, "population": POPULATION} | summary(runs) | {"runs": runs}
        )
        path = results.write("decide", whole)
    print(path)


if __name__ == "__main__":
    main()
