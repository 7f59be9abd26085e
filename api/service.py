"""What the service answers from, and its kinds of routes: those whose requests need a place, and those whose
answers are kept."""

from __future__ import annotations

import asyncio
import dataclasses
from collections.abc import Callable, Coroutine, Sequence
from typing import Any

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from api.computing import in_turn
from api.contact import Contact
from api.http.clients import client_of
from api.http.links import link_header
from api.kept_answers import GONE, KeptAnswers, coding_of, compress, vary, watch
from api.lab.queue import Queue
from api.rows.query import RowReader
from api.rows.sites import SiteTables
from api.stored.open_releases import OpenReleases
from releases.outside.points import Point


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Service:
    """The parts of the service that routes answer from, as `create_app` makes them."""

    releases: OpenReleases
    rows: RowReader
    sites: SiteTables
    answers: KeptAnswers
    outside: Sequence[Point]
    base_url: str
    """Configured beginning of links."""
    contact: Contact
    lab: Queue | None
    """None where the lab is off."""


def service_of(request: Request) -> Service:
    service: Service = request.app.state.service
    return service


class Placed(APIRoute):
    """A route whose requests need a place, of which each client has a share."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            client = client_of(request.scope)
            with service_of(request).answers.places.take(client) as number, watch(request) as leaving:
                # Parameters are read in the event loop: between two requests of one client it gets to others.
                for _ in range(number):
                    await asyncio.sleep(0)
                return Response(status_code=GONE) if leaving.done() else await handle(request)

        return handler


class Kept(Placed):
    """A route whose answers depend on releases, request and code alone.

    Whoever waits for another client's computation needs no place.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401  # FastAPI's
        super().__init__(path, in_turn(endpoint), **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler behind the kept answers."""
        compute = super().get_route_handler()

        async def handler(request: Request) -> Response:
            async def computed() -> Response:
                response = await compute(request)
                response.headers.setdefault("Link", link_header(request))
                vary(request, response)
                return compress(response) if coding_of(request.scope) else response

            return await service_of(request).answers.answer(request, computed)

        return handler


class KeptFirst:
    """Answers what is kept before routing, and passes its shelf on."""

    def __init__(self, app: ASGIApp, releases: OpenReleases, answers: KeptAnswers) -> None:
        self.app = app
        self._releases = releases
        self._answers = answers

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        shelf = self._releases.recent
        if shelf is None:
            shelf = await run_in_threadpool(self._releases.shelf)
        scope["shelf"] = shelf
        is_asked = scope["method"] in ("GET", "HEAD")
        answer = self._answers.get(self._answers.key(shelf, scope)) if is_asked else None
        if answer is None:
            await self.app(scope, receive, send)
            return
        scope["answered_by"] = answer.route
        await answer(scope, receive, send)
