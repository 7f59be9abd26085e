"""Verdicts, guards, the choice and the answer."""

import dataclasses
import math
from collections.abc import Sequence

import numpy as np
import pytest

from releases.interval import Interval
from replay.runs.policy import Policy
from tests.verdict.worlds import PACED, RULE_OF_ONE, SIXTEEN, TEN, World, quiet, saving
from verdict.judgement import Answer, Judgement, Look, Reason, choose, judge
from verdict.rule import RULE, Rule


def answer(
    world: World,
    *,
    rule: Rule = RULE_OF_ONE,
    networks: int = 512,
    seed: int = 1,
    broken: Sequence[str] = (),
    reasons: Sequence[Reason] = (),
) -> Answer:
    evidence = world.evidence(np.random.default_rng(seed), pages=100, networks=networks, each=2)
    return judge([Look(evidence=evidence)], rule, broken=broken, reasons=reasons)


@pytest.mark.parametrize(
    ("percent", "resent", "verdict", "kind"),
    [
        (5.0, 0.1, "worth it", "raise"),
        (5.0, 0.6, "not worth it", "stays"),
        (0.5, 0.0, "not worth it", "stays"),
        (5.0, 0.077 * 5, "at the price", "stays"),
    ],
)
def test_the_price_decides(percent: float, resent: float, verdict: str, kind: str) -> None:
    outcome = answer(quiet(percent, resent))
    assert (outcome.of(PACED).verdict, outcome.kind, outcome.is_settled) == (verdict, kind, True)
    assert outcome.window == (PACED if kind == "raise" else TEN)


def test_too_few_loads_leave_a_candidate_open_and_the_window_in_force_stays_meanwhile() -> None:
    outcome = answer(saving(2, 0.1), networks=16, seed=2)
    assert (outcome.kind, outcome.window, outcome.is_settled, outcome.confidence) == (
        "open",
        TEN,
        False,
        "medium",
    )


def test_what_was_shown_at_a_look_stays_shown() -> None:
    rng = np.random.default_rng(3)
    early = quiet(5, 0.1).evidence(rng, pages=100, networks=512, each=2)
    late = saving(2, 0.3).evidence(rng, pages=100, networks=16, each=2)
    assert judge([Look(evidence=late)], RULE_OF_ONE).of(PACED).verdict == "open"
    looks = [Look(evidence=early, fraction=1 / 4), Look(evidence=late, fraction=1.0)]
    assert judge(looks, RULE_OF_ONE).of(PACED).verdict == "worth it"


def test_an_early_look_spends_a_part_of_the_error() -> None:
    evidence = saving(3, 0.1).evidence(np.random.default_rng(3), pages=100, networks=128, each=2)
    early, whole = (
        judge([Look(evidence=evidence, fraction=part)], RULE_OF_ONE).of(PACED).gain_percent
        for part in (1 / 16, 1.0)
    )
    assert early.lower < whole.lower < whole.upper < early.upper
    unspent = judge([Look(evidence=evidence, fraction=0.01)], RULE_OF_ONE)
    assert unspent.of(PACED).gain_percent.lower == -math.inf
    assert unspent.of(PACED).verdict == "open"


def test_a_violated_guard_keeps_the_window_in_force() -> None:
    guard = dataclasses.replace(RULE, candidates=(TEN, PACED))
    evidence = quiet(5, 0.1).evidence(np.random.default_rng(1), pages=100, networks=512, each=2)
    values = dict(evidence.values)
    values["short_flow_ms"] = np.column_stack([np.full(len(evidence), 100.0), np.full(len(evidence), 110.0)])
    slower = dataclasses.replace(evidence, values=values)
    outcome = judge([Look(evidence=evidence)], guard, everyone=slower)
    assert (outcome.kind, outcome.window) == ("stays", TEN)
    unknown = judge([Look(evidence=evidence)], guard)
    assert (unknown.kind, unknown.window, unknown.confidence) == ("raise", PACED, "medium")


def test_a_broken_chain_has_no_answer() -> None:
    outcome = answer(quiet(5, 0.1), broken=["There is no back-cast."])
    assert (outcome.kind, outcome.window, outcome.confidence) == ("no answer", TEN, None)


def test_a_window_that_differs_from_itself_breaks_the_chain() -> None:
    evidence = quiet(5, 0.1).evidence(np.random.default_rng(1), pages=100, networks=512, each=2)
    again = {**evidence.again, "page_ms": 1.05 * evidence.again["page_ms"]}
    outcome = judge([Look(evidence=dataclasses.replace(evidence, again=again))], RULE_OF_ONE)
    assert outcome.kind == "no answer"
    assert outcome.again.is_sound is False


def test_a_window_whose_every_second_load_equals_the_first_is_sound() -> None:
    evidence = saving(2, 0.1).evidence(np.random.default_rng(4), pages=100, networks=64, each=1)
    again = {name: array[:, evidence.windows.index(TEN)] for name, array in evidence.values.items()}
    outcome = judge([Look(evidence=dataclasses.replace(evidence, again=again))], RULE_OF_ONE)
    assert outcome.again.is_sound is True


def test_a_reason_lowers_the_confidence_and_never_silences() -> None:
    outcome = answer(quiet(5, 0.1), reasons=[Reason(level="low", sentence="The back-cast misses the gain.")])
    assert (outcome.kind, outcome.confidence) == ("raise", "low")
    assert answer(quiet(5, 0.1)).confidence == "high"


def make_judged(window: Policy, *, benefit: float = 0.1, surpassed_by: tuple[Policy, ...] = ()) -> Judgement:
    interval = Interval(benefit, benefit, benefit)
    return Judgement(
        window=window, verdict="worth it", gain_percent=interval, resent_pp=interval, net_benefit_pp=interval,
        milliseconds=interval, pairs=1, surpassed_by=surpassed_by,
    )  # fmt: skip


def test_the_smallest_window_that_no_larger_surpasses_is_chosen() -> None:
    assert choose([make_judged(SIXTEEN), make_judged(Policy(20))]) == SIXTEEN
    assert choose([make_judged(SIXTEEN, surpassed_by=(Policy(20),)), make_judged(Policy(20))]) == Policy(20)
    assert choose([]) is None


def test_of_a_paced_and_an_unpaced_window_the_one_with_more_net_benefit_is_chosen() -> None:
    assert choose([make_judged(PACED, benefit=0.1), make_judged(SIXTEEN, benefit=0.2)]) == SIXTEEN
    assert choose([make_judged(PACED, benefit=0.3), make_judged(SIXTEEN, benefit=0.2)]) == PACED


def test_a_larger_window_surpasses_by_another_percent() -> None:
    twenty, thirty = Policy(20, "paced"), Policy(32, "paced")
    world = World(
        log_time={PACED: math.log(0.97), twenty: math.log(0.94), thirty: math.log(0.938)},
        resent={PACED: 0.05, twenty: 0.1, thirty: 0.15},
        of_pages=0.002, of_networks=0.002, of_pairs=0.002,
    )  # fmt: skip
    outcome = answer(world, rule=RULE_OF_ONE.over((TEN, PACED, twenty, thirty)))
    assert outcome.window == twenty
    assert outcome.of(PACED).surpassed_by == (twenty, thirty)
