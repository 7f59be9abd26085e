"""`/v1/series`: one statistic of one measure over the months of a crawl, with a flag at every break."""

import dataclasses
import itertools
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Depends, Request, Response

from api.formats.offered import CSV, IN_A_TABLE, AskedFormat, as_csv, get_in
from api.http.links import link, own_link, relate
from api.http.problems import Problem
from api.routes.answers import AnswerModel
from api.routes.parameters import (
    DEFAULT_WINDOWS,
    MonthQuery,
    MssQuery,
    OneMeasureQuery,
    PartQuery,
    PercentsQuery,
    PinnedShelfDep,
    StatisticQuery,
    VantageQuery,
    WindowsQuery,
)
from api.routes.provenance import QUALITY, best_first, citation, quality
from api.routes.strata import Asked, AskedStratum
from api.service import Kept
from api.stored.months import ANY, Flag, Variant, flags_between, months_between
from api.stored.shelf import Version
from releases.slow_start import MSS_FIG1
from releases.strata.bootstrap import CONFIDENCE
from releases.strata.statistics import Estimate, Statistic, estimate
from schema.computed_tables import MEASURES, SIZES, UNITS
from schema.crawls import CrawlName
from storage.exhaustion import reraise_exhaustion


class SeriesPoint(AnswerModel):
    """One month of a series."""

    month: str
    iw: int | None = None
    """Window of a share, in segments; null for other statistics."""
    percent: int | None = None
    """The quantile in percent; null for other statistics."""
    crawl: str | None = None
    """Name of the crawl; null in a month without a release."""
    version: int | None = None
    """Version of its release."""
    checksum: str | None = None
    """SHA-256 of the release's SHA256SUMS."""
    cite_as: str | None = None
    """How to cite the release."""
    url: str | None = None
    """Page of the release."""
    value: float | None
    """The statistic, in `unit`; null if it is unknown."""
    value_unknown: str | None
    """Why the value is unknown; null if it is known."""
    lower: float | None
    """Lower end of the confidence interval."""
    upper: float | None
    """Upper end of the confidence interval."""
    interval_unknown: str | None
    """Why the interval is unknown; null if it is known."""
    known: int
    """Number of items of known size."""
    unknown: int
    """Number of items of unknown size, which the value leaves out."""
    sites: int | None
    """Number of sites, registrable domains, with an item of known size; null if unknown."""


class SeriesAnswer(AnswerModel):
    """A statistic by month."""

    device: str
    arm: str
    kind: str
    vantages: list[str]
    """Vantages that the months were crawled from."""
    quality: str
    """Quality of every month; a series has one."""
    quality_means: str
    licence: str
    """Licence of the data."""
    measure: str
    definition: str
    stratum: dict[str, str | int]
    """Value of each dimension that was asked for; empty for every item of home pages."""
    statistic: str
    unit: Literal["share", "bytes", "requests"]
    iw: int | None
    """The first window of a share; null for other statistics."""
    mss: int | None
    """Payload of a full segment, in bytes; null unless iw is given."""
    percent: int | None
    """The first quantile; null for other statistics."""
    confidence: float
    """Confidence level of the intervals."""
    points: list[SeriesPoint]
    """Every month from the first to the last, the earliest first; of each window or quantile."""
    flags: list[Flag]
    """Changes of method, vantage, list, browser and schema, in the order of the months."""


def releases_of(points: Iterable[SeriesPoint]) -> list[str]:
    named = (f"{point.crawl}/v{point.version}" for point in points if point.crawl is not None)
    return list(dict.fromkeys(named))


router = APIRouter(prefix="/v1", tags=["v1"], route_class=Kept)


DEFAULT = CrawlName(month="")


async def variant(
    shelf: PinnedShelfDep,
    device: PartQuery = None,
    vantage: VantageQuery = None,
    arm: PartQuery = None,
    kind: PartQuery = None,
) -> Variant:
    """The chosen crawls; what is left open is that of the crawl that a single answer is of."""
    asked = {"device": device, "vantage": vantage, "arm": arm, "kind": kind}
    fixed = {name: part for name, part in asked.items() if part not in (None, ANY)}

    def matching(versions: Iterable[Version]) -> list[Version]:
        return [
            version
            for version in versions
            if all(getattr(version.crawl, n) == part for n, part in fixed.items())
        ]

    candidates = best_first(matching(shelf.newest_sound) or matching(shelf.versions))
    if not candidates:
        return Variant(**{name: part or getattr(DEFAULT, name) for name, part in asked.items()})
    chosen = Variant.of(candidates[0].crawl)
    return dataclasses.replace(chosen, vantage=ANY) if vantage == ANY else chosen


async def statistics(
    statistic: StatisticQuery = "share",
    iw: WindowsQuery = [DEFAULT_WINDOWS[-1]],  # noqa: B006  # FastAPI copies defaults
    mss: MssQuery = MSS_FIG1,
    percent: PercentsQuery = [50],  # noqa: B006
) -> list[Statistic]:
    """A share for each window, a quantile for each percentage."""
    if statistic == "quantile":
        return [
            Statistic(name=statistic, iw=iw[0], mss=mss, percent=percentage)
            for percentage in dict.fromkeys(percent)
        ]
    windows = dict.fromkeys(iw if statistic == "share" else iw[:1])
    return [Statistic(name=statistic, iw=segments, mss=mss, percent=percent[0]) for segments in windows]


VariantDep = Annotated[Variant, Depends(variant)]
StatisticsDep = Annotated[list[Statistic], Depends(statistics)]


async def series(
    request: Request,
    versions: Sequence[Version],
    statistics: Sequence[Statistic],
    stratum: Asked,
    measure: str,
) -> SeriesAnswer:
    """The series over `versions`, the earliest first."""
    stratum.check(measure)
    if measure not in SIZES and statistics[0].name == "share":
        raise Problem("bad-parameter", f"statistic: no window holds {measure}; take quantile or mean")
    months = months_between(versions[0].crawl.month, versions[-1].crawl.month)
    by_month = {version.crawl.month: version for version in versions}
    points = []
    for statistic in statistics:
        for month in months:
            version = by_month.get(month)
            release = _release(request, version) if version else {}
            computed = await estimated(request, version, statistic, measure, stratum) if version else GAP
            points.append(
                SeriesPoint(month=month, **_of(statistic), **release, **dataclasses.asdict(computed))
            )
    return _answer(versions, statistics[0], measure, stratum, points=points, flags=list(_flags(versions)))


def _answer(
    versions: Sequence[Version],
    statistic: Statistic,
    measure: str,
    stratum: Asked,
    *,
    points: list[SeriesPoint],
    flags: list[Flag],
) -> SeriesAnswer:
    first = versions[0].crawl
    return SeriesAnswer(
        device=first.device,
        arm=first.arm,
        kind=first.kind,
        vantages=sorted({version.crawl.vantage for version in versions}),
        quality=quality(first),
        quality_means=QUALITY[quality(first)],
        licence=_licence(versions),
        measure=measure,
        definition=MEASURES[measure],
        stratum=stratum.parameters(),
        statistic=statistic.name,
        unit="share" if statistic.name == "share" else UNITS[measure],
        mss=statistic.mss if statistic.name == "share" else None,
        **_of(statistic),
        confidence=CONFIDENCE,
        points=points,
        flags=flags,
    )


def _unknown(why: str) -> Estimate:
    return Estimate(value=None, value_unknown=why, interval_unknown=why)


GAP = _unknown("there is no release of this month")


async def estimated(
    request: Request, version: Version, statistic: Statistic, measure: str, stratum: Asked
) -> Estimate:
    """The statistic in one release, or why it is unknown."""
    try:
        why = stratum.unknown_in(version)
        if why is not None:
            return _unknown(why)
        held = await stratum.sample(request, version, measure)
    except Problem as problem:
        reraise_exhaustion(problem)
        return _unknown(problem.detail)
    return estimate(statistic, held.sample)


def _of(statistic: Statistic) -> dict[str, Any]:
    return {
        "iw": statistic.iw if statistic.name == "share" else None,
        "percent": statistic.percent if statistic.name == "quantile" else None,
    }


def _release(request: Request, version: Version) -> dict[str, Any]:
    return {
        **version.key,
        "checksum": version.checksum,
        "cite_as": citation(version) if version.is_sound else None,
        "url": link(request, "release_page", **version.key),
    }


def _flags(versions: Iterable[Version]) -> Iterable[Flag]:
    """Flags between months whose manifest can be read."""
    readable = [version for version in versions if version.is_sound]
    for before, after in itertools.pairwise(readable):
        yield from flags_between(before.readable.manifest, after.readable.manifest)


def _licence(versions: Iterable[Version]) -> str:
    return " and ".join(
        sorted({version.readable.manifest.licence for version in versions if version.is_sound})
    )


@get_in(router, "/series", IN_A_TABLE, name="series", response_model=SeriesAnswer)
async def read_series(
    request: Request,
    shelf: PinnedShelfDep,
    asked: VariantDep,
    statistics: StatisticsDep,
    stratum: AskedStratum,
    wanted: AskedFormat,
    measure: OneMeasureQuery = "responses",
    since: MonthQuery = None,
    until: MonthQuery = None,
) -> SeriesAnswer | Response:
    """A statistic by month, each with its confidence interval,
    and a flag where months differ in more than their date.

    Crawls of different devices, protocol arms or kinds are never one series. The newest version of each
    release is used, or those that `release` names, as the canonical address does; a month without a release,
    or whose release is damaged, has no value and says why. With several windows, or quantiles, the months of
    each follow those of the one before. In CSV a row is a month, and its column `flags` has the changes since
    the month before.
    """
    versions = [
        month
        for month in asked.months(shelf)
        if (since is None or month.crawl.month >= since) and (until is None or month.crawl.month <= until)
    ]
    if not versions:
        raise Problem("no-such-crawl", "no release of those months; /v1/crawls lists all")
    answer = await series(request, versions, statistics, stratum, measure)
    relate(request, "canonical", own_link(request, release=releases_of(answer.points)))
    return series_csv(answer) if wanted == CSV else answer


def series_csv(answer: SeriesAnswer) -> Response:
    common = {"unit": answer.unit, "quality": answer.quality, "licence": answer.licence}
    return as_csv(
        point.model_dump(exclude={"url"})
        | common
        | {"flags": " ".join(flag.said for flag in answer.flags if flag.month == point.month)}
        for point in answer.points
    )
