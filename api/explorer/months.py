"""The share that fits into each window over the months of crawls, beside each other on the same axes."""

import dataclasses
import itertools
from urllib.parse import urlencode

from api.statistics.answers import SeriesAnswer, SeriesFlag, SeriesPoint, releases_of
from api.stored.months import months_between


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
