"""The pages of a site: a search by host, the site over the months, and each of its page loads."""

import dataclasses
from collections.abc import Sequence
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
from api.routes.sites import HostPath, SiteCrawlAnswer, WindowAnswer, releases_of, site
from api.routes.visits import VisitPath, page_load
from api.site_pages.waterfall import PHASES, waterfall
from releases.slow_start import MSS_FIG1, segments
from storage.withdrawal import HOST

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Remembered)

IW = 10
"""Initial window that first flights are set beside, in segments (RFC 6928)."""

WINDOW_BYTES = IW * MSS_FIG1


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


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Month:
    """The site in one crawl."""

    crawl: SiteCrawlAnswer
    size_bytes: int | None
    """First flight of the main document's connection; None if unknown."""
    segments: int | None
    left: float | None
    """Length of the flight's bar, in percent of the longest; None if unknown."""
    mark: float
    """Place of the window on the same scale."""

    @property
    def is_within(self) -> bool | None:
        """True if the first flight fits into the window; None if it is unknown."""
        return None if self.segments is None else self.segments <= IW


def months(crawls: Sequence[SiteCrawlAnswer]) -> list[Month]:
    """The crawls with their first flights on one scale, which holds the window and the largest."""
    sizes = [_size(one) for one in crawls]
    whole = max([WINDOW_BYTES, *(size for size in sizes if size is not None)]) * 1.05
    return [
        Month(
            crawl=crawl,
            size_bytes=size,
            segments=None if size is None else segments(size, mss=MSS_FIG1),
            left=None if size is None else round(100 * size / whole, 2),
            mark=round(100 * WINDOW_BYTES / whole, 2),
        )
        for crawl, size in zip(crawls, sizes, strict=True)
    ]


def _size(crawl: SiteCrawlAnswer) -> int | None:
    flight = crawl.document and crawl.document.first_flight
    return flight.size_bytes if flight else None


def windows_in_words(windows: Sequence[WindowAnswer]) -> str:
    """Initial windows and the connections that had them; empty if none is known.

    >>> windows_in_words([WindowAnswer(segments=10, most_segments=10, is_exact=True, connections=2),
    ...                   WindowAnswer(segments=10, most_segments=13, is_exact=False, connections=1),
    ...                   WindowAnswer(segments=32, most_segments=None, is_exact=False, connections=1)])
    '10 (2 connections), 10 to 13 (1 connection), at least 32 (1 connection)'
    """
    return ", ".join(
        f"{_in_words(one)} ({one.connections} connection{'s' * (one.connections != 1)})" for one in windows
    )


def _in_words(window: WindowAnswer) -> str:
    if window.is_exact:
        return str(window.segments)
    if window.most_segments is None:
        return f"at least {window.segments}"
    return f"{window.segments} to {window.most_segments}"
