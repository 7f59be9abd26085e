"""Tables in plain ASCII that fit a given width."""

from __future__ import annotations

import textwrap
from collections.abc import Sequence

from releases.formatting import in_ascii

GAP = 2
"""Spaces between columns."""

LEAST = 8
"""Characters below which a column of text is not narrowed."""


def ascii_table(
    headings: Sequence[str], is_number: Sequence[bool], rows: Sequence[Sequence[str]], *, width: int
) -> list[str]:
    """Lines of a table of at most `width` characters; a list of rows with their headings where columns cannot fit.

    >>> for line in ascii_table(["network", "ms"], [False, True], [["a", "1.5"], ["b", "10.0"]], width=20):
    ...     print(line)
    network    ms
    -------  ----
    a         1.5
    b        10.0
    """
    plain = [[in_ascii(text) for text in row] for row in (headings, *rows)]
    widths = _widths(plain, is_number, width)
    if widths is None:
        return _listed(plain[0], plain[1:], width)
    lines = _row(plain[0], widths, is_number)
    lines.append((" " * GAP).join("-" * one for one in widths))
    for row in plain[1:]:
        lines += _row(row, widths, is_number)
    return [line.rstrip() for line in lines]


def _widths(rows: Sequence[Sequence[str]], is_number: Sequence[bool], width: int) -> list[int] | None:
    """Widths of the columns, text narrowed until all fit; None if they cannot."""
    widths = [max(len(text) for text in column) for column in zip(*rows, strict=True)]
    # Headings of numbers wrap, the numbers themselves do not.
    least = [
        max(len(row[at]) for row in rows[1:]) if number and rows[1:] else min(LEAST, widths[at])
        for at, number in enumerate(is_number)
    ]
    for at, row in enumerate(zip(*rows, strict=True)):
        least[at] = max(least[at], *(len(word) for word in row[0].split() or [""]))
    room = width - GAP * (len(widths) - 1)
    while sum(widths) > room:
        wide = [at for at in range(len(widths)) if widths[at] > least[at]]
        if not wide:
            return None
        widths[max(wide, key=lambda at: widths[at] - least[at])] -= 1
    return widths


def _row(cells: Sequence[str], widths: Sequence[int], is_number: Sequence[bool]) -> list[str]:
    wrapped = [textwrap.wrap(text, width) or [""] for text, width in zip(cells, widths, strict=True)]
    lines = []
    for at in range(max(map(len, wrapped))):
        parts = [lines_of[at] if at < len(lines_of) else "" for lines_of in wrapped]
        aligned = (
            part.rjust(width) if right else part.ljust(width)
            for part, width, right in zip(parts, widths, is_number, strict=True)
        )
        lines.append((" " * GAP).join(aligned))
    return lines


def _listed(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    lines: list[str] = []
    for row in rows:
        lines += textwrap.wrap(row[0], width)
        for heading, text in zip(headings[1:], row[1:], strict=True):
            lines += textwrap.wrap(f"{heading}: {text}", width, initial_indent="  ", subsequent_indent="    ")
    return lines
