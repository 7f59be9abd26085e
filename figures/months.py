"""Figures of quantities by month."""

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import altair as alt

from figures.axes import LEFT, measured_axis
from figures.frame import (
    TEXT,
    AltairChart,
    Frame,
    Room,
    Upright,
    compose,
    draw_uprights,
    looks_of,
    of_rows,
    plot_width,
)
from figures.series import name_ends
from figures.text import text_width

MONTH = 70

ABOVE = 28


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Monthly:
    """A quantity over the months."""

    name: str
    """Empty if it is the only one."""
    parts: Sequence[Sequence[tuple[int, float, float | None, float | None]]]
    """Values that a line joins: month, share, and ends of its interval if known."""


def by_month(
    frame: Frame,
    months: Sequence[str],
    series: Sequence[Monthly],
    flags: Mapping[int, str],
    *,
    unit: str = "%",
) -> AltairChart:
    """Draw quantities over `months`, named at their ends; `flags` name upright lines, by month."""
    height = 230 if frame.is_narrow else 330
    names = [each.name for each in series]
    looks = looks_of(names, by_measure=False)
    room = Room(
        left=LEFT,
        right=14 + max((text_width(name, TEXT, is_bold=True) for name in names), default=0),
        above=ABOVE if flags else 6,
    )
    domain = (-0.5, len(months) - 0.5)
    width = plot_width(frame, room)
    every = math.ceil(MONTH * len(months) / width)
    labelled = {str(at): month for at, month in enumerate(months) if at % every == 0}
    axis = alt.Axis(
        values=[*map(int, labelled)], labelExpr=f"{labelled}[datum.value]", grid=False, labelOverlap=False
    )

    def x(field: str) -> alt.X:
        return alt.X(f"{field}:Q", title=None, scale=alt.Scale(domain=domain, nice=False), axis=axis)

    values = [end for each in series for part in each.parts for _, *ends in part for end in ends if end]
    top = 100.0 if unit == "%" else 1.06 * max(values, default=1.0)
    y: dict[str, Any] = {
        "scale": alt.Scale(domain=[0, top], nice=False),
        "axis": measured_axis(unit),
        "title": None,
    }
    uprights = [Upright(value=at - 0.5, label=name) for at, name in flags.items()]
    layers = draw_uprights(uprights, x, domain=domain, width=width, height=height)
    for each in series:
        look = looks[each.name]
        rows = [
            {"at": at, "value": value, "lower": lower, "upper": upper, "part": part, "month": months[at]}
            for part, joined in enumerate(each.parts)
            for at, value, lower, upper in joined
        ]
        base = of_rows([row | {"series": each.name} for row in rows])
        line = base.mark_line(color=look.colour, strokeDash=[*look.dash], strokeWidth=2.2)
        layers.append(line.encode(x=x("at"), y=alt.Y("value:Q", **y), detail="part:N"))
        known = of_rows([row for row in rows if row["lower"] is not None])
        bar = known.mark_rule(color=look.colour, strokeWidth=1.4, opacity=0.6)
        layers.append(bar.encode(x=x("at"), y=alt.Y("lower:Q", **y), y2=alt.Y2("upper:Q")))
        dots = base.mark_point(color=look.colour, shape=look.shape, filled=True, size=50, opacity=1)
        told = [alt.Tooltip("series:N"), alt.Tooltip("month:N"), alt.Tooltip("value:Q", format=".3~r")]
        layers.append(dots.encode(x=x("at"), y=alt.Y("value:Q", **y), tooltip=told))
    ends = {each.name: each.parts[-1][-1][1] for each in series if each.parts and each.name}
    words = {name: name for name in names}
    layers += name_ends(ends, words, looks, frame, domain=(0.0, top), height=height)
    return compose(frame, layers, height=height, room=room)
