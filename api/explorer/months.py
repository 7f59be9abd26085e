"""The share that fits into each window over the months of crawls, and its figure: a panel for each crawl, on
the same axes. The template months.svg only writes the coordinates."""

import dataclasses
import itertools
import math
from collections.abc import Callable, Sequence
from urllib.parse import urlencode

from api.axes import Mark
from api.explorer.drawing import BOTTOM, LEFT, LEGEND_LINE, PANEL_WIDTH, PLOT_HEIGHT, RIGHT, wrapped
from api.statistics.series import SeriesAnswer, SeriesFlag, SeriesPoint, releases_of
from api.stored.months import months_between
from releases.formatting import stated


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OverMonths:
    """The share of one measure and stratum over the months of a crawl, by window."""

    crawl: str
    """What the names of the crawls have after the month."""
    windows: tuple[int, ...]
    """In segments."""
    series: tuple[SeriesAnswer, ...]
    """The series of each window; they have the same months."""

    @property
    def rows(self) -> list[tuple[SeriesPoint, ...]]:
        """The points of each month, one for each window."""
        return list(zip(*(one.points for one in self.series), strict=True))

    @property
    def folded(self) -> list[tuple[tuple[SeriesPoint, ...], ...]]:
        """The rows, with neighbouring months of which nothing is known for the same reason as one."""
        groups = itertools.groupby(
            enumerate(self.rows),
            key=lambda row: row[1][0].value_unknown or row[0],
        )
        return [tuple(points for _, points in group) for _, group in groups]

    @property
    def query(self) -> str:
        """The query of its series in the API."""
        one = self.series[0]
        named = {"device": one.device, "vantage": one.vantages[0], "arm": one.arm, "kind": one.kind}
        windows = {"measure": one.measure, "iw": self.windows, "mss": one.mss, **one.stratum}
        return urlencode({**named, **windows, "release": releases_of(one.points)}, doseq=True)

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
class SideBySide:
    """One measure and stratum over the months of several crawls."""

    measure: str
    heading: str
    """What is shown, in words."""
    panels: tuple[OverMonths, ...]
    """They have the same windows."""

    @property
    def windows(self) -> tuple[int, ...]:
        """In segments."""
        return self.panels[0].windows

    @property
    def months(self) -> list[str]:
        """Every month from the first to the last of any crawl, YYYY-MM."""
        found = [points[0].month for panel in self.panels for points in panel.rows]
        return months_between(min(found), max(found))


ABOVE = 24
"""Space above the plot for the numbers of flags, in CSS pixels."""

MONTH_WIDTH = 60
"""Width that the label of a month needs, in CSS pixels."""


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

    path: str
    """Joined shares, as SVG path data: interrupted at breaks, and in months whose share is unknown."""
    bars: tuple[Bar, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class MonthsPanel:
    """The shares of one crawl; coordinates count from the upper left corner of its plot."""

    left: float
    top: float
    name: str
    """The crawl, where the figure has several; else empty."""
    lines: tuple[Line, ...]
    flags: tuple[Mark, ...]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class MonthsDrawing:
    """The figure."""

    width: int
    height: int
    plot_width: float
    heading: tuple[str, ...]
    """Lines that say what is shown."""
    legend: tuple[str, ...]
    """The windows, in the order of each panel's lines."""
    legend_top: int
    panels: tuple[MonthsPanel, ...]
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    name_above: int = ABOVE
    """Distance of the name of a panel from its plot."""
    plot_height: int = PLOT_HEIGHT


def draw_months(found: SideBySide, *, width: int) -> MonthsDrawing:
    """The figure of shares over months, `width` CSS pixels wide."""
    months = {month: place for place, month in enumerate(found.months)}
    is_several = len(found.panels) > 1
    columns = min(len(found.panels), max(1, width // PANEL_WIDTH))
    panel_width = width / columns
    plot_width = round(panel_width - LEFT - RIGHT, 1)
    heading = wrapped(found.heading, width)
    legend_top = LEGEND_LINE * len(heading)
    top = legend_top + LEGEND_LINE * len(found.windows)
    above = ABOVE + LEGEND_LINE * is_several
    panel_height = above + PLOT_HEIGHT + BOTTOM
    step = plot_width / len(months)

    def x(place: float) -> float:
        return round((place + 0.5) * step, 1)

    return MonthsDrawing(
        width=width,
        height=top + panel_height * math.ceil(len(found.panels) / columns),
        plot_width=plot_width,
        heading=heading,
        legend=tuple(f"IW {iw}" for iw in found.windows),
        legend_top=legend_top,
        panels=tuple(
            MonthsPanel(
                left=round(place % columns * panel_width + LEFT, 1),
                top=top + place // columns * panel_height + above,
                name=panel.crawl if is_several else "",
                lines=tuple(_line(one, lambda month: x(months[month])) for one in panel.series),
                flags=_flags(panel, lambda month: x(months[month] - 0.5)),
            )
            for place, panel in enumerate(found.panels)
        ),
        x_marks=tuple(
            Mark(x(place), month)
            for month, place in months.items()
            if place % math.ceil(MONTH_WIDTH / step) == 0
        ),
        y_marks=tuple(Mark(_y(percent / 100), stated(percent, "%")) for percent in (0, 25, 50, 75, 100)),
    )


def _flags(panel: OverMonths, x: Callable[[str], float]) -> tuple[Mark, ...]:
    return tuple(Mark(x(month), str(number)) for month, number in panel.numbers.items())


def _y(share: float) -> float:
    return round((1 - share) * PLOT_HEIGHT, 1)


def _line(series: SeriesAnswer, x: Callable[[str], float]) -> Line:
    broken = {flag.month for flag in series.flags if flag.is_break}
    bars = [_bar(x(point.month), point) for point in series.points]
    return Line(
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
