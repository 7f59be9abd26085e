"""The web service: an application over a folder of releases and a folder of reports."""

from __future__ import annotations

import asyncio
import contextlib
import functools
from collections.abc import AsyncIterator, Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI

from api import home, release_pages
from api.contact import NOBODY, Contact
from api.crawls import routes as crawls
from api.documents import routes as documents
from api.explorer import routes as explorer
from api.finding import routes as finding
from api.http.hosts import Hosts, PlainRequests, trusted_names
from api.http.middleware import CommonHeaders, HeadAsGet, Preflight
from api.http.problems import Overload, answer_with_problems, answer_with_redirects
from api.kept_answers import KeptAnswers
from api.lab.queue import Queue
from api.outside import routes as outside_routes
from api.routes import annual_reports, citations, errata, files, pages, reference, rows, v1, visits
from api.routes import lab as lab_routes
from api.routes.parameters import only_known_parameters, whole_names
from api.rows.query import RowReader
from api.rows.sites import SiteTables
from api.service import KeptFirst, Service
from api.site_pages import history, listing
from api.site_pages import routes as site_pages
from api.statistics import changes, first_flight, series
from api.stored.open_releases import LOOKED_AT_EVERY_S, OpenReleases
from api.stored.prepared import keep_prepared
from releases.outside.points import Point, load_points, to_text

if TYPE_CHECKING:
    from prometheus_client import CollectorRegistry

ROUTERS = (
    v1.router,
    errata.router,
    rows.router,
    finding.router,
    listing.router,
    history.router,
    visits.router,
    series.router,
    changes.router,
    first_flight.router,
    citations.router,
    *outside_routes.ROUTERS,
    documents.router,
    release_pages.router,
    *files.ROUTERS,
    citations.pages,
    *annual_reports.ROUTERS,
    home.router,
    pages.router,
    explorer.router,
    site_pages.router,
    reference.router,
    crawls.router,
    *lab_routes.ROUTERS,
)
"""Routers in the order in which they are asked: the paths of a later one may
include those of an earlier one."""

DESCRIPTION = """How much of the web fits into the first flight of packets: distributions of sizes by crawl,
compared with initial windows. Every answer states its quality, its licence and how to cite it.
Errors are problem details (RFC 9457); unknown parameters are refused."""

A_PROBLEM: dict[str, Any] = {
    "description": "problem details (RFC 9457)",
    "content": {"application/problem+json": {"schema": {"type": "object"}}},
}

PATHS = 4096

PREFLIGHT_S = 86_400
"""Seconds for which a browser keeps the answer to its question before a cross-origin request."""

A_REDIRECT: dict[str, Any] = {
    "description": "the address with the whole name of the crawl, or of the newest version; never cached"
}


@contextlib.asynccontextmanager
async def _until_the_end(app: FastAPI) -> AsyncIterator[None]:
    service: Service = app.state.service
    prepared = service.releases.prepared
    keeping = asyncio.create_task(keep_prepared(prepared, service.releases.shelf)) if prepared else None
    yield
    if keeping is not None:
        keeping.cancel()
        with contextlib.suppress(asyncio.CancelledError):
            await keeping
    if service.lab is not None:
        await service.lab.close()


def create_app(
    releases: Path,
    reports: Path,
    *,
    progress: Path | None = None,
    allowed_signers: Path | None = None,
    prepared: Path | None = None,
    base_url: str = "",
    listens_at: str = "",
    trusted_hosts: Iterable[str] = (),
    metrics: CollectorRegistry | None = None,
    contact: Contact = NOBODY,
    outside_points: Sequence[Point] | None = None,
    lab: Queue | None = None,
    looked_at_every_s: float = LOOKED_AT_EVERY_S,
) -> FastAPI:
    """The application; its folders may be empty or missing.

    `allowed_signers` lists the signers whose signatures are good; `prepared` is a folder for files that are
    made of each release, without which strata and sites are read more slowly. Links begin with `base_url`;
    without it as `api.http.hosts.base_of` says, with the request's host or `listens_at`. Requests must be for
    `trusted_hosts`, the base URL's host or loopback; with neither trusted hosts nor a base URL any host is
    accepted. `metrics` counts the answers; `contact` is shown on the page about the crawler. `outside_points`
    are what others counted; by default the bundled points. `lab` is the queue of pages to be replayed;
    without it the lab is off.
    """
    outside = load_points() if outside_points is None else list(outside_points)
    opened = OpenReleases(
        releases,
        reports,
        progress=progress,
        allowed_signers=allowed_signers,
        prepared=prepared,
        every_s=looked_at_every_s,
    )
    service = Service(
        releases=opened,
        rows=RowReader(opened),
        sites=SiteTables(opened),
        answers=KeptAnswers(depends_on=repr((base_url, contact, to_text(outside), lab is None))),
        outside=outside,
        base_url=base_url,
        contact=contact,
        lab=lab,
    )
    app = FastAPI(
        title="firstflight",
        version="1",
        description=DESCRIPTION,
        license_info={"name": "CC BY 4.0", "url": "https://creativecommons.org/licenses/by/4.0/"},
        # Such a redirect would repeat the Host header.
        redirect_slashes=False,
        # FastAPI's own pages load an external script, and its OpenAPI has no ETag.
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        lifespan=_until_the_end,
        dependencies=[Depends(only_known_parameters), Depends(whole_names)],
        responses={"307": A_REDIRECT, "4XX": A_PROBLEM, "5XX": A_PROBLEM},
    )
    app.state.service = service
    # A route is looked for among all others, which took a fifth of the time of a distribution.
    app.url_path_for = functools.lru_cache(PATHS)(app.url_path_for)  # type: ignore[method-assign]
    for router in ROUTERS:
        app.include_router(router)
    answer_with_problems(app, pages.problem_page)
    answer_with_redirects(app)
    trusted = trusted_names(base_url, trusted_hosts)
    add_layers(app, service, Hosts(trusted=trusted, base_url=base_url, listens_at=listens_at), metrics)
    return app


def add_layers(app: FastAPI, service: Service, hosts: Hosts, metrics: CollectorRegistry | None) -> None:
    app.add_middleware(HeadAsGet)
    # Reading Parquet takes a range of the last bytes of a file, which needs leave.
    app.add_middleware(
        Preflight,
        allow_origins=["*"],
        allow_methods=["GET", "HEAD"],
        allow_headers=["*"],
        max_age=PREFLIGHT_S,
    )
    app.add_middleware(CommonHeaders)
    app.add_middleware(KeptFirst, service.releases, service.answers)
    app.add_middleware(PlainRequests, hosts)
    app.add_middleware(Overload)
    if metrics is not None:
        # Their library takes 3 MB, and few services are metered.
        from api.http.metrics import Metered, count_damaged

        app.add_middleware(Metered, metrics)
        count_damaged(lambda: service.releases.shelf().damaged, metrics)
