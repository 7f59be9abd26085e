"""Caches answers that depend only on files that never change, under a strong ETag."""

from __future__ import annotations

import asyncio
import contextlib
import hashlib
from collections.abc import Awaitable, Callable, Coroutine, Iterator
from typing import Any

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from api.caching import Bounded
from api.code_version import code_version
from api.computing import Computations, busy, in_turn
from api.http import compression
from api.http.clients import client_of
from api.http.etags import ANY, CACHE_CONTROL, is_known, not_modified
from api.http.links import link_header
from api.http.middleware import HEADERS
from api.http.places import Places
from api.stored.library import Library
from api.stored.shelf import Shelf

MEMORY_BYTES = 48 * 1024 * 1024
"""Maximum size of all answers in memory."""

AT_ONCE = 2
"""Answers computed at the same time, one of each client; more would compete for the same interpreter."""

PLACES, PLACES_EACH = 256, 64
"""Requests that are computed or wait for it at the same time, and one client's; further ones are refused with
Retry-After."""

GONE = 499
"""Status of what is not answered, since the client is gone; nobody but the metrics sees it."""

OF_THE_MOMENT = frozenset({"/", "/v1/progress", "/v1/progress.json", "/crawls"})
"""Paths that show running crawls, which change every few seconds."""


def is_of_the_moment(path: str) -> bool:
    """Return whether the answer at a path depends on the progress of crawls.

    >>> is_of_the_moment("/crawls/2026-11.desktop.local.tcp.web"), is_of_the_moment("/v1/crawls")
    (True, False)
    """
    return path in OF_THE_MOMENT or path.startswith("/crawls/")


class Answer(Response):
    """A complete answer with the common headers, as it is kept; a client that has it gets 304."""

    def __init__(self, response: Response, *, route: str, key: str) -> None:
        """The answer for a response of `route`, by which the metrics count it."""
        super().__init__(response.body, response.status_code)
        self.raw_headers = response.raw_headers
        self.headers["ETag"] = f'"{key}"'
        for name, value in {**HEADERS, "Cache-Control": CACHE_CONTROL}.items():
            self.headers.setdefault(name, value)
        self.route = route
        self.etag = f'"{key}"'

    @property
    def size(self) -> int:
        """Approximate memory that the answer takes, in bytes."""
        return len(self.body) + sum(len(name) + len(value) for name, value in self.raw_headers) + 500

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  # ASGI
        """ASGI."""
        status, headers, body = self.status_code, self.raw_headers, self.body
        if is_known(scope, self.etag, ANY):
            status, body = 304, b""
            headers = [(name, value) for name, value in headers if name not in OF_A_BODY]
        if scope["method"] == "HEAD":
            body = b""
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


OF_A_BODY = frozenset({b"content-length", b"content-type"})
"""Headers that an answer without a body does not have."""


class Memory:
    """Cached answers, and the computations in progress."""

    def __init__(self, *, depends_on: str = "") -> None:
        """`depends_on` are the settings that answers depend on; they are constant while the service runs."""
        self._base = hashlib.sha256(f"{code_version()}\n{depends_on}".encode()).hexdigest()
        self._answers: Bounded[Answer] = Bounded(MEMORY_BYTES)
        self._computations: Computations[Answer] = Computations(at_once=AT_ONCE)
        self.places = Places(PLACES, PLACES_EACH, lambda: busy("too many requests are being worked on"))

    def key(self, shelf: Shelf, scope: Scope) -> str:
        """The cache key and ETag of an answer: a hash of the data, the request, the content coding
        and the code."""
        path = scope["path"]
        moment = shelf.moment if is_of_the_moment(path) else ""
        query = scope["query_string"].decode("latin-1")
        coding = compression.coding(scope)
        facts = "\n".join((self._base, shelf.edition, moment, scope["base_url"], path, query, coding))
        return hashlib.sha256(facts.encode("utf-8", "surrogatepass")).hexdigest()

    def remembered(self, key: str) -> Answer | None:
        """The answer, if it is in memory."""
        return self._answers.get(key)

    async def answer(self, request: Request, compute: Callable[[], Awaitable[Response]]) -> Response:
        """The answer to a request: from memory, or from `compute` unless the client has it already."""
        key = self.key(request.scope["shelf"], request.scope)
        # Whether there is anything, as `*` asks, is not known before it is computed.
        if is_known(request.scope, f'"{key}"'):
            response = not_modified(f'"{key}"')
            vary(request, response)
            return response

        async def work() -> Answer:
            answer = Answer(await compute(), route=request.scope["route"].path, key=key)
            self._answers.put(key, answer, size=answer.size)
            return answer

        kept = self.remembered(key)
        if kept is not None:
            return kept
        with watch(request) as leaving:
            answer = await self._computations.join(
                key, work, client=client_of(request.scope), leaving=leaving
            )
        return answer or Response(status_code=GONE)


@contextlib.contextmanager
def watch(request: Request) -> Iterator[asyncio.Task[None]]:
    """A task that ends when the client hangs up; one for all who watch a request. The request has no body."""
    if "leaving" in request.scope:
        yield request.scope["leaving"]
        return

    async def hang_up() -> None:
        while (await request.receive())["type"] != "http.disconnect":
            pass

    leaving = request.scope["leaving"] = asyncio.create_task(hang_up())
    try:
        yield leaving
    finally:
        del request.scope["leaving"]
        leaving.cancel()


class Placed(APIRoute):
    """A route whose requests need a place before anything is done for them, of which each client has a
    share."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler within a place."""
        handle = super().get_route_handler()

        async def handler(request: Request) -> Response:
            places: Places = request.app.state.memory.places
            client = client_of(request.scope)
            with places.take(client) as number, watch(request) as leaving:
                # Parameters are read in the event loop: between two requests of one client it gets to others.
                for _ in range(number):
                    await asyncio.sleep(0)
                return Response(status_code=GONE) if leaving.done() else await handle(request)

        return handler


class Remembered(Placed):
    """A route whose answers depend only on the library, the request and the code.

    Whoever waits for an answer that is being computed for another client needs no place.
    """

    def __init__(self, path: str, endpoint: Callable[..., Any], **options: Any) -> None:  # noqa: ANN401  # FastAPI's
        """A request has its turn once its parameters are good."""
        super().__init__(path, in_turn(endpoint), **options)

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler behind the cache: parameters are parsed only for answers that are not cached."""
        compute = super().get_route_handler()

        async def handler(request: Request) -> Response:
            memory: Memory = request.app.state.memory

            async def computed() -> Response:
                response = await compute(request)
                response.headers.setdefault("Link", link_header(request))
                vary(request, response)
                return compression.compress(response) if compression.coding(request.scope) else response

            return await memory.answer(request, computed)

        return handler


def vary(request: Request, response: Response) -> None:
    """Say of an answer whose content coding is negotiated that it is (RFC 9110 §12.5.5)."""
    if compression.is_negotiated(request.scope["path"]):
        response.headers.add_vary_header("Accept-Encoding")


class Front:
    """Answers from memory before routing; passes the shelf that it used on to the routes."""

    def __init__(self, app: ASGIApp, library: Library, memory: Memory) -> None:
        """Wrap `app`."""
        self.app = app
        self._library = library
        self._memory = memory

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        shelf = self._library.recent
        if shelf is None:
            shelf = await run_in_threadpool(self._library.shelf)
        scope["shelf"] = shelf
        is_asked = scope["method"] in ("GET", "HEAD")
        answer = self._memory.remembered(self._memory.key(shelf, scope)) if is_asked else None
        if answer is None:
            await self.app(scope, receive, send)
            return
        scope["answered_by"] = answer.route
        await answer(scope, receive, send)
