"""Answers that are still possible while some statements are open."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

NO_CHANGE = None


def possible_answers(
    candidates: Sequence[int],
    *,
    incumbent: int,
    admissible: Mapping[int, bool | None],
    is_worthwhile: Mapping[tuple[int, int], bool | None],
) -> frozenset[int | None]:
    """All answers of `reports.recommendation.choice.choose` over every way in which open statements can end.

    None as a truth value is open; None as an answer is "no change". Statements are taken as independent, so that the set may
    hold answers that cannot be, but never lacks one that can.

    >>> possible_answers([16], incumbent=10, admissible={16: None}, is_worthwhile={(16, 10): True}) == {16, None}
    True
    """
    found: set[int | None] = set()
    windows = sorted(set(candidates) - {incumbent})
    ways = [(True, False) if admissible[one] is None else (admissible[one],) for one in windows]
    for chosen in itertools.product(*ways):
        rivals = {incumbent, *(one for one, is_in in zip(windows, chosen, strict=True) if is_in)}
        for window in windows:
            could, must = _chosen(window, rivals, incumbent, is_worthwhile)
            if could:
                found.add(window)
            if must:
                break
        else:
            found.add(NO_CHANGE)
    return frozenset(found)


def _chosen(
    window: int,
    rivals: set[int],
    incumbent: int,
    is_worthwhile: Mapping[tuple[int, int], bool | None],
) -> tuple[bool, bool]:
    """Whether a window could be chosen among admissible rivals if no smaller one is, and whether it must be."""
    if window not in rivals:
        return False, False
    gain = is_worthwhile[window, incumbent]
    beaten = [is_worthwhile[rival, window] for rival in rivals if rival > window]
    return gain is not False and True not in beaten, gain is True and all(one is False for one in beaten)
