"""What is loaded next, and when to stop."""

import dataclasses
import itertools

import numpy as np

from replay.runs.policy import Policy
from tests.verdict.worlds import PACED, TEN, World, saving
from verdict.judgement import Look, judge
from verdict.rule import RULE, Rule
from verdict.sampling import Plan, Prices, aim_of, first_plan, is_over, most_again, next_plan, page_order

PRICES = Prices(network=0.05, load=0.02)


def planned(world: World, rule: Rule, *, fraction: float = 1 / 16, networks: int = 128) -> Plan | None:
    evidence = world.evidence(np.random.default_rng(1), pages=100, networks=networks, each=1)
    answer = judge([Look(evidence=evidence, fraction=fraction)], rule)
    aim = aim_of(answer, evidence, rule, fraction=fraction)
    return next_plan(aim, evidence, rule, fraction=fraction, budget_s=1800, prices=PRICES)


def test_the_first_stage_has_every_window_over_two_networks_of_each_stratum() -> None:
    plan = first_plan(RULE.candidates, RULE, range(64))
    assert set(plan.networks.values()) == {2}
    assert plan.windows == tuple(sorted(RULE.candidates))


def test_only_open_candidates_are_loaded_with_the_incumbent() -> None:
    world = World(log_time={PACED: -0.02, Policy(30): 0.3}, resent={PACED: 0.1, Policy(30): 5.0})
    plan = planned(world, dataclasses.replace(RULE, candidates=(TEN, PACED, Policy(30))))
    assert plan is not None
    assert plan.windows == (TEN, PACED)


def test_from_an_eighth_of_the_budget_on_candidates_that_look_worth_it_are_loaded_alone() -> None:
    world = World(
        log_time={PACED: -0.02, Policy(20, "paced"): -0.02}, resent={PACED: 0.1, Policy(20, "paced"): 0.5}
    )
    rule = dataclasses.replace(RULE, candidates=(TEN, PACED, Policy(20, "paced")))
    early = planned(world, rule)
    late = planned(world, rule, fraction=1 / 8)
    assert early is not None
    assert late is not None
    assert early.windows == (TEN, PACED, Policy(20, "paced"))
    assert late.windows == (TEN, PACED)


def test_a_candidate_that_costs_nothing_but_saves_less_than_is_worthwhile_is_not_favoured() -> None:
    world = World(
        log_time={PACED: -0.02, Policy(20, "paced"): 0.003}, resent={PACED: 0.1, Policy(20, "paced"): -0.1}
    )
    rule = dataclasses.replace(RULE, candidates=(TEN, PACED, Policy(20, "paced")))
    plan = planned(world, rule, fraction=1 / 8)
    assert plan is not None
    assert plan.windows == (TEN, PACED)


def test_if_no_candidate_looks_worth_it_all_that_are_open_are_loaded() -> None:
    world = World(
        log_time={PACED: -0.02, Policy(20, "paced"): -0.02}, resent={PACED: 0.5, Policy(20, "paced"): 0.5}
    )
    rule = dataclasses.replace(RULE, candidates=(TEN, PACED, Policy(20, "paced")))
    plan = planned(world, rule, fraction=1 / 8)
    assert plan is not None
    assert plan.windows == (TEN, PACED, Policy(20, "paced"))


def test_a_stage_ends_at_the_next_look() -> None:
    plan = planned(saving(2, 0.1), dataclasses.replace(RULE, candidates=(TEN, PACED)))
    assert plan is not None
    draws = plan.pages * sum(plan.networks.values())
    seconds = sum(plan.networks.values()) * PRICES.network + PRICES.load * draws * (2 + plan.again)
    assert 0.95 * 1800 / 16 < seconds <= 1800 / 16


def test_networks_that_differ_more_are_drawn_more() -> None:
    evidence = saving(2, 0.1).evidence(np.random.default_rng(1), pages=100, networks=512, each=1)
    values = dict(evidence.values)
    noise = np.random.default_rng(2).standard_normal(len(evidence))
    factor = np.where(evidence.of_network("stratum") == 0, np.exp(0.5 * noise), 1)
    values["page_ms"] = values["page_ms"] * np.column_stack([np.ones(len(evidence)), factor])
    evidence = dataclasses.replace(evidence, values=values)
    rule = dataclasses.replace(RULE, candidates=(TEN, PACED))
    answer = judge([Look(evidence=evidence, fraction=1 / 16)], rule)
    aim = aim_of(answer, evidence, rule, fraction=1 / 16)
    plan = next_plan(aim, evidence, rule, fraction=1 / 16, budget_s=1800, prices=PRICES)
    assert plan is not None
    assert plan.networks[0] > 2 * max(count for stratum, count in plan.networks.items() if stratum)


def test_dear_networks_have_more_pages() -> None:
    evidence = dataclasses.replace(saving(2, 0.1), of_networks=0.02, of_pairs=0.2).evidence(
        np.random.default_rng(1), pages=200, networks=256, each=2
    )
    rule = dataclasses.replace(RULE, candidates=(TEN, PACED))
    answer = judge([Look(evidence=evidence, fraction=1 / 16)], rule)
    aim = aim_of(answer, evidence, rule, fraction=1 / 16)
    cheap, dear = (
        next_plan(
            aim, evidence, rule, fraction=1 / 16, budget_s=1800, prices=Prices(network=price, load=0.02)
        )
        for price in (0.001, 1.0)
    )
    assert cheap is not None
    assert dear is not None
    assert cheap.pages < dear.pages


def test_nothing_follows_what_is_settled_or_without_budget() -> None:
    rule = dataclasses.replace(RULE, candidates=(TEN, PACED))
    assert planned(saving(-20, 0.1), rule) is None
    assert planned(saving(2, 0.1), rule, fraction=1.0) is None
    evidence = saving(-20, 0.1).evidence(np.random.default_rng(1), pages=100, networks=128, each=1)
    assert is_over(judge([Look(evidence=evidence)], rule))


def test_the_incumbent_against_itself_takes_a_tenth_of_the_loads_at_most() -> None:
    for windows in range(2, 12):
        again = most_again(RULE, windows)
        assert again / (windows + again) <= 0.1 + 1e-9


def test_every_page_is_loaded_once_in_a_round_and_a_later_stage_goes_on() -> None:
    whole = list(itertools.islice(page_order(7, run=2, first=0), 21))
    assert [sorted(page for page, _ in whole[at : at + 7]) for at in (0, 7, 14)] == [list(range(7))] * 3
    assert list(itertools.islice(page_order(7, run=2, first=9), 12)) == whole[9:]
    assert len({seed for _, seed in whole}) == 3


def test_pacing_counts_as_another_window() -> None:
    assert Policy(16, "paced") in RULE.candidates
    assert RULE.rivals() == tuple(candidate for candidate in RULE.candidates if candidate != TEN)
