"""Choices of a window from published gains, and among paced windows and bursts."""

from replay.runs.initial_window import Paced
from reports.recommendation.candidate_verdicts import choose
from reports.recommendation.candidates import CANDIDATES
from reports.recommendation.rule import RULE

FIG_2_MEANS_MS = {3: 489.8, 6: 474.6, 10: 467.5, 16: 466.1, 26: 466.8, 42: 468.2}
"""Dukkipati et al. 2010, Fig. 2: mean latency of web search by initial window."""

WINDOWS = frozenset(FIG_2_MEANS_MS)


def chosen(
    incumbent: int, admissible: frozenset[int] = WINDOWS, *, percent: float = RULE.worthwhile_percent
) -> int | None:
    def is_worthwhile(window: int, other: int) -> bool:
        return 100 * (1 - FIG_2_MEANS_MS[window] / FIG_2_MEANS_MS[other]) >= percent

    return choose(WINDOWS, incumbent=incumbent, admissible=admissible, is_worthwhile=is_worthwhile)


def test_fig_2_of_2010_gives_ten_where_three_was_in_force() -> None:
    assert chosen(3) == 10


def test_fig_2_of_2010_leaves_ten_where_ten_is_in_force() -> None:
    assert chosen(10) is None


def test_fig_2_with_a_smaller_worthwhile_gain_gives_sixteen() -> None:
    assert chosen(3, percent=0.2) == 16


def test_fig_2_without_ten_admissible_gives_sixteen() -> None:
    assert chosen(3, WINDOWS - {10}) == 16


SENDERS = [10, Paced(16), 16, Paced(20)]


def chosen_among(saves: dict[int, float], admissible: set[int]) -> int | None:
    return choose(
        SENDERS,
        incumbent=10,
        admissible=admissible,
        is_worthwhile=lambda one, other: saves[one] - saves[other] >= 1,
    )


def test_of_a_paced_window_and_a_burst_that_save_alike_the_paced_one_is_chosen() -> None:
    saves = {10: 0.0, Paced(16): 2.0, 16: 2.0, Paced(20): 2.5}
    assert chosen_among(saves, set(SENDERS)) == Paced(16)
    assert chosen_among(saves, {16, Paced(20)}) == 16


def test_a_burst_is_chosen_where_it_saves_enough_over_the_paced_window_of_as_many() -> None:
    saves = {10: 0.0, Paced(16): 1.2, 16: 2.4, Paced(20): 2.5}
    assert chosen_among(saves, set(SENDERS)) == 16
    assert chosen_among(saves, {Paced(16), Paced(20)}) == Paced(20)


def test_candidates_stand_in_the_order_of_preference() -> None:
    windows = [one.window for one in CANDIDATES]
    assert windows == sorted(windows)
    assert len({one.id for one in CANDIDATES}) == len(set(windows)) == len(CANDIDATES)
