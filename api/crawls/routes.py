"""`/crawls`: every crawl that reports to the data folder, and one with its hours, lanes, bounds and
failures. Crawlers write what is shown (storage/progress.py); the service reads no database."""

import dataclasses
import datetime
from collections.abc import Sequence

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from api.axes import Mark
from api.http.problems import Problem
from api.http.redirects import Elsewhere
from api.routes.pages import page
from api.routes.parameters import CrawlPath, ShelfDep
from api.routes.remembered import Remembered
from api.stored.shelf import Shelf
from releases.formatting import grouped
from schema.vocabulary import OUR_FAULT
from storage.progress import Hour, Progress

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

HOUR = datetime.timedelta(hours=1)

KINDS = {
    "ok": "page arrived",
    "answered": "page with an error status",
    "unanswered": "no page",
    "ours": "fault of ours",
}
"""Kinds of outcomes in the order of stacking, and their labels."""

WIDTHS = {"for-desktops": 960, "for-phones": 340}
"""Width of the drawing by the class of screens that show it."""

HEIGHT, LEFT, RIGHT, TOP, BOTTOM = 220, 48, 8, 8, 26

LABEL_WIDTH = 80
"""Room for a label of the time axis."""

HOURS_BETWEEN = (2, 3, 6, 12, 24, 48, 96, 240, 960)
"""Hours between two labels of the time axis."""


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


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Bars:
    """A bar for each hour, stacked by kind."""

    paths: dict[str, str]
    """SVG path data by kind."""
    x_marks: tuple[Mark, ...]
    y_marks: tuple[Mark, ...]
    width: int
    height: int = HEIGHT
    left: int = LEFT
    bottom: int = HEIGHT - BOTTOM

    @property
    def right(self) -> int:
        """Right end of the plot."""
        return self.width - RIGHT


def bars(hours: Sequence[Hour], width: int) -> Bars | None:
    """Draw the hours; None without any."""
    if not hours:
        return None
    counts = [by_kind(hour.outcomes) for hour in hours]
    places = [round((hour.at - hours[0].at) / HOUR) for hour in hours]
    most = round_up(max(sum(count.values()) for count in counts))
    pitch = (width - LEFT - RIGHT) / max(places[-1] + 1, 8)
    thick = round(max(pitch * 0.8, 0.6), 2)
    scale = (HEIGHT - TOP - BOTTOM) / most
    paths = dict.fromkeys(KINDS, "")
    for place, count in zip(places, counts, strict=True):
        x, below = round(LEFT + place * pitch, 2), 0
        for name, number in count.items():
            if number:
                y = round(HEIGHT - BOTTOM - (below + number) * scale, 2)
                paths[name] += f"M{x} {y}h{thick}v{round(number * scale, 2)}h-{thick}z"
                below += number
    return Bars(
        paths={name: path for name, path in paths.items() if path},
        x_marks=_times(hours[0].at, places[-1] + 1, pitch),
        y_marks=tuple(
            Mark(round(HEIGHT - BOTTOM - part * (HEIGHT - TOP - BOTTOM), 1), grouped(round(part * most)))
            for part in (0, 0.5, 1)
        ),
        width=width,
    )


def _times(first: datetime.datetime, hours: int, pitch: float) -> tuple[Mark, ...]:
    """Label the time axis from its beginning, as often as there is room."""
    every = next((step for step in HOURS_BETWEEN if step * pitch >= LABEL_WIDTH), hours)
    form = "%d %b" if every >= 24 else "%d %b %H:00"
    return tuple(
        Mark(round(LEFT + place * pitch, 1), f"{first + place * HOUR:{form}}")
        for place in range(0, hours, every)
        if place == 0 or (hours - place) * pitch >= LABEL_WIDTH
    )


def round_up(number: int) -> int:
    """Return the next even number with one or two significant digits, so that its half is whole.

    >>> [round_up(number) for number in (1, 3, 5, 12, 400, 1101, 1801)]
    [2, 4, 6, 12, 400, 1200, 2000]
    """
    scale = 1
    while True:
        for step in (2, 4, 6, 8, 10, 12, 16):
            if step * scale >= number:
                return step * scale
        scale *= 10
