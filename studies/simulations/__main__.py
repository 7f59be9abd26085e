"""Play simulated worlds through the engine: all candidates, stages and budget as a replay runs.

python -m studies.simulations [--repetitions 1000] [--minutes 30]

Writes verdicts-MINUTES.csv beside this module, a row a world as it ends.
"""

import argparse
import collections
import csv
import dataclasses
from collections.abc import Sequence
from pathlib import Path

import numpy as np
from tqdm import tqdm

from replay.runs.policy import Policy
from studies.simulations.worlds import STRATA, WORLDS, Replay, World
from verdict.deciding import Loaded, decide
from verdict.judgement import Answer
from verdict.rule import RULE, Rule
from verdict.sampling import Plan, Prices

PRICES = Prices(network=0.03, load=0.065)
"""Seconds of a core, about as 74,570 loads of the edition took."""

RULE_OF_WORLDS: Rule = dataclasses.replace(RULE, guards=())
"""Guards ask for loads of their own, after the verdict."""

COLUMNS = (
    "world",
    "budget_minutes",
    "replays",
    "wrong_percent",
    "open_percent",
    "wrong_verdicts_percent",
    "median_minutes",
    "settled_percent",
)


def main() -> None:
    """Play every world."""
    parser = argparse.ArgumentParser(prog="python -m studies.simulations")
    parser.add_argument("--repetitions", type=int, default=1000, help="replays of each world (default 1000)")
    parser.add_argument("--minutes", type=int, default=30, help="budget in minutes of a core (default 30)")
    options = parser.parse_args()
    path = Path(__file__).with_name(f"verdicts-{options.minutes}.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for world in WORLDS:
            writer.writerow(row(world, repetitions=options.repetitions, minutes=options.minutes))
            file.flush()


def row(world: World, *, repetitions: int, minutes: int) -> list[str | int | float]:
    """Return a world's row of the table."""
    counts: collections.Counter[str] = collections.Counter()
    used = []
    for seed in tqdm(range(repetitions), desc=world.id, disable=None):
        answer, fraction = play(world, np.random.default_rng([seed, 2]), minutes=minutes)
        used.append(fraction * minutes)
        counts.update(mistakes(world, answer))
    share = {
        name: round(100 * counts[name] / repetitions, 1) for name in ("wrong", "open", "verdict", "settled")
    }
    return [
        world.id,
        minutes,
        repetitions,
        share["wrong"],
        share["open"],
        share["verdict"],
        round(float(np.median(used)), 1),
        share["settled"],
    ]


def play(world: World, rng: np.random.Generator, *, minutes: int) -> tuple[Answer, float]:
    """Return the answer of one replay, and the part of the budget that it used."""
    replay = Replay(world, rng)

    def load(plans: Sequence[Plan]) -> Loaded:
        replay.load(plans[-1])
        seconds = sum(
            PRICES.network * sum(plan.networks.values()) + PRICES.load * plan.loads for plan in plans
        )
        return Loaded(evidence=replay.evidence(), everyone=None, seconds=seconds, prices=PRICES)

    *_, decision = decide(load, RULE_OF_WORLDS, strata=range(STRATA), budget_s=60 * minutes)
    return decision.answer, decision.looks[-1].fraction


def mistakes(world: World, answer: Answer) -> list[str]:
    """Return what is wrong or open about an answer, by the world's truth."""
    faults = []
    worth = [rival for rival in RULE_OF_WORLDS.rivals() if world.worth(rival)]
    if answer.kind == "no answer" or (answer.kind == "raise" and answer.window not in worth):
        faults.append("wrong")
    # At the price, the window in force stays by the rule itself.
    if answer.kind == "stays" and any(answer.of(window).verdict == "not worth it" for window in worth):
        faults.append("wrong")
    if answer.kind == "open":
        faults.append("open")
    if any(is_wrong(world, candidate.window, candidate.verdict) for candidate in answer.judgements):
        faults.append("verdict")
    if answer.is_settled:
        faults.append("settled")
    return faults


def is_wrong(world: World, window: Policy, verdict: str) -> bool:
    """Return whether a verdict contradicts the truth."""
    gain, resent = world.truth(window)
    benefit = (RULE.price_pp or 0) * gain - resent
    if verdict == "at the price":
        return abs(benefit) > RULE.zone_pp
    return (verdict == "worth it") != world.worth(window) if verdict != "open" else False


if __name__ == "__main__":
    main()
