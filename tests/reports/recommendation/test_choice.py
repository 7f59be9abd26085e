"""The choice among candidates: the first in order that saves enough, unless a later one saves as much again."""

from __future__ import annotations

from replay.runs.initial_window import Paced
from reports.recommendation.candidates import CANDIDATES
from reports.recommendation.choice import choose

WINDOWS = [10, Paced(16), 16, Paced(20)]


def chosen(saves: dict[int, float], admissible: set[int]) -> int | None:
    return choose(
        WINDOWS,
        incumbent=10,
        admissible=admissible,
        is_worthwhile=lambda one, other: saves[one] - saves[other] >= 1,
    )


def test_of_a_paced_window_and_a_burst_that_save_alike_the_paced_one_is_chosen() -> None:
    saves = {10: 0.0, Paced(16): 2.0, 16: 2.0, Paced(20): 2.5}
    assert chosen(saves, set(WINDOWS)) == Paced(16)
    assert chosen(saves, {16, Paced(20)}) == 16


def test_a_burst_is_chosen_where_it_saves_enough_over_the_paced_window_of_as_many() -> None:
    saves = {10: 0.0, Paced(16): 1.2, 16: 2.4, Paced(20): 2.5}
    assert chosen(saves, set(WINDOWS)) == 16
    assert chosen(saves, {Paced(16), Paced(20)}) == Paced(20)


def test_candidates_stand_in_the_order_of_preference() -> None:
    windows = [one.window for one in CANDIDATES]
    assert windows == sorted(windows)
    assert len({one.id for one in CANDIDATES}) == len(set(windows)) == len(CANDIDATES)
