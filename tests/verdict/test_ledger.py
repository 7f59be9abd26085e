"""Who would decide otherwise: paired rows, what turns an answer, and groups by handshake."""

import dataclasses

import numpy as np
import pytest

from replay.runs.policy import Policy
from tests.verdict.made_up import FAR, PACED, TEN, evidence_of, noisy
from verdict.estimates import NET_BENEFIT, measure, name_of
from verdict.evidence import Evidence
from verdict.judgement import Look
from verdict.ledger import Arm, LedgerRow, judge_groups, make_ledger, switch
from verdict.rule import IN_SUM, PER_LOAD, RULE

FREE = dataclasses.replace(RULE, guards=())
LOADS = noisy(np.random.default_rng(1), 2000, {PACED: (5.0, 0.1), FAR: (5.0, 0.1)})


def row_of(name: str, *arms: Arm, evidence: Evidence = LOADS) -> LedgerRow:
    rows = {row.id: row for row in make_ledger(Look(evidence=evidence), FAR, RULE, arms=arms)}
    return rows[name]


def arm(resent_pp: float, *, noise: float = 0.0) -> Arm:
    """An input that sends so much more again over the far loads of the same draws."""
    rng = np.random.default_rng(2)
    values = dict(LOADS.values)
    more = 1e4 * (resent_pp + noise * rng.standard_normal(len(LOADS)))
    at = LOADS.windows.index(FAR)
    again = values["bytes_retransmitted"].copy()
    again[:, at] += np.where(values["handshake_max_ms"][:, at] > 100, more, 0)
    values["bytes_retransmitted"] = again
    return Arm(id="deep", title="deep", evidence=dataclasses.replace(LOADS, values=values), base=LOADS)


def test_a_row_is_the_difference_on_its_own_draws() -> None:
    row = row_of("deep", arm(0.3))
    far = 1 / 3
    assert row.per_load_pp.estimate == pytest.approx(-0.3 * far, rel=0.05)
    assert row.in_sum_pp.estimate == pytest.approx(-0.3 * far, rel=0.05)
    assert row.per_load_pp.upper - row.per_load_pp.lower < 0.05


def test_an_answer_turns_only_where_the_whole_interval_of_the_difference_turns_it() -> None:
    effects = measure(LOADS, [FAR], RULE)
    own = effects.of(name_of(NET_BENEFIT, PER_LOAD), FAR).value
    assert own > 0.05
    assert row_of("deep", arm(3 * own + 0.3)).turns is True
    assert row_of("deep", arm(3 * own, noise=3.0)).turns is None
    assert row_of("deep", arm(0.01)).turns is False


def test_an_input_that_changes_nothing_turns_nothing() -> None:
    row = row_of("deep", Arm(id="deep", title="same", evidence=LOADS, base=LOADS))
    assert (row.per_load_pp.estimate, row.in_sum_pp.estimate, row.turns) == (0, 0, False)


def test_another_price_differs_by_the_gain_that_it_prices_otherwise() -> None:
    row = row_of("price 0.077")
    effects = measure(LOADS, [FAR], RULE)
    gains = [effects.of(f"gain {unit}", FAR).value for unit in (PER_LOAD, IN_SUM)]
    assert row.per_load_pp.estimate == pytest.approx((0.077 - 0.088) * gains[0])
    assert row.in_sum_pp.estimate == pytest.approx((0.077 - 0.059) * gains[1])


def test_a_time_that_no_policy_changes_costs_all_of_the_gain() -> None:
    effects = measure(LOADS, [FAR], RULE)
    gain = effects.of(f"gain {PER_LOAD}", FAR).value
    assert row_of("first byte").per_load_pp.estimate == pytest.approx(-0.088 * gain, rel=1e-6)


def test_thresholds_are_shown_from_the_loads_of_the_policy_for_all() -> None:
    evidence = evidence_of(
        {
            TEN: (np.full(4, 1000.0), np.zeros(4)),
            PACED: (np.full(4, 900.0), np.zeros(4)),
            FAR: (np.array([1000.0, 1000.0, 900.0, 900.0]), np.zeros(4)),
        },
        handshake_ms=np.array([50.0, 80.0, 120.0, 200.0]),
    )
    times = [
        switch(evidence, PACED, FAR, limit_ms, RULE).at(FAR)["page_ms"].tolist()
        for limit_ms in (60, 100, 150)
    ]
    assert times == [[1000, 900, 900, 900], [1000, 1000, 900, 900], [1000, 1000, 1000, 900]]
    rows = {row.id: row.per_load_pp.estimate for row in make_ledger(Look(evidence=evidence), FAR, RULE)}
    assert rows["beyond 60"] > 0 > rows["beyond 150"]


def test_an_arm_that_did_not_load_the_policy_has_no_row() -> None:
    other = dataclasses.replace(LOADS, windows=(TEN, PACED, Policy(17)))
    lacking = Arm(id="deep", title="deep", evidence=other, base=LOADS)
    assert "deep" not in {row.id for row in make_ledger(Look(evidence=LOADS), FAR, RULE, arms=[lacking])}


def test_groups_by_handshake_are_judged_by_themselves_with_their_guards() -> None:
    rng = np.random.default_rng(3)
    size = 4000
    handshake_ms = np.where(np.arange(size) % 2 == 0, 40.0, 200.0)
    page_ms = np.exp(rng.normal(8, 0.3, size))
    gain = np.where(handshake_ms > 100, 0.06, 0.001) + 0.02 * rng.standard_normal(size)
    short_ms = np.full(size, 50.0)
    evidence = evidence_of(
        {TEN: (page_ms, np.zeros(size)), PACED: (page_ms * np.exp(-gain), np.zeros(size))},
        handshake_ms=handshake_ms,
        pages=rng.integers(200, size=size),
        places=np.arange(size) // 4,
        strata=8,
        short_flow_ms={TEN: short_ms, PACED: short_ms * np.exp(0.1 + 0.01 * rng.standard_normal(size))},
    )
    free = {
        group.id: group
        for group in judge_groups(Look(evidence=evidence), FREE.over(PACED), everyone=evidence)
    }
    assert free["handshake-beyond"].answer.policy == PACED
    assert free["handshake-60"].answer.policy == TEN
    assert free["handshake-60"].share + free["handshake-beyond"].share == pytest.approx(1)
    assert set(free) == {"handshake-60", "handshake-beyond"}
    guarded = judge_groups(Look(evidence=evidence), RULE.over(PACED), everyone=evidence)
    beyond = next(group.answer for group in guarded if group.id == "handshake-beyond")
    assert beyond.of(PACED).standing == "not recommended"


def test_there_is_no_group_without_a_policy_for_all() -> None:
    assert judge_groups(Look(evidence=LOADS), FREE.over(FAR)) == ()
