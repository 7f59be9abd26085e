"""The pages of a site: a search by host, the site over the months, and each of its page loads."""

from typing import Annotated
from urllib.parse import quote, urlencode

import idna
from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import AfterValidator

from api.http.redirects import Elsewhere
from api.routes.pages import page, with_form
from api.routes.parameters import CrawlPath, PinnedShelfDep, ShelfDep, VersionPath
from api.routes.provenance import relate_to_release
from api.routes.remembered import Remembered
from api.routes.sites import HostPath, releases_of, site
from api.routes.visits import VisitPath, page_load
from api.site_pages.months import IW, months, windows_in_words
from api.site_pages.waterfall import PHASES, waterfall
from releases.slow_start import MSS_FIG1
from storage.withdrawal import HOST

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Remembered)


def a_labels(text: str) -> str:
    """The host name in a text, in lower-case A-label form; ValueError if there is none.

    >>> a_labels(" Bücher.Example. ")
    'xn--bcher-kva.example'
    """
    host = text.strip().lower().removesuffix(".")
    try:
        host = host if host.isascii() else idna.encode(host, uts46=True).decode("ascii")
    except idna.IDNAError:
        host = ""
    if not HOST.fullmatch(host):
        raise ValueError("this is no host name; give one such as example.com")
    return host


HostQuery = Annotated[
    str | None,
    AfterValidator(lambda text: text and a_labels(text)),
    Query(max_length=300, description="host name of a site"),
]


@router.get("/sites", name="sites")
def sites(request: Request, host: HostQuery = None) -> Response:
    """The search; with a host the way to its page."""
    if host:
        raise Elsewhere(request.app.url_path_for("site_page", host=host))
    return with_form(page(request, "sites.html"))


@router.get("/sites/{host}", name="site_page")
def site_page(request: Request, shelf: PinnedShelfDep, host: HostPath) -> Response:
    """A site in every released crawl, or in the releases that `release` names."""
    found = site(request, shelf, host)
    return with_form(
        page(
            request,
            "site.html",
            site=found,
            quoted=quote(found.host, safe=""),
            pinned=urlencode({"release": releases_of(found)}, doseq=True),
            months=months(found.crawls),
            in_words=windows_in_words,
            iw=IW,
            mss=MSS_FIG1,
        )
    )


@router.get("/releases/{crawl}/v{version}/pages/{visit}", name="visit_page")
def visit_page(
    request: Request, shelf: ShelfDep, crawl: CrawlPath, version: VersionPath, visit: VisitPath
) -> Response:
    """One page load as a waterfall, from one version of a release."""
    found = shelf.version(crawl, version)
    load = page_load(request, found, visit)
    relate_to_release(request, found)
    return page(
        request,
        "visit.html",
        version=found,
        load=load,
        drawn=waterfall(load),
        quoted=quote(load.visit.host, safe=""),
        phases=PHASES,
    )
