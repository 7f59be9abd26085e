"""Figures of values over the years, and of the same things then and now."""

import dataclasses
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import altair as alt

from figures.axes import LEFT, measured_axis
from figures.frame import TEXT, AltairChart, Frame, Room, compose, looks_of, of_rows, text_at
from figures.text import LEADING, spread, text_width, wrap
from figures.theme import Look
from releases.formatting import quantity

MARKED = 24
"""Most joined values that have marks: more would cover their line."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class YearValue:
    """A value at a time, with its interval if it is known."""

    at: float
    """Years, as 2025.6."""
    value: float
    lower: float | None = None
    upper: float | None = None
    label: str = ""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class YearSeries:
    """Values of one quantity over time."""

    name: str
    points: Sequence[YearValue]
    is_joined: bool = True
    """True for values of the same things, which a line joins."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SlopeLine:
    """A value then and now."""

    name: str
    before: float
    after: float
    is_clear: bool = True
    """False, and dashed, if the difference's interval holds zero."""


def over_time(
    frame: Frame,
    series: Sequence[YearSeries],
    *,
    unit: str = "%",
    domain: tuple[float, float] | None = None,
    height: float | None = None,
) -> AltairChart:
    """Draw series over years, named at their ends; `domain` is the upright axis's.

    Series of one name are pieces of one, between which nothing is joined.
    """
    height = height or (240 if frame.is_narrow else 340)
    values = [
        end for each in series for point in each.points for end in (point.value, point.upper or point.value)
    ]
    low, high = domain or (0.0, 100.0 if unit == "%" else 1.06 * max(values))
    names = list(dict.fromkeys(each.name for each in series))
    looks = looks_of(names)
    counts = Counter(each.name for each in series for _ in each.points)
    ends = {each.name: each.points[-1].value for each in series}
    room = Room(left=LEFT, right=_room(names, frame))
    years = [point.at for each in series for point in each.points]
    x: dict[str, Any] = {
        "scale": alt.Scale(domain=[min(years), max(years)], nice=False),
        "axis": alt.Axis(format="d", grid=False, tickMinStep=1, tickCount=4 if frame.is_narrow else 10),
        "title": None,
    }
    y: dict[str, Any] = {
        "scale": alt.Scale(domain=[low, high], nice=False),
        "axis": measured_axis(unit),
        "title": None,
    }
    layers: list[alt.Chart] = []
    for each in series:
        look = looks[each.name]
        rows = [
            {
                "at": point.at,
                "value": point.value,
                "lower": point.lower,
                "upper": point.upper,
                "label": point.label,
                "series": each.name,
            }
            for point in each.points
        ]
        base = of_rows(rows)
        if each.is_joined:
            line = base.mark_line(color=look.colour, strokeDash=[*look.dash], strokeWidth=2.2)
            layers.append(line.encode(x=alt.X("at:Q", **x), y=alt.Y("value:Q", **y)))
        known = of_rows([row for row in rows if row["lower"] is not None])
        layers.append(
            known.mark_rule(color=look.colour, strokeWidth=1.4, opacity=0.6).encode(
                x=alt.X("at:Q", **x), y=alt.Y("lower:Q", **y), y2=alt.Y2("upper:Q")
            )
        )
        if each.is_joined and counts[each.name] > MARKED and len(rows) > 1:
            continue
        marks = base.mark_point(color=look.colour, shape=look.shape, filled=True, size=50, opacity=1)
        told = [alt.Tooltip("series:N"), alt.Tooltip("label:N"), alt.Tooltip("value:Q", format=",.3~r")]
        layers.append(marks.encode(x=alt.X("at:Q", **x), y=alt.Y("value:Q", **y), tooltip=told))
    words = {name: name for name in names}
    layers += name_ends(ends, words, looks, frame, domain=(low, high), height=height)
    return compose(frame, layers, height=height, room=room)


def slope(
    frame: Frame,
    changes: Sequence[SlopeLine],
    *,
    before: str,
    after: str,
    unit: str = "%",
    domain: tuple[float, float] | None = None,
    height: float | None = None,
) -> AltairChart:
    """Draw a line for each from `before` to `after`, with values at both ends and its name at the right."""
    height = height or (280 if frame.is_narrow else 380)
    ends = [end for change in changes for end in (change.before, change.after)]
    gap = 0.08 * (max(ends) - min(ends) or 1.0)
    low, high = domain or (min(ends) - gap, max(ends) + gap)
    looks = looks_of([change.name for change in changes])
    befores, afters = ({line.name: getattr(line, when) for line in changes} for when in ("before", "after"))
    left = {line.name: quantity(line.before, unit) for line in changes}
    right = {line.name: f"{quantity(line.after, unit)} {line.name}" for line in changes}
    room = Room(left=_room(left.values(), frame), right=_room(right.values(), frame), above=26, below=4)
    x: dict[str, Any] = {"scale": alt.Scale(domain=[0, 1], nice=False), "axis": None}
    y: dict[str, Any] = {"scale": alt.Scale(domain=[low, high], nice=False), "axis": None}
    layers: list[alt.Chart] = []
    for change in changes:
        look = looks[change.name]
        rows = [{"at": 0, "value": change.before}, {"at": 1, "value": change.after}]
        dash = [1, 0] if change.is_clear else [5, 4]
        line = of_rows(rows).mark_line(
            color=look.colour,
            strokeWidth=2.8,
            strokeDash=dash,
            point={"size": 70, "filled": True, "color": look.colour},
        )
        layers.append(line.encode(x=alt.X("at:Q", **x), y=alt.Y("value:Q", **y)))
    place: dict[str, Any] = {"domain": (low, high), "height": height}
    layers += name_ends(befores, left, looks, frame, **place, is_left=True)
    layers += name_ends(afters, right, looks, frame, **place)
    layers += [
        text_at(before, 0, -16, align="left", fontWeight="bold"),
        text_at(after, "width", -16, align="right", fontWeight="bold"),
    ]
    return compose(frame, layers, height=height, room=room)


def _lines(words: str, frame: Frame) -> list[str]:
    return wrap(words, 0.34 * frame.width if frame.is_narrow else frame.width, TEXT, is_bold=True)


def _room(words: Iterable[str], frame: Frame) -> float:
    lines = [line for each in words for line in _lines(each, frame)]
    return 14 + max(text_width(line, TEXT, is_bold=True) for line in lines)


def name_ends(
    ends: Mapping[str, float],
    words: Mapping[str, str],
    looks: Mapping[str, Look],
    frame: Frame,
    *,
    domain: tuple[float, float],
    height: float,
    is_left: bool = False,
) -> list[alt.Chart]:
    """Return words at the ends of lines, none over another."""
    low, high = domain
    places = {name: height * (high - value) / (high - low) for name, value in ends.items()}
    ordered = sorted(places, key=lambda name: places[name])
    lines = [_lines(words[name], frame) for name in ordered]
    heights = [LEADING * TEXT * len(each) + 2 for each in lines]
    middles = spread([places[name] for name in ordered], heights, within=height)
    drawn = []
    for name, each, middle in zip(ordered, lines, middles, strict=True):
        # The middle of the first line stands at the place.
        y = middle - LEADING * TEXT * (len(each) - 1) / 2
        style: dict[str, Any] = {"color": looks[name].colour, "fontWeight": "bold"}
        at: dict[str, Any] = {"x": 0, "dx": -8, "align": "right"} if is_left else {"x": "width", "dx": 8}
        drawn.append(text_at("\n".join(each), y=y, **at, **style))
    return drawn
