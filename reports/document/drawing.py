"""Draws the figures of sections from their data: every kind of drawing that `reports.sections.shape` names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from reports.document.curve_marks import DASHES, key, markers
from reports.document.figure_style import SERIES, column, has_intervals, names_of, series_of, styled, titled
from reports.document.forest import draw_forest
from reports.document.theme import BYTES, LIGHT

WIDE = 620
"""Width of a figure of curves."""

KEY_TOP = 48
"""Room between curves and their key, for the axis, in pixels."""


def draw_figure(figure: Mapping[str, Any], *, note: str | None = None) -> alt.TopLevelMixin | None:
    """Draw a figure; None if none of its values is known. `note` is part of the drawing, so that copies have it too."""
    measured = figure["x"] if figure["drawing"] == "forest" else figure["y"]
    rows = [flat(row, measured) for row in figure["rows"] if row.get(measured) is not None]
    if not rows:
        return None
    if figure["drawing"] == "forest":
        return draw_forest(figure, rows, note=note)
    base: alt.Chart = alt.Chart(alt.InlineData(values=rows))
    if figure["drawing"] == "intervals":
        return styled(*intervals(figure, base, rows), note=note)
    if figure["drawing"] == "bars":
        return styled(bars(figure, base, rows), note=note)
    return styled(*lines(figure, rows), note=note, width=WIDE, height=WIDE // 2)


def flat(row: Mapping[str, Any], measured: str) -> dict[str, Any]:
    """A row whose measured value is its estimate, with its ends beside it."""
    value = row[measured]
    if not isinstance(value, dict):
        return dict(row)
    ends = {} if None in value.values() else {"lower": value["lower"], "upper": value["upper"]}
    return {**row, measured: value["estimate"], **ends}


def intervals(figure: Mapping[str, Any], base: alt.Chart, rows: list[dict[str, Any]]) -> list[alt.Chart]:
    """Points with bars over categories, the series side by side."""
    order = list(dict.fromkeys(row[figure["x"]] for row in rows))
    told = series_of(figure, rows)
    x = alt.X(
        f"{figure['x']}:N",
        sort=order,
        title=titled(column(figure, figure["x"])),
        axis=alt.Axis(labelAngle=0, grid=False, **counted(figure)),
    )
    dodge = (
        {"xOffset": alt.XOffset(f"{figure['series']}:N", sort=names_of(figure["series"], rows))}
        if figure["series"]
        else {}
    )
    title = titled(column(figure, figure["y"]))
    rules = [
        alt.Chart(alt.InlineData(values=[{"at": one["value"]}]))
        .mark_rule(color=LIGHT.ink, strokeDash=[3, 3])
        .encode(y="at:Q")
        for one in figure["lines"]
    ]
    spans = base.mark_rule(strokeWidth=2, opacity=0.7).encode(
        x=x, y=alt.Y("lower:Q", title=title), y2="upper:Q", color=told["color"], **dodge
    )
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        x=x, y=alt.Y(f"{figure['y']}:Q", title=title), **told, **dodge
    )
    return [*rules, *([spans] if has_intervals(rows) else []), points]


def counted(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Option of an axis of categories that are numbers: their thousands are set apart, as on the other axes."""
    return {"labelExpr": "format(datum.value, ',')"} if column(figure, figure["x"])["kind"] == "count" else {}


def bars(figure: Mapping[str, Any], base: alt.Chart, rows: list[dict[str, Any]]) -> alt.Chart:
    """A bar for each category."""
    order = list(dict.fromkeys(row[figure["x"]] for row in rows))
    drawn: alt.Chart = base.mark_bar(color=SERIES[0]).encode(
        x=alt.X(
            f"{figure['x']}:N",
            sort=order,
            title=titled(column(figure, figure["x"])),
            axis=alt.Axis(labelAngle=0, **counted(figure)),
        ),
        y=alt.Y(f"{figure['y']}:Q", title=titled(column(figure, figure["y"])), scale=alt.Scale(domainMin=0)),
    )
    return drawn


def lines(figure: Mapping[str, Any], rows: list[dict[str, Any]]) -> list[alt.Chart]:
    """A curve for each series over a quantity, with dashes and markers that survive print, and the figure's lines upright."""
    x: dict[str, Any] = {"title": titled(column(figure, figure["x"])), "scale": alt.Scale(nice=False)}
    if figure["is_logarithmic"]:
        x = {
            "title": column(figure, figure["x"])["title"],  # the labels have the unit
            "scale": alt.Scale(type="log", nice=False),
            "axis": alt.Axis(values=[10**power for power in range(10)], labelExpr=BYTES),
        }
    names = names_of(figure["series"], rows) if figure["series"] else [""]
    by_name = {name: [row for row in rows if not name or row[figure["series"]] == name] for name in names}
    colours = {name: SERIES[at % len(SERIES)] for at, name in enumerate(names)}
    dashes = {name: DASHES[at % len(DASHES)] for at, name in enumerate(names)}
    across = alt.X(f"{figure['x']}:Q", **x)
    up = alt.Y(f"{figure['y']}:Q", title=titled(column(figure, figure["y"])))
    drawn = [
        alt.Chart(alt.InlineData(values=points))
        .mark_line(strokeWidth=2, color=colours[name], strokeDash=list(dashes[name]))
        .encode(x=across, y=up)
        for name, points in by_name.items()
    ]
    marks = markers(by_name, x=across, y=up, colours=colours, column=figure["y"])
    uprights = (layer for place, one in enumerate(figure["lines"]) for layer in upright(one, place, x))
    if not figure["series"]:
        return [*drawn, *uprights]
    under = key(names, colours=colours, dashes=dashes, ink=LIGHT.ink, width=WIDE, top=WIDE // 2 + KEY_TOP)
    return [*drawn, *marks, *uprights, *under]


def upright(line: Mapping[str, Any], place: int, x: Mapping[str, Any]) -> list[alt.Chart]:
    """A line with its label, lower than the label of the line before, since windows lie close to each other."""
    base = alt.Chart(alt.InlineData(values=[{"at": line["value"], "label": line["label"]}]))
    at = alt.X("at:Q", **x)
    return [
        base.mark_rule(color=LIGHT.ink, strokeDash=[4, 3]).encode(x=at),
        base.mark_text(align="left", dx=4, fontSize=12, color=LIGHT.ink).encode(
            x=at, y=alt.value(WIDE // 2 - 14 * (place + 1)), text="label:N"
        ),
    ]
