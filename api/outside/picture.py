"""The shares that fit over the years as a picture of its own, for the home page and for other sites."""

from fastapi import APIRouter, Request
from fastapi.responses import Response

from api.axes import Mark
from api.explorer.drawing import NARROW, WIDE
from api.explorer.routes import FIGURE_POLICY, WidthQuery
from api.http.problems import Problem
from api.outside import years
from api.routes.files import MEDIA_TYPES
from api.routes.pages import TEMPLATES
from api.routes.parameters import ShelfDep
from api.routes.remembered import Remembered
from releases.chart_theme import HUES

router = APIRouter(include_in_schema=False, route_class=Remembered)

WINDOWS = {3: HUES[3], 10: HUES[0], 30: HUES[1]}
"""Windows of the picture, with their colours on light and on dark ground."""

HEIGHTS = {True: 310, False: 480}
"""Height of the picture for phones and of any other, in CSS pixels."""

LEFT, RIGHT, TOP, BOTTOM = 44, 52, 38, 58
"""What the picture has around its plot, in CSS pixels."""


@router.get("/over-the-years.svg", name="over_the_years_svg", response_class=Response)
def over_the_years_svg(request: Request, shelf: ShelfDep, width: WidthQuery = WIDE) -> Response:
    """Shares of responses that fit into 3, 10 and 30 segments, by year, as SVG."""
    sets = years.recorded_sets(shelf, request.app.state.library)
    if not sets:
        raise Problem("no-such-crawl", "there is no recorded set of another year")
    right, height = width - RIGHT, HEIGHTS[width <= NARROW]

    def x(at: float) -> float:
        return round(LEFT + (at - years.FIRST) / (years.LAST - years.FIRST) * (right - LEFT), 1)

    pairs = years.pairs_of(sets)
    plot = years.share_plot("all", "", sets, pairs, x, top=TOP, bottom=height - BOTTOM)
    drawn = TEMPLATES.get_template("years.svg").render(
        plot=plot,
        width=width,
        height=height,
        left=LEFT,
        right=right,
        x_marks=[Mark(x(year), str(year)) for year in range(years.FIRST, years.LAST + 1, 4)],
        windows=WINDOWS,
        arrows=[arrow for arrow in plot.arrows if arrow.iw in WINDOWS],
        points=[point for point in plot.points if point.iw in WINDOWS],
        services=[service for service in plot.services if service.iw in WINDOWS],
    )
    headers = {"Content-Security-Policy": FIGURE_POLICY}
    return Response(drawn, media_type=MEDIA_TYPES[".svg"], headers=headers)
