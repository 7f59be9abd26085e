"""`/v1`, the JSON API. Fields are only added within a version; renaming or removing a field needs a `/v2`."""

import dataclasses
from collections.abc import Iterable

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from api.computing import current
from api.formats.offered import IN_JSON, get_in
from api.http.links import link, own_link, relate
from api.routes.answers import (
    CrawlAnswer,
    CrawlsAnswer,
    DamagedAnswer,
    DamagedReportAnswer,
    DistributionsAnswer,
    InitialWindowsAnswer,
    ProgressAnswer,
    ProgressesAnswer,
    ReleaseAnswer,
    ReleasesAnswer,
    ReportAnswer,
    ReportsAnswer,
    ReportVersionAnswer,
    VersionsAside,
    WindowsAnswer,
    WithdrawnAnswer,
)
from api.routes.files import file_answers, release_files
from api.routes.parameters import (
    DEFAULT_WINDOWS,
    PAGE_RELEASES,
    AfterQuery,
    AnyCrawlQuery,
    LimitQuery,
    MssQuery,
    PointsQuery,
    ShelfDep,
    SizesQuery,
    VersionQuery,
    WindowsQuery,
)
from api.routes.provenance import (
    REPORT_LICENCE,
    AskedRelease,
    provenance,
    relate_to_release,
    releases_asked_for,
)
from api.routes.strata import AskedStratum, distributions
from api.routes.works import report_work
from api.service import Kept, service_of
from api.stored.open_releases import raise_damage
from api.stored.shelf import Report, Shelf, Version, page
from releases.cdf import count_incomplete
from releases.initial_windows import window_distributions
from releases.measures import open_tables
from releases.slow_start import MSS_FIG1
from schema.computed_tables import SIZES

router = APIRouter(prefix="/v1", tags=["v1"], route_class=Kept)


def aside(versions: Iterable[Version]) -> VersionsAside:
    return VersionsAside(
        damaged=[
            DamagedAnswer(**version.key, damage=version.damage) for version in versions if version.damage
        ],
        withdrawn=[WithdrawnAnswer(**version.key) for version in versions if version.withdrawal],
    )


def with_json(model: BaseModel, **last: str) -> str:
    others = model.model_dump_json(exclude=set(last)).removesuffix("}")
    return ",".join([others, *(f'"{name}":{json}' for name, json in last.items())]) + "}"


@get_in(router, "/crawls", IN_JSON, name="crawls")
def crawls(request: Request, shelf: ShelfDep) -> CrawlsAnswer:
    """Every crawl that has a release, the newest month first."""
    sound = {
        name: [version for version in versions if version.is_sound] for name, versions in shelf.crawls.items()
    }
    return CrawlsAnswer(
        crawls=[
            CrawlAnswer(
                crawl=name,
                **dataclasses.asdict(versions[0].crawl),
                versions=[version.version for version in versions],
                provenance=provenance(request, versions[0]),
            )
            for name, versions in sound.items()
            if versions
        ],
        **dict(aside(shelf.versions)),
    )


@get_in(router, "/progress", IN_JSON, name="progress")
def progress(shelf: ShelfDep) -> ProgressesAnswer:
    """Running crawls, as their crawlers last reported them."""
    return ProgressesAnswer(
        crawls=[ProgressAnswer.model_validate(reported, from_attributes=True) for reported in shelf.under_way]
    )


@get_in(router, "/releases", IN_JSON, name="releases")
def releases(
    request: Request,
    shelf: ShelfDep,
    crawl: AnyCrawlQuery = None,
    version: VersionQuery = None,
    limit: LimitQuery = PAGE_RELEASES,
    after: AfterQuery = None,
) -> ReleasesAnswer:
    """Every version of every release, or of one crawl's, with its manifest, its checksum and its files."""
    versions = releases_asked_for(shelf, crawl, version)
    if version is not None:
        relate_to_release(request, versions[0])
    shown, last = page(versions, after=after, limit=limit)
    following = None if last is None else own_link(request, after=last)
    if following is not None:
        relate(request, "next", following)
    return ReleasesAnswer(
        next=following,
        releases=[
            ReleaseAnswer(
                provenance=provenance(request, release_version),
                manifest=release_version.readable.manifest.facts,
                files=release_files(request, release_version),
            )
            for release_version in shown
        ],
        **dict(aside(versions)),
    )


@get_in(router, "/distributions", IN_JSON, name="distributions", response_model=DistributionsAnswer)
async def read_distributions(
    request: Request,
    version: AskedRelease,
    stratum: AskedStratum,
    measure: SizesQuery = [],  # noqa: B006  # FastAPI copies defaults
    iw: WindowsQuery = list(DEFAULT_WINDOWS),  # noqa: B006  # FastAPI copies defaults
    mss: MssQuery = MSS_FIG1,
    points: PointsQuery = 200,
) -> Response:
    """The share that fits into each window of `iw` segments, exact quantiles, and a thinned CDF,
    of any stratum.

    Items of unknown size are counted separately and are in no share. Shares and quantiles have confidence
    intervals over sites. Dimensions of a stratum can be combined; without a measure the answer has those that
    have all of them.
    """
    for name in measure:
        stratum.check(name)
    measures = dict.fromkeys(measure) or [name for name in SIZES if stratum.is_of(name)]
    why = stratum.unknown_in(version)
    counts = await service_of(request).releases.counts_at_hand(version)
    samples = {name: await stratum.sample(request, version, name) for name in measures if why is None}
    # This takes a few milliseconds: a thread would cost more.
    computed = distributions(samples, windows=iw, mss=mss)
    # Points are nearly all of the text.
    parts = [with_json(part, points=samples[part.measure].points(points).json) for part in computed]
    count, share = count_incomplete(counts)
    answer = DistributionsAnswer(
        provenance=provenance(request, version),
        mss=mss,
        incomplete_responses=count,
        incomplete_share=share,
        stratum=stratum.parameters(),
        stratum_unknown=why,
        distributions=[],
    )
    return Response(with_json(answer, distributions=f"[{','.join(parts)}]"), media_type="application/json")


@get_in(router, "/initial-windows", IN_JSON, name="initial_windows")
def read_initial_windows(request: Request, version: AskedRelease) -> InitialWindowsAnswer:
    """Initial windows of servers, in segments, as the bounds that packets show make them likeliest,
    and how many are exact."""
    service_of(request).releases.file(version, "connection.parquet")  # or a Problem
    with (
        raise_damage("connection.parquet"),
        open_tables(version.path) as database,
        current().interruptible(database.interrupt),
    ):
        by_connections = window_distributions(database)
    return InitialWindowsAnswer(
        provenance=provenance(request, version),
        windows=[
            WindowsAnswer(connections=name, **dataclasses.asdict(windows))
            for name, windows in by_connections.items()
        ],
    )


@get_in(router, "/reports", IN_JSON, name="reports")
def reports(request: Request, shelf: ShelfDep) -> ReportsAnswer:
    """Annual reports with all their versions, the latest first."""
    newest = [shelf.report(year) for year in shelf.years]
    return ReportsAnswer(
        reports=[report_answer(request, shelf, report) for report in newest if not report.damage],
        damaged=[
            DamagedReportAnswer(**report.key, damage=report.damage)
            for report in shelf.reports
            if report.damage
        ],
    )


def report_answer(request: Request, shelf: Shelf, report: Report) -> ReportAnswer:
    def url(name: str) -> str:
        return link(request, "report_file", **report.key, name=name)

    return ReportAnswer(
        **report.key,
        standing=shelf.status(report),
        url=link(request, "newest_report", year=report.year),
        json_url=url("report.json"),
        summary_url=url("summary.txt"),
        errata_url=link(request, "report_errata", year=report.year),
        checksum=report.checksum or None,
        signature=report.signature.kind,
        signed_by=report.signed_by,
        versions=[report_version(request, shelf, other) for other in shelf.report_versions(report.year)],
    )


def report_version(request: Request, shelf: Shelf, report: Report) -> ReportVersionAnswer:
    published = dataclasses.asdict(report.publication)
    return ReportVersionAnswer(
        url=link(request, "report_page", **report.key),
        standing=shelf.status(report),
        **published,
        withdrawn_on=report.withdrawal.date if report.withdrawal else None,
        withdrawn_because=report.withdrawal.reason if report.withdrawal else None,
        damage=report.damage or None,
        checksum=report.checksum or None,
        signature=report.signature.kind,
        signed_by=report.signed_by,
        licence=REPORT_LICENCE,
        cite_as=report_work(request, report).line,
        files=[] if report.damage else file_answers(request, report, "report_exact", **report.key),
    )
