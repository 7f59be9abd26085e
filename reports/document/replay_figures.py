"""Figures of replay results: small panels, which the page places side by side."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any, Literal

import altair as alt

from releases.interval import Interval
from reports.document.replay_summary import WindowResult
from reports.document.theme import FONT, LIGHT

SERIES = tuple(dict.fromkeys(LIGHT.palette.values()))
"""Colours of the series: the colours of the CDFs, so that the page recolours all figures alike for dark screens."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
"""Shapes of the series, which tell them apart in print and for colour-blind readers."""

STANDS_OUT = SERIES[1]
"""Colour of the window in force."""

WIDTH, HEIGHT = 300, 170

Quantity = Literal["saved_percent", "retransmitted_percent"]


def styled(*layers: alt.Chart, note: str | None, height: int = HEIGHT) -> alt.TopLevelMixin:
    """Combine layers in the style of all panels. `note` is part of the drawing, so that copies of it have it too."""
    title: Any = (
        alt.TitleParams(note, anchor="end", fontSize=10, fontWeight="normal", color=STANDS_OUT)
        if note
        else ""
    )
    found: alt.TopLevelMixin = (
        alt.layer(*layers)
        .properties(width=WIDTH, height=height, background="transparent", title=title)
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=LIGHT.ink,
            titleColor=LIGHT.ink,
            labelFontSize=11,
            titleFontSize=11,
            titleFontWeight="normal",
            domainColor=LIGHT.faint,
            tickColor=LIGHT.faint,
            gridColor=LIGHT.faint,
        )
        .configure_legend(
            orient="bottom",
            columns=2,
            columnPadding=28,  # the reader's font may be wider than vl-convert's
            title=None,
            labelColor=LIGHT.ink,
            labelFontSize=11,
            labelLimit=150,
            symbolOpacity=1,
        )
    )
    return found


def page_time(
    results: Sequence[WindowResult], *, incumbent: int, note: str | None = None
) -> alt.TopLevelMixin:
    """Draw one profile's mean page time by window, with intervals; the incumbent stands out."""
    rows = [
        {**_bounds(one.page_ms, scale=1e-3), "iw": str(one.iw), "incumbent": one.iw == incumbent}
        for one in results
    ]
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=_windows(results))
    y = alt.Y(
        "estimate:Q",
        title="mean page time, s",
        scale=alt.Scale(zero=False, nice=True),
        axis=alt.Axis(tickCount=5),
    )
    line = base.mark_line(color=SERIES[0], strokeWidth=1.5, opacity=0.45).encode(y=y)
    bars = base.mark_rule(color=SERIES[0], strokeWidth=2).encode(
        y=alt.Y("lower:Q", title="mean page time, s"), y2="upper:Q"
    )
    points = base.mark_point(filled=True, size=70, opacity=1).encode(
        y=y, color=alt.condition("datum.incumbent", alt.value(STANDS_OUT), alt.value(SERIES[0]))
    )
    return styled(line, bars, points, note=note)


def by_profile(
    results: Sequence[WindowResult], quantity: Quantity, *, title: str, note: str | None = None
) -> alt.TopLevelMixin:
    """Draw one quantity by window, with a series for each profile."""
    rows = [
        {**_bounds(interval), "iw": str(one.iw), "profile": one.profile}
        for one in results
        if (interval := getattr(one, quantity)) is not None
    ]
    profiles = list(dict.fromkeys(one.profile for one in results))
    base = alt.Chart(alt.InlineData(values=rows)).encode(
        x=_windows(results),
        color=alt.Color("profile:N", scale=alt.Scale(domain=profiles, range=list(SERIES[: len(profiles)]))),
    )
    y = alt.Y("estimate:Q", title=title, axis=alt.Axis(tickCount=5))
    shape = alt.Shape(
        "profile:N", sort=profiles, scale=alt.Scale(domain=profiles, range=list(SHAPES[: len(profiles)]))
    )
    dodge = alt.XOffset("profile:N", sort=profiles, scale=alt.Scale(domain=profiles))
    zero = (
        alt.Chart(alt.InlineData(values=[{"zero": 0}]))
        .mark_rule(color=LIGHT.ink, strokeDash=[3, 3])
        .encode(y="zero:Q")
    )
    bars = base.mark_rule(strokeWidth=2, opacity=0.6).encode(
        y=alt.Y("lower:Q", title=title), y2="upper:Q", xOffset=dodge
    )
    points = base.mark_point(filled=True, size=55, opacity=1).encode(y=y, shape=shape, xOffset=dodge)
    return styled(zero, bars, points, note=note, height=HEIGHT + 20)


def _windows(results: Sequence[WindowResult]) -> alt.X:
    order = [str(iw) for iw in sorted({one.iw for one in results})]
    return alt.X(
        "iw:O", sort=order, title="initial window, segments", axis=alt.Axis(labelAngle=0, grid=False)
    )


def _bounds(interval: Interval, *, scale: float = 1.0) -> dict[str, float]:
    """The interval in the figure's unit; without its bar if an end has no bound."""
    ends = {"lower": interval.lower * scale, "upper": interval.upper * scale}
    is_bounded = all(math.isfinite(end) for end in ends.values())
    return {"estimate": interval.estimate * scale, **(ends if is_bounded else {})}
