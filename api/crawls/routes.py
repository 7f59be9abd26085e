"""`/crawls`: every crawl that reports to the data folder, and one with its hours, lanes, bounds and
failures. Crawlers write what is shown (storage/progress.py); the service reads no database."""

from collections.abc import Sequence

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from api import drawing
from api.drawing import WIDE, WidthQuery, svg_response
from api.http.problems import Elsewhere, Problem
from api.routes.pages import page
from api.routes.parameters import CrawlPath, ShelfDep
from api.service import Kept
from api.stored.shelf import Shelf
from schema.vocabulary import OUR_FAULT
from storage.progress import Hour, Progress

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Kept)

BOUNDS = {
    "visited": "sites with a final visit",
    "answered": "visited sites that answered",
    "covered": "ok visits whose bytes are accounted for",
    "our_fault": "visits that ended by a fault of ours",
    "unresolved": "names that did not resolve",
}
"""What each bound of the gate is a share of (crawler.campaign.gate)."""

HOURS_LISTED = 48

KINDS = {
    "ok": "page arrived",
    "answered": "page with an error status",
    "unanswered": "no page",
    "ours": "fault of ours",
}
"""Kinds of outcomes in the order of stacking, and their labels."""


@router.get("/crawls", name="crawls_page")
def crawls_page(request: Request, shelf: ShelfDep) -> Response:
    """The crawls that run, and those that are sealed, the latest first."""
    sealed = [progress for progress in shelf.progress if progress.sealed_at is not None]
    return page(
        request,
        "crawls/index.html",
        running=shelf.under_way,
        sealed=sorted(sealed, key=lambda progress: (progress.sealed_at, progress.crawl), reverse=True),
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
        kinds=KINDS,
        counts=[(hour.at, by_kind(hour.outcomes)) for hour in progress.hours[: -HOURS_LISTED - 1 : -1]],
        bounds=BOUNDS,
        is_released=crawl in shelf.crawls,
    )


def progress_of(request: Request, shelf: Shelf, crawl: str) -> Progress:
    """A crawl's progress; a short name redirects to the whole one."""
    for progress in shelf.progress:
        if progress.crawl == crawl:
            return progress
    others = [progress.crawl for progress in shelf.progress if progress.crawl.startswith(f"{crawl}.")]
    if len(others) == 1:
        raise Elsewhere(request.app.url_path_for("crawl_progress", crawl=others[0]))
    advice = (
        f"those whose names begin so are {', '.join(others)}" if others else "/crawls lists what there is"
    )
    raise Problem(
        "no-such-progress", f"no crawl {crawl!r} has reported its progress; {advice}", crawls=others
    )


def kind(outcome: str) -> str:
    """Return the kind of an outcome.

    >>> [kind(outcome) for outcome in ("ok", "http_error", "dns", "crash")]
    ['ok', 'answered', 'unanswered', 'ours']
    """
    if outcome in OUR_FAULT:
        return "ours"
    return {"ok": "ok", "http_error": "answered"}.get(outcome, "unanswered")


def by_kind(outcomes: dict[str, int]) -> dict[str, int]:
    """Sum outcomes by their kind.

    >>> by_kind({"ok": 3, "dns": 1, "tls": 1})
    {'ok': 3, 'answered': 0, 'unanswered': 2, 'ours': 0}
    """
    counts = dict.fromkeys(KINDS, 0)
    for outcome, number in outcomes.items():
        counts[kind(outcome)] += number
    return counts


def draw_hours(width: int, hours: Sequence[Hour]) -> str:
    from figures.frame import Frame
    from figures.hours import CountedHour, stacked
    from figures.theme import LIGHT

    colours = ("responses", "pages", "responses_iw_limited", "hosts")
    named = {label: LIGHT.palette[measure] for label, measure in zip(KINDS.values(), colours, strict=True)}
    counted = [
        CountedHour(at=hour.at, counts={KINDS[kind]: count for kind, count in by_kind(hour.outcomes).items()})
        for hour in hours
    ]
    return drawing.as_svg(stacked(Frame(title="", width=width), counted, named))


@router.get("/crawls/{crawl}/hours.svg", name="hours_svg", response_class=Response)
def hours_svg(request: Request, shelf: ShelfDep, crawl: CrawlPath, width: WidthQuery = WIDE) -> Response:
    """Visits by the hour in which they ended."""
    hours = progress_of(request, shelf, crawl).hours
    if not hours:
        raise Problem("no-such-progress", "no visit of this crawl has ended yet")
    return svg_response(draw_hours, width, hours)
