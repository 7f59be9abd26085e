"""Figures drawn in ASCII, for the text of an Internet-Draft and for mails."""

from collections.abc import Iterator, Sequence

from releases.formatting import in_ascii
from reports.forms.drawn import (
    Axis,
    Curve,
    curve_axes,
    curves,
    estimates,
    lines_of,
    measured_axis,
    measured_role,
    title_of,
)
from reports.forms.printed import Figure

WIDTH = 68
"""Columns of a figure; artwork of an Internet-Draft may have 69."""

HEIGHT = 16
"""Rows of a plot of curves."""

NAMED = 24
"""Columns for the names of estimates, at most."""

LETTERS = "abcdefghijklmnopqrstuvwxyz"


def ascii_figure(figure: Figure) -> list[str]:
    """Lines of at most WIDTH characters: a plot of the curves, or a bar for each estimate's interval."""
    drawn = _curves(figure) if figure.facts["drawing"] == "lines" else _estimates(figure)
    marked = [f"[{figure.marks}]"] if figure.marks else []
    return [in_ascii(line).rstrip()[:WIDTH] for line in (*marked, *drawn)]


def _curves(figure: Figure) -> Iterator[str]:
    """A plot with a letter for each curve, as steps; where curves meet, the later letter is seen."""
    found = curves(figure)
    across, up = curve_axes(figure)
    columns = WIDTH - 8
    grid = [[" "] * columns for _ in range(HEIGHT)]
    for value, _ in lines_of(figure):
        for row in grid:
            row[round(across.place(value) * (columns - 1))] = ":"
    for letter, curve in zip(LETTERS, found, strict=False):
        for column, y in _steps(curve, across, columns):
            grid[round((1 - up.place(y)) * (HEIGHT - 1))][column] = letter
    labels = {round((1 - up.place(tick)) * (HEIGHT - 1)): up.label(tick) for tick in up.ticks}
    for at, row in enumerate(grid):
        yield f"{labels.get(at, ''):>6} |{''.join(row)}"
    yield from _axis(across, columns, 7)
    yield f"{title_of(figure, 'x'):>{WIDTH}}"
    yield f"       vertical: {title_of(figure, 'y')}"
    yield from (f"       {letter} = {curve.name}" for letter, curve in zip(LETTERS, found, strict=False))
    yield from (f"       : at {across.label(value)}: {label}" for value, label in lines_of(figure))


def _steps(curve: Curve, across: Axis, columns: int) -> Iterator[tuple[int, float]]:
    """The curve's last value at or before each column, from its first point on."""
    reached: float | None = None
    left = list(curve.points)
    for column in range(columns):
        while left and round(across.place(left[0][0]) * (columns - 1)) <= column:
            reached = left.pop(0)[1]
        if reached is not None:
            yield column, reached


def _estimates(figure: Figure) -> Iterator[str]:
    """A line for each estimate: `o` at its value between the ends of its interval."""
    found, across = estimates(figure), measured_axis(figure)
    name_width = min(NAMED, max((len(one.name) for one in found), default=0))
    columns = WIDTH - name_width - 2
    is_bars = figure.facts["drawing"] == "bars"
    group = ""
    for one in found:
        if one.group != group:
            group = one.group
            yield group
        line = [" "] * columns
        for value, _ in lines_of(figure):
            line[_column(across, value, columns)] = ":"
        low, high = (
            (across.low if one.lower is None else one.lower),
            (across.high if one.upper is None else one.upper),
        )
        if is_bars:
            _fill(line, _column(across, 0.0, columns), _column(across, one.value, columns), "#")
        elif one.lower is not None or one.upper is not None:
            _fill(line, _column(across, low, columns), _column(across, high, columns), "-")
        if not is_bars:
            line[_column(across, one.value, columns)] = "o"
        yield f"{one.name[:name_width]:<{name_width}} |{''.join(line)}"
    yield from _axis(across, columns, name_width + 1)
    yield f"{title_of(figure, measured_role(figure)):>{WIDTH}}"
    indent = " " * (name_width + 2)
    yield from (f"{indent}: at {across.label(value)}: {label}" for value, label in lines_of(figure))


def _column(across: Axis, value: float, columns: int) -> int:
    return round(across.place(value) * (columns - 1))


def _fill(line: list[str], first: int, last: int, mark: str) -> None:
    for column in range(min(first, last), max(first, last) + 1):
        line[column] = mark


def _axis(across: Axis, columns: int, indent: int) -> Sequence[str]:
    """The horizontal axis with its ticks and their labels, which are left out where they would meet."""
    marks, labels = ["-"] * columns, [" "] * (columns + indent)
    free = 0
    for tick in across.ticks:
        column = _column(across, tick, columns)
        marks[column] = "+"
        text = in_ascii(across.label(tick))
        start = max(0, min(column + indent + 1 - len(text) // 2, columns + indent - len(text)))
        if start >= free:
            labels[start : start + len(text)] = text
            free = start + len(text) + 1
    return [" " * indent + "+" + "".join(marks), "".join(labels)]
