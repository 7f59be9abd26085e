"""Draws the figures of sections from their data: every kind of drawing that `reports.sections.shape` names."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import altair as alt

from reports.document.curve_marks import DASHES, key, markers
from reports.document.figure_style import SERIES, SHAPES, STANDS_OUT, styled
from reports.document.theme import LIGHT

WIDE = 620
"""Width of a figure of curves."""

KEY_TOP = 48
"""Room between curves and their key, for the axis, in pixels."""

ROW_HEIGHT = 30
"""Height of a category of a forest plot."""

FOREST_TICKS = 6
"""Labels along the axis of a forest plot, about."""

LETTER = 7.0
"""Width of a letter of a category's name, in pixels: rather too much."""


def draw_figure(figure: Mapping[str, Any], *, note: str | None = None) -> alt.TopLevelMixin | None:
    """Draw a figure; None if none of its values is known. `note` is part of the drawing, so that copies have it too."""
    measured = figure["x"] if figure["drawing"] == "forest" else figure["y"]
    rows = [flat(row, measured) for row in figure["rows"] if row.get(measured) is not None]
    if not rows:
        return None
    base: alt.Chart = alt.Chart(alt.InlineData(values=rows))
    if figure["drawing"] == "forest":
        order = list(dict.fromkeys(row[figure["y"]] for row in rows))
        return styled(*forest(figure, base, order), note=note, height=ROW_HEIGHT * len(order))
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


def titled(column: Mapping[str, Any]) -> str:
    """A column's title with its unit."""
    return f"{column['title']}, {column['unit']}" if column["unit"] else str(column["title"])


def column(figure: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A figure's column by its id."""
    return next(one for one in figure["columns"] if one["id"] == name)


def forest(figure: Mapping[str, Any], base: alt.Chart, order: list[str]) -> list[alt.Chart]:
    """An interval for each category, sideways, over the figure's lines."""
    title = titled(column(figure, figure["x"]))
    rules = [
        alt.Chart(alt.InlineData(values=[{"at": one["value"], "label": one["label"]}]))
        .mark_rule(color=STANDS_OUT if place else LIGHT.ink, strokeDash=[4, 3] if place else [1, 0])
        .encode(x="at:Q")
        for place, one in enumerate(figure["lines"])
    ]
    labels = [
        alt.Chart(alt.InlineData(values=[{"at": one["value"], "label": one["label"]}]))
        .mark_text(align="left", dx=4, dy=-6, fontSize=12, color=STANDS_OUT if place else LIGHT.ink)
        .encode(x="at:Q", y=alt.value(ROW_HEIGHT * len(order) if not place else 6), text="label:N")
        for place, one in enumerate(figure["lines"])
        if place
    ]
    # The reader's font may be wider than the one that the names were measured by.
    room = LETTER * max(map(len, order))
    y = alt.Y(f"{figure['y']}:N", sort=order, axis=alt.Axis(title=None, grid=False, minExtent=room))
    x = alt.X(f"{figure['x']}:Q", title=title, axis=alt.Axis(tickCount=FOREST_TICKS))
    spans = base.mark_rule(color=SERIES[0], strokeWidth=2).encode(
        x=alt.X("lower:Q", title=title, axis=alt.Axis(tickCount=FOREST_TICKS)), x2="upper:Q", y=y
    )
    points = base.mark_point(filled=True, size=70, opacity=1, color=SERIES[0]).encode(x=x, y=y)
    return [*rules, spans, points, *labels]


def series_of(figure: Mapping[str, Any], rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Encodings that tell a figure's series apart, by colour and by shape."""
    if figure["series"] is None:
        return {"color": alt.value(SERIES[0])}
    names = names_of(figure["series"], rows)
    return {
        "color": alt.Color(
            f"{figure['series']}:N",
            sort=names,
            scale=alt.Scale(domain=names, range=list(SERIES[: len(names)])),
        ),
        "shape": alt.Shape(
            f"{figure['series']}:N",
            sort=names,
            scale=alt.Scale(domain=names, range=list(SHAPES[: len(names)])),
        ),
    }


def names_of(series: str, rows: list[dict[str, Any]]) -> list[str]:
    """The series in their order."""
    return list(dict.fromkeys(row[series] for row in rows))


def intervals(figure: Mapping[str, Any], base: alt.Chart, rows: list[dict[str, Any]]) -> list[alt.Chart]:
    """Points with bars over categories, the series side by side."""
    order = list(dict.fromkeys(row[figure["x"]] for row in rows))
    told = series_of(figure, rows)
    x = alt.X(
        f"{figure['x']}:N",
        sort=order,
        title=titled(column(figure, figure["x"])),
        axis=alt.Axis(labelAngle=0, grid=False),
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
    return [*rules, spans, points]


def bars(figure: Mapping[str, Any], base: alt.Chart, rows: list[dict[str, Any]]) -> alt.Chart:
    """A bar for each category."""
    order = list(dict.fromkeys(row[figure["x"]] for row in rows))
    drawn: alt.Chart = base.mark_bar(color=SERIES[0]).encode(
        x=alt.X(
            f"{figure['x']}:N",
            sort=order,
            title=titled(column(figure, figure["x"])),
            axis=alt.Axis(labelAngle=0),
        ),
        y=alt.Y(f"{figure['y']}:Q", title=titled(column(figure, figure["y"])), scale=alt.Scale(domainMin=0)),
    )
    return drawn


def lines(figure: Mapping[str, Any], rows: list[dict[str, Any]]) -> list[alt.Chart]:
    """A curve for each series over a quantity, with dashes and markers that survive print, and the figure's lines upright."""
    x: dict[str, Any] = {"title": titled(column(figure, figure["x"])), "scale": alt.Scale(nice=False)}
    if figure["is_logarithmic"]:
        x = {
            **x,
            "scale": alt.Scale(type="log", nice=False),
            "axis": alt.Axis(values=[10**power for power in range(10)], format="~s"),
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
