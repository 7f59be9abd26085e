"""What tells curves apart without colour: dashes, markers at a few points, and a key that shows both."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import altair as alt

DASHES = ([1, 0], [6, 3], [2, 2], [10, 3, 2, 3], [4, 4], [1, 3], [12, 4], [8, 2, 2, 2, 2, 2])
"""Dashes of curves that have none of their own."""

MARKERS = ("circle", "square", "triangle-up", "diamond", "cross", "triangle-down", "triangle-right", "wedge")

A_CURVE = 6
"""Markers on a curve, about."""

MARKER_SIZE = 46

KEY_ROW, KEY_COLUMN = 18, 200
"""Height of a line of the key and least width of its columns, in pixels."""

KEY_LINE = 44
"""Length of a curve's sample in the key, in pixels."""


def marked(
    points: Sequence[Mapping[str, Any]], y: str, *, place: int, places: int
) -> list[Mapping[str, Any]]:
    """A few points of a curve, evenly apart in height;
    curves at other `places` of `places` have theirs at other heights."""
    if not points:
        return []
    low, high = points[0][y], points[-1][y]
    heights = [low + (high - low) * (at + (place + 0.5) / places) / A_CURVE for at in range(A_CURVE)]
    return [min(points, key=lambda one: abs(one[y] - height)) for height in heights]


def markers(
    by_curve: Mapping[str, Sequence[Mapping[str, Any]]],
    *,
    x: alt.X,
    y: alt.Y,
    colours: Mapping[str, str],
    column: str,
) -> list[alt.Chart]:
    """The markers of each curve, a layer for each; `column` is the vertical one."""
    return [
        alt.Chart(alt.InlineData(values=marked(points, column, place=at, places=len(by_curve))))
        .mark_point(
            shape=MARKERS[at % len(MARKERS)], filled=True, size=MARKER_SIZE, opacity=1, color=colours[name]
        )
        .encode(x=x, y=y)
        for at, (name, points) in enumerate(by_curve.items())
    ]


def key(
    names: Sequence[str],
    *,
    colours: Mapping[str, str],
    dashes: Mapping[str, Sequence[int]],
    ink: str,
    width: int,
    top: int,
) -> Iterator[alt.Chart]:
    """A sample of each curve with its dashes, its marker and its name, from `top` pixels on downwards.

    Screen readers hear the names alone: samples have none of their own.
    """
    columns = max(1, min(2, width // KEY_COLUMN))
    for at, name in enumerate(names):
        left = (at % columns) * width // columns
        y = alt.YValue(top + KEY_ROW * (at // columns))
        base = alt.Chart(alt.InlineData(values=[{"name": name}]))
        yield base.mark_rule(
            color=colours[name], strokeWidth=2, strokeDash=list(dashes[name]), aria=False
        ).encode(x=alt.XValue(left), x2=alt.X2Value(left + KEY_LINE), y=y)
        yield base.mark_point(
            shape=MARKERS[at % len(MARKERS)],
            filled=True,
            size=MARKER_SIZE,
            opacity=1,
            color=colours[name],
            aria=False,
        ).encode(x=alt.XValue(left + KEY_LINE // 2), y=y)
        yield base.mark_text(align="left", baseline="middle", fontSize=12, color=ink).encode(
            x=alt.XValue(left + KEY_LINE + 8), y=y, text=alt.Text("name:N")
        )
