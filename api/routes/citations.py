"""Citations of releases, measures, reports and figures, in the forms that reference managers, archives and drafts read."""

import json
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from api.http.links import link, relate
from api.http.problems import Problem
from api.routes.annual_reports import present
from api.routes.parameters import CrawlPath, MeasureQuery, ReportVersionPath, ShelfDep, VersionPath, YearPath
from api.routes.provenance import relate_to_release
from api.routes.remembered import Remembered
from api.stored.shelf import Report
from releases.citation.forms import FORMS, cite
from releases.citation.work import NotCitable, Work, of_release, of_report
from storage.report_versions import CONTENT

router = APIRouter(route_class=Remembered)

FormPath = Annotated[
    str,
    Path(
        description="; ".join(f"{suffix}: {form.title}" for suffix, form in FORMS.items()),
        json_schema_extra={"enum": list(FORMS)},
    ),
]
FigureQuery = Annotated[
    str | None,
    Query(max_length=100, description="id of a figure of the report; the whole report if omitted"),
]


@router.get("/releases/{crawl}/v{version}/cite.{form}", name="cite_release", response_class=Response)
def cite_release(
    request: Request,
    shelf: ShelfDep,
    crawl: CrawlPath,
    version: VersionPath,
    form: FormPath,
    measure: MeasureQuery = None,
) -> Response:
    """A citation of one version of a release, or of one of its measures. Illustrative releases have none."""
    found = shelf.version(crawl, version)
    manifest = found.readable.manifest
    relate_to_release(request, found)
    named = {"crawl": crawl, "version": version}
    if measure is None:
        page = link(request, "release_page", **named)
    else:
        page = f"{link(request, 'distributions')}?crawl={crawl}&version={version}&measure={measure}"
    return written(of_release(manifest, checksum=found.checksum, url=public(page), measure=measure), form)


@router.get("/reports/{year}/v{version:version}/cite.{form}", name="cite_report", response_class=Response)
def cite_report(
    request: Request,
    shelf: ShelfDep,
    year: YearPath,
    version: ReportVersionPath,
    form: FormPath,
    figure: FigureQuery = None,
) -> Response:
    """A citation of one version of a year's report, or of one of its figures. Illustrative reports have none."""
    report = present(shelf, year, version)
    content = content_of(request, report)
    title = None if figure is None else title_of(content, figure)
    page = link(request, "report_page", year=year, version=version)
    relate(request, "cite-as", page)
    cited = content["citation"]
    work = of_report(
        title=cited["title"],
        year=content["year"],
        version=version,
        date=report.publication.date,
        data=cited["data"],
        licence=cited["licence"],
        is_illustrative=content["is_illustrative"],
        url=public(f"{page}#{figure}" if figure else page),
        figure=None if figure is None or title is None else (figure, title),
    )
    return written(work, form)


def written(work: Work, form: str) -> Response:
    """The answer with a citation; Problem if there is no such form, or no citation of the work."""
    if form not in FORMS:
        raise Problem("not-found", f"no citation ends in .{form}; there are {', '.join(FORMS)}")
    try:
        text = cite(work, form)
    except NotCitable as exc:
        raise Problem("not-citable", str(exc)) from exc
    return Response(text, media_type=FORMS[form].media_type)


def public(url: str) -> str | None:
    """The address if it is a whole URL: a path alone is of no use in a list of references."""
    return url if "://" in url else None


def content_of(request: Request, report: Report) -> dict[str, Any]:
    """The content of a report; Problem if it is from before reports had citations."""
    path, _ = request.app.state.library.file(report, CONTENT)
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    if "citation" not in content:
        raise Problem(
            "not-citable",
            f"version {report.version} of the report of {report.year} is older than citations: cite its address",
        )
    return content


def title_of(content: dict[str, Any], figure: str) -> str:
    """Title of a figure of a report; Problem if there is none."""
    figures = {one["id"]: one["title"] for section in content["sections"] for one in section["figures"]}
    if figure not in figures:
        raise Problem("not-citable", f"the report has no figure {figure!r}; there are {', '.join(figures)}")
    return str(figures[figure])
