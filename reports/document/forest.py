"""Forest plots: an interval for each category, sideways; names stand beside their rows,
and on phones long ones above them."""

import dataclasses
import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from reports.document.figure_style import (
    NARROW,
    PHONE,
    STANDS_OUT,
    WIDE,
    WIDTH,
    column,
    has_intervals,
    names_of,
    series_of,
    styled,
    titled,
)
from reports.document.theme import LIGHT

ROW_HEIGHT = 30
"""Height of a category in a figure of short names without series."""

SHORT_LETTERS = 24
"""Longest name of a figure whose names stand beside its axis; a figure with a longer one is wide."""

BESIDE_LETTERS, ABOVE_LETTERS = 42, 48
"""Letters that a line of a long name has at most, beside its rows and above them."""

NAME_LINE, SERIES_HEIGHT, BETWEEN = 14, 12, 8
"""Heights of a line of a name and of each of a category's series, and the room between categories."""

FOREST_TICKS = 6
"""Labels along the axis, about."""

LETTER, GAP = 7.0, 10
"""Width of a letter of a short name, rather too much, and the room between names and the plot, in pixels."""

LETTER_OF_SENTENCE = 6.0
"""Width of a letter in a line of a long name, in pixels: wide and narrow letters even out."""

TOLD = "told"
"""Column of the name that screen readers hear for a mark."""

Data = Mapping[str, Any]


@dataclasses.dataclass(frozen=True, slots=True)
class Placed:
    """Where a figure's categories stand, in pixels from the top of its plot."""

    rows: list[dict[str, Any]]
    """The rows with their `place`."""
    names: list[dict[str, Any]]
    """Lines of the names with theirs."""
    bands: list[tuple[float, float]]
    """From where to where each category has marks."""
    rooms: list[tuple[float, float]]
    """From where to where each category has its room, with its name."""
    height: int


def has_names_beside(figure: Data, rows: Sequence[dict[str, Any]]) -> bool:
    """Return whether a figure is so simple that its names are the labels of its axis."""
    return figure["series"] is None and max(len(str(row[figure["y"]])) for row in rows) <= SHORT_LETTERS


def draw_forest(
    figure: Data, rows: Sequence[dict[str, Any]], *, note: str | None, is_narrow: bool = False
) -> alt.TopLevelMixin:
    """Draw a figure of this kind.

    `rows` are those whose value is known, flat as `reports.document.drawing.flat` makes them. `is_narrow`
    puts long names above their rows, for phones.
    """
    if has_names_beside(figure, rows):
        names = list(dict.fromkeys(str(row[figure["y"]]) for row in rows))
        height = ROW_HEIGHT * len(names)
        # The reader's font may be wider than the one that the names were measured by.
        room = LETTER * max(map(len, names))
        axis = alt.Axis(title=None, grid=False, minExtent=room)
        layers = marks(figure, rows, y=alt.Y(f"{figure['y']}:N", sort=names, axis=axis))
        width = min(WIDTH, int(PHONE - room))
        return styled(*across(figure, layers, height=height), note=note, width=width, height=height)
    placed = below_each_other(figure, rows, is_above=is_narrow)
    y = alt.Y("place:Q", axis=None, scale=alt.Scale(domain=[placed.height, 0], nice=False, zero=False))
    longest = max(len(one["line"]) for one in placed.names)
    margin = 0 if is_narrow else int(LETTER_OF_SENTENCE * longest) + GAP
    width = NARROW if is_narrow else WIDE - margin
    written = (
        alt.Chart(alt.InlineData(values=placed.names))
        .mark_text(align="left", baseline="middle", fontSize=11.5, color=LIGHT.ink)
        .encode(x=alt.XValue(-margin), y=y, text=alt.Text("line:N"))
    )
    layers = [*marks(figure, placed.rows, y=y, has_grid=not is_narrow), written]
    if is_narrow:
        # Whole lines would strike through the names above the rows.
        layers = across(figure, layers, height=placed.height, parts=placed.bands)
    else:
        layers = [separators(placed, y=y, margin=margin, width=width), *layers]
        layers = across(figure, layers, height=placed.height)
    return styled(*layers, note=note, width=width, height=placed.height)


def below_each_other(figure: Data, rows: Sequence[dict[str, Any]], *, is_above: bool) -> Placed:
    """Place the categories below each other, with their names above or beside their rows."""
    series = names_of(figure["series"], rows) if figure["series"] else [None]
    placed = Placed([], [], [], [], 0)
    top = BETWEEN
    for name in dict.fromkeys(str(row[figure["y"]]) for row in rows):
        letters = ABOVE_LETTERS if is_above else BESIDE_LETTERS
        lines = textwrap.wrap(name.replace("IW ", "IW\u00a0"), letters)
        written, drawn = NAME_LINE * len(lines), SERIES_HEIGHT * len(series)
        room = written + drawn if is_above else max(written, drawn)
        first = top + written if is_above else top + max(0, written - drawn) / 2
        line = top if is_above else top + max(0, drawn - written) / 2
        placed.names.extend(
            {"line": one, "place": line + NAME_LINE * (at + 0.5)} for at, one in enumerate(lines)
        )
        for row in rows:
            if str(row[figure["y"]]) == name:
                at = series.index(row[figure["series"]]) if figure["series"] else 0
                told = f"{name}, {row[figure['series']]}" if figure["series"] else name
                placed.rows.append({**row, TOLD: told, "place": first + SERIES_HEIGHT * (at + 0.5)})
        placed.bands.append((first, first + drawn))
        placed.rooms.append((top - BETWEEN / 2, top + room + BETWEEN / 2))
        top += room + BETWEEN
    return dataclasses.replace(placed, height=top)


def separators(placed: Placed, *, y: alt.Y, margin: int, width: int) -> alt.Chart:
    """Faint lines between categories, from the names to the end of the plot."""
    drawn: alt.Chart = (
        alt.Chart(alt.InlineData(values=[{"place": end} for _, end in placed.rooms[:-1]]))
        .mark_rule(color=LIGHT.faint, aria=False)
        .encode(x=alt.XValue(-margin), x2=alt.X2Value(width), y=y)
    )
    return drawn


def marks(
    figure: Data, rows: Sequence[dict[str, Any]], *, y: alt.Y, has_grid: bool = True
) -> list[alt.Chart]:
    """The intervals and the estimates."""
    base: alt.Chart = alt.Chart(alt.InlineData(values=list(rows)))
    told = series_of(figure, rows)
    heard = {"description": alt.Description(f"{TOLD}:N")} if rows and TOLD in rows[0] else {}
    x: dict[str, Any] = {
        "title": titled(column(figure, figure["x"])),
        "axis": alt.Axis(tickCount=FOREST_TICKS, grid=has_grid),
    }
    spans = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("lower:Q", **x), x2=alt.X2("upper:Q"), y=y, color=told["color"], **heard
    )
    points = base.mark_point(filled=True, size=40 if figure["series"] else 70, opacity=1).encode(
        x=alt.X(f"{figure['x']}:Q", **x), y=y, **told, **heard
    )
    return [*([spans] if has_intervals(rows) else []), points]


def across(
    figure: Data, layers: Sequence[alt.Chart], *, height: float, parts: Sequence[tuple[float, float]] = ()
) -> list[alt.Chart]:
    """The layers over the figure's lines, which are whole or have `parts` alone;
    all but the first have a label at the top."""
    rules = []
    labels = []
    for place, one in enumerate(figure["lines"]):
        colour = STANDS_OUT if place else LIGHT.ink
        style: dict[str, Any] = {"color": colour, "strokeDash": [4, 3] if place else [1, 0]}
        at = {"at": one["value"], "label": one["label"]}
        base = alt.Chart(alt.InlineData(values=[at]))
        if parts:
            every = [{**at, "place": start, "end": end} for start, end in parts]
            cut = alt.Chart(alt.InlineData(values=every)).mark_rule(**style)
            rules.append(cut.encode(x=alt.X("at:Q"), y=alt.Y("place:Q", axis=None), y2=alt.Y2("end:Q")))
        else:
            rules.append(
                base.mark_rule(**style).encode(x=alt.X("at:Q"), y=alt.YValue(0), y2=alt.Y2Value(height))
            )
        if place:
            labels.append(
                base.mark_text(align="left", dx=4, dy=-10, fontSize=12, color=colour).encode(
                    x=alt.X("at:Q"), y=alt.YValue(6), text=alt.Text("label:N")
                )
            )
    return [*rules, *layers, *labels]
