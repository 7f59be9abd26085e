"""`/v1`: what programs read. Additive within the version; a renamed or removed member makes a `/v2`."""

import dataclasses

from fastapi import APIRouter, Request

from api.answers import (
    CrawlAnswer,
    CrawlsAnswer,
    DistributionAnswer,
    DistributionsAnswer,
    FileAnswer,
    FitAnswer,
    PointAnswer,
    ProgressAnswer,
    ProgressesAnswer,
    Provenance,
    QuantileAnswer,
    ReleaseAnswer,
    ReleasesAnswer,
    ReportAnswer,
    ReportsAnswer,
)
from api.distributions import Distribution, distributions
from api.library import SUMS
from api.parameters import (
    MSS,
    WINDOWS,
    CrawlQuery,
    LibraryDep,
    MeasureQuery,
    MssQuery,
    PointsQuery,
    WindowsQuery,
)
from api.provenance import QUALITY, citation, quality
from schema.derived import MEASURES
from schema.releases import Release
from schema.sums import sha256

router = APIRouter(prefix="/v1", tags=["v1"])


def provenance(request: Request, release: Release) -> Provenance:
    """Where an answer's numbers come from."""
    level = quality(release.manifest)
    return Provenance(
        crawl=str(release.manifest.crawl),
        version=release.manifest.version,
        checksum=release.checksum,
        quality=level,
        quality_means=QUALITY[level],
        licence=release.manifest.licence,
        cite_as=citation(release),
        url=str(
            request.url_for(
                "release_page", crawl=str(release.manifest.crawl), version=release.manifest.version
            )
        ),
    )


def file_answers(request: Request, release: Release) -> list[FileAnswer]:
    """The files of a release, with where to get them."""
    crawl, version = str(release.manifest.crawl), release.manifest.version
    sums = {name: sha256(release.path / name) for name in SUMS}
    return [
        FileAnswer(
            name=name,
            url=str(request.url_for("release_file", crawl=crawl, version=version, name=name)),
            bytes=(release.path / name).stat().st_size,
            sha256=checksum,
        )
        for name, checksum in sorted({**release.manifest.files, **sums}.items())
    ]


def distribution_answer(distribution: Distribution) -> DistributionAnswer:
    """A distribution as JSON has it."""
    return DistributionAnswer(
        measure=distribution.measure,
        definition=distribution.definition,
        known=distribution.known,
        unknown=distribution.unknown,
        fits=[FitAnswer(**dataclasses.asdict(fit)) for fit in distribution.fits],
        quantiles=[
            QuantileAnswer(percent=percent, size_bytes=size) for percent, size in distribution.quantiles
        ],
        points=[PointAnswer(size_bytes=size, cdf=cdf) for size, cdf in distribution.points],
    )


@router.get("/crawls")
def crawls(request: Request, library: LibraryDep) -> CrawlsAnswer:
    """Every crawl that has a release, the newest month first."""
    return CrawlsAnswer(
        crawls=[
            CrawlAnswer(
                crawl=name,
                **dataclasses.asdict(versions[0].manifest.crawl),
                versions=[release.manifest.version for release in versions],
                provenance=provenance(request, versions[0]),
            )
            for name, versions in library.crawls().items()
        ]
    )


@router.get("/progress", name="progress")
def progress(library: LibraryDep) -> ProgressesAnswer:
    """Crawls under way, as their crawlers told last."""
    return ProgressesAnswer(crawls=[ProgressAnswer(**dataclasses.asdict(one)) for one in library.under_way()])


@router.get("/releases")
def releases(request: Request, library: LibraryDep, crawl: CrawlQuery | None = None) -> ReleasesAnswer:
    """Every version of every release, with its manifest, its checksum and its files."""
    if crawl is None:
        found = library.releases()
    else:
        newest = library.release(crawl)
        found = library.crawls()[str(newest.manifest.crawl)]
    return ReleasesAnswer(
        releases=[
            ReleaseAnswer(
                provenance=provenance(request, release),
                manifest=dataclasses.asdict(release.manifest),
                files=file_answers(request, release),
            )
            for release in found
        ]
    )


@router.get("/distributions", name="distributions")
def read_distributions(
    request: Request,
    library: LibraryDep,
    crawl: CrawlQuery,
    measure: MeasureQuery = None,
    iw: WindowsQuery = list(WINDOWS),  # noqa: B006  # FastAPI copies defaults
    mss: MssQuery = MSS,
    points: PointsQuery = 200,
) -> DistributionsAnswer:
    """The share that fits into each window of `iw` segments, exact quantiles, and a CDF thin enough to draw.

    Sizes that are unknown are counted beside, and are in no share. The newest version of the release answers.
    """
    release = library.release(crawl)
    measures = [measure] if measure else list(MEASURES)
    found = distributions(release.file("distribution"), measures=measures, windows=iw, mss=mss, points=points)
    return DistributionsAnswer(
        provenance=provenance(request, release),
        mss=mss,
        distributions=[distribution_answer(one) for one in found],
    )


@router.get("/reports")
def reports(request: Request, library: LibraryDep) -> ReportsAnswer:
    """Annual reports, the latest first."""

    def url(year: str, name: str) -> str:
        return str(request.url_for("report_file", year=year, name=name))

    return ReportsAnswer(
        reports=[
            ReportAnswer(
                year=year,
                url=str(request.url_for("report", year=year)),
                json_url=url(year, "report.json"),
                summary_url=url(year, "summary.txt"),
            )
            for year in library.years()
        ]
    )
