"""How much of what a visit received must be accounted for."""

from __future__ import annotations

COVERAGE_FLOOR = 0.99
"""Share of the bytes, received and decrypted, below which a visit is flagged: `visit.is_covered` is false."""


def is_covered(*shares: float | None) -> bool | None:
    """Whether every known share is at least the floor; None if none is known: nothing was received.

    >>> is_covered(1.0, 0.98), is_covered(0.99, None), is_covered(None, None)
    (False, True, None)
    """
    known = [share for share in shares if share is not None]
    return min(known) >= COVERAGE_FLOOR if known else None
