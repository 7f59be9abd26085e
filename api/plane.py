"""The plane of gain and cost: what each window of a verdict saves of page time, and what it sends again,
beside the step of 2010."""

import dataclasses
import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from api.axes import Mark
from releases.formatting import range_text, stated
from replay.backcast.published import BASE, DATA_CENTERS, EXPERIMENT, LATENCY, RETRANSMITTED

MOST_GAIN, MOST_COST = 14.0, 3.0
"""Ends of the axes, in per cent and in percentage points; what is beyond is drawn at the end."""

LEAST_GAIN = 0.5
"""Page time saved in per cent below which a window has no place in the picture."""

LETTER, LINE = 7.2, 14
"""Width and height of a letter in CSS pixels, about."""

WAYS = ((1, 0), (-1, 0), (1, -1), (1, 1), (-1, -1), (-1, 1), (0, -1), (0, 1))
"""Where a name stands beside its point: right or left, above or below; the best first."""

Box = tuple[float, float, float, float]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Name:
    """A name beside its point."""

    text: str
    x: float
    y: float
    anchor: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """A window of the verdict at its place, with its intervals."""

    name: Name
    x: float
    y: float
    gain: tuple[float, float]
    """Ends of the interval, from left to right."""
    cost: tuple[float, float]
    """Ends of the interval, from the lower to the upper."""
    style: str
    """`open`, `worth`, or `not` worth it."""
    is_paced: bool
    said: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Plane:
    """A drawing of the plane, in one width."""

    style: str
    width: int
    height: int
    left: int
    right: int
    top: int
    bottom: int
    region: str
    """What is worth it at the price of 2010, as SVG path data."""
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    windows: tuple[Window, ...]
    steps: tuple[tuple[Name, float, float], ...]
    """The step of 2010 in each data centre."""
    left_out: tuple[str, ...]
    """Windows that save little or no time."""


def steps_of_2010() -> Iterator[tuple[str, float, float]]:
    """Yield each data centre of 2010 with what the step from 3 to 10 saved and sent again.

    >>> [(name, round(gain, 1), round(cost, 2)) for name, gain, cost in steps_of_2010()]
    [('average', 11.7, 0.31), ('slow', 8.7, 0.67)]
    """
    for center in DATA_CENTERS:
        before, after = (LATENCY[center, window].mean for window in (BASE, EXPERIMENT))
        resent = RETRANSMITTED[center, "all"]
        name = {"AvgDC": "average", "SlowDC": "slow"}[center]
        yield name, 100 * (1 - after / before), resent[EXPERIMENT] - resent[BASE]


def draw_plane(verdict: Mapping[str, Any], *, is_wide: bool) -> Plane:
    """The plane of the verdict in report.json, in a width for desktops or for phones."""
    width, height, left = (640, 440, 52) if is_wide else (360, 350, 48)
    right, top, bottom = width - 12, 34, height - 44
    price, least = verdict["rule"]["price_pp"], verdict["rule"]["worthwhile_percent"]

    def x(gain: float) -> float:
        return round(left + min(1.0, max(0.0, gain / MOST_GAIN)) * (right - left), 1)

    def y(cost: float) -> float:
        return round(bottom - math.sqrt(min(1.0, max(0.0, cost / MOST_COST))) * (bottom - top), 1)

    ray = [least + (MOST_GAIN - least) * step / 40 for step in range(41)]
    region = "".join(f"L{x(gain)} {y(price * gain)}" for gain in ray)
    known = [
        candidate
        for candidate in verdict["candidates"]
        if None not in (*_ends(candidate, "gain"), *_ends(candidate, "resent"))
    ]
    drawn = [one for one in known if _ends(one, "gain")[0] > LEAST_GAIN]
    steps = [(name, x(gain), y(cost)) for name, gain, cost in steps_of_2010()]
    gains = [(x(at), x(low), x(high)) for at, low, high in (_ends(one, "gain") for one in drawn)]
    costs = [(y(at), y(low), y(high)) for at, low, high in (_ends(one, "resent") for one in drawn)]
    texts = [f"IW {one['window']}" for one in drawn]
    texts += [f"2010: 3 to 10, {name}" if is_wide else f"2010, {name}" for name, *_ in steps]
    lines = [(low, cost, high, cost) for (_, low, high), (cost, *_) in zip(gains, costs, strict=True)]
    lines += [(gain, low, gain, high) for (gain, *_), (_, low, high) in zip(gains, costs, strict=True)]
    lines += [(left, bottom, at, height_at) for _, at, height_at in steps]
    places = [(gain[0], cost[0]) for gain, cost in zip(gains, costs, strict=True)]
    places += [step[1:] for step in steps]
    names = _named(texts, places, lines, (left, top, width, bottom))
    windows = [
        Window(
            name=name,
            x=gain[0],
            y=cost[0],
            gain=gain[1:],
            cost=cost[1:],
            style={"open": "open", "not worth it": "not"}.get(one["verdict"], "worth"),
            is_paced=str(one["window"]).endswith("paced"),
            said=f"{name.text}, {one['verdict']}: saves {range_text(*_interval(one, 'gain'), '%')}, "
            f"sends {range_text(*_interval(one, 'resent'), 'pp')} more again",
        )
        for one, gain, cost, name in zip(drawn, gains, costs, names, strict=False)
    ]
    return Plane(
        style="for-desktops" if is_wide else "for-phones",
        width=width,
        height=height,
        left=left,
        right=right,
        top=top,
        bottom=bottom,
        region=f"M{x(least)} {y(0)}{region}L{x(MOST_GAIN)} {y(0)}Z",
        x_marks=tuple(Mark(x(gain), stated(gain, "%")) for gain in range(0, 15, 2 if is_wide else 4)),
        y_marks=tuple(Mark(y(cost), stated(cost, "pp")) for cost in (0, 0.1, 0.3, 1, 2, 3)),
        windows=tuple(windows),
        steps=tuple((name, *step[1:]) for name, step in zip(names[len(drawn) :], steps, strict=True)),
        left_out=tuple(f"IW\u00a0{one['window']}" for one in known if one not in drawn),
    )


def _ends(one: Mapping[str, Any], what: str) -> tuple[float, float, float]:
    """Estimate and ends of what a window saves or sends again; an end that is unknown is the estimate."""
    found = one[{"gain": "gain_percent", "resent": "resent_pp"}[what]]
    estimate = found["estimate"]
    ends = (estimate if found[end] is None else found[end] for end in ("lower", "upper"))
    return (estimate, *ends)


def _interval(one: Mapping[str, Any], what: str) -> tuple[float, float]:
    _, lower, upper = _ends(one, what)
    return lower, upper


def _named(
    texts: Sequence[str], places: Sequence[tuple[float, float]], lines: Sequence[Box], frame: Box
) -> list[Name]:
    """Names beside their points, each where it hides least of points, lines and the names before it."""
    taken = [(x - 7, y - 7, x + 7, y + 7) for x, y in places]
    for x, y, to_x, to_y in lines:
        parts = max(1, round((abs(to_x - x) + abs(to_y - y)) / 6))
        for part in range(parts + 1):
            at, height_at = x + (to_x - x) * part / parts, y + (to_y - y) * part / parts
            taken.append((at - 2, height_at - 2, at + 2, height_at + 2))
    names = []
    for text, (x, y) in zip(texts, places, strict=True):
        wide = LETTER * len(text)
        ways = []
        for late, (across, down) in enumerate(WAYS):
            start = x + {1: 10, -1: -10 - wide, 0: -wide / 2}[across]
            middle = y + down * (LINE if across else 16)
            box = (start, middle - LINE / 2, start + wide, middle + LINE / 2)
            beyond = max(0.0, frame[0] - box[0]) + max(0.0, box[2] - frame[2]) + max(0.0, box[3] - frame[3])
            hidden = sum(_overlap(box, other) for other in taken)
            ways.append((hidden + 30 * beyond + 8 * late, box, across, middle))
        _, box, across, middle = min(ways)
        taken.append(box)
        anchor, at = {1: ("start", box[0]), -1: ("end", box[2]), 0: ("middle", x)}[across]
        names.append(Name(text=text, x=round(at, 1), y=round(middle + 4, 1), anchor=anchor))
    return names


def _overlap(one: Box, other: Box) -> float:
    """Area that two boxes share.

    >>> _overlap((0, 0, 2, 2), (1, 1, 3, 3)), _overlap((0, 0, 1, 1), (2, 0, 3, 1))
    (1, 0)
    """
    across, down = (min(one[end + 2], other[end + 2]) - max(one[end], other[end]) for end in (0, 1))
    return max(0, across) * max(0, down)
