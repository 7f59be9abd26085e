"""`/v1/series`: one statistic of one measure over the months of a crawl, with a flag at every break."""

import csv
import io
import itertools
from collections.abc import Iterable, Sequence
from typing import Annotated

from fastapi import APIRouter, Depends, Request, Response

from api.formats.negotiation import IN_CSV, choose
from api.formats.offered import CSV
from api.http.links import link, own_link, relate
from api.http.problems import Problem
from api.routes.parameters import (
    DEFAULT_WINDOWS,
    MonthQuery,
    MssQuery,
    OneMeasureQuery,
    OneWindowQuery,
    PartQuery,
    PercentQuery,
    PinnedShelfDep,
    StatisticQuery,
    VantageQuery,
)
from api.routes.provenance import QUALITY, citation, quality
from api.routes.remembered import Remembered
from api.routes.strata import Asked, AskedStratum
from api.statistics.answers import SeriesAnswer, SeriesFlag, SeriesPoint, releases_of
from api.stored.breaks import changes
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
    shelf: PinnedShelfDep,
    asked: VariantDep,
    statistic: StatisticDep,
    stratum: AskedStratum,
    measure: OneMeasureQuery = "responses",
    since: MonthQuery = None,
    until: MonthQuery = None,
) -> SeriesAnswer:
    """The series that the parameters choose."""
    versions = [
        month
        for month in asked.months(shelf)
        if (since is None or month.crawl.month >= since) and (until is None or month.crawl.month <= until)
    ]
    if not versions:
        raise Problem("no-such-crawl", "no release of those months; /v1/crawls lists all")
    stratum.check(measure)
    found = {
        version.crawl.month: _point(
            request, version, await estimated(request, version, statistic, measure, stratum)
        )
        for version in versions
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
        vantages=sorted({version.crawl.vantage for version in versions}),
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
    """The statistic in one release; unknown, with the reason,
    if the release cannot be read or lacks the stratum."""
    try:
        why = stratum.unknown_in(version)
        if why is not None:
            return Estimate(value=None, value_unknown=why, interval_unknown=why)
        found = await stratum.sample(request, version, measure)
    except Problem as problem:
        return Estimate(value=None, value_unknown=problem.detail, interval_unknown=problem.detail)
    return estimate(statistic, found.sample)


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
    readable = [version for version in versions if version.is_sound]
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
    return " and ".join(
        sorted({version.readable.manifest.licence for version in versions if version.is_sound})
    )


SeriesDep = Annotated[SeriesAnswer, Depends(series)]


async def pinned_series(request: Request, found: SeriesDep) -> SeriesAnswer:
    """The series, whose canonical address names the release of each month."""
    relate(request, "canonical", own_link(request, release=releases_of(found.points)))
    return found


PinnedSeriesDep = Annotated[SeriesAnswer, Depends(pinned_series)]


@router.get("/series", name="series", response_model=SeriesAnswer, responses=IN_CSV)
async def read_series(request: Request, found: PinnedSeriesDep) -> SeriesAnswer | Response:
    """A statistic by month, each with its confidence interval,
    and a flag where months differ in more than their date.

    Crawls of different devices, protocol arms or kinds are never one series. The newest version of each
    release is used, or those that `release` names, as the canonical address does; a month without a release,
    or whose release is damaged, has no value and says why. In JSON, unless the Accept header prefers
    `text/csv`.
    """
    return as_csv(found) if choose(request.scope) == CSV else found


@router.get("/series.csv", name="series_csv", response_class=Response, responses=IN_CSV)
async def read_series_csv(found: PinnedSeriesDep) -> Response:
    """The same series as CSV, a row a month; the column `flags` has the changes since the month before."""
    return as_csv(found)


def as_csv(found: SeriesAnswer) -> Response:
    """A series as CSV."""
    names = [name for name in SeriesPoint.model_fields if name != "url"]
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow([*names, "unit", "quality", "licence", "flags"])
    for point in found.points:
        flags = " ".join(flag.said for flag in found.flags if flag.month == point.month)
        values = [getattr(point, name) for name in names]
        writer.writerow([*values, found.unit, found.quality, found.licence, flags])
    return Response(text.getvalue(), media_type="text/csv; charset=utf-8")
