"""Numbers, intervals and byte sizes as pages and reports print them."""

from __future__ import annotations

import math

from releases.interval import Interval

MINUS = "\u2212"

NARROW = "\u202f"
"""Narrow no-break space."""

INFINITE = "\u221e"

UNKNOWN = "\u2013"
"""Stands for a value that is unknown."""


def number(value: float | None, digits: int = 1) -> str:
    """A number with `digits` decimal places.

    >>> number(-1.25, 1) == f"{MINUS}1.2", number(-0.01), number(None) == UNKNOWN
    (True, '0.0', True)
    >>> number(float("-inf")) == MINUS + INFINITE
    True
    """
    if value is None:
        return UNKNOWN
    text = (
        f"{round(value, digits) + 0.0:.{digits}f}"
        if math.isfinite(value)
        else f"{value:g}".replace("inf", INFINITE)
    )
    return text.replace("-", MINUS)


def interval_text(interval: Interval, unit: str) -> str:
    """An estimate with its interval, for a sentence.

    >>> from releases.interval import Interval
    >>> interval_text(Interval(2.345, 1.0, 3.5), "%")
    '2.35 % [1.00, 3.50]'
    """
    return f"{number(interval.estimate, 2)} {unit} [{number(interval.lower, 2)}, {number(interval.upper, 2)}]"


def grouped(count: int | None) -> str:
    """A whole number with its thousands set apart.

    >>> grouped(1234567)
    '1\\u202f234\\u202f567'
    """
    return UNKNOWN if count is None else f"{count:,}".replace(",", NARROW)


def size(size_bytes: int | None) -> str:
    """A size to three significant digits, in units of 1000 bytes.

    >>> [size(n).replace(NARROW, " ") for n in (950, 14_300, 2_345_678, 2 * 10**12)]
    ['950 B', '14.3 kB', '2.35 MB', '2000 GB']
    """
    if size_bytes is None:
        return UNKNOWN
    for unit, factor in (("GB", 10**9), ("MB", 10**6), ("kB", 10**3)):
        if size_bytes >= 1000 * factor:
            return f"{size_bytes // factor}{NARROW}{unit}"
        if size_bytes >= factor:
            return f"{size_bytes / factor:.3g}{NARROW}{unit}"
    return f"{size_bytes}{NARROW}B"
