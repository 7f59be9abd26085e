"""Choice of a window among candidates by their gains over each other."""

from collections.abc import Callable, Collection


def choose(
    candidates: Collection[int],
    *,
    incumbent: int,
    admissible: Collection[int],
    is_worthwhile: Callable[[int, int], bool],
) -> int | None:
    """The smallest admissible worthwhile candidate that no larger admissible window surpasses; None for no change.

    `is_worthwhile(a, b)` tells whether the gain of window a over window b is worthwhile.
    """
    # The incumbent is always admissible: a smaller candidate must not be surpassed by it either.
    rivals = {*admissible, incumbent}
    for candidate in sorted(set(candidates) & set(admissible) - {incumbent}):
        if is_worthwhile(candidate, incumbent) and not surpassing(candidate, rivals, is_worthwhile):
            return candidate
    return None


def surpassing(
    candidate: int, rivals: Collection[int], is_worthwhile: Callable[[int, int], bool]
) -> tuple[int, ...]:
    """The larger windows among `rivals` with a worthwhile gain over `candidate`."""
    return tuple(
        window for window in sorted(rivals) if window > candidate and is_worthwhile(window, candidate)
    )
