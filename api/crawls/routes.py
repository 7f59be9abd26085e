"""`/crawls`: every crawl that reports to the data folder, and one with its hours, lanes, bounds and
failures. Crawlers write what is shown (storage/progress.py); the service reads no database."""

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from api.crawls.bars import KINDS, WIDTHS, bars, by_kind
from api.http.problems import Problem
from api.http.redirects import Elsewhere
from api.routes.pages import page
from api.routes.parameters import CrawlPath, ShelfDep
from api.routes.remembered import Remembered
from api.stored.shelf import Shelf
from storage.progress import Progress

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Remembered)

BOUNDS = {
    "visited": "sites with a final visit",
    "answered": "visited sites that answered",
    "covered": "ok visits whose bytes are accounted for",
    "our_fault": "visits that ended by a fault of ours",
    "unresolved": "names that did not resolve",
}
"""What each bound of the gate is a share of (crawler.campaign.gate)."""

HOURS_LISTED = 48
"""Hours in the table below the figure, the last ones."""


@router.get("/crawls", name="crawls_page")
def crawls_page(request: Request, shelf: ShelfDep) -> Response:
    """The crawls that run, and those that are sealed, the latest first."""
    sealed = [one for one in shelf.progress if one.sealed_at is not None]
    return page(
        request,
        "crawls/index.html",
        running=shelf.under_way,
        sealed=sorted(sealed, key=lambda one: (one.sealed_at, one.crawl), reverse=True),
        released=shelf.crawls,
    )


@router.get("/crawls/{crawl}", name="crawl_progress")
def crawl_progress(request: Request, shelf: ShelfDep, crawl: CrawlPath) -> Response:
    """One crawl: progress, hours, lanes, bounds of the gate, the last failures and disk space."""
    progress = progress_of(request, shelf, crawl)
    return page(
        request,
        "crawls/crawl.html",
        progress=progress,
        drawings={screens: bars(progress.hours, width) for screens, width in WIDTHS.items()},
        kinds=KINDS,
        counts=[(hour.at, by_kind(hour.outcomes)) for hour in progress.hours[: -HOURS_LISTED - 1 : -1]],
        bounds=BOUNDS,
        is_released=crawl in shelf.crawls,
    )


def progress_of(request: Request, shelf: Shelf, crawl: str) -> Progress:
    """The progress of the crawl of that name; a short name that means one redirects to the whole one."""
    for one in shelf.progress:
        if one.crawl == crawl:
            return one
    others = [one.crawl for one in shelf.progress if one.crawl.startswith(f"{crawl}.")]
    if len(others) == 1:
        raise Elsewhere(request.app.url_path_for("crawl_progress", crawl=others[0]))
    there = f"those whose names begin so are {', '.join(others)}" if others else "/crawls lists what there is"
    raise Problem("no-such-progress", f"no crawl {crawl!r} has reported its progress; {there}", crawls=others)
