"""Answers of `/v1/series`: a statistic by month, and the changes between the months."""

from collections.abc import Iterable
from typing import Literal

from pydantic import BaseModel, Field

from api.stored.breaks import What


class SeriesPoint(BaseModel):
    """One month of a series."""

    month: str
    iw: int | None = Field(description="window of a share, in segments; null for other statistics")
    percent: int | None = Field(description="the quantile in percent; null for other statistics")
    crawl: str | None = Field(description="name of the crawl; null in a month without a release")
    version: int | None = Field(description="version of its release")
    checksum: str | None = Field(description="SHA-256 of the release's SHA256SUMS")
    cite_as: str | None = Field(description="how to cite the release")
    url: str | None = Field(description="page of the release")
    value: float | None = Field(description="the statistic, in `unit`; null if it is unknown")
    value_unknown: str | None = Field(description="why the value is unknown; null if it is known")
    lower: float | None = Field(description="lower end of the confidence interval")
    upper: float | None = Field(description="upper end of the confidence interval")
    interval_unknown: str | None = Field(description="why the interval is unknown; null if it is known")
    known: int = Field(description="number of items of known size")
    unknown: int = Field(description="number of items of unknown size, which the value leaves out")
    sites: int | None = Field(description="number of sites with an item of known size; null if unknown")


class SeriesFlag(BaseModel):
    """A change between a month and the one before in the series."""

    month: str = Field(description="the first month after the change")
    month_before: str = Field(description="the last month before the change")
    what: What
    before: str
    after: str
    is_break: bool = Field(
        description="true if numbers before and after are not of the same thing, "
        "false for a newer version of the same"
    )
    said: str = Field(description="what changed, in sentences")


class SeriesAnswer(BaseModel):
    """A statistic by month."""

    device: str
    arm: str
    kind: str
    vantages: list[str] = Field(description="vantages that the months were crawled from")
    quality: str = Field(description="quality level of every month; a series has one")
    quality_means: str
    licence: str = Field(description="licence of the data")
    measure: str
    definition: str
    stratum: dict[str, str | int] = Field(
        description="value of each dimension that was asked for; empty for every item of home pages"
    )
    statistic: str
    unit: Literal["share", "bytes"]
    iw: int | None = Field(description="the first window of a share; null for other statistics")
    mss: int | None = Field(description="payload of a full segment, in bytes; null unless iw is given")
    percent: int | None = Field(description="the first quantile; null for other statistics")
    confidence: float = Field(description="confidence level of the intervals")
    points: list[SeriesPoint] = Field(
        description="every month from the first to the last, the earliest first; of each window or quantile"
    )
    flags: list[SeriesFlag] = Field(
        description="changes of method, vantage, list, browser and schema, in the order of the months"
    )


def releases_of(points: Iterable[SeriesPoint]) -> list[str]:
    """Names of the releases that the points are of, as 2026-11.desktop.local.tcp.web/v1."""
    named = (f"{point.crawl}/v{point.version}" for point in points if point.crawl is not None)
    return list(dict.fromkeys(named))
