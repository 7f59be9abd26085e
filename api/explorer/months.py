"""The share that fits into each window over the months of crawls, and its chart: a plot for each crawl, on
the same axes."""

import dataclasses
import itertools
import math
from urllib.parse import urlencode

from api.charts import (
    STYLES,
    Chart,
    Mark,
    Plot,
    Scale,
    dot,
    joined,
    line,
    path,
    plot_width,
    share_marks,
    share_scale,
)
from api.explorer.drawing import HEIGHT, LEAST_WIDTH
from api.statistics.series import SeriesAnswer, SeriesPoint, releases_of
from api.stored.months import Change, months_between

MONTH_WIDTH = 60
"""Width that the label of a month needs, in CSS pixels."""


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
        return list(zip(*(series.points for series in self.series), strict=True))

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
        first = self.series[0]
        named = {"device": first.device, "vantage": first.vantages[0], "arm": first.arm, "kind": first.kind}
        windows = {"measure": first.measure, "iw": self.windows, "mss": first.mss, **first.stratum}
        return urlencode({**named, **windows, "release": releases_of(first.points)}, doseq=True)

    @property
    def flags(self) -> list[Change]:
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
    def months(self) -> list[str]:
        """Every month from the first to the last of any crawl, YYYY-MM."""
        months = [points[0].month for panel in self.panels for points in panel.rows]
        return months_between(min(months), max(months))


def draw_months(shown: SideBySide, *, width: int) -> Chart:
    """The chart of shares over months, `width` CSS pixels wide."""
    columns = min(len(shown.panels), max(1, width // LEAST_WIDTH))
    return Chart(
        title=f"{shown.heading}, by month",
        width=width,
        columns=columns,
        plots=[draw_crawl(shown, panel, plot_width(width, columns)) for panel in shown.panels],
        heading=shown.heading,
        legend=[f"IW {iw}" for iw in shown.panels[0].windows],
    )


def draw_crawl(shown: SideBySide, panel: OverMonths, width: float) -> Plot:
    """The plot of one crawl: a line for each window, which ends at breaks and where the share is unknown."""
    places = {month: place for place, month in enumerate(shown.months)}
    x = Scale(low=-0.5, high=len(places) - 0.5, length=width)
    y = share_scale(HEIGHT)
    plot = Plot(width=width, height=HEIGHT, name=panel.crawl if len(shown.panels) > 1 else "")
    every = math.ceil(MONTH_WIDTH * len(places) / width)
    plot.add_axes(
        [Mark(x(place), month) for month, place in places.items() if place % every == 0], share_marks(y)
    )
    flags = [Mark(x(places[month] - 0.5), str(number)) for month, number in panel.numbers.items()]
    plot.add_uprights(flags, look="flag")
    broken = {flag.month for flag in panel.flags if flag.is_break}
    for place, series in enumerate(panel.series):
        style = place % STYLES
        points: list[tuple[float, float] | None] = []
        for point in series.points:
            at = None if point.value is None else (x(places[point.month]), y(point.value))
            points += [None, at] if point.month in broken else [at]
        plot.add(path(joined(points), f"c{style}"))
        for point in series.points:
            if point.value is not None:
                across = x(places[point.month])
                if point.lower is not None and point.upper is not None:
                    plot.add(line(across, y(point.lower), across, y(point.upper), f"c{style}"))
                plot.add(dot(across, y(point.value), f"b{style}", radius=2.5))
    return plot
