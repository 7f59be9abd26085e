"""Tables in plain ASCII that fit a given width."""

from collections.abc import Sequence

from reports.forms.typesetting import lines_of, tied_ascii, widest_word

GAP = 2
"""Spaces between columns."""

LEAST = 8
"""Characters below which a column of short words is not narrowed."""


def ascii_table(
    headings: Sequence[str], is_number: Sequence[bool], rows: Sequence[Sequence[str]], *, width: int
) -> list[str]:
    """Lines of a table of at most `width` characters;
    a list of rows with their headings where columns cannot fit.

    >>> for line in ascii_table(["network", "ms"], [False, True], [["a", "1.5"], ["b", "10.0"]], width=20):
    ...     print(line)
    network    ms
    -------  ----
    a         1.5
    b        10.0
    """
    plain = [list(row) for row in (headings, *rows)]
    widths = _widths(plain, is_number, width)
    if widths is None:
        return _listed(headings, rows, width)
    lines = _row(plain[0], widths, is_number)
    lines.append((" " * GAP).join("-" * one for one in widths))
    for row in plain[1:]:
        lines += _row(row, widths, is_number)
    return [line.rstrip() for line in lines]


def _widths(rows: Sequence[Sequence[str]], is_number: Sequence[bool], width: int) -> list[int] | None:
    """Widths of the columns, text narrowed until all fit; None if they cannot."""
    widths = [max(len(tied_ascii(text)) for text in column) for column in zip(*rows, strict=True)]
    # Headings of numbers wrap, the numbers themselves do not; of text, a word stays whole.
    least = [
        max(len(tied_ascii(text)) for text in texts)
        if number and texts
        else max(min(LEAST, widths[at]), *map(widest_word, texts), 0)
        for at, (number, (_, *texts)) in enumerate(zip(is_number, zip(*rows, strict=True), strict=True))
    ]
    least = [max(width, widest_word(heading)) for width, heading in zip(least, rows[0], strict=True)]
    room = width - GAP * (len(widths) - 1)
    while sum(widths) > room:
        wide = [at for at in range(len(widths)) if widths[at] > least[at]]
        if not wide:
            return None
        widths[max(wide, key=lambda at: widths[at] - least[at])] -= 1
    return widths


def _row(cells: Sequence[str], widths: Sequence[int], is_number: Sequence[bool]) -> list[str]:
    columns = [lines_of(text, width) or [""] for text, width in zip(cells, widths, strict=True)]
    lines = []
    for at in range(max(map(len, columns))):
        parts = [column[at] if at < len(column) else "" for column in columns]
        aligned = (
            part.rjust(width) if right else part.ljust(width)
            for part, width, right in zip(parts, widths, is_number, strict=True)
        )
        lines.append((" " * GAP).join(aligned))
    return lines


def _listed(headings: Sequence[str], rows: Sequence[Sequence[str]], width: int) -> list[str]:
    lines: list[str] = []
    for row in rows:
        lines += lines_of(row[0], width)
        for heading, text in zip(headings[1:], row[1:], strict=True):
            lines += lines_of(f"{heading}: {text}", width, first="  ", rest="    ")
    return lines
