"""Annual reports: each version's pages and files, the way to the newest, and the errata.

A version's files never change, and `files/` has them as they were published, as SHA256SUMS lists them. At a
version's own address its HTML pages have a line on top that says whether the version is the newest,
superseded or withdrawn; any other file of a withdrawn version answers 410.
"""

import functools
import importlib.resources
import re
from pathlib import PurePosixPath
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, RedirectResponse, Response

from api.http.links import link, relate
from api.http.problems import Elsewhere, Problem
from api.kept_answers import CACHE_CONTROL
from api.routes.files import A_FILE, IMMUTABLE, send_file
from api.routes.pages import TEMPLATES, page, surroundings
from api.routes.parameters import FilePath, ReportVersionPath, ShelfDep, YearPath
from api.routes.provenance import REPORT_LICENCE
from api.routes.works import figures_of, report_metadata, stated
from api.service import Kept, service_of
from api.stored.shelf import Report, Shelf
from storage.report_versions import PAGE

published = APIRouter()
pages = APIRouter(default_response_class=HTMLResponse, route_class=Kept)
others = APIRouter()
ROUTERS = (published, pages, others)

POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'"
)
"""A page contains its styles and figures and runs no script."""

PICTURES = "forms/pictures/"

BODY = re.compile(rb"<body\b[^>]*>", re.IGNORECASE)


def relate_to_report(request: Request, report: Report, name: str, *, page: str = "") -> None:
    """State a file's lasting address, citation and licence in the Link header (RFC 8574, RFC 5829).

    `page` is about a part of the version, and cited by it.
    """
    of_version = link(request, "report_page", **report.key)
    canonical = of_version if name == PAGE else link(request, "report_file", **report.key, name=quote(name))
    targets = {
        "canonical": page or canonical,
        "cite-as": page or of_version,
        "license": REPORT_LICENCE,
        "describedby": link(request, "report_errata", year=report.year),
        "latest-version": link(request, "newest_report", year=report.year),
        "version-history": link(request, "report_errata", year=report.year),
    }
    newest = request.scope["shelf"].report(report.year)
    if newest.version != report.version and newest.withdrawal is None:
        targets["successor-version"] = link(request, "report_page", **newest.key)
    for relation, target in targets.items():
        relate(request, relation, target)


def present(shelf: Shelf, year: str, version: int) -> Report:
    report = shelf.report_version(year, version)
    if report.withdrawal is not None and report.withdrawal.is_erased:
        raise Problem(
            "withdrawn",
            f"version {version} of the report of {year} was erased: {report.withdrawal.reason}",
            see=f"/reports/{year}/errata",
        )
    return report


@others.get("/reports/{year}", name="report", response_class=Response, status_code=307)
@others.get("/reports/{year}/", name="newest_report", response_class=Response, include_in_schema=False)
def newest(request: Request, shelf: ShelfDep, year: YearPath) -> Response:
    """Redirect to the newest version of a year's report that was not withdrawn."""
    report = shelf.report(year)
    path = request.app.url_path_for("report_page", **report.key)
    raise Elsewhere(str(path))


@pages.get("/reports/{year}/errata", name="report_errata", response_class=HTMLResponse)
def errata(request: Request, shelf: ShelfDep, year: YearPath) -> Response:
    """The versions of a year's report as a page: why each was made, what it corrects,
    and which were withdrawn."""
    versions = shelf.report_versions(year)
    return page(
        request,
        "errata/report.html",
        year=year,
        versions=versions,
        newest=shelf.report(year),
        metadata={version.version: report_metadata(request, version) for version in versions},
        figures={version.version: figures_of(stated(request, version)) for version in versions},
    )


@others.get("/reports/{year}/v{version:version}", response_class=Response, include_in_schema=False)
def without_slash(shelf: ShelfDep, year: YearPath, version: ReportVersionPath) -> Response:
    """Redirect to the page of a version: links within it are relative to its folder."""
    shelf.report_version(year, version)
    return RedirectResponse(f"v{version}/", status_code=308)


@pages.get("/reports/{year}/v{version:version}/", name="report_page", response_class=HTMLResponse)
def report_page(request: Request, shelf: ShelfDep, year: YearPath, version: ReportVersionPath) -> Response:
    """One version of a year's report, with a line that says whether it is the newest,
    superseded or withdrawn."""
    return shown(request, shelf, present(shelf, year, version), PAGE)


@published.get(
    "/reports/{year}/v{version:version}/files/{name:path}",
    name="report_exact",
    response_class=Response,
    responses=A_FILE,
)
def exact(
    request: Request, shelf: ShelfDep, year: YearPath, version: ReportVersionPath, name: FilePath
) -> Response:
    """One file of a version exactly as it was published, as SHA256SUMS lists it."""
    return published_file(request, shelf, present(shelf, year, version), name, cached=IMMUTABLE)


def published_file(request: Request, shelf: Shelf, report: Report, name: str, *, cached: str) -> Response:
    """A file's own bytes, with its Cache-Control."""
    relate_to_report(request, report, name)
    return send_file(
        request,
        report,
        name,
        Cache_Control=cached,
        Content_Disposition=f"inline; filename*=utf-8''{quote(_saved_name(shelf, report, name))}",
        Content_Security_Policy=POLICY,
    )


@pages.get(
    "/reports/{year}/v{version:version}/{name:path}.html",
    response_class=HTMLResponse,
    include_in_schema=False,
)
def other_page(
    request: Request, shelf: ShelfDep, year: YearPath, version: ReportVersionPath, name: str
) -> Response:
    """Another page of a version, with the same line."""
    return shown(request, shelf, present(shelf, year, version), f"{name}.html")


@others.get(
    "/reports/{year}/v{version:version}/{name:path}",
    name="report_file",
    response_class=Response,
    responses=A_FILE,
)
def report_file(
    request: Request, shelf: ShelfDep, year: YearPath, version: ReportVersionPath, name: FilePath
) -> Response:
    """One file of a version: report.json, summary.txt, a figure.

    A file of a withdrawn version answers 410, which says where its own bytes are.
    """
    report = present(shelf, year, version)
    if report.withdrawal is not None and name in report.files:
        exactly = request.app.url_path_for("report_exact", year=year, version=version, name=quote(name))
        raise Problem(
            "withdrawn",
            f"version {version} of the report for {year} was withdrawn: "
            f"{report.withdrawal.reason.rstrip('. ')}; the file as it was published is at {exactly}",
            see=f"/reports/{year}/errata",
        )
    return published_file(request, shelf, report, name, cached=CACHE_CONTROL)


@others.get("/reports/{year}/{name:path}", response_class=Response, include_in_schema=False)
def newest_file(request: Request, shelf: ShelfDep, year: YearPath, name: str) -> Response:
    """Redirect to the file of that name in the newest version."""
    report = shelf.report(year)
    if name not in report.files:
        raise Problem("no-such-file", f"there is no file {name!r}")
    path = request.app.url_path_for("report_file", **report.key, name=quote(name))
    raise Elsewhere(str(path))


def shown(request: Request, shelf: Shelf, report: Report, name: str) -> Response:
    path, _ = service_of(request).releases.file(report, name)
    line = TEMPLATES.get_template("version_status.html").render(
        report=report,
        status=shelf.status(report),
        newest=shelf.report(report.year),
        citations=report_metadata(request, report).citations,
        pictures={} if report.damage or report.withdrawal else pictures_of(report),
        later=[
            report_version
            for report_version in reversed(shelf.report_versions(report.year))
            if report_version.version > report.version
        ],
        path_for=request.app.url_path_for,
    )
    relate_to_report(request, report, name)
    head = TEMPLATES.get_template("report_head.html").render(
        **surroundings(request), is_report=True, style=header_style()
    )
    content = on_top(path.read_bytes(), (head + line).encode())
    return HTMLResponse(content, headers={"Content-Security-Policy": POLICY})


def pictures_of(report: Report) -> dict[str, dict[str, str]]:
    names = [name for name in report.files if name.startswith(PICTURES)]
    forms = {"SVG": ".svg", "PNG": ".png", "data": ".csv"}
    return {
        stem.replace("-", " "): {
            form: f"{PICTURES}{stem}{suffix}"
            for form, suffix in forms.items()
            if f"{PICTURES}{stem}{suffix}" in names
        }
        for stem in dict.fromkeys(PurePosixPath(name).name.partition(".")[0] for name in names)
    }


@functools.cache
def header_style() -> str:
    """The header's style sheet, inside the page, whose policy allows no file."""
    return importlib.resources.files("api").joinpath("static", "header.css").read_text(encoding="utf-8")


def on_top(document: bytes, line: bytes) -> bytes:
    """An HTML document with `line` as the first thing in its body.

    >>> on_top(b"<html><body class='a'><p>text</body></html>", b"<aside>newest</aside>")
    b"<html><body class='a'><aside>newest</aside><p>text</body></html>"
    >>> on_top(b"<p>no body", b"<aside>newest</aside>")
    b'<aside>newest</aside><p>no body'
    """
    body = BODY.search(document)
    at = body.end() if body else 0
    return document[:at] + line + document[at:]


def _saved_name(shelf: Shelf, report: Report, name: str) -> str:
    """Name of a saved file, with the version and its status.

    It is the one thing about a published file that can change, and goes with the copy.
    """
    status = shelf.status(report)
    prefix = "" if status == "newest" else f"{status}-"
    return f"{prefix}{report.year}-v{report.version}-{PurePosixPath(name).name}"
