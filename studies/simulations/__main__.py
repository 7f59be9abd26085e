"""Play simulated worlds through the engine: all candidates, stages and budget as a replay runs.

python -m studies.simulations [--rule 7] [--repetitions 400] [--minutes 30] [--world "no effect"]

Writes verdicts-rule-RULE-MINUTES.csv beside this module, a row a world as it ends.
"""

import argparse
import collections
import csv
import dataclasses
from abc import ABC, abstractmethod
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

import numpy as np
from tqdm import tqdm

from replay.runs.policy import Policy
from studies.simulations.worlds import STRATA, WORLDS, Replay, World, truth
from verdict.deciding import ByOnePrice, ByTwoUnits, Decider, Loaded, decide
from verdict.judgement import Answer
from verdict.rule import RULE
from verdict.rule7 import judgement as rule7
from verdict.rule7.rule import RULE as RULE_7
from verdict.sampling import Plan, Prices

PRICES = Prices(network=0.03, load=0.065)
"""Seconds of a core, about as 74,570 loads of the edition took."""

A = TypeVar("A")


class Played(ABC, Generic[A]):
    """A rule, without guards, which ask for loads of their own; and the truth as it sees it."""

    decider: Decider[A]

    @abstractmethod
    def is_worth(self, world: World, policy: Policy) -> bool:
        """Return whether a policy is worth it in truth."""

    @abstractmethod
    def is_near(self, world: World, policy: Policy) -> bool:
        """Return whether a policy is at the price in truth."""

    @abstractmethod
    def verdicts(self, answer: A) -> dict[Policy, str]:
        """Return the verdict on each candidate."""

    @abstractmethod
    def outcome(self, answer: A) -> tuple[str, Policy, bool]:
        """Return the answer's kind, its policy, and whether it is settled."""

    def is_refutable(self, world: World, policy: Policy) -> bool:
        """Return whether a policy is not worth it in truth."""
        return not self.is_worth(world, policy)


class Rule6(Played[Answer]):
    """One price per load."""

    decider = ByOnePrice(dataclasses.replace(RULE, guards=()))

    def is_worth(self, world: World, policy: Policy) -> bool:
        """Return whether gain and net benefit are large enough in truth."""
        return self._benefit(world, policy) >= 0 and truth(world, policy).gain >= RULE.worthwhile_percent

    def is_near(self, world: World, policy: Policy) -> bool:
        """Return whether the net benefit is within the zone in truth."""
        return abs(self._benefit(world, policy)) <= RULE.zone_pp

    def _benefit(self, world: World, policy: Policy) -> float:
        effects = truth(world, policy)
        return (RULE.price_pp or 0) * effects.gain - effects.resent

    def verdicts(self, answer: Answer) -> dict[Policy, str]:
        """Return the verdict on each candidate."""
        return {judgement.window: judgement.verdict for judgement in answer.judgements}

    def outcome(self, answer: Answer) -> tuple[str, Policy, bool]:
        """Return the answer's kind, its policy, and whether it is settled."""
        return answer.kind, answer.window, answer.is_settled


class Rule7(Played[rule7.Answer]):
    """Two units."""

    decider = ByTwoUnits(dataclasses.replace(RULE_7, guards=()))

    def is_worth(self, world: World, policy: Policy) -> bool:
        """Return whether a policy is worth it per load, and in sum not further below the price than noise
        hides."""
        effects = truth(world, policy)
        return (
            self._per_load(world, policy) >= 0
            and effects.gain_touched >= RULE_7.worthwhile_percent
            and self._in_sum(world, policy) >= -RULE_7.noise_pp
        )

    def is_refutable(self, world: World, policy: Policy) -> bool:
        """Return whether a policy is below the price in either unit, or saves too little."""
        effects = truth(world, policy)
        return (
            self._per_load(world, policy) < 0
            or self._in_sum(world, policy) < 0
            or effects.gain_touched < RULE_7.worthwhile_percent
        )

    def is_near(self, world: World, policy: Policy) -> bool:
        """Return whether the net benefit per load is within the zone in truth."""
        return abs(self._per_load(world, policy)) <= RULE_7.zone_pp

    def _per_load(self, world: World, policy: Policy) -> float:
        effects = truth(world, policy)
        return RULE_7.price_per_load_pp * effects.gain - effects.resent

    def _in_sum(self, world: World, policy: Policy) -> float:
        effects = truth(world, policy)
        return RULE_7.price_in_sum_pp * effects.gain_in_sum - effects.resent_in_sum

    def verdicts(self, answer: rule7.Answer) -> dict[Policy, str]:
        """Return the standing of each candidate."""
        return {judgement.policy: judgement.standing for judgement in answer.judgements}

    def outcome(self, answer: rule7.Answer) -> tuple[str, Policy, bool]:
        """Return the answer's kind, its policy, and whether it is settled."""
        return answer.kind, answer.policy, answer.is_settled


RULES: dict[int, Played[Any]] = {6: Rule6(), 7: Rule7()}

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
    """Play every world."""
    parser = argparse.ArgumentParser(prog="python -m studies.simulations")
    parser.add_argument("--rule", type=int, choices=RULES, default=7, help="version of the rule (default 7)")
    parser.add_argument("--repetitions", type=int, default=400, help="replays of each world (default 400)")
    parser.add_argument("--minutes", type=int, default=30, help="budget in minutes of a core (default 30)")
    parser.add_argument("--world", choices=[world.id for world in WORLDS], help="one world alone, printed")
    options = parser.parse_args()

    def row_of(world: World) -> list[str | int | float]:
        return row(
            RULES[options.rule],
            world,
            rule=options.rule,
            repetitions=options.repetitions,
            minutes=options.minutes,
        )

    if options.world:
        print(*row_of(next(world for world in WORLDS if world.id == options.world)), sep=",")
        return
    path = Path(__file__).with_name(f"verdicts-rule-{options.rule}-{options.minutes}.csv")
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(COLUMNS)
        for world in WORLDS:
            writer.writerow(row_of(world))
            file.flush()


def row(
    played: Played[A], world: World, *, rule: int, repetitions: int, minutes: int
) -> list[str | int | float]:
    """Return a world's row of the table."""
    counts: collections.Counter[str] = collections.Counter()
    used = []
    for seed in tqdm(range(repetitions), desc=world.id, disable=None):
        answer, fraction = play(played, world, np.random.default_rng([seed, 2]), minutes=minutes)
        used.append(fraction * minutes)
        counts.update(mistakes(played, world, answer))
    share = {
        name: round(100 * counts[name] / repetitions, 1)
        for name in ("wrong", "open", "raise", "verdict", "settled")
    }
    return [
        rule,
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


def play(played: Played[A], world: World, rng: np.random.Generator, *, minutes: int) -> tuple[A, float]:
    """Return the answer of one replay, and the part of the budget that it used."""
    replay = Replay(world, rng, played.decider.windows)

    def load(plans: Sequence[Plan]) -> Loaded:
        replay.load(plans[-1])
        seconds = sum(
            PRICES.network * sum(plan.networks.values()) + PRICES.load * plan.loads for plan in plans
        )
        return Loaded(evidence=replay.evidence(), everyone=None, seconds=seconds, prices=PRICES)

    *_, decision = decide(load, played.decider, strata=range(STRATA), budget_s=60 * minutes)
    return decision.answer, decision.looks[-1].fraction


def mistakes(played: Played[A], world: World, answer: A) -> list[str]:
    """Return what is wrong or open about an answer, by the world's truth."""
    kind, policy, is_settled = played.outcome(answer)
    verdicts = played.verdicts(answer)
    faults = [kind] if kind in ("open", "raise") else []
    if kind == "no answer" or (kind == "raise" and not played.is_worth(world, policy)):
        faults.append("wrong")
    # At the price, the window in force stays by the rule itself.
    if kind == "stays" and any(
        verdict == "not worth it" and not played.is_refutable(world, candidate)
        for candidate, verdict in verdicts.items()
    ):
        faults.append("wrong")
    if any(is_wrong(played, world, candidate, verdict) for candidate, verdict in verdicts.items()):
        faults.append("verdict")
    if is_settled:
        faults.append("settled")
    return faults


def is_wrong(played: Played[A], world: World, policy: Policy, verdict: str) -> bool:
    """Return whether a verdict contradicts the truth."""
    if verdict == "worth it":
        return not played.is_worth(world, policy)
    if verdict == "not worth it":
        return not played.is_refutable(world, policy)
    return verdict == "at the price" and not played.is_near(world, policy)


if __name__ == "__main__":
    main()
