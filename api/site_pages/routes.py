"""The pages of sites: the table of a release's sites, a site over the months, and its page loads."""

import dataclasses
from collections.abc import Sequence
from urllib.parse import quote, urlencode

import pyarrow as pa
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from api.drawing import WIDE, WidthQuery, svg_response
from api.explorer.charts import months_as_svg
from api.explorer.strata import FIELDS, in_words
from api.http.problems import Elsewhere, Problem
from api.lab.page_replay import WINDOWS
from api.routes.pages import page, with_form
from api.routes.parameters import (
    CrawlPath,
    PinnedShelfDep,
    ShelfDep,
    VersionPath,
)
from api.routes.provenance import relate_to_release
from api.routes.visits import VisitPath, page_load
from api.routes.works import release_work
from api.service import Kept, service_of
from api.site_pages.history import HostPath, WindowAnswer, releases_of, site
from api.site_pages.listing import AskedSites, spellings, with_sites
from api.site_pages.waterfall import PHASES, draw_load, events_of, list_rows, spans_by_label
from api.site_pages.weight import describe, to_draw, weights_of
from releases.slow_start import MSS_FIG1, segments

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Kept)

IW = 10
"""Initial window that first flights are set beside, in segments (RFC 6928)."""

WINDOW_BYTES = IW * MSS_FIG1

PAGE_ROWS = 50
"""Rows of a page of the table."""

LEAST = 10
"""Least number of responses of a site on the page, unless another is asked for or the site is named: of one
response either all fit or none."""


@router.get("/sites", name="sites")
def sites(request: Request, shelf: ShelfDep, asked: AskedSites) -> Response:
    """The sites of a release as a table; a whole host leads to the page of its site."""
    if asked is None:
        return page(request, "sites.html", asked=None)
    tables = service_of(request).sites
    releases = with_sites(request, shelf)
    if asked.part and (host := tables.find(releases, spellings(asked.part))):
        raise Elsewhere(request.app.url_path_for("site_page", host=quote(host, safe="")))
    if not asked.part and "responses_at_least" not in request.query_params:
        asked = dataclasses.replace(asked, least=LEAST)
    rows = asked.rows(request)
    shown, cursor = asked.page(rows, PAGE_ROWS)

    def address(**changed: object) -> str:
        return f"{request.app.url_path_for('sites')}?{urlencode({**asked.query, **changed})}"

    return with_form(
        page(
            request,
            "sites.html",
            asked=asked,
            releases=releases,
            fields=FIELDS,
            stratum=asked.stratum.stratum,
            in_words=in_words(asked.stratum),
            unknown=asked.stratum.unknown_in(asked.version),
            rows=shown.to_pylist(),
            count=len(rows),
            is_named=tables.is_named(asked.version),
            similar=tables.similar(releases, asked.part) if asked.part and not len(rows) else [],
            columns=[(name, head) for name, head in SORTED if _is_known(rows, name)],
            address=address,
            following=cursor and address(cursor=cursor),
            query=urlencode(asked.query),
            cited=release_work(request, asked.version),
        )
    )


def _is_known(rows: pa.Table, name: str) -> bool:
    """Return whether a column has a value in any row; of windows a lower bound is one."""
    names = (name, "window_segments") if name == "most_window_segments" else (name,)
    return any(rows[name].null_count < len(rows) for name in names)


SORTED = (
    ("share", "fits into the window"),
    ("share_change", "change"),
    ("responses", "responses"),
    ("bytes", "bytes"),
    ("document_bytes", "first document"),
    ("first_flight_bytes", "first flight"),
    ("most_window_segments", "windows of servers"),
)
"""Columns of the page's table after the site, with their headings."""


@router.get("/sites/{host}", name="site_page")
def site_page(request: Request, shelf: PinnedShelfDep, host: HostPath) -> Response:
    """A site in every released crawl, or in the releases that `release` names."""
    answer = site(request, shelf, host)
    flights = [crawl.document.first_flight for crawl in answer.crawls if crawl.document]
    sizes = [flight.size_bytes for flight in flights if flight and flight.size_bytes is not None]
    replayed = [
        (crawl, visit)
        for crawl in answer.crawls
        for visit in crawl.visits
        if visit.is_final and visit.outcome == "ok" and service_of(request).lab is not None
    ]
    shown = with_form(
        page(
            request,
            "site.html",
            replayed=replayed[0] if replayed else None,
            lab_windows=WINDOWS,
            site=answer,
            quoted=quote(answer.host, safe=""),
            pinned=urlencode({"release": releases_of(answer)}, doseq=True),
            longest=1.05 * max([WINDOW_BYTES, *sizes]),
            window=WINDOW_BYTES,
            segments=segments,
            weights=describe(weights_of(shelf, answer)),
            in_words=describe_windows,
            has_windows=any(
                describe_windows(crawl.first_flights.windows)
                for crawl in answer.crawls
                if crawl.first_flights
            ),
            iw=IW,
            mss=MSS_FIG1,
        )
    )
    # Else a browser would not state the origin of the form, by which forms of other sites are told.
    shown.headers["Referrer-Policy"] = "same-origin"
    return shown


@router.get("/sites/{host}/weight.svg", name="weight_svg", response_class=Response)
def weight_svg(request: Request, shelf: PinnedShelfDep, host: HostPath, width: WidthQuery = WIDE) -> Response:
    """The weight of a site's home page over the months."""
    found = weights_of(shelf, site(request, shelf, host))
    if not found:
        raise Problem("not-found", f"no two months of {host!r} can be compared")
    return svg_response(months_as_svg, to_draw(found), width)


@router.get("/releases/{crawl}/v{version}/pages/{visit}", name="visit_page")
def visit_page(
    request: Request, shelf: ShelfDep, crawl: CrawlPath, version: VersionPath, visit: VisitPath
) -> Response:
    """One page load as a waterfall, from one version of a release."""
    release = shelf.version(crawl, version)
    load = page_load(request, release, visit)
    relate_to_release(request, release)
    return page(
        request,
        "visit.html",
        version=release,
        load=load,
        rows=list(list_rows(load)),
        events=list(events_of(load)),
        quoted=quote(load.visit.host, safe=""),
        phases=PHASES,
    )


@router.get(
    "/releases/{crawl}/v{version}/pages/{visit}/waterfall.svg",
    name="waterfall_svg",
    response_class=Response,
)
def waterfall_svg(
    request: Request,
    shelf: ShelfDep,
    crawl: CrawlPath,
    version: VersionPath,
    visit: VisitPath,
    width: WidthQuery = WIDE,
) -> Response:
    """The waterfall of a page load."""
    release = shelf.version(crawl, version)
    load = page_load(request, release, visit)
    relate_to_release(request, release)
    rows = spans_by_label(list(list_rows(load)))
    if not any(spans for _, spans in rows):
        raise Problem("not-found", "no time of this page load is known")
    return svg_response(draw_load, width, rows, events_of(load))


def describe_windows(windows: Sequence[WindowAnswer]) -> str:
    """Initial windows and the connections that had them; empty if none is known: a lower bound of one segment
    says nothing.

    >>> describe_windows([WindowAnswer(segments=10, most_segments=10, is_exact=True, connections=2),
    ...                   WindowAnswer(segments=10, most_segments=13, is_exact=False, connections=1),
    ...                   WindowAnswer(segments=32, most_segments=None, is_exact=False, connections=1)])
    '10 (2 connections), 10 to 13 (1 connection), at least 32 (1 connection)'
    """
    return ", ".join(
        f"{_in_words(window)} ({window.connections} connection{'s' * (window.connections != 1)})"
        for window in windows
        if window.is_exact or window.segments > 1
    )


def _in_words(window: WindowAnswer) -> str:
    if window.is_exact:
        return str(window.segments)
    if window.most_segments is None:
        return f"at least {window.segments}"
    return f"{window.segments} to {window.most_segments}"
