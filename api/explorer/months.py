"""The share that fits into each window over the months of a crawl, and the coordinates of its figure."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Sequence
from urllib.parse import urlencode

from api.axes import Mark
from api.explorer.drawing import BOTTOM, LEFT, LEGEND_LINE, PLOT_HEIGHT, RIGHT, wrapped
from api.statistics.series import SeriesAnswer, SeriesFlag, SeriesPoint

ABOVE = 24
"""Space above the plot for the numbers of flags, in CSS pixels."""

MONTH_WIDTH = 60
"""Width that the label of a month needs, in CSS pixels."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OverMonths:
    """The share of one measure and stratum over the months of a crawl, by window."""

    crawl: str
    """What the names of the crawls have after the month."""
    heading: str
    """What is shown, in words."""
    measure: str
    windows: tuple[int, ...]
    """In segments."""
    series: tuple[SeriesAnswer, ...]
    """The series of each window; they have the same months."""

    @property
    def rows(self) -> list[tuple[SeriesPoint, ...]]:
        """The points of each month, one for each window."""
        return list(zip(*(one.points for one in self.series), strict=True))

    @property
    def addresses(self) -> list[tuple[int, str]]:
        """Each window with the query of its series in the API."""
        return [
            (
                iw,
                urlencode(
                    {
                        "device": one.device,
                        "vantage": one.vantages[0],
                        "arm": one.arm,
                        "kind": one.kind,
                        "measure": one.measure,
                        "iw": iw,
                        "mss": one.mss,
                        **one.stratum,
                    }
                ),
            )
            for iw, one in zip(self.windows, self.series, strict=True)
        ]

    @property
    def flags(self) -> list[SeriesFlag]:
        """Changes between months, which every window has."""
        return self.series[0].flags

    @property
    def numbers(self) -> dict[str, int]:
        """Number of the flags of each month that has any, from 1."""
        months = dict.fromkeys(flag.month for flag in self.flags)
        return {month: number for number, month in enumerate(months, start=1)}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Bar:
    """A share with its interval."""

    x: float
    y: float
    lower: float | None
    upper: float | None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """The shares of one window."""

    label: str
    path: str
    """Joined shares, as SVG path data: interrupted at breaks, and in months whose share is unknown."""
    bars: tuple[Bar, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class MonthsDrawing:
    """The figure; coordinates count from the upper left corner of the plot."""

    width: int
    height: int
    top: int
    plot_width: int
    heading: tuple[str, ...]
    """Lines that say what is shown."""
    legend_top: int
    lines: tuple[Line, ...]
    flags: tuple[Mark, ...]
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    left: int = LEFT
    plot_height: int = PLOT_HEIGHT


def draw_months(found: OverMonths, *, width: int) -> MonthsDrawing:
    """The figure of shares over months, `width` CSS pixels wide."""
    months = [points[0].month for points in found.rows]
    plot_width = width - LEFT - RIGHT
    heading = wrapped(found.heading, width)
    legend_top = LEGEND_LINE * len(heading)
    top = legend_top + LEGEND_LINE * len(found.windows) + ABOVE
    step = plot_width / len(months)
    every = math.ceil(MONTH_WIDTH / step)

    def x(place: float) -> float:
        return round((place + 0.5) * step, 1)

    return MonthsDrawing(
        width=width,
        height=top + PLOT_HEIGHT + BOTTOM,
        top=top,
        plot_width=plot_width,
        heading=heading,
        legend_top=legend_top,
        lines=tuple(_line(f"IW {iw}", one, x) for iw, one in zip(found.windows, found.series, strict=True)),
        flags=tuple(
            Mark(x(months.index(month) - 0.5), str(number)) for month, number in found.numbers.items()
        ),
        x_marks=tuple(Mark(x(place), months[place]) for place in range(0, len(months), every)),
        y_marks=tuple(Mark(_y(percent / 100), f"{percent} %") for percent in (0, 25, 50, 75, 100)),
    )


def _y(share: float) -> float:
    return round((1 - share) * PLOT_HEIGHT, 1)


def _line(label: str, series: SeriesAnswer, x: Callable[[float], float]) -> Line:
    broken = {flag.month for flag in series.flags if flag.is_break}
    bars = [_bar(x(place), point) for place, point in enumerate(series.points)]
    return Line(
        label=label,
        path=_path(series.points, bars, broken),
        bars=tuple(bar for bar in bars if bar is not None),
    )


def _bar(x: float, point: SeriesPoint) -> Bar | None:
    if point.value is None:
        return None
    lower, upper = (None if end is None else _y(end) for end in (point.lower, point.upper))
    return Bar(x=x, y=_y(point.value), lower=lower, upper=upper)


def _path(points: Sequence[SeriesPoint], bars: Sequence[Bar | None], broken: set[str]) -> str:
    path, joined = "", False
    for point, bar in zip(points, bars, strict=True):
        if bar is not None:
            path += f"{'L' if joined and point.month not in broken else 'M'}{bar.x} {bar.y}"
        joined = bar is not None
    return path
