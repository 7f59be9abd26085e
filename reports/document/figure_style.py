"""The style of all small figures: colours and shapes of their series, and their axes and legends;
and the parts that their kinds share."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from reports.document.theme import FONT, LIGHT, LOCALE

SERIES = tuple(dict.fromkeys(LIGHT.palette.values()))
"""Colours of the series: the colours of the CDFs, so that the page recolours all
figures alike for dark screens."""

SHAPES = (
    "circle",
    "square",
    "triangle-up",
    "diamond",
    "cross",
    "triangle-down",
    "M-1-.5L-.5-1 0-.5 .5-1 1-.5 .5 0 1 .5 .5 1 0 .5-.5 1-1 .5-.5 0Z",  # an X
    "triangle-left",
    "M-1-1H1L-1 1H1Z",  # an hourglass
    "triangle-right",
    "M0-1.2L.35-.35 1.2 0 .35 .35 0 1.2-.35 .35-1.2 0-.35-.35Z",  # a star
    "M-1-1V1L1-1V1Z",  # a bow tie
)
"""Shapes of the series, which tell them apart in print, for colour-blind readers,
and where there are more than colours."""

STANDS_OUT = SERIES[1]
"""Colour of the window in force."""

WIDTH, HEIGHT = 284, 170

WIDE, NARROW = 600, 272
"""Width of the plots of wide figures, and of their drawings for phones."""

PHONE = 334
"""Width that a phone of 390 pixels has for a plot with the names beside it."""

LEGEND_COLUMN = 95
"""Room for a series in a legend, in pixels."""

TITLE_PADDING = 10
"""Pixels between an axis' labels and its title: the reader's font may be wider than vl-convert's."""


def styled(
    *layers: alt.Chart, note: str | None, width: int = WIDTH, height: int = HEIGHT
) -> alt.TopLevelMixin:
    """Combine layers in the style of all panels.

    `note` is part of the drawing, so that copies of it have it too.
    """
    title: Any = noted(note) if note else ""
    found: alt.TopLevelMixin = (
        alt.layer(*layers)
        .properties(width=width, height=height, background="transparent", title=title)
        .configure(font=FONT, locale=LOCALE)
        .configure_view(stroke=None)
        .configure_axis(
            labelColor=LIGHT.ink,
            titleColor=LIGHT.ink,
            labelFontSize=11.5,
            titleFontSize=11.5,
            titleFontWeight="normal",
            titlePadding=TITLE_PADDING,
            domainColor=LIGHT.faint,
            tickColor=LIGHT.faint,
            gridColor=LIGHT.faint,
        )
        .configure_legend(
            orient="bottom",
            columns=max(2, width // LEGEND_COLUMN),
            columnPadding=28,
            title=None,
            labelColor=LIGHT.ink,
            labelFontSize=11.5,
            labelLimit=150,
            symbolOpacity=1,
        )
    )
    return found


def noted(note: str) -> alt.TitleParams:
    """The words that mark a drawing, at its top right."""
    return alt.TitleParams(note, anchor="end", fontSize=12, fontWeight="normal", color=STANDS_OUT)


def titled(column: Mapping[str, Any]) -> str:
    """A column's title with its unit."""
    return f"{column['title']}, {column['unit']}" if column["unit"] else str(column["title"])


def column(figure: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """A figure's column by its id."""
    return next(one for one in figure["columns"] if one["id"] == name)


def has_intervals(rows: Sequence[dict[str, Any]]) -> bool:
    """Return whether a value has an interval: a layer without marks would be
    announced as a picture without a name."""
    return any("lower" in row for row in rows)


def series_of(figure: Mapping[str, Any], rows: Sequence[dict[str, Any]]) -> dict[str, Any]:
    """Encodings that tell a figure's series apart, by colour and by shape."""
    if figure["series"] is None:
        return {"color": alt.value(SERIES[0])}
    names = names_of(figure["series"], rows)
    return {
        "color": alt.Color(
            f"{figure['series']}:N",
            sort=names,
            scale=alt.Scale(domain=names, range=[SERIES[at % len(SERIES)] for at in range(len(names))]),
        ),
        "shape": alt.Shape(
            f"{figure['series']}:N",
            sort=names,
            scale=alt.Scale(domain=names, range=[SHAPES[at % len(SHAPES)] for at in range(len(names))]),
        ),
    }


def names_of(series: str, rows: Sequence[dict[str, Any]]) -> list[str]:
    """The series in their order."""
    return list(dict.fromkeys(row[series] for row in rows))
