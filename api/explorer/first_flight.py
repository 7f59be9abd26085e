"""`/v1/first-flight`: the share that fits into one window, at an address that stays,
as numbers and as a figure."""

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any

from fastapi import APIRouter, Depends, Path, Request, Response
from fastapi.concurrency import run_in_threadpool
from pydantic import BaseModel, Field

from api.explorer.comparison import Comparison, compare
from api.explorer.files import as_csv, png
from api.explorer.routes import FIGURE_POLICY, figure_svg
from api.explorer.strata import in_words
from api.formats.negotiation import FIRST_FLIGHT, PNG, SVG, choose
from api.formats.offered import CSV, JSON, Format, not_offered
from api.http.links import link, relate
from api.http.problems import Problem
from api.routes.answers import Provenance
from api.routes.parameters import DEFAULT_WINDOWS, MssQuery, OneMeasureQuery, OneWindowQuery
from api.routes.provenance import AskedRelease, provenance
from api.routes.remembered import Remembered
from api.routes.strata import Asked, AskedStratum
from api.statistics.series import estimated
from api.stored.shelf import Version
from releases.slow_start import MSS_FIG1
from releases.strata.bootstrap import CONFIDENCE
from releases.strata.statistics import Estimate, Statistic
from schema.computed_tables import MEASURES

router = APIRouter(prefix="/v1", tags=["v1"], route_class=Remembered)

WIDTH = 720
"""Width of the figure, in CSS pixels."""


class FirstFlightAnswer(BaseModel):
    """The share of the items of a measure and stratum that fit into one window of full segments."""

    provenance: Provenance
    measure: str
    definition: str
    stratum: dict[str, str | int] = Field(
        description="value of each dimension that was asked for; empty for every item of home pages"
    )
    iw: int = Field(description="window in segments")
    mss: int = Field(description="payload of a full segment, in bytes")
    window_bytes: int = Field(description="iw times mss")
    share: float | None = Field(description="share of the items of known size; null if it is unknown")
    share_unknown: str | None = Field(description="why the share is unknown; null if it is known")
    lower: float | None = Field(description="lower end of the share's confidence interval, over sites")
    upper: float | None = Field(description="upper end of the share's confidence interval")
    interval_unknown: str | None = Field(description="why the interval is unknown; null if it is known")
    confidence: float = Field(description="confidence level of the interval")
    known: int = Field(description="number of items of known size")
    unknown: int = Field(description="number of items of unknown size, which the share leaves out")
    sites: int | None = Field(description="number of sites with an item of known size; null if unknown")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """The share that was asked for."""

    version: Version
    stratum: Asked
    measure: str
    iw: int
    mss: int
    share: Estimate


async def found(
    request: Request,
    version: AskedRelease,
    stratum: AskedStratum,
    measure: OneMeasureQuery = "responses",
    iw: OneWindowQuery = DEFAULT_WINDOWS[-1],
    mss: MssQuery = MSS_FIG1,
) -> Found:
    """The share that the parameters ask for; links of the answer lead to the method."""
    stratum.check(measure)
    statistic = Statistic(name="share", iw=iw, mss=mss, percent=50)
    share = await estimated(request, version, statistic, measure, stratum)
    relate(request, "describedby", link(request, "document", name="methods"), type="text/html")
    return Found(version=version, stratum=stratum, measure=measure, iw=iw, mss=mss, share=share)


FoundDep = Annotated[Found, Depends(found)]


def _content(*formats: Format) -> dict[int | str, dict[str, Any]]:
    """OpenAPI's answer of a route that answers in these formats."""
    said = "; ".join(f"{format_.media_type}: {format_.means}" for format_ in formats if format_ != JSON)
    content: dict[str, Any] = {format_.media_type: {} for format_ in formats}
    return {200: {"description": said or "the numbers", "content": content}}


@router.get(
    "/first-flight",
    name="first_flight",
    response_model=FirstFlightAnswer,
    responses=_content(JSON, CSV, SVG, PNG),
)
async def by_header(request: Request, found: FoundDep) -> FirstFlightAnswer | Response:
    """The share that fits into a window of `iw` segments of `mss` bytes,
    with its confidence interval over sites.

    In JSON, unless the Accept header prefers the figure (`image/svg+xml`, `image/png`) or its data
    (`text/csv`). The same address with `.json`, `.csv`, `.svg` or `.png` after `first-flight` is in
    that format. What is not offered has status 406.
    """
    drawn = FIGURES.get(choose(request.scope) or JSON)
    if drawn is None:
        return in_numbers(request, found)
    comparison = await run_in_threadpool(compared, request, found)
    return await run_in_threadpool(drawn, comparison)


@router.get("/first-flight.json", name="first_flight_json")
async def as_json(request: Request, found: FoundDep) -> FirstFlightAnswer:
    """The share that fits into the window, with its confidence interval over sites,
    whatever the Accept header says."""
    return in_numbers(request, found)


def in_numbers(request: Request, found: Found) -> FirstFlightAnswer:
    """The share that was found, with what it is of."""
    version = found.version
    return FirstFlightAnswer(
        provenance=provenance(request, version),
        measure=found.measure,
        definition=MEASURES[found.measure],
        stratum=found.stratum.parameters(),
        iw=found.iw,
        mss=found.mss,
        window_bytes=found.iw * found.mss,
        share=found.share.value,
        share_unknown=found.share.value_unknown,
        lower=found.share.lower,
        upper=found.share.upper,
        interval_unknown=found.share.interval_unknown,
        confidence=CONFIDENCE,
        known=found.share.known,
        unknown=found.share.unknown,
        sites=found.share.sites,
    )


def compared(request: Request, found: FoundDep) -> Comparison:
    """The CDF of what was asked for with its window; Problem if the release does not know it."""
    why = found.stratum.unknown_in(found.version)
    if why is not None:
        raise Problem("bad-parameter", f"nothing can be drawn: {why}")
    subject = found.stratum.subject(request, found.version, found.measure)
    return compare(
        {found.version.name: {found.measure: subject}},
        measures=[found.measure],
        windows=[found.iw],
        mss=found.mss,
        stratum=in_words(found.stratum),
    )


ComparedDep = Annotated[Comparison, Depends(compared)]


@router.get("/first-flight.csv", name="first_flight_csv", response_class=Response, responses=_content(CSV))
def as_table(comparison: ComparedDep) -> Response:
    """The points of the figure as CSV; the row of the window has the share's interval."""
    return Response(as_csv(comparison), media_type="text/csv; charset=utf-8")


@router.get("/first-flight.svg", name="first_flight_svg", response_class=Response, responses=_content(SVG))
def as_svg(comparison: ComparedDep) -> Response:
    """The CDF and the window as SVG, to be embedded."""
    headers = {"Content-Security-Policy": FIGURE_POLICY}
    return Response(figure_svg(comparison, WIDTH), media_type="image/svg+xml", headers=headers)


@router.get("/first-flight.png", name="first_flight_png", response_class=Response, responses=_content(PNG))
def as_png(comparison: ComparedDep) -> Response:
    """The CDF and the window as PNG."""
    return Response(png(figure_svg(comparison, WIDTH)), media_type="image/png")


FIGURES: dict[Format, Callable[[Comparison], Response]] = {CSV: as_table, SVG: as_svg, PNG: as_png}
"""What draws the figure, or writes its data, for the formats that the Accept header chooses."""


@router.get("/first-flight.{suffix}", name="first_flight_as", include_in_schema=False)
async def as_another(suffix: Annotated[str, Path(max_length=100)], found: FoundDep) -> None:  # noqa: ARG001  # its parameters are known
    """Problem: the format is not offered."""
    raise not_offered(f".{suffix}", FIRST_FLIGHT)
