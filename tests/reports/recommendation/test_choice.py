"""Choices of a window from published gains."""

from __future__ import annotations

from reports.recommendation.choice import choose
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
