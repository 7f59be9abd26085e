"""Simulated replays in stages end as their worlds say."""

import dataclasses

import numpy as np
import pytest

from replay.runs.initial_window import Paced
from reports.decision.standing import Standing
from reports.decision.statements import statements_of
from studies.simulations.characteristics import WORLDS, World
from studies.simulations.staged import INCUMBENT, SETTINGS, Setting, effect, play, spreads, verdict

TWO_BOUNDS, EVERY_BOUND, _ = SETTINGS


def world(name: str) -> World:
    return next(one for one in WORLDS if one.id == name)


def played(name: str, setting: Setting, seed: int = 1) -> Standing:
    return play(world(name), setting, np.random.default_rng(seed))


@pytest.mark.parametrize("setting", [TWO_BOUNDS, EVERY_BOUND], ids=["two bounds", "every bound"])
def test_where_nothing_is_gained_no_change_is_settled(setting: Setting) -> None:
    found = played("no effect", setting)
    assert found.is_settled
    assert found.answers == {None}


def test_the_smallest_of_windows_that_save_alike_is_settled() -> None:
    found = played("gain of 5 %", TWO_BOUNDS)
    assert found.is_settled
    assert found.answers == {Paced(16)}
    assert set(found.lost) == {3, 6, Paced(10)}


def test_harm_beyond_its_bound_is_found_with_every_bound_of_the_rule() -> None:
    found = played("gain of 5 %, harm at 1.5 times the bound", EVERY_BOUND)
    assert found.is_settled
    assert found.answers == {None}
    assert found.lost[16].id == "retransmitted_bytes_average/ordinary/16-10"


def test_with_every_bound_harm_conditions_are_loaded_and_a_harmless_gain_is_open_after_the_planned_budget() -> (  # noqa: E501
    None
):
    found = played("gain of 5 %", EVERY_BOUND)
    assert not found.is_settled
    assert Paced(16) in found.answers
    assert any(one.startswith("competing_short_flows") for one in found.measured)


def test_effects_are_those_of_the_world_in_the_unit_of_each_statement() -> None:
    truth = dataclasses.replace(world("gain of 5 %"), harm_pp=0.5)
    found = {
        one.id: effect(one, truth)
        for one in statements_of(EVERY_BOUND.rule, (3, 10, 16), incumbent=INCUMBENT)
    }
    assert found["gain/16-10"] == pytest.approx(np.log(0.95))
    assert found["gain/3-10"] == 0
    assert found["slow_mean/ordinary/16-10"] == pytest.approx(100 * np.log(0.95))
    assert found["retransmitted_bytes_average/ordinary/16-10"] == 0.5
    assert found["retransmitted_bytes_average/ordinary/3-10"] == 0
    assert found["responses_retransmitted_average/ordinary/16-10"] == 0
    assert found["itself/slower"] == 0


def test_errors_at_the_end_of_the_planned_budget_are_those_of_the_edition() -> None:
    of_page, of_draw = spreads("gain", "ordinary", TWO_BOUNDS)
    assert np.hypot(of_page / np.sqrt(600), of_draw / np.sqrt(2_400)) == pytest.approx(0.0012)


def test_a_draw_of_a_world_is_the_same_each_time() -> None:
    one = world("gain of 2 %")
    assert [verdict(one, TWO_BOUNDS, number) for number in range(3)] == [
        verdict(one, TWO_BOUNDS, number) for number in range(3)
    ]
