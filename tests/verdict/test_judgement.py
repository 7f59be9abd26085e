"""Standings, guards, choice and confirmation by rule 7."""

import dataclasses
import itertools

import numpy as np
import pytest

from releases.interval import Interval
from replay.runs.policy import Policy
from tests.verdict.made_up import FAR, PACED, TEN, noisy
from verdict.evidence import Evidence
from verdict.judgement import (
    Judgement,
    ListAnswer,
    Look,
    Reason,
    Standing,
    choose,
    is_confirmed,
    judge,
    judge_candidates,
    recommend,
    standing,
)
from verdict.rule import RULE, Rule

ENOUGH = Interval(3.0, 2.0, 4.0)
UNREFUTED = Interval(0.01, -0.06, 0.08)
FREE = dataclasses.replace(RULE, guards=())


def around(estimate: float, half: float) -> Interval:
    return Interval(estimate, estimate - half, estimate + half)


@pytest.mark.parametrize(
    ("per_load", "in_sum", "touched", "expected"),
    [
        (around(0.10, 0.05), UNREFUTED, ENOUGH, "worth it"),
        (around(0.05, 0.05), around(0.0, 0.1), Interval(2.0, 1.0, 3.0), "worth it"),
        (around(0.10, 0.11), UNREFUTED, ENOUGH, "open"),
        (around(0.10, 0.05), UNREFUTED, Interval(2.0, 0.9, 3.1), "open"),
        (around(0.10, 0.05), around(-0.01, 0.05), ENOUGH, "open"),
        (around(0.10, 0.05), around(0.01, 0.11), ENOUGH, "open"),
        (around(0.10, 0.05), around(-0.1, 0.09), ENOUGH, "not worth it"),
        (around(-0.10, 0.09), UNREFUTED, ENOUGH, "not worth it"),
        (around(0.10, 0.20), UNREFUTED, Interval(0.5, 0.1, 0.9), "not worth it"),
        (around(0.0, 0.05), around(-0.01, 0.05), ENOUGH, "at the price"),
        (around(0.0, 0.06), around(-0.01, 0.05), ENOUGH, "open"),
    ],
)
def test_a_standing_follows_from_three_intervals(
    per_load: Interval, in_sum: Interval, touched: Interval, expected: Standing
) -> None:
    assert standing(per_load, in_sum, touched, RULE) == expected


def test_worth_it_is_asked_before_at_the_price() -> None:
    assert standing(around(0.02, 0.02), UNREFUTED, ENOUGH, RULE) == "worth it"
    assert standing(around(-0.02, 0.01), UNREFUTED, ENOUGH, RULE) == "not worth it"


def make_judgement(policy: Policy, lower: float, *, estimate: float | None = None) -> Judgement:
    middle = lower + 0.05 if estimate is None else estimate
    return Judgement(
        policy=policy,
        standing="worth it",
        per_load_pp=Interval(middle, lower, 2 * middle - lower),
        in_sum_pp=UNREFUTED,
        touched_percent=ENOUGH,
        pairs=100,
    )


@pytest.mark.parametrize(
    ("lowers", "expected"),
    [
        ({"20 paced": 0.20, "16 paced": 0.14}, "20 paced"),
        ({"20 paced": 0.20, "16 paced": 0.151}, "16 paced"),
        ({"20 spread": 0.20, "20 paced": 0.16}, "20 paced"),
        ({"20 spread": 0.20, "20 paced": 0.14}, "20 spread"),
        ({"16 paced": 0.10, "16 paced beyond 100 ms": 0.12}, "16 paced beyond 100 ms"),
        ({"16": 0.11, "16 paced": 0.10}, "16"),
    ],
)
def test_the_largest_lower_end_is_chosen_and_of_alike_ones_the_smallest_that_a_stock_kernel_can_do(
    lowers: dict[str, float], expected: str
) -> None:
    for order in itertools.permutations(lowers):
        fit = [make_judgement(Policy.parse(text), lowers[text]) for text in order]
        assert str(choose(fit, RULE)) == expected


def test_nothing_is_chosen_of_nothing() -> None:
    assert choose([], RULE) is None


@pytest.mark.parametrize(
    ("lower", "estimate", "in_sum", "expected"),
    [
        (-0.05, 0.02, UNREFUTED, True),
        (-0.06, 0.02, UNREFUTED, False),
        (-0.04, -0.01, UNREFUTED, False),
        (0.01, 0.05, around(-0.01, 0.05), False),
        (0.01, 0.05, around(0.01, 0.2), False),
    ],
)
def test_another_list_confirms_by_its_own_intervals(
    lower: float, estimate: float, in_sum: Interval, expected: bool
) -> None:
    judgement = dataclasses.replace(make_judgement(FAR, lower, estimate=estimate), in_sum_pp=in_sum)
    assert is_confirmed(judgement, RULE) is expected


def loads(seed: int, effects: dict[Policy, tuple[float, float]], *, size: int = 3000) -> Evidence:
    return noisy(np.random.default_rng(seed), size, effects)


def answer_of(
    effects: dict[Policy, tuple[float, float]], *, seed: int = 1, rule: Rule = FREE, ends: bool = True
) -> ListAnswer:
    rule = dataclasses.replace(rule, candidates=tuple(effects))
    return judge([Look(evidence=loads(seed, effects))], rule, ends=ends)


def test_a_policy_for_far_connections_is_worth_it_where_one_for_all_is_not() -> None:
    answer = answer_of({PACED: (1.5, 0.5), FAR: (6.0, 0.05)})
    assert answer.of(PACED).standing == "not worth it"
    assert answer.of(FAR).standing == "worth it"
    assert (answer.kind, answer.policy, answer.is_settled) == ("raise", FAR, True)
    assert answer.of(FAR).touched_percent.estimate == pytest.approx(6.0, abs=0.3)


def test_a_policy_that_saves_too_little_where_it_touches_is_not_worth_it() -> None:
    answer = answer_of({FAR: (0.4, 0.0)})
    assert answer.of(FAR).standing == "not worth it"
    assert (answer.kind, answer.policy) == ("stays", TEN)


def test_an_early_look_shows_less_and_the_end_spends_the_rest() -> None:
    looks = [Look(evidence=loads(2, {FAR: (5.0, 0.1)}), fraction=0.3)]
    rule = FREE.over(FAR)
    (early,), (last,) = (judge_candidates(looks, rule, is_last=is_last) for is_last in (False, True))
    widths = [each.per_load_pp.upper - each.per_load_pp.lower for each in (early, last)]
    assert widths[0] > 1.5 * widths[1]


def test_what_is_settled_at_a_look_spends_no_more() -> None:
    look = Look(evidence=loads(3, {FAR: (6.0, 0.05)}), fraction=0.6)
    rule = FREE.over(FAR)
    assert judge([look], rule, ends=False).is_settled
    assert judge([look], rule, ends=True).judgements == judge([look], rule, ends=False).judgements


def test_intervals_only_grow_narrower_from_look_to_look() -> None:
    evidence = loads(4, {FAR: (4.0, 0.1)})
    is_first = np.arange(len(evidence)) < 1500
    times = evidence.values["page_ms"].copy()
    times[:, 1] *= np.where(is_first, 1.0, np.exp(np.random.default_rng(5).standard_normal(len(evidence))))
    whole = dataclasses.replace(evidence, values={**evidence.values, "page_ms": times})
    first, second = Look(evidence=whole.where(is_first), fraction=0.9), Look(evidence=whole, fraction=1.0)
    rule = FREE.over(FAR)
    one, two, both = (
        judge_candidates(looks, rule, is_last=len(looks) > 1 or looks[0] is second)[0].per_load_pp
        for looks in ([first], [second], [first, second])
    )
    assert two.upper - two.lower > one.upper - one.lower
    assert (both.lower, both.upper) == (max(one.lower, two.lower), min(one.upper, two.upper))


def test_the_same_loads_count_for_less_among_more_candidates() -> None:
    effects = {Policy(window, "paced"): (4.0, 0.1) for window in range(12, 22)}
    evidence = loads(5, effects, size=800)
    few, many = (
        judge_candidates([Look(evidence=evidence)], FREE.over(*policies), is_last=True)[0].per_load_pp
        for policies in ([Policy(12, "paced")], effects)
    )
    assert many.upper - many.lower > few.upper - few.lower


def everyone(percent_slower: float, *, size: int = 2000) -> Evidence:
    evidence = loads(6, {FAR: (5.0, 0.0)}, size=size)
    rng = np.random.default_rng(7)
    short_ms = np.exp(rng.normal(4, 0.3, size))
    slower = short_ms * (1 + percent_slower / 100) * np.exp(0.02 * rng.standard_normal(size))
    return dataclasses.replace(
        evidence, values={**evidence.values, "short_flow_ms": np.column_stack([short_ms, slower])}
    )


@pytest.mark.parametrize(
    ("percent_slower", "kind", "expected"),
    [(2.0, "raise", "worth it"), (4.0, "stays", "not recommended")],
)
def test_a_policy_that_fails_a_guard_is_not_recommended(
    percent_slower: float, kind: str, expected: Standing
) -> None:
    look = Look(evidence=loads(8, {FAR: (6.0, 0.05)}))
    answer = judge([look], RULE.over(FAR), ends=True, everyone=everyone(percent_slower))
    assert (answer.kind, answer.of(FAR).standing) == (kind, expected)


def test_a_guard_that_is_not_shown_to_be_kept_fails_once_the_loads_end_and_is_loaded_on_before() -> None:
    look = Look(evidence=loads(8, {FAR: (6.0, 0.05)}), fraction=0.9)
    few = everyone(2.95, size=60)
    before, last = (judge([look], RULE.over(FAR), ends=ends, everyone=few) for ends in (False, True))
    assert (before.of(FAR).standing, before.kind, before.is_settled) == ("worth it", "open", False)
    assert (last.of(FAR).standing, last.kind) == ("not recommended", "stays")


def test_nothing_is_recommended_whose_guard_was_never_loaded() -> None:
    look = Look(evidence=loads(8, {FAR: (6.0, 0.05)}))
    answer = judge([look], RULE.over(FAR), ends=True)
    assert (answer.of(FAR).standing, answer.kind, answer.policy) == ("worth it", "open", TEN)


def test_a_replay_that_differs_from_itself_has_no_answer() -> None:
    evidence = loads(9, {FAR: (6.0, 0.05)})
    rng = np.random.default_rng(1)
    again = {
        **evidence.again,
        "page_ms": evidence.again["page_ms"] * (1.05 + 0.01 * rng.standard_normal(len(evidence))),
    }
    answer = judge([Look(evidence=dataclasses.replace(evidence, again=again))], FREE.over(FAR), ends=True)
    assert (answer.kind, answer.policy, answer.confidence) == ("no answer", TEN, None)


def test_a_policy_whose_every_second_load_equals_the_first_is_sound() -> None:
    answer = answer_of({FAR: (6.0, 0.05)})
    assert answer.again.is_sound is True


def test_a_reason_lowers_the_confidence_and_never_silences() -> None:
    look = Look(evidence=loads(8, {FAR: (6.0, 0.05)}))
    reasons = [Reason(level="low", sentence="The lines are of 2020.")]
    answer = judge([look], FREE.over(FAR), ends=True, reasons=reasons)
    assert (answer.kind, answer.confidence) == ("raise", "low")
    assert judge([look], FREE.over(FAR), ends=True).confidence == "high"


def test_a_broken_chain_has_no_answer() -> None:
    look = Look(evidence=loads(8, {FAR: (6.0, 0.05)}))
    answer = judge([look], FREE.over(FAR), ends=True, broken=["The back-cast is damaged."])
    assert (answer.kind, answer.policy, answer.confidence) == ("no answer", TEN, None)


def test_what_every_list_confirms_is_recommended() -> None:
    first = answer_of({PACED: (6.0, 0.1), FAR: (6.0, 0.05)})
    other = answer_of({PACED: (5.0, 0.1), FAR: (5.0, 0.1)}, seed=2)
    assert set(first.having("worth it")) == {PACED, FAR}
    recommended = recommend(first, {"2023": other, "2024": other}, RULE)
    assert recommended.policy == first.policy
    assert set(recommended.disagreeing.values()) == {()}


def test_what_one_list_does_not_confirm_is_not_recommended_and_the_list_is_named() -> None:
    first = answer_of({PACED: (6.0, 0.1), FAR: (6.0, 0.05)})
    other = answer_of({PACED: (5.0, 0.8), FAR: (5.0, 0.1)}, seed=2)
    recommended = recommend(first, {"2023": other}, RULE)
    assert recommended.policy == FAR
    assert recommended.disagreeing == {PACED: ("2023",), FAR: ()}
    nothing = recommend(first, {"2023": answer_of({PACED: (5.0, 0.8)}, seed=2)}, RULE)
    assert (nothing.policy, nothing.disagreeing[FAR]) == (TEN, ("2023",))
