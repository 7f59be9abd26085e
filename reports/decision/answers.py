"""Answers that are still possible while some statements are open."""

from collections.abc import Mapping, Sequence

import numpy as np

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
    windows = sorted(set(candidates) - {incumbent})
    bits = {window: 1 << place for place, window in enumerate([incumbent, *windows])}
    # Every way in which candidates can be admissible, as a set of bits; the incumbent always is.
    ways = np.array([bits[incumbent]], dtype=np.int64)
    for window in windows:
        without = ways[:0] if admissible[window] else ways
        within = ways[:0] if admissible[window] is False else ways | bits[window]
        ways = np.concatenate([without, within])
    found: set[int | None] = set()
    is_left = np.ones(len(ways), dtype=bool)  # whether no smaller window is chosen for certain
    for window in windows:
        gain = is_worthwhile[window, incumbent]
        surpassing = {rival: is_worthwhile[rival, window] for rival in bits if rival > window}
        shown = sum(bits[rival] for rival, surpasses in surpassing.items() if surpasses)
        not_refuted = sum(bits[rival] for rival, surpasses in surpassing.items() if surpasses is not False)
        is_rival = (ways & bits[window]) != 0
        if gain is not False and (is_left & is_rival & ((ways & shown) == 0)).any():
            found.add(window)
        if gain:
            is_left &= ~(is_rival & ((ways & not_refuted) == 0))
    if is_left.any():
        found.add(NO_CHANGE)
    return frozenset(found)
