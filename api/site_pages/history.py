"""`/v1/sites/{host}`: a site in every crawl that has a release: its pages, its first flights,
and the windows of its servers."""

import collections
import contextlib
import math
import statistics
from collections.abc import Mapping, Sequence
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import APIRouter, Path, Request
from pydantic import AfterValidator, Field, create_model

from api.formats.offered import IN_JSON, get_in
from api.http.links import link, own_link, relate
from api.http.problems import Elsewhere, Problem
from api.routes.answers import AnswerModel, Provenance, VersionsAside
from api.routes.parameters import PinnedShelfDep
from api.routes.provenance import provenance
from api.routes.v1 import aside
from api.routes.visits import ConnectionFlightAnswer, first_flight, flight_answer
from api.rows.filters import row_fields
from api.rows.query import TABLES
from api.service import Kept, service_of
from api.site_pages.listing import part_of_host, spellings
from api.stored.prepared import DOCUMENT, SITE_COLUMNS, Row
from api.stored.shelf import Version

router = APIRouter(prefix="/v1", tags=["rows"], route_class=Kept)

HostPath = Annotated[
    str,
    AfterValidator(str.lower),
    Path(
        min_length=1,
        max_length=253,
        description="host name of the site, as the list has it, as A-label",
        examples=["example.com"],
    ),
]

SiteVisit: Any = create_model(
    "SiteVisit",
    __doc__="A page load of the site.",
    **row_fields(TABLES["visits"].schema(), SITE_COLUMNS["visit"]),
    url=(str, Field(description="its waterfall")),
)


class WindowAnswer(AnswerModel):
    """Connections whose server had a window."""

    segments: int
    """Initial window in full segments, or its lower bound."""
    most_segments: int | None
    """Its upper bound; null if nothing bounds it."""
    is_exact: bool
    """False if the bounds differ."""
    connections: int


class FirstFlightsAnswer(AnswerModel):
    """First flights of the connections of the final visit, as packets showed them."""

    known: int
    """Connections whose first flight is known."""
    unknown: int
    """Connections whose first flight is not known, which nothing else counts."""
    median_bytes: float | None
    """Null if none is known."""
    most_bytes: int | None
    """Null if none is known."""
    windows: list[WindowAnswer]
    """By size; connections of unknown window are left out."""
    own_windows: list[WindowAnswer]
    """Of connections to the site's own host alone, after redirects."""


DocumentConnection: Any = create_model(
    "DocumentConnection",
    __doc__="The connection of the final visit on which the main document came.",
    **row_fields(TABLES["connections"].schema(), DOCUMENT),
    first_flight=(
        ConnectionFlightAnswer | None,
        Field(description="what the server had to send in its first flight; null over QUIC"),
    ),
)


class SiteCrawlAnswer(AnswerModel):
    """The site in one crawl."""

    crawl: str
    provenance: Provenance
    visits: list[SiteVisit]
    """Every visit to the site, in their order."""
    connections: int | None
    """Connections of the final visit; null without one."""
    responses: int | None
    """Responses that came on them, whole or in part; null without one."""
    protocols: dict[str, int]
    """Connections of the final visit by protocol; unknown where a recording names none."""
    document: DocumentConnection | None
    """Connection of the main document; null where none came over the network."""
    first_flights: FirstFlightsAnswer | None
    """Null without a final visit."""


class SiteAnswer(VersionsAside):
    """A site over time."""

    host: str
    crawls: list[SiteCrawlAnswer]
    """Crawls that visited the site, the newest month first."""


@get_in(router, "/sites/{host}", IN_JSON, name="site")
def site(request: Request, shelf: PinnedShelfDep, host: HostPath) -> SiteAnswer:
    """The site in every crawl that visited it, by the newest version of each release that was not withdrawn,
    or by those that `release` names.

    A crawl whose newest version is damaged is listed as damaged, and not answered from an older version.
    """
    newest = [shelf.newest(crawl) for crawl in shelf.crawls]
    with_rows = [version for version in newest if version.is_sound and "visit.parquet" in version.files]
    crawls = [crawl for version in with_rows if (crawl := _site_in(request, version, host)) is not None]
    if not crawls:
        raise missing(request, newest, host)
    answer = SiteAnswer(host=host, crawls=crawls, **dict(aside(newest)))
    relate(request, "canonical", own_link(request, release=releases_of(answer)))
    return answer


def missing(request: Request, versions: Sequence[Version], host: str) -> Exception:
    """The redirect to the site of another spelling of a host, or the problem with similar names."""
    tables = service_of(request).sites
    tabled = [version for version in versions if tables.has(version)]
    unknown = f"no release has a visit to {host!r}, or the site was withdrawn"
    with contextlib.suppress(ValueError):
        part = part_of_host(host)
        other = tables.find(tabled, spellings(part))
        if other and other != host:
            parameters = request.path_params | {"host": quote(other, safe="")}
            path = request.app.url_path_for(request.scope["route"].name, **parameters)
            query = request.scope["query_string"].decode("latin-1")
            return Elsewhere(f"{path}?{query}" if query else str(path))
        names = tables.similar(tabled, part)
        if names:
            similar = f"{unknown}; similar are {', '.join(names)}"
            return Problem("no-such-site", similar, see=f"/sites?q={quote(part)}", similar=names)
    return Problem("no-such-site", unknown)


def releases_of(answer: SiteAnswer) -> list[str]:
    """Names of the releases that an answer is of, and of those that it lists aside, as
    2026-11.desktop.local.tcp.web/v1."""
    return [
        *(f"{crawl.crawl}/v{crawl.provenance.version}" for crawl in answer.crawls),
        *(f"{release.crawl}/v{release.version}" for release in answer.damaged),
        *(f"{release.crawl}/v{release.version}" for release in answer.withdrawn),
    ]


def _site_in(request: Request, version: Version, host: str) -> SiteCrawlAnswer | None:
    reader = service_of(request).rows
    rows = reader.site(version, host)
    if not rows.visits:
        return None
    final, connections = rows.final, rows.connections
    return SiteCrawlAnswer(
        crawl=str(version.crawl),
        provenance=provenance(request, version),
        visits=[visit | {"url": _page_url(request, visit["id"], version)} for visit in rows.visits],
        connections=len(connections) if final else None,
        responses=sum(connection["response_count"] for connection in connections) if final else None,
        protocols=dict(
            sorted(
                collections.Counter(connection["protocol"] or "unknown" for connection in connections).items()
            )
        ),
        document=_document(connections, rows.responses),
        first_flights=_first_flights(connections, final["final_host"] or host) if final else None,
    )


def _document(connections: Sequence[Row], responses: list[Row]) -> Any:  # noqa: ANN401  # a made model
    own = next(
        (
            connection
            for connection in connections
            if responses and connection["id"] == responses[0]["connection_id"]
        ),
        None,
    )
    if own is None:
        return None
    flight = flight_answer(first_flight(own, responses))
    return DocumentConnection(**{name: own[name] for name in DOCUMENT}, first_flight=flight)


def _page_url(request: Request, visit: int, version: Version) -> str:
    return f"{link(request, 'page_load', visit=visit)}?{urlencode(version.key)}"


def _first_flights(connections: Sequence[Mapping[str, Any]], own_host: str) -> FirstFlightsAnswer:
    known = [
        connection["first_flight_bytes"]
        for connection in connections
        if connection["first_flight_bytes"] is not None
    ]
    return FirstFlightsAnswer(
        known=len(known),
        unknown=len(connections) - len(known),
        median_bytes=statistics.median(known) if known else None,
        most_bytes=max(known, default=None),
        windows=_windows(connections),
        own_windows=_windows([connection for connection in connections if connection["host"] == own_host]),
    )


def _windows(connections: Sequence[Mapping[str, Any]]) -> list[WindowAnswer]:
    counted = collections.Counter(
        (connection["initial_window_segments"], connection["initial_window_most_segments"])
        for connection in connections
        if connection["initial_window_segments"] is not None
    )
    return [
        WindowAnswer(segments=least, most_segments=most, is_exact=least == most, connections=count)
        for (least, most), count in sorted(
            counted.items(), key=lambda item: (item[0][0], item[0][1] or math.inf)
        )
    ]
