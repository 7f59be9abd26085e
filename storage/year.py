"""The crawls of a year: the months that are planned and sealed, and the newest crawl, which a report is made
from."""

import dataclasses
import datetime

from sqlalchemy import Connection, select

from schema.tables import Crawl

SERIES = "desktop.local.tcp.web"
"""Device, vantage, protocol arm and kind, which the crawls of a series share."""


class NotReady(Exception):
    """The year has no crawl to report on, or its newest is not sealed."""


@dataclasses.dataclass(frozen=True, slots=True)
class Year:
    """The crawls of a series in one year."""

    year: int
    series: str
    sealed: dict[str, bool]
    """True for each planned month whose crawl is sealed."""

    @property
    def missing(self) -> list[str]:
        return [month for month in months(self.year) if month not in self.sealed]

    def newest(self) -> str:
        """Return the name of the year's newest crawl, of which the report is made; NotReady unless it is
        sealed.
        """
        if not self.sealed:
            raise NotReady(
                f"no crawl of {self.series} was planned in {self.year}: "
                "`firstflight crawl list` shows what there is"
            )
        month = max(self.sealed)
        name = f"{month}.{self.series}"
        if not self.sealed[month]:
            raise NotReady(
                f"{name} is not sealed yet: `firstflight crawl status --crawl {name}` says how far it is"
            )
        return name


def months(year: int) -> list[str]:
    """Return the twelve months of a year.

    >>> months(2026)[0], months(2026)[-1]
    ('2026-01', '2026-12')
    """
    return [f"{year:04}-{month:02}" for month in range(1, 13)]


def year_of(connection: Connection, year: int, *, series: str = SERIES) -> Year:
    device, vantage, arm, kind = series.split(".")
    days: list[tuple[str, datetime.datetime | None]] = [
        (month, sealed_at)
        for month, sealed_at in connection.execute(
            select(Crawl.month, Crawl.sealed_at)
            .where(Crawl.month.in_(months(year)))
            .where(Crawl.device == device, Crawl.vantage == vantage, Crawl.arm == arm, Crawl.kind == kind)
            .order_by(Crawl.month)
        )
    ]
    return Year(year, series, {month: sealed_at is not None for month, sealed_at in days})
