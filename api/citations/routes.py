"""Citations of releases, reports and figures, in the forms that reference managers and archives read."""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import Response

from api.http.links import link, relate
from api.http.problems import Problem
from api.routes.annual_reports import present
from api.routes.parameters import CrawlPath, ReportVersionPath, ShelfDep, VersionPath, YearPath
from api.routes.provenance import relate_to_release
from api.routes.remembered import Remembered
from api.routes.works import content_of, figures_of, release_work, report_work
from api.stored.shelf import Report
from releases.citation.forms import FORMS, cite
from releases.citation.work import NotCitable, Work

router = APIRouter(route_class=Remembered)

FormPath = Annotated[
    str,
    Path(
        description="; ".join(f"{suffix}: {form.title}" for suffix, form in FORMS.items()),
        json_schema_extra={"enum": list(FORMS)},
    ),
]
A_CITATION: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "the citation",
        "content": {form.media_type.partition(";")[0]: {} for form in FORMS.values()},
    }
}
"""OpenAPI's answers of routes that write citations, in forms that others have described."""

FigureQuery = Annotated[
    str | None,
    Query(max_length=100, description="id of a figure of the report; the whole report if omitted"),
]


@router.get(
    "/releases/{crawl}/v{version}/cite.{form}",
    name="cite_release",
    response_class=Response,
    responses=A_CITATION,
)
def cite_release(
    request: Request,
    shelf: ShelfDep,
    crawl: CrawlPath,
    version: VersionPath,
    form: FormPath,
) -> Response:
    """A citation of one version of a release. Illustrative releases have none."""
    found = shelf.version(crawl, version)
    relate_to_release(request, found)
    return written(release_work(request, found), form)


@router.get(
    "/reports/{year}/v{version:version}/cite.{form}",
    name="cite_report",
    response_class=Response,
    responses=A_CITATION,
)
def cite_report(
    request: Request,
    shelf: ShelfDep,
    year: YearPath,
    version: ReportVersionPath,
    form: FormPath,
    figure: FigureQuery = None,
) -> Response:
    """A citation of one version of a year's report, or of one of its figures.

    Illustrative reports have none.
    """
    report = present(shelf, year, version)
    check_figure(request, report, figure)
    named = {"year": year, "version": version}
    page = (
        link(request, "figure_page", **named, figure=figure)
        if figure
        else link(request, "report_page", **named)
    )
    relate(request, "cite-as", page)
    relate(request, "describedby", link(request, "report_errata", year=year))
    return written(report_work(request, report, figure), form)


def written(work: Work, form: str) -> Response:
    """The answer with a citation; Problem if there is no such form, or no citation of the work."""
    if form not in FORMS:
        raise Problem("not-found", f"no citation ends in .{form}; there are {', '.join(FORMS)}")
    try:
        text = cite(work, form)
    except NotCitable as exc:
        raise Problem("not-citable", str(exc)) from exc
    return Response(text, media_type=FORMS[form].media_type)


def check_figure(request: Request, report: Report, figure: str | None) -> None:
    """Problem if the content of a report cannot be read, or if it has no figure of that id."""
    figures = figures_of(content_of(request, report))
    if figure is not None and figure not in figures:
        raise Problem("not-citable", f"the report has no figure {figure!r}; there are {', '.join(figures)}")
