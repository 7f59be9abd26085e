"""Choice of a window among candidates by their gains over each other."""

from __future__ import annotations

from typing import TYPE_CHECKING

from reports.recommendation.rule import RULE

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence


def choose(
    candidates: Sequence[int],
    *,
    incumbent: int,
    admissible: Collection[int],
    lower_gain: Callable[[int, int], float],
    worthwhile_percent: float = RULE.worthwhile_percent,
) -> int | None:
    """The smallest admissible worthwhile candidate that no larger admissible window surpasses; None for no change.

    `lower_gain(a, b)` is the lower bound of the gain of window a over window b.
    """
    # The incumbent is always admissible: a smaller candidate must not be surpassed by it either.
    rivals = {*admissible, incumbent}
    for candidate in sorted(set(candidates) & set(admissible) - {incumbent}):
        if lower_gain(candidate, incumbent) >= worthwhile_percent and not surpassing(
            candidate, rivals, lower_gain=lower_gain, worthwhile_percent=worthwhile_percent
        ):
            return candidate
    return None


def surpassing(
    candidate: int,
    rivals: Collection[int],
    *,
    lower_gain: Callable[[int, int], float],
    worthwhile_percent: float,
) -> tuple[int, ...]:
    """The larger windows among `rivals` with a worthwhile gain over `candidate`."""
    larger = sorted(window for window in rivals if window > candidate)
    return tuple(window for window in larger if lower_gain(window, candidate) >= worthwhile_percent)
