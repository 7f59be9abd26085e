"""Answers that depend only on files that never change: kept in memory under a strong ETag (RFC 9110 §8.8.3),
and computed once for all who ask the same."""

from __future__ import annotations

import asyncio
import contextlib
import gzip
import hashlib
import re
from collections.abc import Awaitable, Callable, Iterator, Mapping
from typing import Any

from fastapi import Request, Response
from starlette.types import Receive, Scope, Send

from api.caching import Bounded
from api.code_version import code_version
from api.computing import Computations, busy
from api.http.clients import Quota, client_of
from api.http.middleware import HEADERS
from api.stored.shelf import Shelf

KEPT_BYTES = 48 * 1024 * 1024

AT_ONCE = 2
"""Answers computed at a time, one a client: more would compete for the interpreter."""

PLACES, PLACES_EACH = 256, 64
"""Requests that are computed or wait, and one client's; others are refused with Retry-After."""

GONE = 499
"""Status for the metrics, since the client is gone."""

OF_THE_MOMENT = frozenset({"/", "/v1/progress", "/v1/progress.json", "/crawls"})
"""Paths that show running crawls."""

CACHE_CONTROL = "public, no-cache"
"""Caches must revalidate an answer: something may be published at any moment."""

ANY = "*"

OF_A_BODY = frozenset({b"content-length", b"content-type"})
"""Headers that need a body."""

CODING = "gzip"

COMPRESSED = frozenset(
    {"text/html", "image/svg+xml", "text/csv", "text/css", "text/javascript", "application/json"}
)

FOLDERS = ("/docs", "/documents", "/openapi.json", "/reports")
"""Paths below which answers are compressed."""

EXPLORER = "/explore"
"""Beginning of the explorer's paths."""

GZIP_LEVEL = 6
"""Compression level: higher ones save a hundredth more."""

REFUSED = re.compile(r"\s*q=0(\.0{0,3})?\s*", re.IGNORECASE)


def is_of_the_moment(path: str) -> bool:
    """Return whether the answer at a path depends on the progress of crawls.

    >>> is_of_the_moment("/crawls/2026-11.desktop.local.tcp.web"), is_of_the_moment("/v1/crawls")
    (True, False)
    """
    return path in OF_THE_MOMENT or path.startswith("/crawls/")


class KeptAnswer(Response):
    """An answer with the common headers; a client that has it gets 304."""

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
        return len(self.body) + sum(len(name) + len(value) for name, value in self.raw_headers) + 500

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:  # noqa: ARG002  # ASGI
        status, headers, body = self.status_code, self.raw_headers, self.body
        if is_known(scope, self.etag, ANY):
            status, body = 304, b""
            headers = [(name, value) for name, value in headers if name not in OF_A_BODY]
        if scope["method"] == "HEAD":
            body = b""
        await send({"type": "http.response.start", "status": status, "headers": headers})
        await send({"type": "http.response.body", "body": body})


class KeptAnswers:
    """A bounded store of answers, and the computations of others."""

    def __init__(self, *, depends_on: str = "") -> None:
        """`depends_on` are constant settings that answers depend on."""
        self._base = hashlib.sha256(f"{code_version()}\n{depends_on}".encode()).hexdigest()
        self._answers: Bounded[KeptAnswer] = Bounded(KEPT_BYTES)
        self._computations: Computations[KeptAnswer] = Computations(at_once=AT_ONCE)
        self.places = Quota(PLACES, PLACES_EACH, lambda: busy("too many requests are being worked on"))

    def key(self, shelf: Shelf, scope: Scope) -> str:
        """Cache key and ETag: a hash of data, request, coding and code."""
        path = scope["path"]
        moment = shelf.moment if is_of_the_moment(path) else ""
        query = scope["query_string"].decode("latin-1")
        coding = coding_of(scope)
        facts = "\n".join((self._base, shelf.content_hash, moment, scope["base_url"], path, query, coding))
        return hashlib.sha256(facts.encode("utf-8", "surrogatepass")).hexdigest()

    def get(self, key: str) -> KeptAnswer | None:
        return self._answers.get(key)

    async def answer(self, request: Request, compute: Callable[[], Awaitable[Response]]) -> Response:
        """The answer from memory, or from `compute` unless the client has it."""
        key = self.key(request.scope["shelf"], request.scope)
        # Whether there is anything, as `*` asks, is not known before it is computed.
        if is_known(request.scope, f'"{key}"'):
            response = not_modified(f'"{key}"')
            vary(request, response)
            return response

        async def work() -> KeptAnswer:
            answer = KeptAnswer(await compute(), route=request.scope["route"].path, key=key)
            self._answers.put(key, answer, size=answer.size)
            return answer

        kept = self.get(key)
        if kept is not None:
            return kept
        with watch(request) as leaving:
            answer = await self._computations.join(
                key, work, client=client_of(request.scope), leaving=leaving
            )
        return answer or Response(status_code=GONE)


@contextlib.contextmanager
def watch(request: Request) -> Iterator[asyncio.Task[None]]:
    """A task that ends when the client hangs up; the request has no body."""
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


def vary(request: Request, response: Response) -> None:
    """Say that the coding is negotiated (RFC 9110 §12.5.5)."""
    if is_negotiated(request.scope["path"]):
        response.headers.add_vary_header("Accept-Encoding")


def is_known(scope: Mapping[str, Any], *etags: str) -> bool:
    """True if the header If-None-Match of a request lists one of `etags`.

    >>> asked = {"headers": [(b"if-none-match", b'"a", W/"b"')]}
    >>> is_known(asked, '"b"'), is_known(asked, ANY), is_known({"headers": []}, ANY, '"b"')
    (True, False, False)
    """
    lists = [value.decode("latin-1") for name, value in scope["headers"] if name == b"if-none-match"]
    return any(tag.strip().removeprefix("W/") in etags for tags in lists for tag in tags.split(","))


def not_modified(etag: str, cache_control: str = CACHE_CONTROL) -> Response:
    return Response(status_code=304, headers={"ETag": etag, "Cache-Control": cache_control})


def accepts_gzip(accepted: str) -> bool:
    """True if Accept-Encoding names gzip, and not with weight 0.

    >>> accepts_gzip("br, gzip;q=0.5"), accepts_gzip("gzip;q=0, br"), accepts_gzip("identity"), accepts_gzip("")
    (True, False, False, False)
    """  # noqa: E501
    codings = (coding.partition(";") for coding in accepted.split(","))
    return any(
        name.strip().lower() == CODING and not REFUSED.fullmatch(weight) for name, _, weight in codings
    )


def is_negotiated(path: str) -> bool:
    """True if answers at `path` depend on Accept-Encoding.

    >>> [is_negotiated(path) for path in ("/documents/methods", "/documents", "/documentsx", "/explore.csv", "/")]
    [True, True, False, True, False]
    """  # noqa: E501
    return path.startswith(EXPLORER) or any(f"{path}/".startswith(f"{folder}/") for folder in FOLDERS)


def coding_of(scope: Mapping[str, Any]) -> str:
    if not is_negotiated(scope["path"]):
        return ""
    accepted = (value.decode("latin-1") for name, value in scope["headers"] if name == b"accept-encoding")
    return CODING if accepts_gzip(",".join(accepted)) else ""


def compress(response: Response) -> Response:
    if response.headers.get("content-type", "").partition(";")[0] not in COMPRESSED:
        return response
    body = gzip.compress(bytes(response.body), GZIP_LEVEL, mtime=0)
    compressed = Response(body, response.status_code)
    compressed.raw_headers = list(response.raw_headers)
    compressed.headers.update({"Content-Length": str(len(body)), "Content-Encoding": CODING})
    return compressed
