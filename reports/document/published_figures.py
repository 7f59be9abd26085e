"""Figures of reproduced results (replay.published): published values beside ours,
a panel for each published figure.

They are drawn here, and not in replay.published, since they share the report's theme.
"""

from collections.abc import Sequence
from typing import Any

import altair as alt

from figures.rendering import AXIS, LEGEND, svg
from figures.theme import LIGHT, LOCALE
from replay.published.reproduction import ComparedValue, Reproduction

COLUMNS = 2
WIDTH, HEIGHT = 400, 210

APART: dict[str, Any] = dict.fromkeys(("color", "strokeDash", "shape", "xOffset"), "independent")
"""Scales of which each panel has its own."""

PUBLISHED, OURS = "published", "ours"
HUES = ("#0066a4", "#b34f00", "#007a58", "#a8437c")
"""Colours of the series: hues of Okabe and Ito, darkened."""

TITLES = {"%": "percent", "ms": "milliseconds", "s": "seconds", "rounds": "round trips"}


def figure(reproduction: Reproduction) -> str | None:
    """Draw all panels as one SVG; None if no row has a place."""
    panels: dict[str, list[ComparedValue]] = {}
    for row in reproduction.rows:
        if row.place:
            panels.setdefault(row.place.panel, []).append(row)
    if not panels:
        return None
    charts = [panel(name, rows) for name, rows in panels.items()]
    rows = [
        alt.hconcat(*charts[at : at + COLUMNS]).resolve_scale(**APART)
        for at in range(0, len(charts), COLUMNS)
    ]
    whole = (
        alt.vconcat(*rows)
        .resolve_scale(**APART)
        .properties(background=LIGHT.background, padding=12)
        .configure(locale=LOCALE)
        .configure_axis(**AXIS)
        .configure_title(color=LIGHT.ink, fontSize=13, anchor="start")
        .configure_legend(**LEGEND)
        .configure_view(stroke=LIGHT.faint)
    )
    return svg(whole)


def panel(name: str, rows: Sequence[ComparedValue]) -> alt.Chart | alt.LayerChart:
    """Draw bars for one series, lines for several, dots for several values at one place."""
    values = points(rows)
    xs = list(dict.fromkeys(value["x"] for value in values))
    series = list(dict.fromkeys(value["series"] for value in values))
    base: alt.Chart = alt.Chart(alt.InlineData(values=values)).properties(
        width=WIDTH, height=HEIGHT, title=name
    )
    x = alt.X("x:N", sort=xs, axis=alt.Axis(title=None, labelAngle=0 if fits(xs) else -45))
    y = alt.Y("y:Q", axis=alt.Axis(title=TITLES.get(rows[0].unit, rows[0].unit)))
    if len({(value["series"], value["x"], value["whose"]) for value in values}) < len(values):
        dots: alt.Chart = base.mark_circle(size=30, opacity=0.4, color=HUES[0]).encode(x=x, y=y)
        return dots
    if len(series) == 1:
        whose = [origin for origin in (PUBLISHED, OURS) if any(value["whose"] == origin for value in values)]
        colours = alt.Scale(domain=whose, range=["#9aa4ad", HUES[0]][-len(whose) :])
        bars: alt.Chart = base.mark_bar().encode(
            x=x, y=y, color=alt.Color("whose:N", scale=colours), xOffset=alt.XOffset("whose:N", sort=whose)
        )
        return bars
    drawn = base.encode(
        x=x,
        y=y,
        color=alt.Color(
            "series:N", sort=series, scale=alt.Scale(domain=series, range=list(HUES[: len(series)]))
        ),
    )
    dash = alt.StrokeDash("whose:N", scale=alt.Scale(domain=[OURS, PUBLISHED], range=[[1, 0], [4, 4]]))
    shape = alt.Shape("whose:N", scale=alt.Scale(domain=[OURS, PUBLISHED], range=["circle", "cross"]))
    layers = [drawn.mark_line().encode(strokeDash=dash), drawn.mark_point(size=40).encode(shape=shape)]
    return alt.LayerChart(layer=layers)


def fits(names: Sequence[str]) -> bool:
    """Return whether the names fit below the axis, at about 6 px a character."""
    return 6 * (2 + max(map(len, names))) * len(names) <= WIDTH


def points(rows: Sequence[ComparedValue]) -> list[dict[str, Any]]:
    return [
        {"series": row.place.series, "x": row.place.x, "y": value, "whose": whose}
        for row in rows
        if row.place
        for whose, value in ((PUBLISHED, row.published), (OURS, row.ours))
        if value is not None
    ]
