"""Axes, legends and pointers that figures share."""

from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from figures.frame import TEXT, Frame, Rows, needs_names, of_rows
from figures.text import text_width, wrap
from figures.theme import LIGHT, Look
from releases.formatting import NARROW

BYTES = (
    f"datum.value >= 1e9 ? format(datum.value / 1e9, '~r') + '{NARROW}GB' : "
    f"datum.value >= 1e6 ? format(datum.value / 1e6, '~r') + '{NARROW}MB' : "
    f"datum.value >= 1e3 ? format(datum.value / 1e3, '~r') + '{NARROW}kB' : "
    f"format(datum.value, '~r') + '{NARROW}B'"
)
"""Vega expression for the label of a size along an axis, as 10 kB."""

PERCENT, MEGABYTES = (f"format(datum.value, ',~r') + '{NARROW}{unit}'" for unit in ("%", "MB"))

NUMBER = "format(datum.value, ',~r')"

TICKS = 5
"""Labels along an axis, about."""

SYMBOL = 30


LEFT = 48


def measured_axis(unit: str, **options: Any) -> alt.Axis:  # noqa: ANN401
    """Return an upright axis, whose labels take LEFT pixels."""
    return alt.Axis(
        labelExpr={"%": PERCENT, "MB": MEGABYTES}.get(unit, NUMBER),
        tickCount=TICKS,
        minExtent=LEFT,
        maxExtent=LEFT,
        domain=False,
        ticks=False,
        **options,
    )


def name_axis(title: str, unit: str) -> str:
    """Return the title of an axis whose labels have no unit.

    >>> name_axis("page time saved", "ms"), name_axis("share", ""), name_axis("", "pp")
    ('page time saved, ms', 'share', 'pp')
    """
    return ", ".join(filter(None, (title, unit)))


def names_width(names: Sequence[str], frame: Frame) -> float:
    return min(0.4 * frame.width, max(text_width(name, TEXT) for name in names) + 12)


def in_lines(name: str, width: float) -> str:
    return "\n".join(wrap(name, width, TEXT))


def span(values: Sequence[float], *, is_log: bool = False) -> tuple[float, float]:
    """Return the least and the largest of some values with room beside them.

    >>> span([0, 100]), span([1, 100], is_log=True)
    ((-4.0, 104.0), (0.8, 125.0))
    """
    low, high = min(values), max(values)
    if is_log:
        return low / 1.25, high * 1.25
    room = 0.04 * (high - low) or 1.0
    return low - room, high + room


def pixels(height: float, field: str = "y") -> alt.Y:
    return alt.Y(
        f"{field}:Q", scale=alt.Scale(domain=[height, 0], nice=False, zero=False, padding=0), axis=None
    )


def legend(names: Sequence[str], width: float, *, symbol: float = SYMBOL) -> alt.Legend:
    """Return a legend above a plot, of as many columns as have room."""
    widest = max(text_width(name, TEXT) for name in names) + symbol + 14
    return alt.Legend(columns=max(1, min(len(names), int(width / widest))))


def strokes(
    names: Sequence[str], looks: Mapping[str, Look], width: float, *, has_legend: bool = True
) -> dict[str, Any]:
    """Return encodings that tell series apart by colour and dashes."""
    shown = legend(names, width) if has_legend and needs_names(names) else None
    colours, dashes = [looks[name].colour for name in names], [[*looks[name].dash] for name in names]
    return {
        "color": alt.Color(
            "series:N", sort=None, legend=shown, scale=alt.Scale(domain=[*names], range=colours)
        ),
        "strokeDash": alt.StrokeDash(
            "series:N", sort=None, legend=shown, scale=alt.Scale(domain=[*names], range=dashes)
        ),
    }


def pointer(rows: Rows, x: alt.X) -> list[alt.Chart]:
    """Return a cross-hair: a line at the nearest of `rows`, with its values in words but for `at`, its
    place along `x`.
    """
    nearest = alt.selection_point(
        name="pointer",
        nearest=True,
        on="pointermove, touchmove",
        clear="pointerout",
        encodings=["x"],
        empty=False,
    )
    # Vega-Lite loses fields of text that it would tell of the nearest.
    rule = of_rows(rows).mark_rule(color=LIGHT.ink, strokeWidth=1, tooltip=alt.TooltipContent("data"))
    shown = alt.condition(nearest, alt.value(0.6), alt.value(0))
    return [rule.encode(x=x, opacity=shown).add_params(nearest)]
