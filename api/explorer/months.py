"""The share that fits into each window over the months of a crawl."""

import dataclasses
import itertools
from urllib.parse import urlencode

from api.explorer.charts import DrawnMonths, Part
from api.statistics.series import SeriesAnswer, SeriesPoint, releases_of
from api.stored.months import Flag
from releases.formatting import percent
from schema.computed_tables import NOUNS

USUAL = 10


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class OverMonths:
    """The share of one measure and stratum over the months of a crawl, by window."""

    crawl: str
    """Names of the crawls after the month."""
    windows: tuple[int, ...]
    series: tuple[SeriesAnswer, ...]
    """Of each window, over the same months."""

    @property
    def rows(self) -> list[tuple[SeriesPoint, ...]]:
        return list(zip(*(series.points for series in self.series), strict=True))

    @property
    def folded(self) -> list[tuple[tuple[SeriesPoint, ...], ...]]:
        """Rows, with neighbouring months that are unknown for one reason as one."""
        groups = itertools.groupby(
            enumerate(self.rows),
            key=lambda row: row[1][0].value_unknown or row[0],
        )
        return [tuple(points for _, points in group) for _, group in groups]

    @property
    def query(self) -> str:
        first = self.series[0]
        named = {"device": first.device, "vantage": first.vantages[0], "arm": first.arm, "kind": first.kind}
        windows = {"measure": first.measure, "iw": self.windows, "mss": first.mss, **first.stratum}
        return urlencode({**named, **windows, "release": releases_of(first.points)}, doseq=True)

    @property
    def flags(self) -> list[Flag]:
        return self.series[0].flags

    @property
    def numbers(self) -> dict[str, int]:
        months = dict.fromkeys(flag.month for flag in self.flags)
        return {month: number for number, month in enumerate(months, start=1)}

    @property
    def title(self) -> str:
        """The share of the first and of the last known month."""
        place = self.windows.index(USUAL) if USUAL in self.windows else 0
        known = [point for point in self.series[place].points if point.value is not None]
        if not known:
            return "No month states a share"
        of = f"of {NOUNS[self.series[0].measure]} fit into {self.windows[place]} segments"
        first, last = f"{percent(known[0].value)}", f"{percent(known[-1].value)}"
        if len(known) == 1:
            return f"{first} {of} in {known[0].month}"
        return f"{first} {of} in {known[0].month}, and {last} in {known[-1].month}"

    def to_draw(self, stratum: str) -> DrawnMonths:
        """Return a line for each window, which ends at breaks and unknown shares."""
        months = [points[0].month for points in self.rows]
        broken = {flag.month for flag in self.flags if flag.is_break}
        series: list[tuple[str, list[Part]]] = []
        for window, answer in zip(self.windows, self.series, strict=True):
            parts: list[Part] = [[]]
            for at, point in enumerate(answer.points):
                if point.month in broken or point.value is None:
                    parts.append([])
                if point.value is not None:
                    lower, upper = (None if end is None else 100 * end for end in (point.lower, point.upper))
                    parts[-1].append((at, 100 * point.value, lower, upper))
            series.append((f"IW {window}", [part for part in parts if part]))
        return DrawnMonths(
            title=self.title,
            subtitle="; ".join(filter(None, ["Share that fits, by month", self.crawl, stratum])),
            source="firstflight, CC BY 4.0. Bars: intervals over sites",
            months=months,
            flags={months.index(month): str(number) for month, number in self.numbers.items()},
            series=[(name, parts) for name, parts in series if parts],
        )
