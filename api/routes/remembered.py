"""Caches answers that depend only on files that never change, under a strong ETag."""

from __future__ import annotations

import dataclasses
import hashlib
from collections.abc import Callable, Coroutine
from typing import Any

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute
from starlette.types import ASGIApp, Receive, Scope, Send

from api.caching import Bounded, SingleFlight
from api.code_version import code_version
from api.http import compression
from api.http.etags import CACHE_CONTROL, is_known, not_modified
from api.http.links import link_header
from api.http.middleware import HEADERS
from api.stored.library import Library
from api.stored.shelf import Shelf

MEMORY_BYTES = 48 * 1024 * 1024
"""Maximum size of all answers in memory."""

AT_ONCE = 2
"""Answers computed at the same time; more would compete for the same interpreter."""

WAITING = 256
"""Maximum number of waiting computations; further requests are refused with Retry-After."""

OF_THE_MOMENT = frozenset({"/", "/v1/progress", "/v1/progress.json", "/crawls"})
"""Paths that show running crawls, which change every few seconds."""


def is_of_the_moment(path: str) -> bool:
    """Return whether the answer at a path depends on the progress of crawls.

    >>> is_of_the_moment("/crawls/2026-11.desktop.local.tcp.web"), is_of_the_moment("/v1/crawls")
    (True, False)
    """
    return path in OF_THE_MOMENT or path.startswith("/crawls/")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """A complete answer."""

    status: int
    route: str
    """Route that computed the answer, for the metrics."""
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    @classmethod
    def of(cls, response: Response, *, route: str, key: str) -> Answer:
        """The answer to cache for a response, with the common headers."""
        response.headers.update({"ETag": f'"{key}"', "Cache-Control": CACHE_CONTROL})
        for name, value in HEADERS.items():
            response.headers.setdefault(name, value)
        return cls(
            status=response.status_code,
            route=route,
            headers=tuple(response.raw_headers),
            body=bytes(response.body),
        )

    @property
    def size(self) -> int:
        """Approximate memory that the answer takes, in bytes."""
        return len(self.body) + sum(len(name) + len(value) for name, value in self.headers) + 500

    def response(self) -> Response:
        """The answer as a response."""
        response = Response(self.body, self.status)
        response.raw_headers = list(self.headers)
        return response


class Memory:
    """Cached answers, and the computations in progress."""

    def __init__(self, *, depends_on: str = "") -> None:
        """`depends_on` are the settings that answers depend on; they are constant while the service runs."""
        self._base = hashlib.sha256(f"{code_version()}\n{depends_on}".encode()).hexdigest()
        self._answers: Bounded[Answer] = Bounded(MEMORY_BYTES)
        self._single_flight: SingleFlight[Answer] = SingleFlight(at_once=AT_ONCE, waiting=WAITING)

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

    async def answer(self, key: str, compute: Callable[[], Coroutine[Any, Any, Answer]]) -> Answer:
        """The answer, from memory or `compute`."""

        async def work() -> Answer:
            answer = await compute()
            self._answers.put(key, answer, size=answer.size)
            return answer

        return self.remembered(key) or await self._single_flight.join(key, work)


class Remembered(APIRoute):
    """A route whose answers depend only on the library, the request and the code."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's handler behind the cache: parameters are parsed only for answers that are not cached."""
        compute = super().get_route_handler()

        async def handler(request: Request) -> Response:
            memory: Memory = request.app.state.memory
            key = memory.key(request.scope["shelf"], request.scope)
            tags = request.headers.get("if-none-match", "")
            if is_known(tags, f'"{key}"'):
                return known(request, key)

            async def computed() -> Answer:
                response = await compute(request)
                response.headers.setdefault("Link", link_header(request))
                vary(request, response)
                if compression.coding(request.scope):
                    response = compression.compress(response)
                return Answer.of(response, route=self.path, key=key)

            answer = await memory.answer(key, computed)
            # `*` matches any existing answer, so the answer is computed first.
            return known(request, key) if tags.strip() == "*" else answer.response()

        return handler


def known(request: Request, key: str) -> Response:
    """The answer to a client that has the answer already."""
    response = not_modified(f'"{key}"')
    vary(request, response)
    return response


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
        await _send(answer, scope, send)


async def _send(answer: Answer, scope: Scope, send: Send) -> None:
    headers = dict(answer.headers)
    etag = headers[b"etag"].decode("latin-1")
    tags = ",".join(value.decode("latin-1") for name, value in scope["headers"] if name == b"if-none-match")
    status, body = answer.status, answer.body
    if tags and (is_known(tags, etag) or tags.strip() == "*"):
        status, body = 304, b""
        del headers[b"content-length"], headers[b"content-type"]
    if scope["method"] == "HEAD":
        body = b""
    await send({"type": "http.response.start", "status": status, "headers": list(headers.items())})
    await send({"type": "http.response.body", "body": body})
