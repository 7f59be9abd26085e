"""The service: one application over a folder of releases and a folder of reports."""

from __future__ import annotations

from typing import TYPE_CHECKING

from fastapi import Depends, FastAPI
from starlette.staticfiles import StaticFiles

from api.contact import NOBODY
from api.library import Library
from api.metrics import Metered
from api.middleware import CommonHeaders, HeadAsGet
from api.parameters import only_known_parameters
from api.problems import answer_with_problems
from api.routes import crawler, files, pages, v1

if TYPE_CHECKING:
    from pathlib import Path

    from prometheus_client import CollectorRegistry

    from api.contact import Contact

DESCRIPTION = """How much of the web fits into the first flight of packets: distributions of sizes by crawl,
held against initial windows. Every answer says its quality, its licence and how to cite it.
Errors are problems (RFC 9457); unknown parameters are refused."""


def create_app(
    releases: Path,
    reports: Path,
    *,
    progress: Path | None = None,
    metrics: CollectorRegistry | None = None,
    contact: Contact = NOBODY,
) -> FastAPI:
    """The application; its folders may be empty, or not there yet. `metrics` is told of every answer.

    `contact` stands on the page about the crawler.
    """
    app = FastAPI(
        title="firstflight",
        version="1",
        description=DESCRIPTION,
        license_info={"name": "CC BY 4.0", "url": "https://creativecommons.org/licenses/by/4.0/"},
        # FastAPI's own pages load their script from elsewhere.
        docs_url=None,
        redoc_url=None,
        dependencies=[Depends(only_known_parameters)],
        responses={
            "4XX": {
                "description": "a problem (RFC 9457)",
                "content": {"application/problem+json": {"schema": {"type": "object"}}},
            }
        },
    )
    app.state.library = Library(releases_dir=releases, reports_dir=reports, progress_dir=progress)
    app.state.contact = contact
    for router in (v1.router, files.router, pages.router, crawler.router):
        app.include_router(router)
    app.mount("/static", StaticFiles(directory=pages.static_folder()), name="static")
    answer_with_problems(app)
    app.add_middleware(HeadAsGet)
    app.add_middleware(CommonHeaders)
    if metrics is not None:
        app.add_middleware(Metered, metrics)
    return app
