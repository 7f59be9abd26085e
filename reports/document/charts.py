"""Draws the figures of sections: estimates with their intervals, and curves, each with its finding, what it
shows and its source inside the picture.

A drawing is as wide as a phone, so that the same one is read there, enlarged in two columns on a desk, and on
a slide.
"""

import itertools
import math
import textwrap
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import altair as alt
import numpy as np

from figures.axes import BYTES
from figures.theme import CURVES, FONT, HUES, LIGHT, LOCALE
from releases.formatting import quantity, significant
from reports.forms.cells import titled
from reports.sections.shape import Column, Figure, Line, Row

Rows = Sequence[dict[str, Any]]
Place = tuple[float, float]
Box = tuple[float, float, float, float]

WIDTH = 352
"""Width of a drawing, in pixels: that of a phone's column."""

MARGIN = 4
HEIGHT = 210
"""Height of a plot of curves."""

TITLE, TEXT, SMALL = 16.0, 12.5, 11.5
"""Sizes of letters: of the finding, of names and axes, and of the source."""

LETTER, BOLD = 0.56, 0.64
"""Mean width of a letter and of a bold one, as parts of the size of the letters, in the widest of fonts."""

ROW, SERIES_ROW, NAME_ROW = 25, 15, 16
"""Heights of a category of one series, of each series of several, and of a line of a name above its rows."""

SHORT = 22
"""Longest name, in letters, that stands beside its row and not above it."""

TICKS = 5
"""Labels along an axis, about."""

LOG_TICKS = [digit * 10.0**power for power in range(-4, 5) for digit in (1, 2, 5)]

AXIS_ROOM = 40
"""Room below a plot for the labels of its axis and its title."""

UPRIGHT_ROOM, KEY_ROOM = 26, 20
"""Room above a plot for the names of upright lines, and for the key of series."""

GREY = LIGHT.palette["pages"]
STANDS_OUT = LIGHT.palette["responses_iw_limited"]
"""Colour of 2010, and of the words that mark a drawing."""

LOOKS = tuple(
    (LIGHT.palette[name], shape, is_filled)
    for name, shape, is_filled in (
        ("responses", "circle", True),
        ("hosts", "circle", False),
        ("first_flights", "square", True),
        ("responses_iw_limited", "triangle-up", True),
        ("tls_flights", "triangle-down", False),
        ("pages", "diamond", True),
    )
)
"""Looks of estimates, by series; the last is that of what has no series."""

DASHES = ([1, 0], [7, 3], [2, 2], [10, 3, 2, 3], [4, 4], [1, 3])

STROKES = tuple((light, dash) for (light, _), dash in zip(HUES, DASHES, strict=True))
"""Colour and dashes of each curve that is of no measure."""

WAYS = [(1, 0), (-1, 0), (1, -1), (1, 1), (-1, -1), (-1, 1), (0, -1), (0, 1)]
WAYS += [(across, up) for up in (-2, 2) for across in (1, -1, 0)]
"""Where the name of a point may stand: right or left of it, above or below, the best first."""

ROUNDS = 2
"""Times that names are placed."""

COVERING = 8
"""How much worse it is to cover another name or point than to cross a line."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Panel:
    """A plot with its layers and the room that they need around it, in pixels."""

    layers: list[alt.Chart]
    width: float
    height: float
    left: float
    above: float
    below: float = AXIS_ROOM


@dataclass(frozen=True, slots=True)
class Name:
    """A name that stands beside one of several places."""

    text: str
    places: Sequence[Place]
    style: dict[str, Any] = field(default_factory=dict)


def draw_figure(figure: Figure, *, note: str = "") -> alt.TopLevelMixin | None:
    """Draw a figure of dots or curves; None if none of its values is known.

    `note` is part of the drawing, so that copies have it too.
    """
    rows = known_rows(figure)
    if not rows:
        return None
    panel = _dots(figure, rows) if figure.drawing == "dots" else _curves(figure, rows)
    inner = WIDTH - 2 * MARGIN
    top = [
        *lines_of(figure.title, TITLE, inner, fontWeight="bold"),
        *lines_of(figure.caption, TEXT, inner, color=GREY),
    ]
    bottom = [*lines_of(f"Source: {figure.source.rstrip('.')}.", SMALL, inner, color=GREY)]
    if note:
        top = [*lines_of(note, TEXT, inner, color=STANDS_OUT), *top]
    above, below = panel.above + height_of(top) + 8, panel.below + height_of(bottom) + 4
    words = [
        *stack_lines(top, x=MARGIN - panel.left, y=-above),
        *stack_lines(bottom, x=MARGIN - panel.left, y=panel.height + panel.below),
    ]
    return combine_layers(
        [*panel.layers, *words],
        width=panel.width,
        height=panel.height,
        padding={
            "left": panel.left,
            "right": WIDTH - panel.left - panel.width,
            "top": above,
            "bottom": below,
        },
        letters=TEXT,
    )


def combine_layers(
    layers: Sequence[alt.Chart],
    *,
    width: float,
    height: float,
    padding: dict[str, float],
    letters: float,
    background: str = "transparent",
) -> alt.TopLevelMixin:
    """Combine layers in the style of all drawings, with a plot of this size and room around it."""
    axis = alt.AxisConfig(
        labelColor=LIGHT.ink,
        titleColor=LIGHT.ink,
        labelFontSize=letters,
        titleFontSize=letters,
        titleFontWeight="normal",
        titlePadding=6,
        domainColor=LIGHT.faint,
        tickColor=LIGHT.faint,
        gridColor=LIGHT.faint,
    )
    # Given at once: each call of `properties` and `configure` would copy all layers.
    chart: alt.TopLevelMixin = alt.layer(
        *layers,
        width=width,
        height=height,
        background=background,
        autosize="none",
        padding=padding,
        config=alt.Config(font=FONT, locale=LOCALE, view=alt.ViewConfig(stroke=None), axis=axis),
    )
    return chart


def of_rows(rows: Sequence[Row]) -> alt.Chart:
    """Return a chart of rows that it carries itself."""
    chart: alt.Chart = alt.Chart(alt.InlineData(values=list(rows)))
    return chart


def text_at(text: str, x: float, y: float, letters: float, **style: Any) -> alt.Chart:  # noqa: ANN401
    """Return a text at a place of the plot, in pixels."""
    look: dict[str, Any] = {"align": "left", "baseline": "middle", "color": LIGHT.ink, "fontSize": letters}
    drawn: alt.Chart = of_rows([{"text": text}]).mark_text(**(look | style))
    return drawn.encode(x=alt.XValue(x), y=alt.YValue(y), text="text:N")


TextLine = tuple[str, float, dict[str, Any]]
"""A line of text, the size of its letters, and its style."""


def lines_of(text: str, letters: float, width: float, **style: Any) -> Iterator[TextLine]:  # noqa: ANN401
    """Return the lines of a text in a column."""
    most = int(width / letters / (BOLD if style.get("fontWeight") == "bold" else LETTER))
    return ((line, letters, style) for line in textwrap.wrap(text.replace("IW ", "IW\u00a0"), most))


LEADING = 1.28


def height_of(lines: Iterable[TextLine]) -> float:
    """Return the height of lines below each other."""
    return sum(LEADING * letters for _, letters, _ in lines)


def stack_lines(lines: Iterable[TextLine], *, x: float, y: float) -> Iterator[alt.Chart]:
    """Draw lines of text below each other."""
    for text, letters, style in lines:
        yield text_at(text, x, y + LEADING * letters / 2, letters, **style)
        y += LEADING * letters


def known_rows(figure: Figure) -> list[dict[str, Any]]:
    """Return the rows whose measured value is known, flat: an interval's ends stand beside its estimate."""
    measured = figure.x if figure.drawing == "dots" else figure.y
    return [flat(row, measured) for row in figure.rows if flat(row, measured)[measured] is not None]


def flat(row: Row, measured: str) -> dict[str, Any]:
    """Return a row whose measured value is its estimate, with its ends beside it."""
    value = row.get(measured)
    if not isinstance(value, Mapping):
        return {**row, measured: value}
    ends = {} if None in value.values() else {"lower": value["lower"], "upper": value["upper"]}
    return {**row, measured: value["estimate"], **ends}


def column_of(figure: Figure, name: str) -> Column:
    """Return a figure's column by its id."""
    return next(column for column in figure.columns if column.id == name)


def _names_of(figure: Figure, rows: Rows) -> list[str]:
    """Return the series in their order; an empty name if there are none."""
    return list(dict.fromkeys(row[figure.series] for row in rows)) if figure.series else [""]


def _dots(figure: Figure, rows: Rows) -> Panel:
    """Build estimates with their intervals, a category below the other; names stand beside their rows, or
    above."""
    rows = [{**row, "at": at} for at, row in enumerate(rows)]
    series = _names_of(figure, rows) if figure.series else []
    looks = dict(zip(series, itertools.cycle(LOOKS), strict=False))
    categories = list(dict.fromkeys(str(row[figure.y]) for row in rows))
    each = {name: [row for row in rows if str(row[figure.y]) == name] for name in categories}
    is_above = max(map(len, categories)) > SHORT
    name_room = 0.0 if is_above else LETTER * TEXT * max(map(len, categories)) + 10
    measured = column_of(figure, figure.x)
    values = {row["at"]: _value(row, figure) for row in rows}
    for some in each.values():
        if not any("lower" in row for row in some):
            values[some[0]["at"]] = ", ".join(values[row["at"]] for row in some)
    value_room = LETTER * TEXT * max(map(len, values.values())) + 12
    left, width = MARGIN + name_room, WIDTH - 2 * MARGIN - name_room - value_room
    low, high = _ends(figure, rows)
    x: dict[str, Any] = {
        "title": measured.title if measured.unit == "%" else titled(measured),
        "scale": alt.Scale(domain=[low, high], nice=False, zero=False, clamp=True),
        "axis": alt.Axis(tickCount=TICKS, labelExpr=_label(measured), labelFlush=True),
    }
    if figure.is_logarithmic:
        x["scale"] = alt.Scale(domain=[low, high], type="log", nice=False, clamp=True)
        x["axis"] = alt.Axis(
            values=[log_tick for log_tick in LOG_TICKS if low <= log_tick <= high], format="~g"
        )
    marks: list[alt.Chart] = []
    words: list[alt.Chart] = []
    bands: list[tuple[float, float]] = []
    top = 4.0
    for name, some in each.items():
        if is_above:
            wrapped = [*lines_of(name, TEXT, WIDTH - 2 * MARGIN)]
            words += stack_lines(wrapped, x=0, y=top)
            top += height_of(wrapped)
        # Series without intervals stand on one line, others below each other.
        parts = [[row] for row in some] if any("lower" in row for row in some) else [some]
        step = ROW if len(parts) == 1 and not is_above else SERIES_ROW
        for at, part in enumerate(parts):
            y = top + step * (at + 0.5)
            for row in part:
                look = looks[row[figure.series]] if figure.series else LOOKS[-1]
                marks += _estimate({**row, "y": y}, figure.x, x, look, (low, high))
            words.append(text_at(values[part[0]["at"]], width + value_room, y, TEXT, align="right"))
        if not is_above:
            words.append(text_at(name, -name_room, top + step * len(parts) / 2, TEXT))
        bands.append((top, top + step * len(parts)))
        top += step * len(parts) + (6 if is_above or len(parts) > 1 else 0)
    marked = uprights(
        figure.lines,
        domain=(low, high),
        is_log=figure.is_logarithmic,
        width=width,
        height=top,
        parts=bands if is_above else (),
    )
    above = UPRIGHT_ROOM if any(line.label for line in figure.lines) else 4
    lines = _key_lines(looks)
    key = [
        mark
        for at, line in enumerate(reversed(lines))
        for mark in _key({name: looks[name] for name in line}, y=-above - (at + 0.5) * KEY_ROOM, x=-name_room)
    ]
    above += KEY_ROOM * len(lines)
    return Panel(layers=[*marked, *marks, *words, *key], width=width, height=top, left=left, above=above)


def _value(row: Row, figure: Figure) -> str:
    """Return the estimate as it stands beside its mark."""
    column = column_of(figure, figure.x)
    unit = column.unit if column.unit == "%" else ""
    return quantity(row[figure.x], unit) if unit else significant(row[figure.x])


def _label(column: Column) -> str:
    """Return the Vega expression for the labels of a linear axis."""
    return "format(datum.value, ',~r') + '\u202f%'" if column.unit == "%" else "format(datum.value, ',~r')"


def _ends(figure: Figure, rows: Rows) -> tuple[float, float]:
    """Return ends of the axis of estimates, with some room beside the outermost marks."""
    if figure.domain:
        return figure.domain
    values = [row[name] for row in rows for name in (figure.x, "lower", "upper") if row.get(name) is not None]
    values += [line.value for line in figure.lines]
    return span(values, is_log=figure.is_logarithmic)


def span(values: Sequence[float], *, is_log: bool = False) -> tuple[float, float]:
    """Return the least and the largest of some values with room beside them.

    >>> span([0, 100]), span([1, 100], is_log=True)
    ((-4.0, 104.0), (0.8, 125.0))
    """
    low, high = min(values), max(values)
    if is_log:
        return low / 1.25, high * 1.25
    room = 0.04 * (high - low) or 1.0
    return low - room, high + room


def _estimate(
    row: dict[str, Any],
    name: str,
    x: dict[str, Any],
    look: tuple[str, str, bool],
    domain: tuple[float, float],
) -> list[alt.Chart]:
    """Return a point and its interval, with an arrow at each end that lies beyond the axis."""
    colour, shape, is_filled = look
    y = alt.YValue(row["y"])
    point = of_rows([row]).mark_point(
        shape=shape, filled=is_filled, color=colour, size=62, strokeWidth=2.2, opacity=1
    )
    drawn = [point.encode(x=alt.X(f"{name}:Q", **x), y=y)]
    if "lower" in row:
        rule = of_rows([row]).mark_rule(color=colour, strokeWidth=2)
        drawn = [rule.encode(x=alt.X("lower:Q", **x), x2=alt.X2("upper:Q"), y=y), *drawn]
        for side, end in ends_beyond((row["lower"], row["upper"]), domain, ("left", "right")):
            drawn.append(arrow(side, colour, {"end": end}).encode(x=alt.X("end:Q", **x), y=y))
    return drawn


def ends_beyond(
    ends: tuple[float, float], domain: tuple[float, float], sides: tuple[str, str]
) -> Iterator[tuple[str, float]]:
    """Yield the side and the end of the axis at each end of an interval that lies beyond it.

    >>> [*ends_beyond((-2, 3), (0, 4), ("left", "right"))]
    [('left', 0)]
    """
    if ends[0] < domain[0]:
        yield sides[0], domain[0]
    if ends[1] > domain[1]:
        yield sides[1], domain[1]


def arrow(side: str, colour: str, row: Row) -> alt.Chart:
    """Return the mark at the end of an axis of an interval that goes on beyond it."""
    drawn: alt.Chart = of_rows([row]).mark_point(
        shape=f"triangle-{side}", filled=True, color=colour, size=46, opacity=1
    )
    return drawn


def _key_lines(names: Iterable[str]) -> list[list[str]]:
    """Return the names of series in as many lines as they need.

    >>> _key_lines(["paced", "spread"]), _key_lines(["August 2025", "November 2023", "November 2024"])
    ([['paced', 'spread']], [['August 2025', 'November 2023'], ['November 2024']])
    """
    lines: list[list[str]] = []
    for name in names:
        if not lines or sum(map(_key_width, [*lines[-1], name])) > WIDTH - 2 * MARGIN:
            lines.append([])
        lines[-1].append(name)
    return lines


def _key_width(name: str) -> float:
    """Return the room of a series in the key, in pixels."""
    return 34 + LETTER * TEXT * len(name)


def _key(looks: Mapping[str, tuple[str, str, bool]], *, y: float, x: float) -> Iterator[alt.Chart]:
    """Yield the shape of each series beside its name, on one line."""
    for name, (colour, shape, is_filled) in looks.items():
        point = of_rows([{"name": name}]).mark_point(
            shape=shape, filled=is_filled, color=colour, size=62, strokeWidth=2.2, opacity=1
        )
        yield point.encode(x=alt.XValue(x + 5), y=alt.YValue(y))
        yield text_at(name, x + 15, y, TEXT)
        x += _key_width(name)


def _curves(figure: Figure, rows: Rows) -> Panel:
    """Build a curve for each series over a quantity, named beside it, with the figure's lines upright."""
    left = 58
    width = WIDTH - left - 2 * MARGIN
    is_log = figure.is_logarithmic
    along = [float(row[figure.x]) for row in rows] + [line.value for line in figure.lines]
    low, high = figure.domain or (min(along), max(along))
    column = column_of(figure, figure.x)
    x: dict[str, Any] = {
        "title": titled(column),
        "scale": alt.Scale(domain=[low, high], nice=False, zero=False, clamp=True),
        "axis": alt.Axis(tickCount=TICKS, grid=False),
    }
    if is_log:
        x["scale"] = alt.Scale(domain=[low, high], type="log", nice=False, clamp=True)
        x["title"] = column.title  # the labels have the unit
        x["axis"] = alt.Axis(values=_decades(low, high), labelExpr=BYTES, grid=False, labelFlush=True)
    measured = column_of(figure, figure.y)
    top = max(100.0 if measured.unit == "%" else 0.0, *(row[figure.y] for row in rows))
    y: dict[str, Any] = {
        "title": measured.title if measured.unit == "%" else titled(measured),
        "scale": alt.Scale(domain=[0, top], nice=False),
        "axis": alt.Axis(tickCount=TICKS, labelExpr=_label(measured)),
    }
    looks = dict(zip(_names_of(figure, rows), itertools.cycle(STROKES), strict=False))
    looks |= {
        curve.label: (curve.light, list(curve.dash)) for curve in CURVES.values() if curve.label in looks
    }
    layers: list[alt.Chart] = []
    names, segments = [], []
    for name, (colour, dash) in looks.items():
        points = [row for row in rows if not figure.series or row[figure.series] == name]
        band = [flat(row, figure.y) for row in figure.bands if figure.series and row[figure.series] == name]
        if band:
            area = of_rows(band).mark_area(color=colour, opacity=0.22)
            layers.append(
                area.encode(x=alt.X(f"{figure.x}:Q", **x), y=alt.Y("lower:Q", **y), y2=alt.Y2("upper:Q"))
            )
        drawn = of_rows(points).mark_line(strokeWidth=2.2, color=colour, strokeDash=dash)
        layers.append(drawn.encode(x=alt.X(f"{figure.x}:Q", **x), y=alt.Y(f"{figure.y}:Q", **y)))
        places = [
            (width * _part(row[figure.x], low, high, is_log=is_log), HEIGHT * (1 - row[figure.y] / top))
            for row in points
        ]
        segments += [(start, end, 2.0) for start, end in itertools.pairwise(places)]
        spots = [_at_height(places, HEIGHT * part) for part in (0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9)]
        names.append(Name(name, spots, {"color": colour, "fontWeight": "bold"}))
    marked = [*uprights(figure.lines, domain=(low, high), is_log=is_log, width=width, height=HEIGHT)]
    if figure.series:
        segments += [
            ((at, 0.0), (at, float(HEIGHT)), 0.5)
            for line in figure.lines
            for at in [width * _part(line.value, low, high, is_log=is_log)]
        ]
        layers += draw_names(names, segments, width=width, height=HEIGHT, letters=TEXT)
    above = UPRIGHT_ROOM if marked else 6
    return Panel(layers=[*marked, *layers], width=width, height=HEIGHT, left=left + MARGIN, above=above)


def _at_height(places: Sequence[Place], y: float) -> Place:
    """Return the place of a growing curve at a height."""
    xs, ys = zip(*places, strict=True)
    return float(np.interp(-y, [-height for height in ys], xs)), y


def _part(value: float, low: float, high: float, *, is_log: bool) -> float:
    """Return the place of a value along an axis, from 0 to 1."""
    scaled = math.log10 if is_log else float
    return min(1.0, max(0.0, (scaled(value) - scaled(low)) / (scaled(high) - scaled(low))))


def _decades(low: float, high: float) -> list[int]:
    """Return powers of ten along an axis, every other one where there are many."""
    every = [10**power for power in range(math.ceil(math.log10(low)), math.floor(math.log10(high)) + 1)]
    return every if len(every) < 7 else every[::2]


def uprights(
    lines: Sequence[Line],
    *,
    domain: tuple[float, float],
    is_log: bool,
    width: float,
    height: float,
    parts: Sequence[tuple[float, float]] = (),
) -> Iterator[alt.Chart]:
    """Yield upright lines with their names above the plot, where no name covers another; a window after the
    first is named by its number alone, as "IW 3 6 10".

    Lines are whole, or drawn over `parts` of the height alone.
    """
    ordered = sorted(lines, key=lambda line: line.value)
    places = [width * _part(line.value, *domain, is_log=is_log) for line in ordered]
    for x, (top, bottom) in itertools.product(places, parts or [(-4, height)]):
        rule = of_rows([{}]).mark_rule(color=LIGHT.ink, strokeWidth=1, strokeDash=[4, 3])
        yield rule.encode(x=alt.XValue(x), y=alt.YValue(top), y2=alt.Y2Value(bottom))
    labelled = [(x, line.label) for x, line in zip(places, ordered, strict=True) if line.label]
    texts = [name for _, name in labelled]
    texts = [*texts[:1], *(name.removeprefix("IW ") for name in texts[1:])]
    widths = [LETTER * TEXT * len(name) + 8 for name in texts]
    middles = spread_labels([x for x, _ in labelled], widths, within=width)
    for (x, _), text, middle in zip(labelled, texts, middles, strict=True):
        leader = of_rows([{}]).mark_rule(color=LIGHT.ink, strokeWidth=1)
        yield leader.encode(x=alt.XValue(middle), y=alt.YValue(-10), x2=alt.X2Value(x), y2=alt.Y2Value(-4))
        yield text_at(text, middle, -18, TEXT, align="center")


def spread_labels(places: Sequence[float], widths: Sequence[float], *, within: float) -> list[float]:
    """Return middles of labels of these widths near their places, in the same order: none covers another,
    and all lie within 0 and `within`.

    Labels that would cover each other stand side by side around the mean of their places.

    >>> spread_labels([50, 100], [20, 20], within=200), spread_labels([50, 54], [20, 20], within=200), spread_labels([0, 4], [20, 20], within=200)
    ([50.0, 100.0], [42.0, 62.0], [10.0, 30.0])
    """  # noqa: E501
    # A group is [sum of the places that its first label would have, labels, width];
    # groups that touch are merged.
    groups: list[tuple[float, int, float]] = []
    for place, width in zip(places, widths, strict=True):
        first, count, long = place - width / 2, 1, width
        while groups and _left(groups[-1], within) + groups[-1][2] > _left((first, count, long), within):
            before = groups.pop()
            first, count, long = before[0] + first - count * before[2], before[1] + count, before[2] + long
        groups.append((first, count, long))
    starts = list(itertools.accumulate(widths, initial=0.0))
    middles: list[float] = []
    for group in groups:
        at = len(middles)
        left = _left(group, within) - starts[at]
        middles += [left + starts[place] + widths[place] / 2 for place in range(at, at + group[1])]
    return middles


def _left(group: tuple[float, int, float], within: float) -> float:
    """Return the left end of a group of labels."""
    total, count, width = group
    return max(0.0, min(total / count, within - width))


def draw_names(
    names: Sequence[Name],
    lines: Sequence[tuple[Place, Place, float]],
    *,
    width: float,
    height: float,
    letters: float,
    origin: Place = (0.0, 0.0),
) -> Iterator[alt.Chart]:
    """Draw names beside their places in a plot, each where it hides least of lines, and of other names and
    their points; `origin` is the plot's top left in the drawing."""
    near = 1.3 * letters
    points = [
        [(x - near, y - near, x + near, y + near) for x, y in name.places] if len(name.places) == 1 else []
        for name in names
    ]
    taken = [*itertools.chain.from_iterable(map(_boxes, lines))]
    chosen: dict[int, tuple[float, Box, int]] = {}
    for at in [*range(len(names))] * ROUNDS:  # each again when the others have their places
        others = [box for other, boxes in enumerate(points) if other != at for box in boxes]
        others += [box for other, (_, box, _) in chosen.items() if other != at]
        crossed, covered = (np.array(boxes or [(0.0, 0.0, 0.0, 0.0)]) for boxes in (taken, others))
        own = names[at].style.get("fontSize", letters)
        wide, high = LETTER * own * len(names[at].text) * 1.12, 1.1 * own
        costs = []
        for (x, y), (late, (across, up)) in itertools.product(names[at].places, enumerate(WAYS)):
            left = x + across * 0.9 * letters - (0, wide, wide / 2)[(across == -1) + 2 * (across == 0)]
            middle = y + up * (1.0 if across else 1.3) * letters
            box = (left, middle - high / 2, left + wide, middle + high / 2)
            beyond = max(0, -left) + max(0, left + wide - width) + max(0, box[3] - height) + max(0, -box[1])
            hidden = overlap(box, crossed) + COVERING * overlap(box, covered)
            costs.append((hidden + (10 * beyond + late) * letters, box, across))
        chosen[at] = min(costs)
    for at, own_name in enumerate(names):
        _, (left, top, right, bottom), side = chosen[at]
        x, align = {1: (left, "left"), -1: (right, "right")}.get(side, ((left + right) / 2, "center"))
        style = {"fontSize": letters, **own_name.style, "align": align}
        yield text_at(own_name.text, origin[0] + x, origin[1] + (top + bottom) / 2, letters, **style)


def _boxes(line: tuple[Place, Place, float]) -> Iterator[Box]:
    """Yield small boxes along a line of some thickness."""
    (left, top), (right, bottom), thick = line
    parts = max(1, round((abs(right - left) + abs(bottom - top)) / 8))
    for part in range(parts + 1):
        x, y = left + (right - left) * part / parts, top + (bottom - top) * part / parts
        yield x - thick, y - thick, x + thick, y + thick


def overlap(box: Box, others: Any) -> float:  # noqa: ANN401  # an array of boxes
    """Return the area that a box shares with others.

    >>> overlap((0, 0, 2, 2), np.array([(1, 1, 3, 3)])), overlap((0, 0, 1, 1), np.array([(2, 0, 3, 1)]))
    (1.0, 0.0)
    """
    wide = np.minimum(box[2], others[:, 2]) - np.maximum(box[0], others[:, 0])
    high = np.minimum(box[3], others[:, 3]) - np.maximum(box[1], others[:, 1])
    return float(np.sum(np.maximum(wide, 0) * np.maximum(high, 0)))
