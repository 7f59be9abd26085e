"""Widths of texts in the figures' font, lines of a width, and labels that do not cover each other."""

import itertools
from collections.abc import Iterator, Sequence

from releases.formatting import visible_text

WIDTHS = {
    character: width
    for width, characters in (
        (191, "'"),
        (222, "ijl\u2018\u2019"),
        (278, " !,./:;I[\\]ft\u00a0"),
        (333, "`()-r"),
        (355, '"'),
        (389, "*"),
        (500, "Jcksvxyz"),
        (556, "#$0123456789?L_abdeghnopqu\u2013"),
        (584, "+<=>~\u2212"),
        (611, "FTZ"),
        (667, "&ABEKPSVXY"),
        (722, "CDHNRUw"),
        (778, "GOQ"),
        (833, "Mm"),
        (889, "%"),
        (944, "W"),
        (1000, "\u2026\u2192\u2191\u2014"),
        (1015, "@"),
        (278, "\u202f"),
    )
    for character in characters
}
"""Advance widths of Arial, Helvetica and Liberation Sans, in thousandths of the size of the letters."""

WIDEST = 1000

BOLDER = frozenset("bcdfghijklmnopqrstuvwxyABJKL:;!?")
BOLD_MORE = 55
"""Characters wider in bold, and by how much, in thousandths of the size."""

LEADING = 1.28
"""Height of a line over the size of its letters."""


def text_width(text: str, size: float, *, is_bold: bool = False) -> float:
    """Return the width of a text in pixels, for letters of `size` pixels.

    >>> text_width("IW 10", 10), text_width("like", 10, is_bold=True)
    (26.12, 16.65)
    """
    thousandths = sum(WIDTHS.get(character, WIDEST) for character in text)
    if is_bold:
        thousandths += BOLD_MORE * sum(character in BOLDER for character in text)
    return round(thousandths * size / 1000, 2)


def wrap(text: str, width: float, size: float, *, is_bold: bool = False) -> list[str]:
    """Return the lines of a text in a column of `width` pixels; a window is not parted from its number, and
    a word that is longer than a line stands alone.

    >>> wrap("ten segments of IW 10", 60, 10)
    ['ten', 'segments of', 'IW\\xa010']
    """
    lines: list[str] = []
    for word in visible_text(text).replace("IW ", "IW\u00a0").split(" "):
        longer = f"{lines[-1]} {word}" if lines else word
        if lines and text_width(longer, size, is_bold=is_bold) <= width:
            lines[-1] = longer
        elif word:
            lines.append(word)
    return lines


def spread(places: Sequence[float], sizes: Sequence[float], *, within: float) -> list[float]:
    """Return middles of labels of these sizes near their places, which are in ascending order: none covers
    another, and all lie within 0 and `within` if they have room there.

    Labels that would cover each other stand side by side around the mean of their places.

    >>> spread([50, 100], [20, 20], within=200), spread([50, 54], [20, 20], within=200), spread([0, 4], [20, 20], within=200)
    ([50.0, 100.0], [42.0, 62.0], [10.0, 30.0])
    """  # noqa: E501
    # A group is [sum of the places that its first label would have, labels, size]; groups that touch are
    # merged.
    groups: list[tuple[float, int, float]] = []
    for place, size in zip(places, sizes, strict=True):
        first, count, long = place - size / 2, 1, size
        while groups and _start(groups[-1], within) + groups[-1][2] > _start((first, count, long), within):
            before = groups.pop()
            first, count, long = before[0] + first - count * before[2], before[1] + count, before[2] + long
        groups.append((first, count, long))
    starts = list(itertools.accumulate(sizes, initial=0.0))
    return [*_middles(groups, starts, sizes, within)]


def _middles(
    groups: Sequence[tuple[float, int, float]], starts: Sequence[float], sizes: Sequence[float], within: float
) -> Iterator[float]:
    at = 0
    for group in groups:
        offset = _start(group, within) - starts[at]
        for place in range(at, at + group[1]):
            yield offset + starts[place] + sizes[place] / 2
        at += group[1]


def _start(group: tuple[float, int, float], within: float) -> float:
    total, count, size = group
    return max(0.0, min(total / count, within - size))
