"""Error probabilities of a replay that is looked at several times: what each look may spend,
so that the whole holds.

The spending function is Kim and DeMets's of power two (Biometrika 74, 1987): at a fraction t of the budget,
t² of the error probability may have been spent. It is less strict with early looks than O'Brien and
Fleming's, since most windows are lost early and by a wide margin. Each look uses its own increment: by the
union bound, all looks together hold without the independent increments that exact bounds need, and that pages
do not have, because they return in later stages.
"""

import itertools
from collections.abc import Sequence

POWER = 2.0


def spent(fraction: float) -> float:
    """Share of the error probability that may be spent when `fraction` of the budget is used.

    >>> [spent(fraction) for fraction in (0.0, 0.5, 1.0, 1.5)]
    [0.0, 0.25, 1.0, 1.0]
    """
    return float(min(max(fraction, 0.0), 1.0) ** POWER)


def increments(fractions: Sequence[float]) -> list[float]:
    """Share of the error probability of each look, by the fractions of the budget at which the looks are.

    A look at a fraction that is not above all earlier ones has none.

    >>> increments([0.5, 0.25, 1.0])
    [0.25, 0.0, 0.75]
    """
    highest = list(itertools.accumulate((spent(one) for one in fractions), max, initial=0.0))
    return [after - before for before, after in itertools.pairwise(highest)]
