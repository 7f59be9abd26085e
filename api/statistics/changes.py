"""`/v1/changes`: what changed between two releases over the sites that both have."""

import dataclasses
from collections.abc import Callable
from typing import Annotated, Any, Literal, TypeVar

from fastapi import APIRouter, Depends, Query, Request, Response

from api.formats.offered import CSV, IN_A_TABLE, AskedFormat, as_csv, get_in
from api.http.choices import SEVERAL
from api.http.links import own_link, relate
from api.routes.answers import AnswerModel, Provenance
from api.routes.parameters import CrawlName, MssQuery, PercentQuery, ShelfDep, WindowsQuery
from api.routes.provenance import provenance
from api.service import Kept, service_of
from api.stored.open_releases import OpenReleases, raise_damage
from api.stored.shelf import Version
from recordings.pages.same_sites import values_of
from releases.catalogue import Release
from releases.changes import (
    ENDS,
    MEASURES,
    RESPONSES,
    Change,
    ChangeMeasure,
    End,
    Selection,
    compare_values,
)
from releases.slow_start import MSS_FIG1
from releases.strata.bootstrap import CONFIDENCE, LEAST_SITES

router = APIRouter(prefix="/v1", tags=["v1"], route_class=Kept)

FEW_SITES = f"fewer than {LEAST_SITES} sites have such a response in both releases"

NO_RATIO = "a site's value before is 0, of which there is no ratio"

EVERYTHING = Selection()

Kind: Any = Literal[tuple(RESPONSES)]
Named = Annotated[
    CrawlName,
    Query(description="a release: a crawl by its name, in its newest version, or with /v1 behind it"),
]


class ChangeRow(AnswerModel):
    """One change over the same sites."""

    responses: str
    """The responses that are compared."""
    measure: ChangeMeasure
    iw: int | None
    """Window of a share, in segments; null for other measures."""
    end: End
    """What the sizes hold where a header was not counted."""
    sites: int
    """Number of sites that have such a response in both releases."""
    before: float | None
    """A share, or bytes."""
    after: float | None
    change: float | None = None
    """Difference of a share; for other measures the ratio."""
    lower: float | None = None
    """Lower end of the change's confidence interval."""
    upper: float | None = None
    unknown: str | None = None
    """Why nothing is stated; null if something is."""


class ChangesAnswer(AnswerModel):
    """Changes between two releases over the sites that both have; redirects are left out."""

    before: Provenance
    after: Provenance
    mss: int
    """Payload of a full segment, in bytes."""
    percent: int
    """The quantile in percent."""
    confidence: float
    """Confidence level of the intervals, for which sites are resampled."""
    measures: dict[ChangeMeasure, str]
    """Definitions of the measures."""
    ends: dict[End, str]
    """What a size holds, by end; the truth lies between the two ends."""
    changes: list[ChangeRow]


def row_of(change: Change) -> ChangeRow:
    stated: dict[str, float | str | None]
    if change.change is None:
        stated = {"change": None, "unknown": FEW_SITES if change.sites < LEAST_SITES else NO_RATIO}
    else:
        stated = {
            "change": change.change.estimate,
            "lower": change.change.lower,
            "upper": change.change.upper,
        }
    return ChangeRow(**dataclasses.asdict(change) | stated)


T = TypeVar("T")


def read(releases: OpenReleases, version: Version, compute: Callable[[Release], T]) -> T:
    """Compute something of a release's sites, visits and responses; Problem if it is damaged."""
    release = version.readable
    names = ("site.parquet", "visit.parquet", "response.parquet")
    for name in names:
        releases.file(version, name)
    with raise_damage(*names):
        return compute(release)


def compared(
    request: Request,
    shelf: ShelfDep,
    first: Annotated[Named, Query(alias="from", examples=["2019-12.desktop.aws-us-east-1.tcp.recorded"])],
    last: Annotated[Named, Query(alias="to", examples=["2025-08.desktop.ar-vpn.quic.recorded"])],
    measure: Annotated[
        list[ChangeMeasure],
        Query(min_length=1, max_length=100, description="what is compared; every measure if omitted"),
        SEVERAL,
    ] = [],  # noqa: B006  # FastAPI copies it
    responses: Annotated[
        list[Kind],
        Query(min_length=1, max_length=100, description="these responses; every kind if omitted"),
        SEVERAL,
    ] = [],  # noqa: B006
    iw: WindowsQuery = list(EVERYTHING.windows),  # noqa: B006  # FastAPI copies it
    mss: MssQuery = MSS_FIG1,
    percent: PercentQuery = EVERYTHING.percent,
) -> ChangesAnswer:
    versions = [shelf.find(name) for name in (first, last)]
    relate(
        request,
        "canonical",
        own_link(request, **dict(zip(("from", "to"), (version.name for version in versions), strict=True))),
    )
    asked = Selection(
        windows=tuple(sorted(set(iw))),
        mss=mss,
        percent=percent,
        measures=tuple(dict.fromkeys(measure)) or tuple(MEASURES),
        responses=tuple(dict.fromkeys(responses)) or tuple(RESPONSES),
    )
    before, after = (
        read(service_of(request).releases, version, lambda release: values_of(release, asked))
        for version in versions
    )
    return ChangesAnswer(
        before=provenance(request, versions[0]),
        after=provenance(request, versions[1]),
        mss=mss,
        percent=percent,
        confidence=CONFIDENCE,
        measures=MEASURES,
        ends=ENDS,
        changes=[row_of(change) for change in compare_values(before, after, asked)],
    )


ComparedDep = Annotated[ChangesAnswer, Depends(compared)]


@get_in(router, "/changes", IN_A_TABLE, name="changes", response_model=ChangesAnswer)
async def read_changes(answer: ComparedDep, wanted: AskedFormat) -> ChangesAnswer | Response:
    """What changed between two releases over the sites that both have: shares, quantiles, bytes a page.

    Lists differ, so that only the same sites compare like with like. Recorded sets that come with the code
    know the same site without its name. Redirects are left out, since not every recorder counts them. Of
    fewer than 20 sites nothing is stated.
    """
    return changes_csv(answer) if wanted == CSV else answer


def changes_csv(answer: ChangesAnswer) -> Response:
    ends = {
        "from": f"{answer.before.crawl}/v{answer.before.version}",
        "to": f"{answer.after.crawl}/v{answer.after.version}",
    }
    return as_csv(ends | change.model_dump() for change in answer.changes)
