"""Citations of releases, reports and figures, in the forms that reference managers and archives read."""

import csv
import dataclasses
import io
import itertools
import json
from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request
from fastapi.responses import HTMLResponse, Response
from starlette.convertors import StringConvertor, register_url_convertor

from api.http.links import link, relate
from api.http.problems import Problem
from api.routes.annual_reports import present, relate_to_report
from api.routes.pages import page
from api.routes.parameters import CrawlPath, ReportVersionPath, ShelfDep, VersionPath, YearPath
from api.routes.provenance import relate_to_release
from api.routes.works import content_of, figures_of, page_of, release_work, report_metadata, report_work
from api.service import Kept, service_of
from api.stored.shelf import Report
from releases.citation.forms import FORMS, cite
from releases.citation.work import NotCitable, Work
from storage.report_versions import PAGE

router = APIRouter(route_class=Kept, tags=["citations"])
pages = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Kept)

ROWS = 12

INDEX = "forms/index.json"

SUFFIXES = (".csv", "-bands.csv", ".svg", ".png", ".vl.json")


class FigureConvertor(StringConvertor):
    """A figure's id in a path, without a dot."""

    regex = "[A-Za-z0-9_-]+"


register_url_convertor("figure", FigureConvertor())


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
    release = shelf.version(crawl, version)
    relate_to_release(request, release)
    return write_citation(release_work(request, release), form)


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
    relate(request, "cite-as", page_of(request, report, figure))
    relate(request, "describedby", link(request, "report_errata", year=year))
    return write_citation(report_work(request, report, figure), form)


def write_citation(work: Work, form: str) -> Response:
    """The citation; Problem for another form, or none of the work."""
    if form not in FORMS:
        raise Problem("not-found", f"no citation ends in .{form}; there are {', '.join(FORMS)}")
    try:
        text = cite(work, form)
    except NotCitable as exc:
        raise Problem("not-citable", str(exc)) from exc
    return Response(text, media_type=FORMS[form].media_type)


def check_figure(request: Request, report: Report, figure: str | None) -> None:
    """Raise a Problem without the content or the figure."""
    figures = figures_of(content_of(request, report))
    if figure is not None and figure not in figures:
        raise Problem("not-citable", f"the report has no figure {figure!r}; there are {', '.join(figures)}")


@pages.get("/reports/{year}/v{version:version}/figures/{figure:figure}", name="figure_page")
def figure_page(
    request: Request, shelf: ShelfDep, year: YearPath, version: ReportVersionPath, figure: str
) -> Response:
    """The page of one figure of a version of a year's report."""
    report = present(shelf, year, version)
    check_figure(request, report, figure)
    relate_to_report(request, report, PAGE, page=page_of(request, report, figure))
    figures = figures_of(content_of(request, report))
    files = {suffix: f"forms/figures/{figure}{suffix}" for suffix in SUFFIXES}
    return page(
        request,
        "cited/figure.html",
        report=report,
        newest=shelf.report(year),
        status=shelf.status(report),
        id=figure,
        figure={"caption": "", "source": "", "query": "", **figures[figure]},
        figures=figures,
        metadata=report_metadata(request, report, figure),
        files={suffix: name for suffix, name in files.items() if name in report.files},
        recompute=read_command(request, report, figure),
        data=read_rows(request, report, files[".csv"]),
    )


def read_command(request: Request, report: Report, figure: str) -> str:
    if INDEX not in report.files:
        return ""
    path, _ = service_of(request).releases.file(report, INDEX)
    listed: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return next((entry["recompute"] for entry in listed if entry["id"] == figure), "")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class FirstRows:
    """The beginning of a table of a figure's data."""

    columns: Sequence[str] = ()
    rows: Sequence[Sequence[str]] = ()
    count: int = 0


def read_rows(request: Request, report: Report, name: str) -> FirstRows:
    """The first rows of a figure's data."""
    if name not in report.files:
        return FirstRows()
    path, _ = service_of(request).releases.file(report, name)
    lines = csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))
    columns = next(lines, [])
    rows = list(itertools.islice(lines, ROWS))
    return FirstRows(columns=columns, rows=rows, count=len(rows) + sum(1 for _ in lines))
