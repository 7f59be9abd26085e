"""`/crawls`: every crawl that reports to the data folder, and one with its hours, lanes, bounds and
failures. Crawlers write what is shown (storage/progress.py); the service reads no database."""

import datetime
import functools
from collections.abc import Sequence

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from api.charts import Chart, Mark, Plot, Scale, for_screens, path, plot_width, round_axis, steps_between
from api.http.problems import Elsewhere, Problem
from api.routes.pages import page
from api.routes.parameters import CrawlPath, ShelfDep
from api.service import Kept
from api.stored.shelf import Shelf
from releases.formatting import grouped
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
"""Hours in the table below the figure, the last ones."""

HOUR = datetime.timedelta(hours=1)

KINDS = {
    "ok": "page arrived",
    "answered": "page with an error status",
    "unanswered": "no page",
    "ours": "fault of ours",
}
"""Kinds of outcomes in the order of stacking, and their labels."""

HEIGHT = 190
"""Height of the plot of outcomes, in CSS pixels."""

LEAST_HOURS = 8
"""Hours that the plot has room for, however few there are."""

LABEL_WIDTH = 80
"""Room for a label of the time axis."""

HOURS_BETWEEN = (2, 3, 6, 12, 24, 48, 96, 240, 960)
"""Hours between two labels of the time axis."""


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
        charts=for_screens(functools.partial(draw_hours, progress.hours)) if progress.hours else [],
        kinds=KINDS,
        counts=[(hour.at, by_kind(hour.outcomes)) for hour in progress.hours[: -HOURS_LISTED - 1 : -1]],
        bounds=BOUNDS,
        is_released=crawl in shelf.crawls,
    )


def progress_of(request: Request, shelf: Shelf, crawl: str) -> Progress:
    """The progress of the crawl of that name; a short name that means one redirects to the whole one."""
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


def draw_hours(hours: Sequence[Hour], width: int) -> Chart:
    """The chart of outcomes: a bar for each hour, stacked by kind."""
    counts = [by_kind(hour.outcomes) for hour in hours]
    places = [round((hour.at - hours[0].at) / HOUR) for hour in hours]
    step, _, most = round_axis(0, max(2, *(sum(count.values()) for count in counts)), steps=2)
    x = Scale(low=0, high=max(places[-1] + 1, LEAST_HOURS), length=plot_width(width))
    y = Scale(low=most, high=0, length=HEIGHT)
    plot = Plot(width=x.length, height=HEIGHT)
    levels = [Mark(y(value), grouped(round(value))) for value in steps_between(step, 0, most)]
    plot.add_axes(label_hours(hours[0].at, places[-1] + 1, x), levels, is_left=True)
    thick = round(max(0.8 * x.length / x.high, 0.6), 2)
    for place, kind in enumerate(KINDS):
        below = [sum(list(count.values())[:place]) for count in counts]
        bars = "".join(
            f"M{round(hour / x.high * x.length, 2)} {y(base + count[kind])}h{thick}V{y(base)}h-{thick}z"
            for hour, base, count in zip(places, below, counts, strict=True)
            if count[kind]
        )
        if bars:
            plot.add(path(bars, kind))
    title = "Visits by the hour in which they ended; the table below has the numbers"
    return Chart(title=title, width=width, plots=[plot])


def label_hours(first: datetime.datetime, hours: int, x: Scale) -> list[Mark]:
    """Return the labels of the time axis, from its beginning and as often as there is room."""
    pitch = x.length / x.high
    every = next((step for step in HOURS_BETWEEN if step * pitch >= LABEL_WIDTH), hours)
    form = "%d %b" if every >= 24 else "%d %b %H:00"
    return [
        Mark(round(place * pitch, 1), f"{first + place * HOUR:{form}}")
        for place in range(0, hours, every)
        if place == 0 or (hours - place) * pitch >= LABEL_WIDTH
    ]
