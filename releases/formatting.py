"""Counts and byte sizes as pages and reports print them, with narrow no-break spaces."""

from __future__ import annotations

NARROW = "\u202f"

UNKNOWN = "\u2013"
"""Stands for a value that is unknown."""


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
