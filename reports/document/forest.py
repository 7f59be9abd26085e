"""Forest plots: an interval for each category, sideways; short names stand beside their rows, long ones above them."""

from __future__ import annotations

import textwrap
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from reports.document.figure_style import (
    STANDS_OUT,
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
"""Height of a category whose name stands beside it."""

BESIDE_LETTERS = 24
"""Longest name that stands beside its row; a figure with a longer one has all its names above."""

ABOVE_LETTERS = 48
"""Letters that a line above a row has at most."""

NAME_LINE, SERIES_HEIGHT, BETWEEN = 14, 12, 8
"""Heights of a line of a name above its row and of each of the row's series, and the room between rows."""

FOREST_TICKS = 6
"""Labels along the axis, about."""

LETTER = 7.0
"""Width of a letter of a category's name, in pixels: rather too much."""

TOLD = "told"
"""Column of the name that screen readers hear for a mark."""

Data = Mapping[str, Any]


def draw_forest(figure: Data, rows: Sequence[dict[str, Any]], *, note: str | None) -> alt.TopLevelMixin:
    """Draw a figure of this kind; `rows` are those whose value is known, flat as `reports.document.drawing.flat` makes them."""
    names = list(dict.fromkeys(str(row[figure["y"]]) for row in rows))
    if figure["series"] is None and max(map(len, names)) <= BESIDE_LETTERS:
        height = ROW_HEIGHT * len(names)
        # The reader's font may be wider than the one that the names were measured by.
        room = LETTER * max(map(len, names))
        axis = alt.Axis(title=None, grid=False, minExtent=room)
        layers = marks(figure, rows, y=alt.Y(f"{figure['y']}:N", sort=names, axis=axis))
        return styled(*across(figure, layers, height=height), note=note, height=height)
    placed, lines, height = below_each_other(figure, rows)
    y = alt.Y("place:Q", axis=None, scale=alt.Scale(domain=[height, 0], nice=False, zero=False))
    written = (
        alt.Chart(alt.InlineData(values=lines))
        .mark_text(align="left", baseline="middle", fontSize=11.5, color=LIGHT.ink)
        .encode(x=alt.value(0), y=y, text="line:N")
    )
    layers = [*marks(figure, placed, y=y), written]
    return styled(*across(figure, layers, height=height), note=note, width=WIDTH, height=height)


def below_each_other(
    figure: Data, rows: Sequence[dict[str, Any]]
) -> tuple[list[dict[str, Any]], list[dict[str, Any]], int]:
    """The rows with their `place` in pixels from the top, the lines of the names above them with theirs, and the height of all."""
    series = names_of(figure["series"], rows) if figure["series"] else [None]
    placed: list[dict[str, Any]] = []
    lines: list[dict[str, Any]] = []
    top = BETWEEN
    for name in dict.fromkeys(str(row[figure["y"]]) for row in rows):
        for line in textwrap.wrap(name.replace("IW ", "IW\u00a0"), ABOVE_LETTERS):
            lines.append({"line": line, "place": top + NAME_LINE / 2})
            top += NAME_LINE
        for row in rows:
            if str(row[figure["y"]]) == name:
                at = series.index(row[figure["series"]]) if figure["series"] else 0
                told = f"{name}, {row[figure['series']]}" if figure["series"] else name
                placed.append({**row, TOLD: told, "place": top + SERIES_HEIGHT * (at + 0.5)})
        top += SERIES_HEIGHT * len(series) + BETWEEN
    return placed, lines, top


def marks(figure: Data, rows: Sequence[dict[str, Any]], *, y: alt.Y) -> list[alt.Chart]:
    """The intervals and the estimates."""
    base: alt.Chart = alt.Chart(alt.InlineData(values=list(rows)))
    told = series_of(figure, rows)
    heard = {"description": alt.Description(f"{TOLD}:N")} if rows and TOLD in rows[0] else {}
    x: dict[str, Any] = {
        "title": titled(column(figure, figure["x"])),
        "axis": alt.Axis(tickCount=FOREST_TICKS),
    }
    spans = base.mark_rule(strokeWidth=2).encode(
        x=alt.X("lower:Q", **x), x2="upper:Q", y=y, color=told["color"], **heard
    )
    points = base.mark_point(filled=True, size=40 if figure["series"] else 70, opacity=1).encode(
        x=alt.X(f"{figure['x']}:Q", **x), y=y, **told, **heard
    )
    return [*([spans] if has_intervals(rows) else []), points]


def across(figure: Data, layers: Sequence[alt.Chart], *, height: int) -> list[alt.Chart]:
    """The layers over the figure's lines, of which all but the first have a label at the top."""
    rules = []
    labels = []
    for place, one in enumerate(figure["lines"]):
        colour = STANDS_OUT if place else LIGHT.ink
        base = alt.Chart(alt.InlineData(values=[{"at": one["value"], "label": one["label"]}]))
        rules.append(
            base.mark_rule(color=colour, strokeDash=[4, 3] if place else [1, 0]).encode(
                x="at:Q", y=alt.value(0), y2=alt.value(height)
            )
        )
        if place:
            labels.append(
                base.mark_text(align="left", dx=4, dy=-6, fontSize=12, color=colour).encode(
                    x="at:Q", y=alt.value(6), text="label:N"
                )
            )
    return [*rules, *layers, *labels]
