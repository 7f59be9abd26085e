"""Choices of a window from given gains."""

from __future__ import annotations

from reports.recommendation.choice import choose

FIG_2_MEANS_MS = {3: 489.8, 6: 474.6, 10: 467.5, 16: 466.1, 26: 466.8, 42: 468.2}
"""Dukkipati et al. 2010, Fig. 2: mean latency of web search by initial window."""


def fig_2_gain(window: int, against: int) -> float:
    return 100 * (1 - FIG_2_MEANS_MS[window] / FIG_2_MEANS_MS[against])


def test_fig_2_of_2010_gives_ten_where_three_was_in_force() -> None:
    assert choose([*FIG_2_MEANS_MS], incumbent=3, admissible={*FIG_2_MEANS_MS}, lower_gain=fig_2_gain) == 10


def test_fig_2_of_2010_leaves_ten_where_ten_is_in_force() -> None:
    chosen = choose([*FIG_2_MEANS_MS], incumbent=10, admissible={*FIG_2_MEANS_MS}, lower_gain=fig_2_gain)
    assert chosen is None


def test_fig_2_with_a_smaller_worthwhile_gain_gives_sixteen() -> None:
    chosen = choose(
        [*FIG_2_MEANS_MS],
        incumbent=3,
        admissible={*FIG_2_MEANS_MS},
        lower_gain=fig_2_gain,
        worthwhile_percent=0.2,
    )
    assert chosen == 16


def test_fig_2_without_ten_admissible_gives_sixteen() -> None:
    admissible = {*FIG_2_MEANS_MS} - {10}
    assert choose([*FIG_2_MEANS_MS], incumbent=3, admissible=admissible, lower_gain=fig_2_gain) == 16
