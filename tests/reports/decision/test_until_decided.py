"""A replay in stages over made-up worlds: it finds the true answer, resumes,
and does not depend on the order of loads."""

import dataclasses
from collections.abc import Sequence

import pytest

from replay.errors import ReplayError
from replay.runs.cells import Cell
from replay.runs.initial_window import Paced
from reports.decision.record import sentence, to_dict
from reports.decision.stage import Stage, standing_after
from reports.decision.until_decided import Budget, Loaded, Outcome, until_decided
from tests.reports.decision.worlds import World, ordinary, problem

BUDGET_S = 12.0

BETTER = World(saves={16: -0.06, 30: -0.061}, sends_again={16: 0.0, 30: 3.0})
"""IW 16 saves 6 %, IW 30 hardly more and sends much again."""


def run(
    world: World,
    stages: Sequence[Stage] = (),
    kept: list[Stage] | None = None,
    run: int = 1,
    windows: Sequence[int] = (10, 16, 30),
) -> Outcome:
    return until_decided(
        problem(run=run, windows=windows),
        stages,
        budget=Budget(amount=BUDGET_S),
        guests=1,
        load=world.load,
        keep=lambda _number, stage: kept.append(stage) if kept is not None else None,
    )


def test_a_window_that_saves_time_without_harm_is_the_answer() -> None:
    found = run(BETTER)
    assert found.is_settled, sentence(found)
    assert found.standing.answers == {16}
    assert set(found.standing.lost) == {30}
    assert to_dict(found)["answer"] == "IW 16"


def test_a_paced_window_is_the_answer_where_its_burst_harms() -> None:
    world = World(saves={16: -0.06, Paced(16): -0.06}, sends_again={16: 4.0, Paced(16): 0.0})
    kept: list[Stage] = []
    found = run(world, kept=kept, windows=(10, Paced(16), 16))
    assert found.is_settled, sentence(found)
    assert found.standing.answers == {Paced(16)}
    assert set(found.standing.lost) == {16}
    told = to_dict(found)
    assert (told["answer"], list(told["lost"])) == ("IW 16 paced", ["16"])
    assert {(row["iw"], row["pacing"]) for row in kept[0].rows} == {(10, False), (16, False), (16, True)}


def test_where_every_window_sends_too_much_again_nothing_changes_and_little_is_replayed() -> None:
    harmful = World(saves={16: -0.06, 30: -0.08}, sends_again={16: 4.0, 30: 6.0})
    found = run(harmful)
    assert found.is_settled
    assert found.standing.answers == {None}
    assert found.fraction < 1


@pytest.mark.parametrize(("limit", "admits"), [(15.0, True), (2.0, False)])
def test_where_nothing_is_sent_again_as_many_pages_as_a_bound_asks_for_admit_a_window(
    limit: float, admits: bool
) -> None:
    nothing = World(saves={16: -0.06}, sends_again={10: -3.0, 16: -3.0})
    (margin,) = ordinary("retransmitted_bytes_average")
    asked = problem(windows=(10, 16), pages=200, margins=(dataclasses.replace(margin, limit=limit),))
    found = until_decided(
        asked, (), budget=Budget(amount=BUDGET_S), guests=1, load=nothing.load, keep=lambda *_: None
    )
    # Two hundred pages without an event show that fewer than some 5 % have one,
    # and not that fewer than 1 % have.
    harm = found.standing.measured["retransmitted_bytes_average/ordinary/16-10"]
    assert (harm.value, harm.pages, harm.limit) == (0.0, 200, limit)
    assert found.is_settled == admits, sentence(found)
    assert (found.standing.answers == {16}) == admits
    assert not found.standing.lost


def test_lost_candidates_are_left_out_of_later_stages() -> None:
    kept: list[Stage] = []
    run(BETTER, kept=kept)
    loaded = [{row["iw"] for row in stage.rows} for stage in kept]
    assert loaded[0] == {10, 16, 30}
    assert loaded[-1] == {10, 16}


def test_an_effect_on_its_limit_stays_open_and_says_what_it_takes() -> None:
    on_it = World(saves={16: -0.06, 30: 0.05}, sends_again={16: 0.5, 30: 0.0})
    found = run(on_it)
    assert not found.is_settled
    assert found.fraction == 1
    assert found.standing.answers == {None, 16}
    assert "not settled" in sentence(found)
    assert to_dict(found)["answer"] is None
    assert to_dict(found)["needs"][0]["statement"] == "retransmitted_bytes_average/ordinary/16-10"


def test_where_the_looks_used_up_the_error_probability_no_number_of_loads_is_promised() -> None:
    found = run(World(saves={16: -0.06, 30: 0.05}, sends_again={16: 0.5, 30: 0.0}))
    enough = dataclasses.replace(found.further[0], times=1.0)
    found = dataclasses.replace(found, further=(enough,))
    assert "more loads" not in sentence(found)
    assert "a longer budget would settle it" in sentence(found)
    assert to_dict(found)["needs"][0]["loads"] is None


@pytest.mark.parametrize("stopped_after", [0, 1, 2, 3])
def test_a_run_that_is_stopped_ends_alike_when_it_is_resumed(stopped_after: int) -> None:
    whole: list[Stage] = []
    at_once = run(BETTER, kept=whole)
    resumed = run(BETTER, whole[:stopped_after])
    assert to_dict(resumed) == to_dict(at_once)


def test_the_order_in_which_loads_arrive_does_not_matter() -> None:
    kept: list[Stage] = []
    run(BETTER, kept=kept)
    turned = [dataclasses.replace(stage, rows=list(stage.rows)[::-1]) for stage in kept]
    there, back = (standing_after(problem(), stages) for stages in (kept, turned))
    assert there.holds == back.holds
    assert {name: one.value for name, one in there.measured.items()} == {
        name: one.value for name, one in back.measured.items()
    }


def test_another_run_draws_other_pairs_and_does_not_contradict() -> None:
    first: list[Stage] = []
    second: list[Stage] = []
    answers = {run(BETTER, kept=first).standing.answers, run(BETTER, kept=second, run=2).standing.answers}
    drawn = [
        {(row["visit_id"], row["profile"], row["seed"]) for stage in kept for row in stage.rows}
        for kept in (first, second)
    ]
    assert answers == {frozenset({16})}
    assert not drawn[0] & drawn[1]


def test_a_pair_is_never_drawn_twice() -> None:
    kept: list[Stage] = []
    run(BETTER, kept=kept)
    rows = [(row["visit_id"], row["profile"], row["iw"], row["seed"]) for stage in kept for row in stage.rows]
    assert len(set(rows)) == len(rows)


def test_loads_that_fail_keep_an_answer_from_being_settled() -> None:
    def failing(cells: Sequence[Cell]) -> Loaded:
        loaded = BETTER.load(cells)
        rows = [
            dict(row) | {"state": "failed", "page_ms": None} if row["visit_id"] % 5 == 0 else row
            for row in loaded.rows
        ]
        return dataclasses.replace(loaded, rows=rows)

    found = until_decided(problem(), [], budget=Budget(amount=BUDGET_S), guests=1, load=failing)
    assert not found.is_settled
    assert "the rule asks for 95\u202f%" in sentence(found)


def test_a_lab_that_favours_a_seed_is_found_out() -> None:
    def unfair(cells: Sequence[Cell]) -> Loaded:
        loaded = BETTER.load(cells)
        rows = [
            dict(row) | {"page_ms": 1.2 * row["page_ms"]} if row["seed"] % 2 == 0 else row
            for row in loaded.rows
        ]
        return dataclasses.replace(loaded, rows=rows)

    found = until_decided(problem(), [], budget=Budget(amount=BUDGET_S), guests=1, load=unfair)
    assert not found.is_settled
    assert "differs from itself" in sentence(found)


def test_a_budget_without_room_for_a_first_stage_says_which_has() -> None:
    with pytest.raises(ReplayError, match=r"give at least --budget \d+m"):
        until_decided(problem(), [], budget=Budget(amount=1e-4), guests=1, load=BETTER.load)
