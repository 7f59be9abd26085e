"""Initial windows: a number of segments, and whether the sender paces them.

A window that leaves as a burst is a plain number of segments. A paced one counts and computes as its segments
too, but is never equal to the burst of as many, since it is another candidate for what servers may send.
"""

import re

WORD = re.compile(r"(\d{1,9})(p| paced)?", re.ASCII)
"""A window in one word or as in a sentence."""


class Paced(int):
    """An initial window in segments whose sender spreads it over the round trip.

    In order, a window with fewer segments comes first, and a paced one before the burst of as many,
    since it sends less at once.

    >>> Paced(16) == 16, Paced(16) < 16, Paced(16) > 10, Paced(16) * 1448
    (False, True, True, 23168)
    >>> f"IW {Paced(16)}", repr(Paced(16))
    ('IW 16 paced', '16p')
    """

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Equal to the same number of paced segments alone."""
        return isinstance(other, Paced) and int(self) == int(other)

    def __ne__(self, other: object) -> bool:
        """The contrary of equal."""
        return not self == other

    def __hash__(self) -> int:
        """A number of its own."""
        return hash((Paced, int(self)))

    def __lt__(self, other: int) -> bool:
        """Fewer segments, or as many of a burst."""
        return _place(self) < _place(other)

    def __le__(self, other: int) -> bool:
        """Before or equal."""
        return _place(self) <= _place(other)

    def __gt__(self, other: int) -> bool:
        """More segments."""
        return _place(self) > _place(other)

    def __ge__(self, other: int) -> bool:
        """After or equal."""
        return _place(self) >= _place(other)

    def __str__(self) -> str:
        """The window in a sentence, after IW."""
        return f"{int(self)} paced"

    def __repr__(self) -> str:
        """The window in one word, as the command line and files take it."""
        return f"{int(self)}p"


def is_paced(window: int) -> bool:
    """Return whether the sender of this window paces."""
    return isinstance(window, Paced)


def window_of(word: str) -> int:
    """Return the window of a word; ValueError if it is none.

    >>> [window_of("16"), window_of("16p"), window_of("16 paced")]
    [16, 16p, 16p]
    """
    match = WORD.fullmatch(word)
    if not match:
        raise ValueError(f"{word!r} is no initial window such as 16 or, paced, 16p")
    return Paced(match[1]) if match[2] else int(match[1])


def in_json(window: int) -> int | str:
    """Return the window as JSON holds it: a number of segments, or a text, since a number would lose the
    pacing.

    >>> in_json(16), in_json(Paced(16))
    (16, '16 paced')
    """
    return str(window) if is_paced(window) else window


def _place(window: int) -> tuple[int, bool]:
    return int(window), not is_paced(window)
