"""The explorer: distributions of chosen releases beside each other, as a page and as files.

The choice is the URL.
"""

import dataclasses
import itertools
import json
from collections.abc import Iterator, Sequence
from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import HTMLResponse, Response
from pydantic import Field

from api import drawing
from api.charts import NARROW, STYLES, WIDE, Chart
from api.computing import in_turn
from api.explorer.comparison import Comparison, Subject, as_csv, compare, draw_png, listed
from api.explorer.drawing import draw_comparison
from api.explorer.months import OverMonths, SideBySide, draw_months
from api.explorer.strata import FIELDS, chosen_stratum, in_words
from api.http.choices import SEVERAL
from api.http.links import link, relate
from api.http.problems import Problem
from api.routes.files import MEDIA_TYPES
from api.routes.pages import label, page, stated_first
from api.routes.parameters import MeasuresQuery, MssQuery, PinnedShelfDep, ShelfDep
from api.routes.provenance import quality
from api.routes.strata import Asked
from api.routes.works import release_metadata
from api.rows.query import TABLES
from api.service import Kept, service_of
from api.statistics.series import series
from api.stored.months import Variant
from api.stored.shelf import Shelf, Version
from releases.cdf import is_stated
from releases.citation.licences import licence_page
from releases.slow_start import MSS_FIG1, WINDOWS
from releases.strata.bootstrap import CONFIDENCE
from releases.strata.statistics import Statistic
from schema.computed_tables import MEASURES

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Kept)

DEFAULT_MEASURES = ("responses", "responses_iw_limited", "first_flights", "pages")
SEGMENTS = (1220, 1360, 1430, 1448, 1460)
"""Payloads of full segments to choose from, in bytes."""

LEAST_MONTHS = 2
"""Months of which a series is shown."""

POLICY = (
    "default-src 'none'; style-src 'self'; img-src 'self' data:; script-src 'self'; connect-src 'self'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'none'"
)
"""Content-Security-Policy of the page: the service's own script, which asks the service alone."""

FIGURE_POLICY = "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
"""Content-Security-Policy of an SVG, whose styles are within it; other sites may show it."""

FOR_EVER = "public, max-age=31536000, immutable"
"""Cache-Control of what has its version in its address."""

SHOWN = 800
"""Width of the page's figure on a desktop, in CSS pixels."""

MOST_RELEASES = STYLES
"""Releases in one figure: as many as can be told apart."""

# The fields of the form may be empty.
Crawls = Annotated[list[Annotated[str, Field(max_length=200)]], Query(max_length=MOST_RELEASES), SEVERAL]
Windows = Annotated[list[Annotated[int, Field(ge=1, le=1000)]], Query(max_length=8), SEVERAL]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Choice:
    """What the reader chose."""

    releases: list[Version]
    measures: list[str]
    windows: list[int]
    mss: int
    stratum: Asked
    months: dict[Variant, list[Version]]
    """The releases of each crawl's months, the earliest first."""

    def query(self) -> str:
        """The choice as a query, which pins each release and each month's."""
        months = [version.name for month in self.months.values() for version in month]
        return self.among(*self.releases) + "&" + urlencode({"release": months}, doseq=True)

    def among(self, *releases: Version) -> str:
        """The choice with `releases` in place of its own as a query, which pins them,
        and takes the newest of each month."""
        return urlencode(
            [
                *(("crawl", version.name) for version in releases),
                *(("measure", measure) for measure in self.measures),
                ("iw", ",".join(map(str, self.windows))),
                ("mss", self.mss),
                *self.stratum.parameters().items(),
            ]
        )


async def choose(
    request: Request,
    shelf: ShelfDep,
    pinned: PinnedShelfDep,
    stratum: Annotated[Asked, Depends(chosen_stratum)],
    crawl: Crawls = [],  # noqa: B006  # FastAPI copies it
    measure: MeasuresQuery = [],  # noqa: B006
    iw: Windows = [],  # noqa: B006
    mss: MssQuery = MSS_FIG1,
) -> Choice:
    """What the parameters choose; the newest release where they name none."""
    named = list({version.name: version for version in map(shelf.find, crawl)}.values())
    chosen = named or await in_turn(_newest)(request, shelf)
    choice = Choice(
        releases=chosen,
        measures=list(dict.fromkeys(measure)) or await in_turn(_stated)(request, chosen, stratum),
        windows=sorted(set(iw)) or list(WINDOWS[:3]),
        mss=mss,
        stratum=stratum,
        months=_months(pinned, chosen),
    )
    if chosen:
        relate(request, "canonical", f"{link(request, request.scope['route'].name)}?{choice.query()}")
    return choice


def _months(shelf: Shelf, chosen: Sequence[Version]) -> dict[Variant, list[Version]]:
    """The months of each crawl that was chosen; none of one of which the shelf has no release."""
    variants = dict.fromkeys(Variant.of(version.crawl) for version in chosen)
    released = {Variant.of(version.crawl) for version in shelf.versions}
    return {variant: variant.months(shelf) for variant in variants if variant in released}


ChoiceDep = Annotated[Choice, Depends(choose)]


def _newest(request: Request, shelf: Shelf) -> list[Version]:
    return list(itertools.islice(stated_first(request, shelf.newest_sound, DEFAULT_MEASURES), 1))


def _stated(request: Request, chosen: Sequence[Version], stratum: Asked) -> list[str]:
    """Those of the default measures that have the stratum, and whose shares the first release states; if
    there is none, all that have it."""
    counts = service_of(request).releases.counts(chosen[0]) if chosen else {}
    measures = [measure for measure in DEFAULT_MEASURES if stratum.is_of(measure)]
    return [measure for measure in measures if counts and is_stated(counts[measure])] or measures


def _compared(request: Request, chosen: Choice) -> Comparison:
    if not chosen.releases:
        raise Problem("no-such-crawl", "there is no release yet")
    subjects = {
        version.name: {
            measure: _subject(request, chosen.stratum, version, measure) for measure in chosen.measures
        }
        for version in chosen.releases
    }
    return compare(
        subjects,
        measures=chosen.measures,
        windows=chosen.windows,
        mss=chosen.mss,
        stratum=in_words(chosen.stratum),
    )


def _subject(request: Request, stratum: Asked, version: Version, measure: str) -> Subject:
    why = stratum.unknown_in(version) or stratum.lacking_in(measure)
    return why or stratum.subject(request, version, measure)


async def over_months(request: Request, chosen: ChoiceDep) -> SideBySide | None:
    """The first measure that was chosen over the months of each crawl that was chosen.

    None if it lacks the stratum, or if all have one month alone.
    """
    measure = next((measure for measure in chosen.measures if chosen.stratum.is_of(measure)), None)
    if measure is None or all(len(months) < LEAST_MONTHS for months in chosen.months.values()):
        return None
    statistics = [Statistic(name="share", iw=iw, mss=chosen.mss, percent=50) for iw in chosen.windows]
    panels = [
        OverMonths(
            crawl=str(variant),
            windows=tuple(chosen.windows),
            series=tuple(
                [
                    await series(request, months, [statistic], chosen.stratum, measure)
                    for statistic in statistics
                ]
            ),
        )
        for variant, months in chosen.months.items()
    ]
    words = (
        f"Share of {label(measure)} that fits",
        listed([panel.crawl for panel in panels]),
        in_words(chosen.stratum),
    )
    return SideBySide(measure=measure, heading="; ".join(filter(None, words)), panels=tuple(panels))


OverMonthsDep = Annotated[SideBySide | None, Depends(over_months)]


@router.get("/explore", name="explorer")
def explorer(request: Request, shelf: ShelfDep, chosen: ChoiceDep, months: OverMonthsDep) -> Response:
    """The page: the form, the figure, its numbers and its files."""
    what = (chosen.releases, chosen.measures)
    comparison = _compared(request, chosen) if chosen.releases else None
    answer = page(
        request,
        "explore.html",
        chosen=chosen,
        comparison=comparison,
        rows=list(rows_of(*what, chosen.stratum)),
        cited=[release_metadata(request, version) for version in chosen.releases],
        program=write_program(request, *what, chosen.windows, chosen.mss, chosen.stratum),
        address=f"{link(request, 'explorer')}?{chosen.query()}",
        crawls=[version for version in map(shelf.newest, shelf.crawls) if version.is_sound],
        beside=[
            (what, version, chosen.among(*chosen.releases, version))
            for what, version in find_beside(shelf, chosen.releases)
        ],
        levels={quality(version.crawl): version.crawl for version in chosen.releases}.values(),
        measures=MEASURES,
        segments=SEGMENTS,
        fields=FIELDS,
        stratum=chosen.stratum.stratum,
        shown=SHOWN,
        confidence=CONFIDENCE,
        months=months,
    )
    answer.headers["Content-Security-Policy"] = POLICY
    return answer


def svg_response(chart: Chart) -> Response:
    """The answer with a chart as a file of its own."""
    headers = {"Content-Security-Policy": FIGURE_POLICY}
    return Response(chart.svg(), media_type=MEDIA_TYPES[".svg"], headers=headers)


WidthQuery = Annotated[int, Query(ge=NARROW, le=2 * WIDE, description="width in CSS pixels")]


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
def as_svg(request: Request, chosen: ChoiceDep, width: WidthQuery = WIDE) -> Response:
    """The figure as SVG."""
    return svg_response(draw_comparison(_compared(request, chosen), width=width))


@router.get("/explore/months.svg", name="explorer_months", response_class=Response)
def months_as_svg(months: OverMonthsDep, width: WidthQuery = WIDE) -> Response:
    """The figure of shares over months as SVG."""
    if months is None:
        raise Problem("no-such-crawl", "there are fewer than two months of these crawls and this measure")
    return svg_response(draw_months(months, width=width))


@router.get("/explore.png", name="explorer_png", response_class=Response)
def as_png(request: Request, chosen: ChoiceDep, width: WidthQuery = WIDE) -> Response:
    """The figure as PNG."""
    return Response(
        draw_png(draw_comparison(_compared(request, chosen), width=width).svg()),
        media_type=MEDIA_TYPES[".png"],
    )


@router.get("/explore.csv", name="explorer_csv", response_class=Response)
def as_table(request: Request, chosen: ChoiceDep) -> Response:
    """The points of the figure as CSV."""
    return Response(as_csv(_compared(request, chosen)), media_type=MEDIA_TYPES[".csv"])


def find_beside(shelf: Shelf, chosen: Sequence[Version]) -> Iterator[tuple[str, Version]]:
    """Releases to set beside the first that was chosen, with what they are: a year before,
    and other devices."""
    if not chosen:
        return
    crawl = chosen[0].crawl
    wanted = {str(crawl.year_before): "a year before"}
    for version in shelf.versions:
        other = version.crawl
        if other.device != crawl.device and dataclasses.replace(other, device=crawl.device) == crawl:
            wanted[str(other)] = other.device
    taken = {str(version.crawl) for version in chosen}
    for name, what in wanted.items():
        if name in shelf.crawls and name not in taken and shelf.newest(name).is_sound:
            yield what, shelf.newest(name)


ITEMS = "item.parquet"
"""File of a release with every item that its distributions count."""

CALL = '''# pip install duckdb pandas
import urllib.request

import duckdb
import pandas

releases = {{
{releases}
}}
shares = """
    SELECT measure, iw, avg((size_bytes <= iw * {mss})::INTEGER) AS share, count(*) AS items
    FROM read_parquet($file), (VALUES {windows}) AS windows(iw)
    WHERE size_bytes IS NOT NULL AND measure IN ({measures}){stratum}
    GROUP BY ALL ORDER BY ALL
"""
tables = {{}}
for release, address in releases.items():
    file, _ = urllib.request.urlretrieve(address)
    tables[release] = duckdb.execute(shares, {{"file": file}}).df()
table = pandas.concat(tables, names=["release"]).droplevel(1).reset_index()
print(table.to_string(index=False))
'''


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Rows:
    """Rows of a table of a release, filtered as far as the table has the columns."""

    version: Version
    table: str
    query: str
    unfiltered: tuple[str, ...]
    """Dimensions of the choice that the table does not have."""


def table_of(measure: str) -> str:
    """The table whose rows a measure counts.

    >>> table_of("responses_first"), table_of("tls_flights"), table_of("pages")
    ('responses', 'connections', 'visits')
    """
    if measure == "pages":
        return "visits"
    return "responses" if measure.startswith("responses") else "connections"


def rows_of(releases: Sequence[Version], measures: Sequence[str], stratum: Asked) -> Iterator[Rows]:
    """Yield the rows of each release and table that the measures count."""
    fixed = stratum.parameters()
    for version in releases:
        for table in dict.fromkeys(map(table_of, measures)):
            columns = TABLES[table].schema().names
            named = {"crawl": str(version.crawl), "version": version.version}
            filters = {name: value for name, value in fixed.items() if name in columns}
            yield Rows(
                version=version,
                table=table,
                query=urlencode(named | filters),
                unfiltered=tuple(name.replace("_", " ") for name in fixed if name not in columns),
            )


def write_program(
    request: Request,
    releases: Sequence[Version],
    measures: Sequence[str],
    windows: Sequence[int],
    mss: int,
    stratum: Asked,
) -> str:
    """A program in Python that computes the shares again from the items of the releases that have them; empty
    if none has."""
    addresses = [
        (
            release.name,
            link(request, "release_file", crawl=str(release.crawl), version=release.version, name=ITEMS),
        )
        for release in releases
        if ITEMS in release.files
    ]
    if not addresses:
        return ""
    fixed = {"page_kind": "home"} | stratum.parameters()
    return CALL.format(
        releases="\n".join(f"    {json.dumps(name)}: {json.dumps(address)}," for name, address in addresses),
        mss=mss,
        windows=", ".join(f"({iw})" for iw in windows),
        measures=", ".join(f"'{measure}'" for measure in measures),
        stratum="".join(
            f"\n        AND {name} = {value if isinstance(value, int) else repr(value)}"
            for name, value in fixed.items()
        ),
    )
