"""`/v1`: what programs read. Additive within the version; a renamed or removed member makes a `/v2`."""

import dataclasses
from collections.abc import Iterable

from fastapi import APIRouter, Request, Response
from pydantic import BaseModel

from api.answers import (
    CrawlAnswer,
    CrawlsAnswer,
    DamagedAnswer,
    DamagedReportAnswer,
    DistributionAnswer,
    DistributionsAnswer,
    FileAnswer,
    FitAnswer,
    ProgressAnswer,
    ProgressesAnswer,
    Provenance,
    QuantileAnswer,
    ReleaseAnswer,
    ReleasesAnswer,
    ReportAnswer,
    ReportsAnswer,
    VersionsAside,
    WithdrawnAnswer,
)
from api.distributions import Distribution, distributions
from api.links import link
from api.parameters import (
    MSS,
    WINDOWS,
    CrawlQuery,
    MeasureQuery,
    MssQuery,
    PointsQuery,
    ShelfDep,
    WindowsQuery,
)
from api.provenance import QUALITY, citation, quality
from api.remembering import Remembered
from api.shelf import Version, Volume
from schema.computed_tables import MEASURES

router = APIRouter(prefix="/v1", tags=["v1"], route_class=Remembered)


def provenance(request: Request, version: Version) -> Provenance:
    """Where an answer's numbers come from."""
    level = quality(version.crawl)
    crawl = str(version.crawl)
    return Provenance(
        crawl=crawl,
        version=version.version,
        checksum=version.checksum,
        signature=version.signature.kind,
        signed_by=signer(version),
        is_checked=version.is_checked,
        quality=level,
        quality_means=QUALITY[level],
        licence=version.readable.manifest.licence,
        cite_as=citation(version),
        url=link(request, "release_page", crawl=crawl, version=version.version),
    )


def signer(volume: Volume) -> str | None:
    """Who signed it; None unless the signature is good."""
    return volume.signature.said if volume.signature.kind == "good" else None


def file_answers(request: Request, version: Version) -> list[FileAnswer]:
    """The files of a release as SHA256SUMS lists them, with where to get them; none of them is read for it."""
    crawl = str(version.crawl)
    return [
        FileAnswer(
            name=name,
            url=link(request, "release_file", crawl=crawl, version=version.version, name=name),
            bytes=(version.path / name).stat().st_size,
            sha256=checksum,
        )
        for name, checksum in sorted(version.files.items())
    ]


def aside(versions: Iterable[Version]) -> VersionsAside:
    """Those of `versions` that are listed and not served."""
    return VersionsAside(
        damaged=[
            DamagedAnswer(crawl=str(one.crawl), version=one.version, damage=one.damage)
            for one in versions
            if one.damage
        ],
        withdrawn=[
            WithdrawnAnswer(crawl=str(one.crawl), version=one.version) for one in versions if one.is_withdrawn
        ],
    )


def distributions_json(answer: DistributionsAnswer, found: Iterable[Distribution]) -> str:
    """An answer without its distributions, as JSON with them. Their points, which are nearly all of it, are JSON already."""
    parts = (_with(_without_points(one), points=one.points.json) for one in found)
    return _with(answer, distributions=f"[{','.join(parts)}]")


def _with(model: BaseModel, **last: str) -> str:
    """A model's JSON, with JSON for its last member."""
    ((name, json),) = last.items()
    return f'{model.model_dump_json(exclude={name}).removesuffix("}")},"{name}":{json}}}'


def _without_points(distribution: Distribution) -> DistributionAnswer:
    return DistributionAnswer(
        measure=distribution.measure,
        definition=distribution.definition,
        known=distribution.known,
        unknown=distribution.unknown,
        fits=[
            FitAnswer(iw=fit.iw, window_bytes=fit.window_bytes, count=fit.count, share=fit.share)
            for fit in distribution.fits
        ],
        quantiles=[
            QuantileAnswer(percent=percent, size_bytes=size) for percent, size in distribution.quantiles
        ],
        points=[],
    )


@router.get("/crawls")
def crawls(request: Request, shelf: ShelfDep) -> CrawlsAnswer:
    """Every crawl that has a release, the newest month first."""
    sound = {name: [one for one in versions if one.is_sound] for name, versions in shelf.crawls.items()}
    return CrawlsAnswer(
        crawls=[
            CrawlAnswer(
                crawl=name,
                **dataclasses.asdict(versions[0].crawl),
                versions=[one.version for one in versions],
                provenance=provenance(request, versions[0]),
            )
            for name, versions in sound.items()
            if versions
        ],
        **dict(aside(shelf.versions)),
    )


@router.get("/progress", name="progress")
def progress(shelf: ShelfDep) -> ProgressesAnswer:
    """Crawls under way, as their crawlers told last."""
    return ProgressesAnswer(crawls=[ProgressAnswer(**dataclasses.asdict(one)) for one in shelf.under_way])


@router.get("/releases")
def releases(request: Request, shelf: ShelfDep, crawl: CrawlQuery | None = None) -> ReleasesAnswer:
    """Every version of every release, with its manifest, its checksum and its files."""
    found = shelf.versions if crawl is None else shelf.matching(crawl)
    return ReleasesAnswer(
        releases=[
            ReleaseAnswer(
                provenance=provenance(request, one),
                manifest=dataclasses.asdict(one.readable.manifest),
                files=file_answers(request, one),
            )
            for one in found
            if one.is_sound
        ],
        **dict(aside(found)),
    )


@router.get("/distributions", name="distributions", response_model=DistributionsAnswer)
async def read_distributions(
    request: Request,
    shelf: ShelfDep,
    crawl: CrawlQuery,
    measure: MeasureQuery = None,
    iw: WindowsQuery = list(WINDOWS),  # noqa: B006  # FastAPI copies defaults
    mss: MssQuery = MSS,
    points: PointsQuery = 200,
) -> Response:
    """The share that fits into each window of `iw` segments, exact quantiles, and a CDF thin enough to draw.

    Sizes that are unknown are counted beside, and are in no share. The newest version of the release answers.
    """
    version = shelf.newest(crawl)
    measures = [measure] if measure else list(MEASURES)
    steps = await request.app.state.steps.at_hand(version)
    # Arithmetic of a millisecond: a thread would cost more.
    found = distributions(steps, measures=measures, windows=iw, mss=mss, points=points)
    answer = DistributionsAnswer(provenance=provenance(request, version), mss=mss, distributions=[])
    return Response(distributions_json(answer, found), media_type="application/json")


@router.get("/reports")
def reports(request: Request, shelf: ShelfDep) -> ReportsAnswer:
    """Annual reports, the latest first."""

    def url(year: str, name: str) -> str:
        return link(request, "report_file", year=year, name=name)

    return ReportsAnswer(
        reports=[
            ReportAnswer(
                year=one.year,
                url=link(request, "report", year=one.year),
                json_url=url(one.year, "report.json"),
                summary_url=url(one.year, "summary.txt"),
                checksum=one.checksum or None,
                signature=one.signature.kind,
                signed_by=signer(one),
            )
            for one in shelf.reports
            if not one.damage
        ],
        damaged=[
            DamagedReportAnswer(year=one.year, damage=one.damage) for one in shelf.reports if one.damage
        ],
    )
