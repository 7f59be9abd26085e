"""What further draws should settle: the statements that can still tell between the answers that are left."""

from collections.abc import Mapping

import pytest

from replay.runs.initial_window import Paced
from reports.decision.bounds import Measured
from reports.decision.standing import Look, Standing, stand, targets, windows_of
from reports.decision.statements import statements_of
from reports.recommendation.mixture import ORDINARY
from tests.reports.decision.worlds import INCUMBENT, problem

WINDOWS = (3, 10, Paced(16), 16, 30)
STATEMENTS = statements_of(problem().rule, WINDOWS, incumbent=INCUMBENT)
BELOW, ABOVE, UNCERTAIN = (-1.0, 1e-6), (1.0, 1e-6), (-1.0, 10.0)


def standing(effects: Mapping[str, tuple[float, float]], *, otherwise: tuple[float, float]) -> Standing:
    """What is known after one look at effects with their errors, told as distances from the limits."""

    def measured(id_: str) -> Measured:
        distance, error = effects.get(id_, otherwise)
        return Measured(value=distance, limit=0.0, error=error, skewness=0.0, pages=600)

    look = Look(fraction=0.5, measured={one.id: measured(one.id) for one in STATEMENTS})
    return stand(STATEMENTS, [look], incumbent=INCUMBENT)


def wanted(found: Standing) -> set[str]:
    return {one.id for one in targets(STATEMENTS, found)}


GAINS_OF_LARGER = {"gain/16-16p": ABOVE, "gain/30-16p": ABOVE, "gain/30-16": ABOVE}
NONE_OF_SMALLER = {"gain/3-10": ABOVE}


def test_where_one_answer_is_left_only_the_incumbent_is_loaded_against_itself() -> None:
    found = standing(
        {**GAINS_OF_LARGER, **NONE_OF_SMALLER, "gain/10-3": UNCERTAIN, "itself/slower": UNCERTAIN},
        otherwise=BELOW,
    )
    assert found.answers == {Paced(16)}
    assert not found.is_settled
    assert wanted(found) == {"itself/slower"}
    assert windows_of(targets(STATEMENTS, found), ORDINARY, incumbent=INCUMBENT) == (INCUMBENT,)


def test_what_cannot_surpass_an_answer_that_is_left_is_loaded_no_more() -> None:
    harms = {
        one.id: UNCERTAIN for one in STATEMENTS if one.kind == "harm" and one.candidate in (Paced(16), 30)
    }
    found = standing({**GAINS_OF_LARGER, **NONE_OF_SMALLER, **harms}, otherwise=BELOW)
    assert found.answers == {Paced(16), 16}
    assert 30 in found.live
    assert wanted(found) == {id_ for id_ in harms if "/16p-10" in id_}
    assert windows_of(targets(STATEMENTS, found), ORDINARY, incumbent=INCUMBENT) == (INCUMBENT, Paced(16))


def test_what_may_surpass_an_answer_is_loaded_with_it() -> None:
    over_a_lost_one = {"gain/30-3": UNCERTAIN, "gain/16p-3": UNCERTAIN}
    found = standing(
        {**NONE_OF_SMALLER, **over_a_lost_one, "gain/16-16p": ABOVE, "gain/30-16p": UNCERTAIN},
        otherwise=BELOW,
    )
    assert found.answers == {Paced(16), 30}
    assert wanted(found) == {"gain/30-16p"}
    assert windows_of(targets(STATEMENTS, found), ORDINARY, incumbent=INCUMBENT) == (10, Paced(16), 30)


OPEN_HARMS = {one.id: UNCERTAIN for one in STATEMENTS if one.kind == "harm"}
NOT_SURPASSED = {"gain/16-16p": (1.0, 10.0), "gain/30-16p": (1.0, 10.0), "gain/30-16": (1.0, 10.0)}
"""Open, with an estimate by which no larger window surpasses a smaller one."""


def test_larger_candidates_wait_while_a_smaller_one_seems_to_be_the_answer() -> None:
    found = standing({**NONE_OF_SMALLER, **OPEN_HARMS, **NOT_SURPASSED}, otherwise=BELOW)
    assert found.answers == {None, Paced(16), 16, 30}
    harms = {one.id for one in STATEMENTS if one.kind == "harm" and one.candidate == Paced(16)}
    assert wanted(found) == {*harms, "gain/16-16p", "gain/30-16p"}


def asked_beyond(effects: Mapping[str, tuple[float, float]]) -> set[int]:
    """Windows whose harms are asked for, where harms are open and no gain of a larger window is shown."""
    found = standing({**NONE_OF_SMALLER, **OPEN_HARMS, **NOT_SURPASSED, **effects}, otherwise=BELOW)
    return {one.candidate for one in targets(STATEMENTS, found) if one.kind == "harm"}


def test_their_turn_comes_once_something_speaks_against_it_or_one_seems_to_surpass_it() -> None:
    assert asked_beyond({}) == {Paced(16)}
    against = asked_beyond({"slow_mean/ordinary/16p-10": (1.0, 10.0)})
    assert against == {Paced(16), 16}, "the next candidate is first in question"
    assert asked_beyond({"gain/30-16p": UNCERTAIN, "gain/30-16": UNCERTAIN}) == {Paced(16), 16, 30}
    assert asked_beyond({"gain/16p-10": UNCERTAIN}) == {Paced(16), 16}
    assert asked_beyond({f"gain/{window}-10": UNCERTAIN for window in ("16p", 16, 30)}) == {Paced(16), 16, 30}


def test_an_admitted_candidate_leaves_the_question_to_those_that_may_surpass_it() -> None:
    admitted = {one.id: BELOW for one in STATEMENTS if one.kind == "harm" and one.candidate == Paced(16)}
    assert asked_beyond(admitted) == {16, 30}


def test_one_effect_beyond_its_limit_is_enough_to_lose_a_candidate() -> None:
    open_ends = {one.id: UNCERTAIN for one in STATEMENTS if one.kind != "self"}
    beyond = "slow_mean/ordinary/30-10"
    found = standing({**open_ends, beyond: (1.0, 10.0)}, otherwise=BELOW)
    assert {id_ for id_ in wanted(found) if "/30-" in id_} == {beyond}


@pytest.mark.parametrize("certain", [BELOW, ABOVE], ids=["all true", "all false"])
def test_nothing_is_wanted_where_everything_is_known(certain: tuple[float, float]) -> None:
    found = standing({"itself/slower": BELOW, "itself/faster": BELOW}, otherwise=certain)
    assert wanted(found) == set()
