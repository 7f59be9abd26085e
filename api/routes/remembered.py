"""Answers that depend on nothing but files that never change: computed once, told apart by a strong ETag, remembered."""

from __future__ import annotations

import dataclasses
import hashlib
import json
from typing import TYPE_CHECKING, Any

from fastapi import Request, Response
from fastapi.concurrency import run_in_threadpool
from fastapi.routing import APIRoute

from api.bounded import Bounded
from api.disk import Disk
from api.etags import CACHE_CONTROL, is_known, not_modified
from api.flights import Flights
from api.middleware import HEADERS
from api.version import code_version

if TYPE_CHECKING:
    from collections.abc import Callable, Coroutine
    from pathlib import Path

    from starlette.types import ASGIApp, Receive, Scope, Send

    from api.library import Library
    from api.shelf import Shelf

MEMORY_BYTES = 64 * 1024 * 1024
"""Answers kept in memory, together."""

DISK_BYTES = 256 * 1024 * 1024
"""Answers kept on disk, together."""

AT_ONCE = 2
"""Answers computed at a time: more would share the same interpreter."""

WAITING = 256
"""Answers that may wait for their turn; whoever asks for one more is told to come again."""

OF_THE_MOMENT = frozenset({"/", "/v1/progress"})
"""Paths that show crawls under way, which change every few seconds: not worth the disk."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """One answer, whole."""

    status: int
    route: str
    """The route that computed it, for the metrics."""
    headers: tuple[tuple[bytes, bytes], ...]
    body: bytes

    @classmethod
    def of(cls, response: Response, *, route: str, key: str) -> Answer:
        """What is kept of a response, with the headers of every answer."""
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
        """Memory that it takes, about."""
        return len(self.body) + sum(len(name) + len(value) for name, value in self.headers) + 500

    def to_bytes(self) -> bytes:
        """As it is kept on disk."""
        headers = [[name.decode("latin-1"), value.decode("latin-1")] for name, value in self.headers]
        return json.dumps([self.status, self.route, headers]).encode() + b"\n" + self.body

    @classmethod
    def from_bytes(cls, content: bytes) -> Answer:
        """What `to_bytes` wrote."""
        head, _, body = content.partition(b"\n")
        status, route, headers = json.loads(head)
        raw = tuple((name.encode("latin-1"), value.encode("latin-1")) for name, value in headers)
        return cls(status=status, route=route, headers=raw, body=body)

    def response(self) -> Response:
        """To be sent."""
        response = Response(self.body, self.status)
        response.raw_headers = list(self.headers)
        return response


class Memory:
    """What was answered, in memory and on disk, and what is being computed."""

    def __init__(self, *, depends_on: str = "", disk: Path | None = None) -> None:
        """`depends_on` is whatever else the answers depend on that does not change while the service runs."""
        self._base = hashlib.sha256(f"{code_version()}\n{depends_on}".encode()).hexdigest()
        self._answers: Bounded[Answer] = Bounded(MEMORY_BYTES)
        self._disk = None if disk is None else Disk(disk, most_bytes=DISK_BYTES)
        self._is_writing = False
        self._flights: Flights[Answer] = Flights(at_once=AT_ONCE, waiting=WAITING)

    def key(self, shelf: Shelf, scope: Scope) -> str:
        """Names the answer: what it is made of, what was asked, and the code."""
        path = scope["path"]
        moment = shelf.moment if path in OF_THE_MOMENT else ""
        facts = "\n".join((self._base, shelf.edition, moment, path, scope["query_string"].decode("latin-1")))
        return hashlib.sha256(facts.encode("utf-8", "surrogatepass")).hexdigest()

    def remembered(self, key: str) -> Answer | None:
        """The answer, if memory has it."""
        return self._answers.get(key)

    async def answer(
        self, key: str, compute: Callable[[], Coroutine[Any, Any, Answer]], *, keep: bool
    ) -> Answer:
        """The answer, from wherever it can be had first; on disk it stays if it is one to `keep`."""

        async def work() -> Answer:
            answer = await self._from_disk(key) if keep else None
            if answer is None:
                answer = await compute()
                if keep:
                    await self._to_disk(key, answer)
            self._answers.put(key, answer, size=answer.size)
            return answer

        return self.remembered(key) or await self._flights.join(key, work)

    async def _from_disk(self, key: str) -> Answer | None:
        if self._disk is None or not self._disk.has(key):
            return None
        content = await run_in_threadpool(self._disk.get, key)
        return None if content is None else Answer.from_bytes(content)

    async def _to_disk(self, key: str, answer: Answer) -> None:
        """Write an answer, unless another is being written: in a crowd answering comes first."""
        if self._disk is None or self._is_writing:
            return
        self._is_writing = True
        try:
            await run_in_threadpool(self._disk.put, key, answer.to_bytes())
        finally:
            self._is_writing = False


class Remembered(APIRoute):
    """A route whose answers depend on the library, the question and the code alone."""

    def get_route_handler(self) -> Callable[[Request], Coroutine[Any, Any, Response]]:
        """FastAPI's own, behind the memory: parameters are looked at only for what is not remembered."""
        compute = super().get_route_handler()

        async def handler(request: Request) -> Response:
            memory: Memory = request.app.state.memory
            key = memory.key(request.scope["shelf"], request.scope)
            tags = request.headers.get("if-none-match", "")
            if is_known(tags, f'"{key}"'):
                return not_modified(f'"{key}"')

            async def computed() -> Answer:
                return Answer.of(await compute(request), route=self.path, key=key)

            keep = request.scope["path"] not in OF_THE_MOMENT
            answer = await memory.answer(key, computed, keep=keep)
            # `*` is about any answer, so there must be one.
            return not_modified(f'"{key}"') if tags.strip() == "*" else answer.response()

        return handler


class Front:
    """Answers what is remembered before anything else is asked; whatever is behind sees the shelf that it saw."""

    def __init__(self, app: ASGIApp, library: Library, memory: Memory) -> None:
        """Before `app`."""
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
