"""Play simulated worlds through the engine: all candidates, stages and budget as a replay runs.

python -m studies.simulations [--repetitions 400] [--minutes 30] [--world "no effect"]

Writes verdicts-rule-7-MINUTES.csv beside this module, a row a world as it ends.
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
from studies.simulations.worlds import STRATA, WORLDS, Replay, World, truth
from verdict.deciding import Loaded, decide, first_windows
from verdict.judgement import ListAnswer
from verdict.rule import RULE, VERSION
from verdict.sampling import Prices, StagePlan

PRICES = Prices(network=0.03, load=0.065)
"""Seconds of a core, about as 74,570 loads of the edition took."""

RULE_ALONE = dataclasses.replace(RULE, guards=())
"""The rule without guards, which ask for loads of their own."""


def is_worth(world: World, policy: Policy) -> bool:
    """Return whether a policy is worth it per load, and in sum not further below the price than noise
    hides."""
    return (
        _per_load(world, policy) >= 0
        and truth(world, policy).gain_touched >= RULE.worthwhile_percent
        and _in_sum(world, policy) >= -RULE.noise_pp
    )


def is_refutable(world: World, policy: Policy) -> bool:
    """Return whether a policy is below the price in either unit, or saves too little."""
    return (
        _per_load(world, policy) < 0
        or _in_sum(world, policy) < 0
        or truth(world, policy).gain_touched < RULE.worthwhile_percent
    )


def is_near(world: World, policy: Policy) -> bool:
    """Return whether the net benefit per load is within the zone in truth."""
    return abs(_per_load(world, policy)) <= RULE.zone_pp


def _per_load(world: World, policy: Policy) -> float:
    effects = truth(world, policy)
    return RULE.price_per_load_pp * effects.gain - effects.resent


def _in_sum(world: World, policy: Policy) -> float:
    effects = truth(world, policy)
    return RULE.price_in_sum_pp * effects.gain_in_sum - effects.resent_in_sum


COLUMNS = (
    "rule",
    "world",
    "budget_minutes",
    "replays",
    "wrong_percent",
    "open_percent",
    "raised_percent",
    "wrong_verdicts_percent",
    "median_minutes",
    "settled_percent",
)


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m studies.simulations")
    parser.add_argument("--repetitions", type=int, default=400, help="replays of each world (default 400)")
    parser.add_argument("--minutes", type=int, default=30, help="budget in minutes of a core (default 30)")
    parser.add_argument("--world", choices=[world.id for world in WORLDS], help="one world alone, printed")
    options = parser.parse_args()

    def row_of(world: World) -> list[str | int | float]:
        return row(world, repetitions=options.repetitions, minutes=options.minutes)

    if options.world:
        print(*row_of(next(world for world in WORLDS if world.id == options.world)), sep=",")
        return
    path = Path(__file__).with_name(f"verdicts-rule-{VERSION}-{options.minutes}.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for world in WORLDS:
            writer.writerow(row_of(world))
            file.flush()


def row(world: World, *, repetitions: int, minutes: int) -> list[str | int | float]:
    counts: collections.Counter[str] = collections.Counter()
    used = []
    for seed in tqdm(range(repetitions), desc=world.id, disable=None):
        answer, fraction = play(world, np.random.default_rng([seed, 2]), minutes=minutes)
        used.append(fraction * minutes)
        counts.update(mistakes(world, answer))
    share = {
        name: round(100 * counts[name] / repetitions, 1)
        for name in ("wrong", "open", "raise", "verdict", "settled")
    }
    return [
        VERSION,
        world.id,
        minutes,
        repetitions,
        share["wrong"],
        share["open"],
        share["raise"],
        share["verdict"],
        round(float(np.median(used)), 1),
        share["settled"],
    ]


def play(world: World, rng: np.random.Generator, *, minutes: int) -> tuple[ListAnswer, float]:
    """Return the answer of one replay, and the part of the budget that it used."""
    replay = Replay(world, rng, first_windows(RULE_ALONE))

    def load(plans: Sequence[StagePlan]) -> Loaded:
        replay.load(plans[-1])
        seconds = sum(
            PRICES.network * sum(plan.networks.values()) + PRICES.load * plan.loads for plan in plans
        )
        return Loaded(evidence=replay.evidence(), everyone=None, seconds=seconds, prices=PRICES)

    *_, decision = decide(load, RULE_ALONE, strata=range(STRATA), budget_s=60 * minutes)
    return decision.answer, decision.looks[-1].fraction


def mistakes(world: World, answer: ListAnswer) -> list[str]:
    """Return what is wrong or open about an answer, by the world's truth."""
    kind = answer.kind
    standings = {judgement.policy: judgement.standing for judgement in answer.judgements}
    faults: list[str] = [kind] if kind in ("open", "raise") else []
    if kind == "no answer" or (kind == "raise" and not is_worth(world, answer.policy)):
        faults.append("wrong")
    # At the price, the window in force stays by the rule itself.
    if kind == "stays" and any(
        standing == "not worth it" and not is_refutable(world, candidate)
        for candidate, standing in standings.items()
    ):
        faults.append("wrong")
    if any(is_wrong(world, candidate, standing) for candidate, standing in standings.items()):
        faults.append("verdict")
    if answer.is_settled:
        faults.append("settled")
    return faults


def is_wrong(world: World, policy: Policy, standing: str) -> bool:
    """Return whether a standing contradicts the truth."""
    if standing == "worth it":
        return not is_worth(world, policy)
    if standing == "not worth it":
        return not is_refutable(world, policy)
    return standing == "at the price" and not is_near(world, policy)


if __name__ == "__main__":
    main()
