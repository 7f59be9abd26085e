"""Draws the figures of sections from their data: every kind of drawing that
`reports.sections.shape` names."""

import itertools
from collections.abc import Mapping
from typing import Any

import altair as alt

from reports.document.curve_marks import DASHES, key, markers
from reports.document.figure_style import (
    NARROW,
    SERIES,
    WIDE,
    WIDTH,
    column,
    has_intervals,
    names_of,
    series_of,
    styled,
    titled,
)
from reports.document.forest import draw_forest, has_names_beside
from reports.document.theme import BYTES, LIGHT, SEPARATE
from reports.document.uprights import uprights

HIGH, LOW = 300, 200
"""Heights of wide figures: of curves, and of intervals."""

KEY_TOP = 52
"""Room between curves and their key, for the axis, in pixels."""

LETTER, APART = 6.5, 6.0
"""Width of a letter along an axis and the room between two of its labels, in pixels: rather too much."""

DENSE = 24
"""Marks in a figure of intervals from which on it is wide."""


def draw_figure(
    figure: Mapping[str, Any], *, note: str | None = None, is_narrow: bool = False
) -> alt.TopLevelMixin | None:
    """Draw a figure; None if none of its values is known.

    `note` is part of the drawing, so that copies have it too. `is_narrow` fits a figure for which `is_wide`
    holds to a phone; the others are the same either way.
    """
    rows = known_rows(figure)
    if not rows:
        return None
    kind, wide = figure["drawing"], is_wide(figure) and not is_narrow
    if kind == "forest":
        return draw_forest(figure, rows, note=note, is_narrow=is_narrow)
    if kind == "lines":
        width = NARROW if is_narrow else WIDE
        return styled(*lines(figure, rows, width=width), note=note, width=width, height=HIGH)
    base: alt.Chart = alt.Chart(alt.InlineData(values=rows))
    width = WIDE if wide else WIDTH
    drawn = (
        intervals(figure, base, rows, width=width)
        if kind == "intervals"
        else [bars(figure, base, rows, width=width)]
    )
    return styled(*drawn, note=note, width=width, **({"height": LOW} if wide else {}))


def is_wide(figure: Mapping[str, Any]) -> bool:
    """Return whether a figure needs the whole width of a page: curves, long names below each other,
    and many categories."""
    kind, rows = figure["drawing"], known_rows(figure)
    if kind == "forest":
        return bool(rows) and not has_names_beside(figure, rows)
    return kind == "lines" or len(rows) > DENSE or not fits(categories(figure, rows), WIDTH)


def known_rows(figure: Mapping[str, Any]) -> list[dict[str, Any]]:
    """The rows whose measured value is known, flat."""
    measured = figure["x"] if figure["drawing"] == "forest" else figure["y"]
    return [flat(row, measured) for row in figure["rows"] if row.get(measured) is not None]


def categories(figure: Mapping[str, Any], rows: list[dict[str, Any]]) -> list[str]:
    """Labels along the horizontal axis."""
    return list(dict.fromkeys(str(row[figure["x"]]) for row in rows))


def fits(labels: list[str], width: int) -> bool:
    """Return whether labels stand side by side along an axis of this width without touching each other.

    >>> fits(["to 20", "20-50"], 300), fits(["30-100", "100-300", "above 300"], 150)
    (True, False)
    """
    room = width / max(1, len(labels))
    return all(LETTER * (len(one) + len(two)) / 2 + APART <= room for one, two in itertools.pairwise(labels))


def labelled(figure: Mapping[str, Any], rows: list[dict[str, Any]], width: int) -> alt.Axis:
    """Axis of categories, whose labels are slanted where they would touch each other."""
    angle = 0 if fits(categories(figure, rows), width) else -40
    slanted: dict[str, Any] = {"labelAlign": "right", "labelBaseline": "middle"} if angle else {}
    return alt.Axis(labelAngle=angle, grid=False, **slanted, **counted(figure))


def flat(row: Mapping[str, Any], measured: str) -> dict[str, Any]:
    """A row whose measured value is its estimate, with its ends beside it."""
    value = row[measured]
    if not isinstance(value, dict):
        return dict(row)
    ends = {} if None in value.values() else {"lower": value["lower"], "upper": value["upper"]}
    return {**row, measured: value["estimate"], **ends}


def intervals(
    figure: Mapping[str, Any], base: alt.Chart, rows: list[dict[str, Any]], *, width: int
) -> list[alt.Chart]:
    """Points with bars over categories, the series side by side."""
    order = list(dict.fromkeys(row[figure["x"]] for row in rows))
    told = series_of(figure, rows)
    x = alt.X(
        f"{figure['x']}:N",
        sort=order,
        title=titled(column(figure, figure["x"])),
        axis=labelled(figure, rows, width),
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
        .encode(y=alt.Y("at:Q"))
        for one in figure["lines"]
    ]
    spans = base.mark_rule(strokeWidth=2, opacity=0.7).encode(
        x=x, y=alt.Y("lower:Q", title=title), y2=alt.Y2("upper:Q"), color=told["color"], **dodge
    )
    points = base.mark_point(filled=True, size=55, opacity=1).encode(
        x=x, y=alt.Y(f"{figure['y']}:Q", title=title), **told, **dodge
    )
    return [*rules, *([spans] if has_intervals(rows) else []), points]


def counted(figure: Mapping[str, Any]) -> dict[str, Any]:
    """Option of an axis of categories that are numbers: their thousands are set apart,
    as on the other axes."""
    return {"labelExpr": "format(datum.value, ',')"} if column(figure, figure["x"])["kind"] == "count" else {}


def bars(figure: Mapping[str, Any], base: alt.Chart, rows: list[dict[str, Any]], *, width: int) -> alt.Chart:
    """A bar for each category."""
    order = list(dict.fromkeys(row[figure["x"]] for row in rows))
    drawn: alt.Chart = base.mark_bar(color=SERIES[0]).encode(
        x=alt.X(
            f"{figure['x']}:N",
            sort=order,
            title=titled(column(figure, figure["x"])),
            axis=labelled(figure, rows, width),
        ),
        y=alt.Y(f"{figure['y']}:Q", title=titled(column(figure, figure["y"])), scale=alt.Scale(domainMin=0)),
    )
    return drawn


def lines(figure: Mapping[str, Any], rows: list[dict[str, Any]], *, width: int) -> list[alt.Chart]:
    """A curve for each series over a quantity, with dashes and markers that survive print,
    and the figure's lines upright."""
    along = [
        float(one)
        for one in (*(row[figure["x"]] for row in rows), *(line["value"] for line in figure["lines"]))
    ]
    domain = (min(along), max(along))
    x: dict[str, Any] = {
        "title": titled(column(figure, figure["x"])),
        "scale": alt.Scale(domain=domain, nice=False, zero=False),
    }
    if figure["is_logarithmic"]:
        x = {
            "title": column(figure, figure["x"])["title"],  # the labels have the unit
            "scale": alt.Scale(type="log", domain=domain, nice=False),
            "axis": alt.Axis(values=[10**power for power in range(10)], labelExpr=BYTES, **SEPARATE),
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
    marked = uprights(
        figure["lines"], domain=domain, is_logarithmic=figure["is_logarithmic"], width=width, height=HIGH
    )
    if not figure["series"]:
        return [*drawn, *marked]
    under = key(names, colours=colours, dashes=dashes, ink=LIGHT.ink, width=width, top=HIGH + KEY_TOP)
    return [*drawn, *marks, *marked, *under]
