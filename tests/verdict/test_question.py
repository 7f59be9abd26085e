"""The loads of a decision's stages."""

import collections
import dataclasses

from replay.recipes.page_recipe import Recipe
from replay.runs.policy import Policy
from tests.factories.lab_networks import single_response
from verdict.question import STRATA, ReplayQuestion, network_of
from verdict.sampling import StagePlan


def page(number: int) -> Recipe:
    return single_response(20_000, number=number, page=f"{number}.test", host=f"{number}.test")


TEN = Policy(10)
QUESTION = ReplayQuestion(recipes=[page(number) for number in range(50)], incumbent=TEN)
FIRST = StagePlan(
    networks=dict.fromkeys(STRATA, 2), pages=1, windows=(TEN, Policy(16, "paced"), Policy(16)), again=0.25
)
SECOND = StagePlan(networks={0: 3, 20: 1}, pages=4, windows=(TEN, Policy(16)), again=0.0)


def test_every_draw_has_all_windows_of_its_page_with_the_same_seed() -> None:
    cells = QUESTION.cells([FIRST])
    draws = collections.defaultdict(list)
    for cell in cells:
        if not cell.conditions.alias:
            draws[cell.recipe.visit_id, cell.profile.id, cell.seed].append(cell.policy)
    assert len(draws) == 2 * len(STRATA)
    assert set(map(tuple, draws.values())) == {FIRST.windows}


def test_a_share_of_the_draws_loads_the_incumbent_by_another_route() -> None:
    again = [cell for cell in QUESTION.cells([FIRST]) if cell.conditions.alias]
    assert len(again) == 2 * len(STRATA) / 4
    assert {cell.policy for cell in again} == {TEN}


def test_later_stages_go_on_with_other_networks_and_the_pages_whose_turn_it_is() -> None:
    first, second = QUESTION.networks([FIRST, SECOND])
    assert {network.profile.id for network in first}.isdisjoint(network.profile.id for network in second)
    assert collections.Counter(network.stratum for network in second) == {0: 3, 20: 1}
    pages = [cell.recipe.visit_id for stages in ([FIRST], [FIRST, SECOND]) for cell in QUESTION.cells(stages)]
    counts = collections.Counter(dict.fromkeys(range(50), 0))
    counts.update(pages[::3])
    assert len(counts) == 50


def test_a_stage_is_the_same_whenever_it_is_planned_and_another_run_draws_others() -> None:
    assert QUESTION.cells([FIRST, SECOND]) == QUESTION.cells([FIRST, SECOND])
    other = dataclasses.replace(QUESTION, run=2)
    assert {cell.id for cell in other.cells([FIRST])}.isdisjoint(cell.id for cell in QUESTION.cells([FIRST]))


def test_windows_of_everyone_are_loaded_on_a_half_loaded_line_beside_the_incumbent() -> None:
    plan = dataclasses.replace(SECOND, everyone=(Policy(16),))
    loaded = [cell for cell in QUESTION.cells([FIRST, plan]) if cell.conditions.neighbours]
    assert collections.Counter(cell.policy for cell in loaded) == {TEN: 16, Policy(16): 16}
    assert all(cell.conditions.neighbours.everyone for cell in loaded if cell.conditions.neighbours)


def test_windows_of_everyone_may_be_loaded_in_a_share_of_the_draws() -> None:
    plan = dataclasses.replace(SECOND, everyone=(Policy(16),), everyone_share=0.25)
    loaded = [cell for cell in QUESTION.cells([FIRST, plan]) if cell.conditions.neighbours]
    assert collections.Counter(cell.policy for cell in loaded) == {TEN: 4, Policy(16): 4}


def test_a_drawn_network_counts_by_its_stratum() -> None:
    networks = [network_of(network) for network in QUESTION.networks([FIRST])[0]]
    shares = {network.stratum: network.share for network in networks}
    assert abs(sum(shares.values()) - 1) < 1e-9
    assert abs(sum({network.stratum: network.slow_share for network in networks}.values()) - 1) < 1e-9
