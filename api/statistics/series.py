"""`/v1/series`: one statistic of one measure over the months of a crawl, with a flag at every break."""

import csv
import io
import itertools
from collections.abc import Iterable, Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Request, Response
from pydantic import BaseModel, Field

from api.http.links import link
from api.http.problems import Problem
from api.routes.parameters import (
    DEFAULT_WINDOWS,
    MonthQuery,
    MssQuery,
    OneMeasureQuery,
    OneWindowQuery,
    PartQuery,
    PercentQuery,
    ShelfDep,
    StatisticQuery,
    VantageQuery,
)
from api.routes.provenance import QUALITY, citation, quality
from api.routes.remembered import Remembered
from api.routes.strata import Asked, AskedStratum
from api.stored.breaks import What, changes
from api.stored.held_cdfs import HeldCdfs
from api.stored.months import Variant, months_between
from api.stored.shelf import Version
from releases.slow_start import MSS_FIG1
from releases.strata.bootstrap import CONFIDENCE
from releases.strata.statistics import Estimate, Statistic, estimate
from schema.computed_tables import MEASURES
from schema.crawls import CrawlName

router = APIRouter(prefix="/v1", tags=["v1"], route_class=Remembered)


DEFAULT = CrawlName(month="")
"""The variant that a month alone names."""


class SeriesPoint(BaseModel):
    """One month of a series."""

    month: str
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
        description="true if numbers before and after are not of the same thing, false for a newer version of the same"
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
    iw: int | None = Field(description="window of a share, in segments; null for other statistics")
    mss: int | None = Field(description="payload of a full segment, in bytes; null unless iw is given")
    percent: int | None = Field(description="the quantile in percent; null for other statistics")
    confidence: float = Field(description="confidence level of the intervals")
    points: list[SeriesPoint] = Field(
        description="every month from the first to the last, the earliest first"
    )
    flags: list[SeriesFlag] = Field(
        description="changes of method, vantage, list, browser and schema, in the order of the months"
    )


async def variant(
    device: PartQuery = DEFAULT.device,
    vantage: VantageQuery = DEFAULT.vantage,
    arm: PartQuery = DEFAULT.arm,
    kind: PartQuery = DEFAULT.kind,
) -> Variant:
    """The crawls that the parameters choose; by default those that a month alone names."""
    return Variant(device=device, vantage=vantage, arm=arm, kind=kind)


async def statistic(
    statistic: StatisticQuery = "share",
    iw: OneWindowQuery = DEFAULT_WINDOWS[-1],
    mss: MssQuery = MSS_FIG1,
    percent: PercentQuery = 50,
) -> Statistic:
    """The statistic that the parameters choose."""
    return Statistic(name=statistic, iw=iw, mss=mss, percent=percent)


VariantDep = Annotated[Variant, Depends(variant)]
StatisticDep = Annotated[Statistic, Depends(statistic)]


async def series(
    request: Request,
    shelf: ShelfDep,
    asked: VariantDep,
    statistic: StatisticDep,
    stratum: AskedStratum,
    measure: OneMeasureQuery = "responses",
    since: MonthQuery = None,
    until: MonthQuery = None,
) -> SeriesAnswer:
    """The series that the parameters choose."""
    versions = [
        one
        for one in asked.months(shelf)
        if (since is None or one.crawl.month >= since) and (until is None or one.crawl.month <= until)
    ]
    if not versions:
        raise Problem("no-such-crawl", "no release of those months; /v1/crawls lists all")
    stratum.check(measure)
    found = {
        one.crawl.month: _point(request, one, await estimated(request, one, statistic, measure, stratum))
        for one in versions
    }
    months = months_between(versions[0].crawl.month, versions[-1].crawl.month)
    return _answer(
        versions,
        statistic,
        measure,
        stratum,
        points=[found.get(month) or _gap(month) for month in months],
        flags=list(_flags(versions)),
    )


def _answer(
    versions: Sequence[Version],
    statistic: Statistic,
    measure: str,
    stratum: Asked,
    *,
    points: list[SeriesPoint],
    flags: list[SeriesFlag],
) -> SeriesAnswer:
    first = versions[0].crawl
    level = quality(first)
    is_share = statistic.name == "share"
    return SeriesAnswer(
        device=first.device,
        arm=first.arm,
        kind=first.kind,
        vantages=sorted({one.crawl.vantage for one in versions}),
        quality=level,
        quality_means=QUALITY[level],
        licence=_licence(versions),
        measure=measure,
        definition=MEASURES[measure],
        stratum=stratum.parameters(),
        statistic=statistic.name,
        unit=statistic.unit,
        iw=statistic.iw if is_share else None,
        mss=statistic.mss if is_share else None,
        percent=statistic.percent if statistic.name == "quantile" else None,
        confidence=CONFIDENCE,
        points=points,
        flags=flags,
    )


async def estimated(
    request: Request, version: Version, statistic: Statistic, measure: str, stratum: Asked
) -> Estimate:
    """The statistic in one release; unknown, with the reason, if the release cannot be read or lacks the stratum."""
    try:
        why = stratum.unknown_in(version)
        if why is not None:
            return Estimate(value=None, value_unknown=why, interval_unknown=why)
        found = await stratum.sample(request, version, measure)
        if found is not None:
            return estimate(statistic, found.sample)
        held: HeldCdfs = request.app.state.cdfs
        cdfs = await held.at_hand(version)
    except Problem as problem:
        return Estimate(value=None, value_unknown=problem.detail, interval_unknown=problem.detail)
    return estimate(statistic, cdfs[measure].cdf)


def _point(request: Request, version: Version, found: Estimate) -> SeriesPoint:
    crawl = str(version.crawl)
    return SeriesPoint(
        month=version.crawl.month,
        crawl=crawl,
        version=version.version,
        checksum=version.checksum,
        cite_as=citation(version) if version.is_sound else None,
        url=link(request, "release_page", crawl=crawl, version=version.version),
        value=found.value,
        value_unknown=found.value_unknown,
        lower=found.lower,
        upper=found.upper,
        interval_unknown=found.interval_unknown,
        known=found.known,
        unknown=found.unknown,
        sites=found.sites,
    )


def _gap(month: str) -> SeriesPoint:
    why = "there is no release of this month"
    empty = dict.fromkeys(
        ("crawl", "version", "checksum", "cite_as", "url", "value", "lower", "upper", "sites")
    )
    return SeriesPoint(month=month, value_unknown=why, interval_unknown=why, known=0, unknown=0, **empty)


def _flags(versions: Iterable[Version]) -> Iterable[SeriesFlag]:
    """Flags between the months whose manifest can be read: a damaged month says nothing of changes."""
    readable = [one for one in versions if one.is_sound]
    for before, after in itertools.pairwise(readable):
        for change in changes(before.readable.manifest, after.readable.manifest):
            yield SeriesFlag(
                month=after.crawl.month,
                month_before=before.crawl.month,
                what=change.what,
                before=change.before,
                after=change.after,
                is_break=change.is_break,
                said=change.said,
            )


def _licence(versions: Iterable[Version]) -> str:
    return " and ".join(sorted({one.readable.manifest.licence for one in versions if one.is_sound}))


SeriesDep = Annotated[SeriesAnswer, Depends(series)]


@router.get("/series", name="series")
async def read_series(found: SeriesDep) -> SeriesAnswer:
    """A statistic by month, each with its confidence interval, and a flag where months differ in more than their date.

    Crawls of different devices, protocol arms or kinds are never one series. The newest version of each release is used; a
    month without a release, or whose release is damaged, has no value and says why.
    """
    return found


@router.get(
    "/series.csv",
    name="series_csv",
    response_class=Response,
    responses={200: {"content": {"text/csv": {"schema": {"type": "string"}}}}},
)
async def read_series_csv(found: SeriesDep) -> Response:
    """The same series as CSV, a row a month; the column `flags` has the changes since the month before."""
    names = [name for name in SeriesPoint.model_fields if name != "url"]
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*names, "unit", "quality", "licence", "flags"])
    for point in found.points:
        flags = " ".join(flag.said for flag in found.flags if flag.month == point.month)
        values = [getattr(point, name) for name in names]
        writer.writerow([*values, found.unit, found.quality, found.licence, flags])
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8")
