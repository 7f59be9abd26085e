"""Parameters of the routes: their types, defaults and checks."""

import re
from collections.abc import Iterator
from typing import Annotated, Any, Literal, get_origin
from urllib.parse import quote

from fastapi import Depends, Path, Query, Request
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute
from pydantic import Field
from starlette.convertors import IntegerConvertor, register_url_convertor

from api.http.choices import SEVERAL
from api.http.problems import Elsewhere, Problem
from api.rows.cursors import LONGEST
from api.stored.months import ANY
from api.stored.shelf import Shelf
from releases.outside.series import KINDS
from releases.slow_start import MSS_FIG1, WINDOWS
from releases.strata.statistics import StatisticName
from schema.computed_tables import MEASURES, SIZES
from storage.report_versions import YEAR

DEFAULT_WINDOWS = WINDOWS[:2]

PAGE_RELEASES = 100

MOST_RELEASES = 1000


async def shelf(request: Request) -> Shelf:
    current: Shelf = request.scope["shelf"]
    return current


async def only_known_parameters(request: Request) -> None:
    """Refuse unknown parameters, and several values of one.

    A misspelt parameter would otherwise be answered with the default.
    """
    route, path = request.scope["route"], request.scope["path"]
    known = dict(query_parameters(route.dependant)) if isinstance(route, APIRoute) else {}
    for name in request.query_params:
        if name not in known:
            takes = f"takes {', '.join(sorted(known))}" if known else "takes none"
            raise Problem("unknown-parameter", f"unknown parameter {name!r}: {path} {takes}")
        if len(request.query_params.getlist(name)) > 1 and not known[name]:
            raise Problem(
                "bad-parameter", f"parameter {name!r} was given more than once, and takes one value"
            )


def query_parameters(dependant: Dependant) -> Iterator[tuple[str, bool]]:
    """Query parameters of a route and of what it depends on; True for those that may be repeated."""
    yield from (
        (field.alias, get_origin(field.field_info.annotation) is list) for field in dependant.query_params
    )
    for other in dependant.dependencies:
        yield from query_parameters(other)


NUMBERS = frozenset({"version", "visit"})

NUMBER = re.compile(r"\s*\+?0*([1-9][0-9]*)(?:\.0*)?\s*")


async def whole_names(request: Request) -> None:
    """Redirect short names, and numbers or hosts written otherwise, to the path that alone identifies
    them.

    A name that means no released crawl is left to the route.
    """
    current: Shelf = request.scope["shelf"]
    in_path = {name: _whole(current, name, value) for name, value in request.path_params.items()}
    if in_path == request.path_params:
        return
    named = {name: quote(str(value)) for name, value in in_path.items()}
    path = request.app.url_path_for(request.scope["route"].name, **named)
    raise Elsewhere(f"{path}?{request.url.query}" if request.url.query else str(path))


def _whole(shelf: Shelf, name: str, value: Any) -> Any:  # noqa: ANN401  # a path's parameter is text, or what its convertor makes of it
    if name == "crawl":
        return shelf.whole_name(value)
    if name == "host":
        return value.lower().removesuffix(".")  # names of hosts have no case (RFC 4343)
    number = NUMBER.fullmatch(value) if name in NUMBERS and isinstance(value, str) else None
    return number[1] if number else value


Measure: Any = Literal[tuple(MEASURES)]

Size: Any = Literal[tuple(SIZES)]

ShelfDep = Annotated[Shelf, Depends(shelf)]
MOST_PINNED = 120
"""Ten years of months."""

NAME_WITH_VERSION = {"pattern": r"^[^,/\s]+/v[1-9][0-9]{0,3}$"}

PinnedQuery = Annotated[
    list[Annotated[str, Field(max_length=200, json_schema_extra=NAME_WITH_VERSION)]],
    SEVERAL,
    Query(
        min_length=1,
        max_length=MOST_PINNED,
        description="releases to read, each as the crawl's whole name with a version, for an answer that "
        "later releases do not change; the newest version of each crawl if omitted",
        examples=[["2026-11.desktop.local.tcp.web/v1"]],
    ),
]


async def pinned_shelf(current: ShelfDep, release: PinnedQuery = []) -> Shelf:  # noqa: B006  # FastAPI copies it
    """The shelf with the releases that the request names, or all."""
    return current.only(release) if release else current


PinnedShelfDep = Annotated[Shelf, Depends(pinned_shelf)]
NAME_OF_A_CRAWL = (
    "name of a crawl, month.device.vantage.arm.kind, or its first parts: the others are desktop, local, tcp "
    "and web, or, without a version, those of the only crawl whose name begins so"
)
CrawlName = Annotated[
    str,
    Field(max_length=200, description=NAME_OF_A_CRAWL, examples=["2026-11.desktop.local.tcp.web"]),
]
NEWEST = "the newest sound crawl of the best quality"
CrawlQuery = Annotated[
    CrawlName | None,
    Query(description=f"{NAME_OF_A_CRAWL}; perhaps with a version behind it, as /v1; {NEWEST} if omitted"),
]
AnyCrawlQuery = Annotated[CrawlName | None, Query(description=f"{NAME_OF_A_CRAWL}; every crawl if omitted")]
CrawlPath = Annotated[CrawlName, Path()]
VersionPath = Annotated[int, Path(ge=1, description="version of the release", examples=[1])]
VersionQuery = Annotated[
    int | None,
    Query(
        ge=1, description="version of the release; the newest that was not withdrawn if omitted", examples=[1]
    ),
]
AfterQuery = Annotated[
    str | None,
    Query(
        max_length=100,
        description="name of the release behind which a page begins, by `next`",
        json_schema_extra=NAME_WITH_VERSION,
        examples=["2026-11.desktop.local.tcp.web/v1"],
    ),
]
LimitQuery = Annotated[int, Query(ge=1, le=MOST_RELEASES, description="releases of a page")]
PAGE_ROWS = 100

RowLimitQuery = Annotated[
    int | None,
    Query(
        ge=1,
        le=10_000,
        description=f"rows of a page; {PAGE_ROWS} in JSON if omitted, all rows in the other formats",
    ),
]
CursorQuery = Annotated[str | None, Query(max_length=LONGEST, description="where a page begins, by `next`")]
OutsideSeries: Any = Literal[tuple(KINDS)]
OutsideQuery = Annotated[
    list[OutsideSeries],
    Query(min_length=1, max_length=100, description="outside series; all if omitted"),
    SEVERAL,
]
ClientQuery = Annotated[
    Literal["desktop", "mobile", "both"] | None,
    Query(description="points of this client; of every client if omitted"),
]
WindowsQuery = Annotated[
    list[Annotated[int, Field(ge=1, le=1000)]],
    Query(min_length=1, max_length=20, description="initial windows in segments", examples=[[3, 10, 16]]),
    SEVERAL,
]
MeasuresQuery = Annotated[
    list[Measure],
    Query(max_length=100, description="measures; all if omitted"),
    SEVERAL,
]
MssQuery = Annotated[
    int, Query(ge=1, le=65_495, description="payload of a full segment, in bytes", examples=[MSS_FIG1])
]
SizesQuery = Annotated[
    list[Size],
    Query(max_length=100, description="measures of size; all if omitted"),
    SEVERAL,
]
OneMeasureQuery = Annotated[
    Measure,
    Query(description="a measure"),
]
OneSizeQuery = Annotated[
    Size,
    Query(description="a measure of size"),
]
OneWindowQuery = Annotated[int, Query(ge=1, le=1000, description="initial window in segments, of a share")]
PercentQuery = Annotated[int, Query(ge=1, le=100, description="the quantile in percent, of a quantile")]
PercentsQuery = Annotated[
    list[Annotated[int, Field(ge=1, le=100)]],
    Query(min_length=1, max_length=20, description="quantiles in percent, of the statistic quantile"),
    SEVERAL,
]
StatisticQuery = Annotated[
    StatisticName,
    Query(description="share of the items that fit into the window, quantile or mean of their sizes"),
]
MonthQuery = Annotated[
    str | None,
    Query(
        pattern=r"^[0-9]{4}-(0[1-9]|1[0-2])$",
        description="a month that the series begins or ends with; its own first or last if omitted",
        examples=["2026-11"],
    ),
]
PartQuery = Annotated[
    str | None,
    Query(
        max_length=100,
        description=f"this part of the name of the crawls; if omitted, that of {NEWEST}",
    ),
]
VantageQuery = Annotated[
    str | None,
    Query(
        max_length=100,
        description=f"vantage of the crawls; `{ANY}` takes every month's, and flags where it changes",
    ),
]
PointsQuery = Annotated[
    int, Query(ge=2, le=5000, description="approximate number of steps to return of each exact CDF")
]


class VersionConvertor(IntegerConvertor):
    """A version's number in a path."""

    regex = "[1-9][0-9]{0,3}"


register_url_convertor("version", VersionConvertor())

ReportVersionPath = Annotated[int, Path(ge=1, le=9999, description="version of the report", examples=[1])]
FilePath = Annotated[str, Path(description="name of the file, as SHA256SUMS lists it")]
YearPath = Annotated[
    str,
    Path(pattern=rf"^{YEAR.pattern}$", description="a year, or the edition of one", examples=["2026"]),
]
