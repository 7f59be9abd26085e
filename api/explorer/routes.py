"""The explorer: distributions side by side, as a page, as a figure for other pages, and as files."""

from __future__ import annotations

import dataclasses
from typing import Annotated

from fastapi import APIRouter, Depends, Request
from fastapi.responses import HTMLResponse, Response

from api import drawing
from api.computing import in_turn
from api.drawing import NARROW, WidthQuery, svg_response
from api.explorer import charts
from api.explorer.charts import DrawnMonths
from api.explorer.choice import (
    BYS,
    FORMS,
    Choice,
    ChoiceDep,
    find_beside,
    find_bys,
    find_figures,
    find_instead,
)
from api.explorer.comparison import Curve, Panel, as_csv, compare, to_draw
from api.explorer.months import OverMonths
from api.explorer.strata import FIELDS, in_words
from api.explorer.taking import CountedRows, rows_of, write_programs
from api.http.links import link, relate
from api.http.problems import Problem
from api.routes.files import MEDIA_TYPES
from api.routes.pages import page
from api.routes.parameters import ShelfDep
from api.routes.provenance import quality
from api.routes.works import Metadata, release_metadata
from api.service import Kept, service_of
from api.statistics.series import series
from api.stored.shelf import Shelf
from releases.citation.licences import licence_page
from releases.strata.bootstrap import CONFIDENCE
from releases.strata.statistics import Statistic
from schema.computed_tables import MEASURES, SIZES

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Kept)

SEGMENTS = (1220, 1360, 1430, 1448, 1460)

LEAST_MONTHS = 2

SCRIPTS = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'; "
    "base-uri 'none'; "
)
POLICY = f"{SCRIPTS}form-action 'self'; frame-ancestors 'none'"

EMBED_POLICY = f"{SCRIPTS}form-action 'none'; frame-ancestors *"
"""The same of what other sites embed."""

FOR_EVER = "public, max-age=31536000, immutable"

DESK = 800

OF_FIGURES = {"PHONE": NARROW, "DESK": DESK, "VEGA": drawing.VEGA}


async def figures(request: Request, choice: ChoiceDep) -> list[Panel]:
    """The figures of a choice; Problem without a release."""
    panels: list[Panel] = await in_turn(_figures)(request, choice)
    return panels


def _figures(request: Request, choice: Choice) -> list[Panel]:
    return [compare(request, choice, lines) for lines in find_figures(request, choice)]


FiguresDep = Annotated[list[Panel], Depends(figures)]


async def over_months(request: Request, choice: ChoiceDep) -> list[OverMonths]:
    """The first chosen measure over the months of each chosen crawl that has several."""
    sizes = (measure for measure in choice.measures if measure in SIZES)
    measure = next((measure for measure in sizes if choice.stratum.is_of(measure)), None)
    if measure is None:
        return []
    statistics = [Statistic(name="share", iw=iw, mss=choice.mss, percent=50) for iw in choice.windows]
    return [
        OverMonths(
            crawl=str(variant),
            windows=tuple(choice.windows),
            series=tuple(
                [
                    await series(request, months, [statistic], choice.stratum, measure)
                    for statistic in statistics
                ]
            ),
        )
        for variant, months in choice.months.items()
        if len(months) >= LEAST_MONTHS
    ]


MonthsDep = Annotated[list[OverMonths], Depends(over_months)]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Shown:
    """A figure of the page, with what readers take from it."""

    panel: Panel
    query: str
    address: str
    embed: str
    rows: list[CountedRows]
    programs: dict[str, str]
    cited: list[Metadata]
    instead: list[tuple[Curve, str, str]]
    """Curves of which nothing is known, with the measure and choice to take instead."""


def _shown(request: Request, panel: Panel) -> Shown:
    query, choice = panel.query(), panel.choice
    versions = {curve.line.version.name: curve.line.version for curve in panel.curves}
    instead = [
        (curve, measure, choice.among(*choice.releases, measures=[*choice.measures, measure]))
        for curve in panel.curves
        if not curve.is_drawn and (measure := find_instead(request, curve.line))
    ]
    return Shown(
        panel=panel,
        query=query,
        address=f"{link(request, 'explorer')}?{panel.alone.query()}",
        embed=f"{link(request, 'explorer_embed')}?{query}",
        rows=list(rows_of(panel)),
        programs=write_programs(request, panel),
        cited=[release_metadata(request, version) for version in versions.values()],
        instead=instead,
    )


@router.get("/explore", name="explorer")
async def explorer(request: Request, shelf: ShelfDep, choice: ChoiceDep, months: MonthsDep) -> Response:
    """The page: the form, the figures, their numbers and their files."""
    panels = await figures(request, choice) if choice.releases else []
    answer: Response = await in_turn(_page)(request, shelf, choice, panels, months)
    return answer


def _page(
    request: Request, shelf: Shelf, choice: Choice, panels: list[Panel], months: list[OverMonths]
) -> Response:
    answer = page(
        request,
        "explore.html",
        choice=choice,
        figures=[_shown(request, panel) for panel in panels],
        crawls=[version for version in map(shelf.newest, shelf.crawls) if version.is_sound],
        beside=[
            (what, version, choice.among(*choice.releases, version))
            for what, version in find_beside(shelf, choice.releases)
        ],
        bys={by: BYS[by] for by in find_bys(request, shelf, choice)},
        forms=FORMS,
        qualities={quality(version.crawl): version.crawl for version in choice.releases}.values(),
        measures=MEASURES,
        segments=SEGMENTS,
        fields=FIELDS,
        stratum=choice.stratum.stratum,
        in_words=in_words(choice.stratum),
        confidence=CONFIDENCE,
        months=months,
        **OF_FIGURES,
    )
    answer.headers["Content-Security-Policy"] = POLICY
    return answer


@router.get("/explore/embed", name="explorer_embed")
def embed(request: Request, panels: FiguresDep) -> Response:
    """The first figure for an `<iframe>` of another site, with its citation."""
    answer = page(request, "explore_embed.html", figure=_shown(request, panels[0]), **OF_FIGURES)
    answer.headers["Content-Security-Policy"] = EMBED_POLICY
    return answer


@router.get("/explore/vega-embed-{version}.js", name="vega", response_class=Response)
def vega(request: Request, version: str) -> Response:
    """Vega for the figures of pages, at an address that changes with its content."""
    if version != drawing.VEGA:
        raise Problem("not-found", f"there is no Vega-Embed of vl-convert {version!r}, but of {drawing.VEGA}")
    relate(request, "license", licence_page("BSD-3-Clause"))
    prepared = service_of(request).releases.prepared
    return Response(
        drawing.library(prepared.folder if prepared else None),
        media_type=MEDIA_TYPES[".js"],
        headers={"Cache-Control": FOR_EVER},
    )


@router.get("/explore.svg", name="explorer_svg", response_class=Response)
def as_svg(panels: FiguresDep, width: WidthQuery = DESK) -> Response:
    """The first figure as SVG."""
    return svg_response(charts.as_svg, to_draw(panels[0]), width)


@router.get("/explore.png", name="explorer_png", response_class=Response)
def as_png(panels: FiguresDep, width: WidthQuery = DESK) -> Response:
    """The first figure as PNG."""
    return Response(drawing.draw(charts.as_png, to_draw(panels[0]), width), media_type=MEDIA_TYPES[".png"])


@router.get("/explore.json", name="explorer_vega_lite", response_class=Response)
def as_vega_lite(panels: FiguresDep, width: WidthQuery = DESK) -> Response:
    """The first figure as Vega-Lite with its data."""
    drawn = drawing.draw(charts.as_vega_lite, to_draw(panels[0]), width)
    return Response(drawn, media_type=MEDIA_TYPES[".json"])


@router.get("/explore.csv", name="explorer_csv", response_class=Response)
def as_table(panels: FiguresDep) -> Response:
    """What the figures draw as CSV."""
    return Response(as_csv(panels), media_type=MEDIA_TYPES[".csv"])


@router.get("/explore/months.svg", name="explorer_months", response_class=Response)
def months_as_svg(choice: ChoiceDep, months: MonthsDep, width: WidthQuery = DESK) -> Response:
    """The figure of shares over the months of the first crawl as SVG."""
    return svg_response(charts.months_as_svg, _to_draw(choice, months), width)


@router.get("/explore/months.json", name="explorer_months_vega_lite", response_class=Response)
def months_as_vega_lite(choice: ChoiceDep, months: MonthsDep, width: WidthQuery = DESK) -> Response:
    """The same as Vega-Lite with its data."""
    drawn = drawing.draw(charts.months_as_vega_lite, _to_draw(choice, months), width)
    return Response(drawn, media_type=MEDIA_TYPES[".json"])


def _to_draw(choice: Choice, months: list[OverMonths]) -> DrawnMonths:
    if not months:
        raise Problem("no-such-crawl", "there are fewer than two months of these crawls and this measure")
    return months[0].to_draw(in_words(choice.stratum))
