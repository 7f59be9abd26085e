"""Axes of figures that are drawn as SVG: their labelled lines, and the ends and steps of their scales."""

import dataclasses
import math
from collections.abc import Iterable

WINDOW_ROW = 14
"""Height of each row of windows above a plot, in CSS pixels."""

BOLD_LETTER_WIDTH = 8
"""Width of a bold digit in CSS pixels, about."""

GAP = 8
"""Least space between the labels of two windows in one row, in CSS pixels."""


@dataclasses.dataclass(frozen=True, slots=True)
class Mark:
    """A labelled line across a figure."""

    at: float
    label: str
    row: int = 0
    """Row of the label above the plot, counted upwards: neighbours that would overlap have different rows."""


def decades(sizes: Iterable[int]) -> tuple[int, int]:
    """Exponents of the powers of ten that enclose `sizes`, at least one apart; a size below 1 counts as 1.

    >>> decades([300, 14_300]), decades([0])
    ((2, 5), (0, 1))
    """
    known = [max(size, 1) for size in sizes]
    low = math.floor(math.log10(min(known)))
    return low, max(math.ceil(math.log10(max(known))), low + 1)


def scale(largest: float, *, steps: int = 6) -> tuple[float, float]:
    """Step and end of an axis from 0 that holds `largest`, with at most `steps` steps of 1,
    2 or 5 times a power of ten.

    >>> scale(2700), scale(0.5), scale(21), scale(2700, steps=3)
    ((500.0, 3000.0), (0.1, 0.5), (5.0, 25.0), (1000.0, 3000.0))
    """
    power = 10.0 ** math.floor(math.log10(largest / steps))
    step = next(power * times for times in (1, 2, 5, 10) if largest / (power * times) <= steps)
    return step, step * math.ceil(largest / step)


def in_rows(marks: list[Mark]) -> tuple[Mark, ...]:
    """Marks in ascending order, each in the lowest row in which its label does not touch the one before.

    >>> [mark.row for mark in in_rows([Mark(10, "3"), Mark(20, "4"), Mark(30, "30"), Mark(38, "42"), Mark(90, "100")])]
    [0, 1, 0, 2, 0]
    """  # noqa: E501
    rows: list[Mark] = []
    placed = []
    for mark in marks:
        row = next((row for row, last in enumerate(rows) if not _touch(last, mark)), len(rows))
        rows[row : row + 1] = [mark]
        placed.append(dataclasses.replace(mark, row=row))
    return tuple(placed)


def _touch(one: Mark, other: Mark) -> bool:
    """Return whether the labels of two marks would touch in the same row."""
    return other.at - one.at < BOLD_LETTER_WIDTH * (len(one.label) + len(other.label)) / 2 + GAP
