"""Coordinates of charts of outside series over the years in SVG,
computed here so that the template needs no arithmetic."""

import dataclasses
import math
from collections.abc import Callable, Sequence

from api.axes import Mark, scale
from releases.formatting import grouped, size, stated
from releases.outside.lines import Line, lines
from releases.outside.points import Point
from releases.outside.series import KINDS, Break, Statistic

WIDTH, HEIGHT = 340, 220
HEADROOM = 1.01
"""Height of a plot over its largest value: the line does not touch the top, whatever that value."""
LEFT, RIGHT, TOP, BOTTOM = 62, 10, 10, 24

X_LABELS = 5
"""Labels along the axis of time, about."""


CLIENTS = ("desktop", "mobile", "both")
"""Clients in the order of their colours."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Dot:
    """A yearly point."""

    x: float
    y: float
    said: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Curve:
    """One client's line of a series."""

    style: str
    """Class of its colour."""
    label: str
    path: str
    """Joined points, as SVG path data; empty for yearly points."""
    dots: tuple[Dot, ...]
    """Yearly points."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Flag:
    """A break of the publisher."""

    at: float
    date: str
    said: str


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Panel:
    """A chart of one or two series of one unit."""

    id: str
    title: str
    note: str
    unit: str
    curves: tuple[Curve, ...]
    flags: tuple[Flag, ...]
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    series: tuple[str, ...]
    styles: tuple[str, ...]
    """Clients that are drawn."""
    width: int = WIDTH
    height: int = HEIGHT
    left: int = LEFT
    right: int = WIDTH - RIGHT
    top: int = TOP
    bottom: int = HEIGHT - BOTTOM


DRAWN: tuple[tuple[tuple[str, ...], Statistic, str, str], ...] = (
    (("javascript-bytes",), "p50", "JavaScript of the median page", "HTTP Archive's reports, home pages."),
    (
        ("javascript-requests",),
        "p50",
        "Requests for scripts of the median page",
        "HTTP Archive's reports, home pages.",
    ),
    (
        ("pervasive-sizes",),
        "share",
        "Share of pervasive resources of at most 14,600 bytes",
        "Scripts and styles on more than 20,000 pages a month, by how often they occur: "
        "ten segments of 1,460 bytes hold one.",
    ),
)
"""Series of each chart, the statistic that it shows, its title, and what it draws."""


def panels(points: Sequence[Point]) -> list[Panel]:
    """The charts of which there are points."""
    dates = [year(point.date) for point in points]
    span = (math.floor(min(dates, default=0)), math.ceil(max(dates, default=1)))
    found = []
    for ids, statistic, title, note in DRAWN:
        every = [line for name_id in ids for line in lines(points, name_id)]
        shown = [line for line in every if values(line, statistic)]
        if shown:
            found.append(panel(shown, statistic, title, note, span))
    return found


def values(line: Line, statistic: Statistic) -> list[tuple[str, float]]:
    """Dates and values of a line."""
    return [
        (one.date, one.values[statistic]) for piece in line.pieces for one in piece if statistic in one.values
    ]


def panel(shown: Sequence[Line], statistic: Statistic, title: str, note: str, span: tuple[int, int]) -> Panel:
    """The chart of some lines, on the axis of time of all charts, from one year to another."""
    pairs = [pair for line in shown for pair in values(line, statistic)]
    first, end = span
    step, top = scale(HEADROOM * max(value for _, value in pairs))

    def x(date: str) -> float:
        return round(LEFT + (year(date) - first) / (end - first) * (WIDTH - LEFT - RIGHT), 1)

    def y(value: float) -> float:
        return round(HEIGHT - BOTTOM - value / top * (HEIGHT - TOP - BOTTOM), 1)

    unit = "share" if statistic == "share" else KINDS[shown[0].series].unit
    every = max(1, round((end - first) / X_LABELS))
    return Panel(
        id=shown[0].series,
        title=title,
        note=note,
        unit=unit,
        curves=tuple(curve(line, statistic, x, y) for line in shown),
        flags=flags(shown, x),
        x_marks=tuple(Mark(x(str(one)), str(one)) for one in range(first, end + 1, every)),
        y_marks=tuple(
            Mark(y(step * place), in_unit(step * place, unit)) for place in range(round(top / step) + 1)
        ),
        series=tuple(dict.fromkeys(line.series for line in shown)),
        styles=tuple(client for client in CLIENTS if any(line.client == client for line in shown)),
    )


def curve(line: Line, statistic: Statistic, x: Callable[[str], float], y: Callable[[float], float]) -> Curve:
    """The path of a line, interrupted at every break; yearly points are dots."""
    kind = KINDS[line.series]
    label = f"{line.client}, {line.scope}" if kind.is_yearly else line.client
    if kind.is_yearly:
        dots = tuple(
            Dot(x=x(date), y=y(value), said=f"{label}, {date}: {in_unit(value, kind.unit)}")
            for date, value in values(line, statistic)
        )
        return Curve(style=line.client, label=label, path="", dots=dots)
    path = ""
    for piece in line.pieces:
        known = [(x(one.date), y(one.values[statistic])) for one in piece if statistic in one.values]
        path += "".join(f"{'L' if place else 'M'}{across} {up}" for place, (across, up) in enumerate(known))
    return Curve(style=line.client, label=label, path=path, dots=())


def in_unit(value: float, unit: str) -> str:
    """A value as the other pages write it: sizes with their unit (HTTP Archive has KB of 1,024 bytes),
    shares in percent, other numbers alone.

    >>> in_unit(0.5, "share"), in_unit(12, "requests")
    ('50\u202f%', '12')
    >>> in_unit(2000, "KB") == in_unit(2_048_000, "bytes")
    True
    """
    if unit == "share":
        return stated(round(100 * value), "%")
    if unit in ("bytes", "KB"):
        return size(round(value * (1024 if unit == "KB" else 1)))
    return grouped(round(value))


def flags(shown: Sequence[Line], x: Callable[[str], float]) -> tuple[Flag, ...]:
    """The breaks of the lines, numbered by date."""
    held: dict[str, Break] = {one.date: one for line in shown for one in line.breaks}
    return tuple(Flag(at=x(date), date=date, said=held[date].said) for date in sorted(held))


def year(date: str) -> float:
    """A date as a year and its part that has passed; months count as twelfths.

    >>> year("2012"), year("2012-07"), round(year("2012-07-15"), 3)
    (2012.0, 2012.5, 2012.538)
    """
    parts = [int(part) for part in date.split("-")]
    month = parts[1] - 1 if len(parts) > 1 else 0
    day = parts[2] - 1 if len(parts) > 2 else 0
    return parts[0] + (month + day / 31) / 12
