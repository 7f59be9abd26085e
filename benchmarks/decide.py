"""Measures what an answer costs: decisions over the recorded pages, each with networks, pages and random
events of its own.

python -m benchmarks.decide [--runs 3] [--budget 30]

Runs are counted from 2: run 1 is the edition's own, with a larger budget. The stages of a run are kept in
build/bench/decide: the same command goes on where it stopped. The rule is asked by itself, without a
back-cast, which costs the same loads in every year.
"""

import argparse
import os
import subprocess
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from pathlib import Path

from benchmarks import results
from verdict.judgement import judge
from verdict.replayed import policies_of_stages
from verdict.stages import read_stages

FIRST_RUN = 2
"""The first run after the edition's own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What a run decided, and what it cost."""

    run: int
    answer: str
    is_settled: bool
    verdicts: dict[str, str]
    core_minutes: float
    loads: int
    peak_mb: float
    """Most memory of the largest of the command's processes."""


def decide_once(number: int, *, budget: float) -> Run:
    """Return the outcome of a run by firstflight's own command; its progress goes to standard error."""
    command = [sys.executable, "-m", "firstflight", "replay", "run", "edition"]
    for value in (f"run={number}", f"budget_minutes={budget:g}", "arms=[]"):
        command += ["--set", value]
    environment = os.environ | {"FIRSTFLIGHT_DATA_DIR": str((results.FOLDER / "decide").resolve())}
    with subprocess.Popen(command, env=environment, stdout=subprocess.PIPE, text=True) as process:
        printed = process.stdout.read() if process.stdout else ""
        _, status, used = os.wait4(process.pid, 0)
        process.returncode = os.waitstatus_to_exitcode(status)
    if process.returncode:
        sys.exit(
            f"run {number} ended with exit code {process.returncode}; the same command goes on from its last "
            "stage"
        )
    return read_run(number, Path(printed.splitlines()[-1]).parent, peak_mb=used.ru_maxrss / 1000)


def read_run(number: int, folder: Path, *, peak_mb: float) -> Run:
    """Return what the stages in a decision's folder say, by the rule alone."""
    tables, facts = read_stages(folder)
    pages = policies_of_stages(tables, facts).pages
    answer = judge(pages.looks, pages.rule, ends=True, everyone=pages.everyone)
    return Run(
        run=number,
        answer=f"{answer.kind}: IW {answer.policy}",
        is_settled=answer.is_settled,
        verdicts={str(judgement.policy): judgement.standing for judgement in answer.judgements},
        core_minutes=round(sum(fact["core_s"] for fact in facts) / 60, 1),
        loads=sum(len(table) for table in tables),
        peak_mb=round(peak_mb, 1),
    )


def find_contradictions(runs: Sequence[Run]) -> list[str]:
    """Return the candidates that are worth it by one run, and not worth it by another."""
    windows = dict.fromkeys(window for run in runs for window in run.verdicts)
    return [
        window
        for window in windows
        if {"worth it", "not worth it"} <= {run.verdicts.get(window) for run in runs}
    ]


def main() -> None:
    """Run, print each answer, and write build/bench/decide.json."""
    parser = argparse.ArgumentParser(prog="scripts/bench decide", description=__doc__.partition("\n\n")[0])
    parser.add_argument(
        "--runs", type=int, default=3, choices=range(1, 101), metavar="N", help="runs (default 3)"
    )
    parser.add_argument(
        "--budget", type=float, default=30, metavar="MINUTES", help="minutes of a core a run (default 30)"
    )
    arguments = parser.parse_args()
    facts = results.provenance()
    runs: list[Run] = []
    for number in range(FIRST_RUN, FIRST_RUN + arguments.runs):
        runs.append(decide_once(number, budget=arguments.budget))
        print(f"run {number}: {runs[-1].answer}", flush=True)
        path = results.write(
            "decide",
            facts | {"budget_minutes": arguments.budget, "runs": [asdict(run) for run in runs]},
        )
    print(path)


if __name__ == "__main__":
    main()
