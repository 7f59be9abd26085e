"""The page of a release: its first rows, how to use it, its distributions, files and citation."""

from pathlib import Path
from typing import Annotated, Any
from urllib.parse import quote

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import AfterValidator

from api.http.links import link
from api.http.problems import Elsewhere
from api.routes.answers import DistributionAnswer
from api.routes.files import MEDIA_TYPES, release_files
from api.routes.pages import page
from api.routes.parameters import CrawlPath, ShelfDep, VersionPath
from api.routes.provenance import QUALITY, quality, relate_to_release
from api.routes.strata import distributions
from api.routes.works import release_metadata
from api.rows.query import TABLES
from api.service import Kept, service_of
from api.stored.prepared import Row
from api.stored.shelf import Version
from releases.citation.licences import licence_page
from releases.citation.work import Work
from releases.slow_start import MSS_FIG1, WINDOWS
from releases.strata.sample import WHOLE
from schema.computed_tables import MEASURES, SIZES
from schema.released_tables import definition

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Kept)

FIRST_ROWS = 20

COLUMNS = (
    *("host", "path", "status", "protocol", "resource_type", "wire_bytes", "header_bytes", "body_bytes"),
    *("decoded_bytes", "visit_id"),
)


def known_column(text: str) -> str:
    """A column, perhaps after a minus; ValueError."""
    if text.removeprefix("-") not in COLUMNS:
        raise ValueError(f"no column {text!r}; there are {', '.join(COLUMNS)}")
    return text


SortQuery = Annotated[
    str | None,
    AfterValidator(lambda text: text and known_column(text)),
    Query(max_length=100, description="column to sort the first rows by, after a minus from the largest"),
]


@router.get("/releases/{crawl}", name="crawl_page")
def crawl_page(request: Request, shelf: ShelfDep, crawl: CrawlPath) -> Response:
    """Redirect to the newest version of a crawl's release."""
    version = shelf.newest(crawl)
    raise Elsewhere(request.app.url_path_for("release_page", **version.key))


@router.get("/releases/{crawl}/v{version}", name="release_page")
def release_page(
    request: Request, shelf: ShelfDep, crawl: CrawlPath, version: VersionPath, sort: SortQuery = None
) -> Response:
    """The page of one version of a release."""
    release_version = shelf.version(crawl, version)
    relate_to_release(request, release_version)
    metadata = release_metadata(request, release_version)
    rows = first_rows(request, release_version, sort)
    return page(
        request,
        "release.html",
        version=release_version,
        manifest=release_version.readable.manifest,
        metadata=metadata,
        dataset=dataset(request, release_version, metadata.work),
        shown=rows,
        columns=[name for name in COLUMNS if any(row[name] not in (None, "") for row in rows)],
        comments=COMMENTS,
        sort=sort,
        recipes=recipes(request, release_version),
        versions=shelf.matching(crawl),
        errata=shelf.errata_of(crawl, version),
        distributions=read_distributions(request, release_version),
        measures=MEASURES,
        files=release_files(request, release_version),
        mss=MSS_FIG1,
    )


@router.get("/releases/{crawl}/v{version}/use", name="use_release")
def use_release(request: Request, shelf: ShelfDep, crawl: CrawlPath, version: VersionPath) -> Response:
    """Redirect to the recipes on the page of a release."""
    release = shelf.version(crawl, version)
    raise Elsewhere(f"{request.app.url_path_for('release_page', **release.key)}#use")


COMMENTS = {field.name: definition(field) for field in TABLES["responses"].schema()}


def first_rows(request: Request, version: Version, sort: str | None) -> list[Row]:
    if "response.parquet" not in version.files:
        return []
    return service_of(request).rows.first(version, "responses", COLUMNS, sort=sort, limit=FIRST_ROWS)


def recipes(request: Request, version: Version) -> list[tuple[str, str]]:
    from api.documents import rendering, shelved  # Markdown's library takes 2 MB

    source, base = shelved.sources()["recipes"], request.app.url_path_for("documents")
    # In an address the name of a crawl is quoted, and so nothing else in a command.
    named = f"{quote(str(version.crawl))}/v{version.version}"
    rendered = (
        rendering.render(f"# {recipe}", source=source, base=base)
        for recipe in shelved.section("recipes", "One release, by URL").split("\n### ")[1:]
    )
    return [
        (
            recipe.title,
            shelved.addressed(recipe.html, request.scope["base_url"]).replace(shelved.EXAMPLE_RELEASE, named),
        )
        for recipe in rendered
    ]


def read_distributions(request: Request, version: Version) -> list[DistributionAnswer]:
    releases = service_of(request).releases
    samples = {measure: releases.sample(version, measure, WHOLE) for measure in SIZES}
    return distributions(samples, windows=WINDOWS, mss=MSS_FIG1)


def dataset(request: Request, version: Version, work: Work) -> dict[str, Any]:
    """A release for schema.org, by which search engines find it."""
    crawl, manifest = str(version.crawl), version.readable.manifest
    files = [
        file_answer
        for file_answer in release_files(request, version)
        if file_answer.name.endswith((".parquet", ".json"))
    ]
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": work.title,
        "description": f"Crawl {crawl}: sizes of responses, connections and pages beside initial windows of "
        f"TCP; {QUALITY[quality(version.crawl)]}.",
        "url": link(request, "release_page", **version.key),
        "version": str(version.version),
        "license": licence_page(manifest.licence),
        "isAccessibleForFree": True,
        "creator": [{"@type": "Person", "name": author.inverted} for author in work.authors],
        "temporalCoverage": work.observed or version.crawl.month,
        "identifier": f"sha256:{version.checksum}",
        "distribution": [
            {
                "@type": "DataDownload",
                "name": file.name,
                "contentUrl": file.url,
                "encodingFormat": MEDIA_TYPES[Path(file.name).suffix].partition(";")[0],
                "contentSize": f"{file.bytes} B",
                "sha256": file.sha256,
            }
            for file in files
        ],
    }
