"""`/v1/outside-series` and `/over-the-years`: what others recorded and counted over the years."""

import dataclasses
from collections.abc import Sequence
from typing import Annotated, Literal

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from api.drawing import NARROW, WIDE, Form, WidthQuery, picture_response, svg_response
from api.formats.offered import CSV, IN_A_TABLE, AskedFormat, get_in
from api.formats.offered import as_csv as rows_as_csv
from api.http.links import link, relate
from api.http.problems import Problem
from api.outside import larger_window, years
from api.outside.drawing import (
    SlopeRow,
    draw_lists,
    draw_same_sites,
    draw_weights,
    draw_worth,
    list_rows,
    same_sites_rows,
    weight_pieces,
    worth_rows,
)
from api.outside.years import YearsRow
from api.routes.answers import AnswerModel
from api.routes.pages import page
from api.routes.parameters import ClientQuery, CrawlName, OutsideQuery, ShelfDep
from api.service import Kept, service_of
from api.stored.shelf import Shelf
from releases.changes import END_LABELS, RESPONSES
from releases.citation.licences import licence_page
from releases.formatting import capital, interval_text, quantity
from releases.outside.lines import draw_lines
from releases.outside.points import Point, to_text
from releases.outside.series import BREAKS, CHANGELOG, KINDS, Kind, Statistic

router = APIRouter(route_class=Kept)


class OutsideValue(AnswerModel):
    """The statistics of one date."""

    date: str
    """YYYY-MM-DD, or YYYY-MM where the publisher states no day."""
    client: str
    """`desktop`, `mobile`, or `both` together."""
    scope: str
    """`home`, `inner`, `home+inner`, or `all` (responses, or resources, of all pages)."""
    values: dict[Statistic, float]
    """Quantiles p10 to p90 in `unit`, and a share; an unknown one is missing."""


class OutsideFlag(AnswerModel):
    """A change of the publisher's method: values before and after are not of the same thing."""

    date: str
    clients: list[str]
    said: str


class OutsideSeries(AnswerModel):
    """A series that somebody else counted."""

    id: str
    title: str
    unit: str
    definition: str
    source: str
    """Whence the values are."""
    url: str
    """Page of the publisher."""
    licence: str
    points: list[OutsideValue]
    """In the order of client, scope and date."""
    flags: list[OutsideFlag]
    """The publisher's own breaks within the series."""
    flags_source: str
    """Where the publisher states its breaks."""


class OutsideAnswer(AnswerModel):
    """Series that others counted. They are not comparable with releases, and never joined to them."""

    series: list[OutsideSeries]


class YearsAnswer(AnswerModel):
    """The numbers of the page `/over-the-years`."""

    rows: list[YearsRow]


def choose_points(request: Request, series: Sequence[str] = (), client: str | None = None) -> list[Point]:
    """The points of some series and a client, or all."""
    points: Sequence[Point] = service_of(request).outside
    return [
        point
        for point in points
        if (not series or point.series in series) and (client is None or point.client == client)
    ]


def relate_to_publisher(request: Request, points: Sequence[Point]) -> None:
    """State in the Link header the licences of the series that the points are of,
    and the page that describes them."""
    held = {point.series for point in points}
    for licence in sorted({kind.spdx for kind in KINDS.values() if kind.id in held}):
        relate(request, "license", licence_page(licence))
    relate(request, "describedby", f"{link(request, 'over_the_years')}#series", type="text/html")


def describe(kind: Kind, points: Sequence[Point]) -> OutsideSeries:
    """A series with its points and flags."""
    own = [point for point in points if point.series == kind.id]
    held = {flag.date for line in draw_lines(own, kind.id) for flag in line.breaks}
    return OutsideSeries(
        **dataclasses.asdict(kind),
        points=[OutsideValue.model_validate(point, from_attributes=True) for point in own],
        flags=[
            OutsideFlag(date=mark.date, clients=list(mark.clients), said=mark.text)
            for mark in BREAKS
            if mark.date in held
        ],
        flags_source=CHANGELOG,
    )


@get_in(
    router,
    "/v1/outside-series",
    IN_A_TABLE,
    name="outside_series",
    tags=["v1"],
    response_model=OutsideAnswer,
)
async def read_outside_series(
    request: Request,
    wanted: AskedFormat,
    series: OutsideQuery = [],  # noqa: B006  # FastAPI copies it
    client: ClientQuery = None,
) -> OutsideAnswer | Response:
    """What others counted: HTTP Archive's weights of pages since 2010, with the breaks that it states itself.

    These count other things, by other methods, than releases do: they stand apart from `/v1/series`, and are
    never joined to it. In CSV a row is a point, and an unknown value is empty.
    """
    points = choose_points(request, series, client)
    relate_to_publisher(request, points)
    if wanted == CSV:
        return as_csv(points)
    held = {point.series for point in points}
    return OutsideAnswer(series=[describe(kind, points) for kind in KINDS.values() if kind.id in held])


def as_csv(points: Sequence[Point]) -> Response:
    return Response(to_text(points), media_type="text/csv; charset=utf-8")


@get_in(
    router,
    "/v1/over-the-years",
    IN_A_TABLE,
    name="over_the_years_table",
    tags=["v1"],
    response_model=YearsAnswer,
)
def read_over_the_years(request: Request, shelf: ShelfDep, wanted: AskedFormat) -> YearsAnswer | Response:
    """The numbers of the page `/over-the-years`.

    Shares that fit of recorded sets and of Google's services of 2010, which are not comparable with each
    other, since their lists differ; and changes over the same sites of two sets.
    """
    recorded = years.read_years(shelf, service_of(request).releases)
    rows = [*years.list_rows(recorded.sets, recorded.pairs), *larger_window.list_rows()]
    return rows_as_csv(row.model_dump() for row in rows) if wanted == CSV else YearsAnswer(rows=rows)


@router.get("/over-the-years", name="over_the_years", include_in_schema=False, response_class=HTMLResponse)
def over_the_years(request: Request, shelf: ShelfDep) -> Response:
    """What fits over sixteen years, as others recorded it, and the weight of pages, as others counted it."""
    points = choose_points(request)
    recorded = years.read_years(shelf, service_of(request).releases)
    sets, pairs = recorded.sets, recorded.pairs
    drawn = years.drawn_pairs(pairs)
    relate_to_publisher(request, points)
    dates = sorted(point.date for point in points)
    shown = [
        describe(kind, points) for kind in KINDS.values() if any(point.series == kind.id for point in points)
    ]
    return page(
        request,
        "over_the_years.html",
        drawn=[(pair, describe_rows(same_sites_rows(pair))) for pair in drawn],
        finding=years.finding(drawn[0]) if drawn else "",
        kinds=[kind for kind in SHOWN if any(list_rows(sets, kind))] if sets else [],
        titles=SHOWN,
        end_labels=END_LABELS,
        narrow=NARROW,
        own=years.find_own_months(shelf),
        larger=larger_window.comparisons(),
        compared=larger_window.COMPARED,
        is_worth=larger_window.is_worth,
        with_interval=interval_text,
        sets=sets,
        repeated=[pair for pair in pairs if pair.is_repeated and pair.of("all")],
        table=list(years.tabulate(years.across_years(pairs))),
        mss=years.ASKED.mss,
        windows=years.ASKED.windows,
        series=shown,
        breaks=[mark for mark in BREAKS if dates[0] < mark.date <= dates[-1]],
        last=int(max(at for _, piece in weight_pieces(points) for at, _ in piece)),
        source=CHANGELOG,
    )


def describe_rows(rows: Sequence[SlopeRow]) -> str:
    return "; ".join(f"{row.name} {quantity(row.before, '%')} to {quantity(row.after, '%')}" for row in rows)


SHOWN = {kind: capital(RESPONSES[kind]) for kind in ("all", "image")}
"""Responses that have a figure by list, with its title."""

pictures = APIRouter(
    prefix="/over-the-years", include_in_schema=False, default_response_class=Response, route_class=Kept
)


def _years(request: Request, shelf: Shelf) -> years.Years:
    """The recorded sets; Problem if there are none."""
    recorded = years.read_years(shelf, service_of(request).releases)
    if not recorded.sets:
        raise Problem("no-such-crawl", "there is no recorded set of another year")
    return recorded


SHARES_DRAWN = "Mean over sites of the share of responses that fit; dashed if chance may explain the change."

MARGIN = 4.0
"""Percentage points beyond the least and the largest share of all pairs, whose pictures have one scale."""

BESIDE = 190.0
"""Height of the plots of other pairs than the longest, in pixels."""

TitledQuery = Annotated[bool, Query(description="whether the picture itself says what was found")]
EndQuery = Annotated[
    CrawlName | None,
    Query(description="the release of one end of the line; that of the longest time if omitted"),
]


@pictures.get("/same-sites.{form}", name="same_sites")
def same_sites(
    request: Request,
    shelf: ShelfDep,
    form: Form,
    width: WidthQuery = WIDE,
    titled: TitledQuery = False,
    before: EndQuery = None,
    after: EndQuery = None,
) -> Response:
    """The shares of the same sites in two years."""
    drawn = years.drawn_pairs(_years(request, shelf).pairs)
    chosen = [
        pair
        for pair in drawn
        if all(
            name is None or end.version.name == shelf.find(name).name
            for end, name in ((pair.before, before), (pair.after, after))
        )
    ]
    if not chosen:
        raise Problem("no-such-crawl", "no two such recorded sets have enough sites in common")
    pair = chosen[0]
    ends = [end for each in drawn for row in same_sites_rows(each) for end in (row.before, row.after)]
    return picture_response(
        form,
        draw_same_sites,
        width,
        *pair.months,
        same_sites_rows(pair),
        (years.finding(pair), SHARES_DRAWN, years.source_of(pair)) if titled else ("", "", ""),
        (min(ends) - MARGIN, max(ends) + MARGIN),
        None if pair is drawn[0] else BESIDE,
    )


@pictures.get("/lists-{kind}.svg", name="lists_svg")
def lists_svg(
    request: Request, shelf: ShelfDep, kind: Literal["all", "image"], width: WidthQuery = WIDE
) -> Response:
    """The share that fits into each window, by list."""
    rows = list(list_rows(_years(request, shelf).sets, kind))
    return svg_response(draw_lists, width, rows, "%", "share of responses that fit", (0.0, 100.0))


@pictures.get("/page-weight.svg", name="page_weight_svg")
def page_weight_svg(request: Request, width: WidthQuery = WIDE) -> Response:
    """HTTP Archive's median weight of a page."""
    return svg_response(draw_weights, width, weight_pieces(choose_points(request)))


@pictures.get("/larger-window-{measure}.svg", name="larger_window_svg")
def larger_window_svg(measure: larger_window.Measure, width: WidthQuery = WIDE) -> Response:
    """What a larger window does to the pages of both years, by one measure."""
    rows = list(worth_rows(larger_window.comparisons(), measure))
    return svg_response(draw_worth, width, measure, rows)


ROUTERS = (router, pictures)
