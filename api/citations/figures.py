"""The page of a figure of a report: the figure, its data, the query that they are from,
and how they are computed again."""

import csv
import io
import itertools
import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from starlette.convertors import Convertor, register_url_convertor

from api.citations.routes import check_figure
from api.http.links import link
from api.routes.annual_reports import present, relate_to_report
from api.routes.pages import page
from api.routes.parameters import ReportVersionPath, ShelfDep, YearPath
from api.routes.provenance import standing
from api.routes.remembered import Remembered
from api.routes.works import content_of, figures_of, report_metadata
from api.stored.shelf import Report
from storage.report_versions import PAGE

ROWS = 12
"""Rows of the data that the page shows; the file has all."""

INDEX = "forms/index.json"
"""File of a report that says of each figure how it is computed again."""

SUFFIXES = (".csv", "-bands.csv", ".svg", ".png", ".vl.json")
"""Ends of the names of a figure's files."""


class FigureConvertor(Convertor[str]):
    """The id of a figure in a path: it has no dot, unlike the name of a file."""

    regex = "[A-Za-z0-9_-]+"

    def convert(self, value: str) -> str:
        """The id as it is."""
        return value

    def to_string(self, value: str) -> str:
        """The id as it is."""
        return value


register_url_convertor("figure", FigureConvertor())

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Remembered)


@router.get("/reports/{year}/v{version:version}/figures/{figure:figure}", name="figure_page")
def figure_page(
    request: Request, shelf: ShelfDep, year: YearPath, version: ReportVersionPath, figure: str
) -> Response:
    """The page of one figure of a version of a year's report."""
    report = present(shelf, year, version)
    check_figure(request, report, figure)
    relate_to_report(
        request, report, PAGE, page=link(request, "figure_page", year=year, version=version, figure=figure)
    )
    figures = figures_of(content_of(request, report))
    files = {suffix: f"forms/figures/{figure}{suffix}" for suffix in SUFFIXES}
    return page(
        request,
        "cited/figure.html",
        report=report,
        newest=shelf.report(year),
        standing=standing(shelf, report),
        id=figure,
        figure={"caption": "", "source": "", "query": "", **figures[figure]},
        figures=figures,
        metadata=report_metadata(request, report, figure),
        files={suffix: name for suffix, name in files.items() if name in report.files},
        recompute=recompute(request, report, figure),
        data=first_rows(request, report, files[".csv"]),
    )


def recompute(request: Request, report: Report, figure: str) -> str:
    """The command that computes the figure's data again, as the report states it; empty if it states none."""
    if INDEX not in report.files:
        return ""
    path, _ = request.app.state.library.file(report, INDEX)
    listed: list[dict[str, Any]] = json.loads(path.read_text(encoding="utf-8"))
    return next((one["recompute"] for one in listed if one["id"] == figure), "")


def first_rows(request: Request, report: Report, name: str) -> dict[str, Any]:
    """Names of the columns, the first rows and the number of rows of the figure's data.

    Empty if the report has no such file.
    """
    if name not in report.files:
        return {"columns": [], "rows": [], "count": 0}
    path, _ = request.app.state.library.file(report, name)
    lines = csv.reader(io.StringIO(path.read_text(encoding="utf-8"), newline=""))
    columns = next(lines, [])
    rows = list(itertools.islice(lines, ROWS))
    return {"columns": columns, "rows": rows, "count": len(rows) + sum(1 for _ in lines)}
