"""The service: one application over a folder of releases and a folder of reports."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from fastapi import Depends, FastAPI

from api.contact import NOBODY
from api.held_steps import HeldSteps
from api.hosts import PlainRequests, trusted_names
from api.library import LOOKED_AT_EVERY_S, Library
from api.metrics import Metered
from api.middleware import CommonHeaders, HeadAsGet
from api.parameters import only_known_parameters
from api.problems import answer_with_problems
from api.remembering import Front, Memory
from api.routes import crawler, files, pages, v1

if TYPE_CHECKING:
    from collections.abc import Iterable
    from pathlib import Path

    from prometheus_client import CollectorRegistry

    from api.contact import Contact

DESCRIPTION = """How much of the web fits into the first flight of packets: distributions of sizes by crawl,
held against initial windows. Every answer says its quality, its licence and how to cite it.
Errors are problems (RFC 9457); unknown parameters are refused."""

A_PROBLEM: dict[str, Any] = {
    "description": "a problem (RFC 9457)",
    "content": {"application/problem+json": {"schema": {"type": "object"}}},
}


def create_app(
    releases: Path,
    reports: Path,
    *,
    progress: Path | None = None,
    allowed_signers: Path | None = None,
    answers: Path | None = None,
    base_url: str = "",
    trusted_hosts: Iterable[str] = (),
    metrics: CollectorRegistry | None = None,
    contact: Contact = NOBODY,
    looked_at_every_s: float = LOOKED_AT_EVERY_S,
) -> FastAPI:
    """The application; its folders may be empty, or not there yet.

    `allowed_signers` names whose signatures count, and `answers` is a folder in which answers are kept. Links begin with
    `base_url`; without it they are paths. Requests may be for `trusted_hosts`, for the base URL's and for loopback, and
    without the former two for any. `metrics` is told of every answer; `contact` stands on the page about the crawler.
    """
    library = Library(
        releases,
        reports,
        progress=progress,
        allowed_signers=allowed_signers,
        every_s=looked_at_every_s,
    )
    app = FastAPI(
        title="firstflight",
        version="1",
        description=DESCRIPTION,
        license_info={"name": "CC BY 4.0", "url": "https://creativecommons.org/licenses/by/4.0/"},
        # The redirect would name the host of the request.
        redirect_slashes=False,
        # FastAPI's own pages load their script from elsewhere, and its OpenAPI has no ETag.
        openapi_url=None,
        docs_url=None,
        redoc_url=None,
        dependencies=[Depends(only_known_parameters)],
        responses={"4XX": A_PROBLEM, "5XX": A_PROBLEM},
    )
    app.state.library = library
    app.state.steps = HeldSteps(library)
    app.state.memory = Memory(depends_on=repr((base_url, contact)), disk=answers)
    app.state.base_url = base_url
    app.state.contact = contact
    for router in (v1.router, files.router, pages.router, crawler.router):
        app.include_router(router)
    answer_with_problems(app)
    app.add_middleware(HeadAsGet)
    app.add_middleware(CommonHeaders)
    app.add_middleware(Front, library, app.state.memory)
    app.add_middleware(PlainRequests, trusted_names(base_url, trusted_hosts))
    if metrics is not None:
        app.add_middleware(Metered, metrics)
    return app
