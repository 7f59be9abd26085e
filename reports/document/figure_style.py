"""The style of all small figures: colours and shapes of their series, and their axes and legends."""

from __future__ import annotations

from typing import Any

import altair as alt

from reports.document.theme import FONT, LIGHT

SERIES = tuple(dict.fromkeys(LIGHT.palette.values()))
"""Colours of the series: the colours of the CDFs, so that the page recolours all figures alike for dark screens."""

SHAPES = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down")
"""Shapes of the series, which tell them apart in print and for colour-blind readers."""

STANDS_OUT = SERIES[1]
"""Colour of the window in force."""

WIDTH, HEIGHT = 300, 170


def styled(
    *layers: alt.Chart, note: str | None, width: int = WIDTH, height: int = HEIGHT
) -> alt.TopLevelMixin:
    """Combine layers in the style of all panels. `note` is part of the drawing, so that copies of it have it too."""
    title: Any = (
        alt.TitleParams(note, anchor="end", fontSize=12, fontWeight="normal", color=STANDS_OUT)
        if note
        else ""
    )
    found: alt.TopLevelMixin = (
        alt.layer(*layers)
        .properties(width=width, height=height, background="transparent", title=title)
        .configure(font=FONT)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=LIGHT.ink,
            titleColor=LIGHT.ink,
            labelFontSize=11.5,
            titleFontSize=11.5,
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
            labelFontSize=11.5,
            labelLimit=150,
            symbolOpacity=1,
        )
    )
    return found
