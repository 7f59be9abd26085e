"""What is loaded next, and when to stop."""

import dataclasses
import itertools

import numpy as np

from tests.verdict.worlds import PACED, RULE_OF_ONE, TEN, World, quiet, saving
from verdict.deciding import first_windows
from verdict.evidence import Evidence
from verdict.judgement import Look, judge
from verdict.rule import RULE
from verdict.sampling import Aim, Prices, StagePlan, aim_of, first_plan, most_again, next_plan, page_order

PRICES = Prices(network=0.05, load=0.02)


def aimed(evidence: Evidence, *, fraction: float = 1 / 16) -> Aim:
    look = Look(evidence=evidence, fraction=fraction)
    return aim_of(judge([look], RULE_OF_ONE, ends=False), look, RULE_OF_ONE)


def planned(
    evidence: Evidence, *, fraction: float = 1 / 16, prices: Prices = PRICES, budget_s: float = 1800
) -> StagePlan | None:
    return next_plan(
        aimed(evidence, fraction=fraction),
        evidence,
        RULE_OF_ONE,
        fraction=fraction,
        budget_s=budget_s,
        prices=prices,
    )


def make_draws(world: World, *, pages: int = 100, networks: int = 128, each: int = 1) -> Evidence:
    return world.evidence(np.random.default_rng(1), pages=pages, networks=networks, each=each)


def test_the_first_stage_has_every_window_over_two_networks_of_each_stratum() -> None:
    plan = first_plan(first_windows(RULE), RULE, range(64))
    assert set(plan.networks.values()) == {2}
    assert plan.windows == tuple(sorted((TEN, *RULE.candidates, *RULE.shown)))


def test_a_stage_ends_at_the_next_look() -> None:
    plan = planned(make_draws(saving(2, 0.1)))
    assert plan is not None
    assert plan.windows == (TEN, PACED)
    draws = plan.pages * sum(plan.networks.values())
    seconds = sum(plan.networks.values()) * PRICES.network + PRICES.load * draws * (2 + plan.again)
    assert 0.95 * 1800 / 16 < seconds <= 1800 / 16


def test_networks_that_differ_more_are_drawn_more() -> None:
    evidence = make_draws(saving(2, 0.1), networks=512)
    values = dict(evidence.values)
    noise = np.random.default_rng(2).standard_normal(len(evidence))
    for column in ("page_ms", "bytes_retransmitted"):
        factor = np.where(evidence.of_network("stratum") == 0, np.exp(0.5 * noise), 1)
        values[column] = values[column] * np.column_stack([np.ones(len(evidence)), factor])
    plan = planned(dataclasses.replace(evidence, values=values))
    assert plan is not None
    assert plan.networks[0] > 2 * max(count for stratum, count in plan.networks.items() if stratum)


def test_dear_networks_have_more_pages() -> None:
    world = dataclasses.replace(saving(2, 0.1), of_networks=0.02, of_pairs=0.2)
    evidence = make_draws(world, pages=200, networks=256, each=2)
    cheap, dear = (planned(evidence, prices=Prices(network=price, load=0.02)) for price in (0.001, 1.0))
    assert cheap is not None
    assert dear is not None
    assert cheap.pages < dear.pages


def test_nothing_follows_what_is_settled_or_without_budget() -> None:
    settled = make_draws(quiet(-20, 0.1), networks=512)
    assert judge([Look(evidence=settled, fraction=0.5)], RULE_OF_ONE, ends=False).is_settled
    assert planned(settled, fraction=0.5) is None
    assert planned(make_draws(saving(2, 0.1)), fraction=1.0) is None


def test_the_incumbent_against_itself_takes_a_tenth_of_the_loads_at_most() -> None:
    for windows in range(2, 12):
        again = most_again(RULE, windows)
        assert again / (windows + again) <= 0.1 + 1e-9


def test_every_page_is_loaded_once_in_a_round_and_a_later_stage_goes_on() -> None:
    whole = list(itertools.islice(page_order(7, run=2, first=0), 21))
    assert [sorted(page for page, _ in whole[at : at + 7]) for at in (0, 7, 14)] == [list(range(7))] * 3
    assert list(itertools.islice(page_order(7, run=2, first=9), 12)) == whole[9:]
    assert len({seed for _, seed in whole}) == 3
