"""Answers in place of what was asked for: problem details (RFC 9457) by their kinds; redirects to what an
address means at the moment; and 503 where the process has no descriptor left."""

import contextlib
import dataclasses
import http
import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any
from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.exceptions import RequestValidationError
from fastapi.responses import HTMLResponse, RedirectResponse, Response
from starlette.exceptions import HTTPException
from starlette.routing import Match
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from api.http.middleware import HEADERS
from storage.exhaustion import is_exhaustion, reraise_exhaustion

MEDIA_TYPE = "application/problem+json"

RETRY_AFTER_S = "5"
"""Retry-After without descriptors: about when idle connections are closed."""

PATHSEND = "http.response.pathsend"
"""ASGI's extension by which a server opens a file."""

NO_DESCRIPTOR = "the service has too many files and connections open: try again in a few seconds"


@dataclasses.dataclass(frozen=True, slots=True)
class ProblemKind:
    """A kind of problem; its type is `/problems#id`."""

    # Stable: clients compare the type, so a rename would break them.
    id: str
    status: int
    title: str


PROBLEM_KINDS = [
    ProblemKind("bad-parameter", 400, "A parameter is missing or has an invalid value"),
    ProblemKind("no-such-choice", 422, "A parameter has a value that is none of its choices"),
    ProblemKind("unknown-parameter", 400, "A parameter is not known"),
    ProblemKind("no-such-crawl", 404, "No release of a crawl with that name"),
    ProblemKind("no-such-progress", 404, "No crawl of that name has reported its progress"),
    ProblemKind("no-such-file", 404, "No such file"),
    ProblemKind("no-such-report", 404, "No report of that year and version"),
    ProblemKind("no-such-site", 404, "No release has a visit to that site"),
    ProblemKind("no-such-visit", 404, "The release has no such visit"),
    ProblemKind("no-such-format", 404, "Not offered in that format"),
    ProblemKind("not-citable", 404, "No citation is written of this"),
    ProblemKind("withdrawn", 410, "This version was withdrawn"),
    ProblemKind("damaged-release", 503, "The stored release is damaged and must be restored from a copy"),
    ProblemKind("damaged-file", 503, "The stored file is damaged and must be restored from a copy"),
    ProblemKind("bad-range", 416, "The range is outside the file"),
    ProblemKind("misdirected", 421, "Nothing is served under that host name"),
    ProblemKind("header-too-large", 431, "The address and the header of the request are too long"),
    ProblemKind("busy", 503, "Too many requests are being worked on"),
    ProblemKind("too-costly", 503, "The answer takes more time or memory than the service gives to one"),
    ProblemKind("not-found", 404, "Nothing is served at this address"),
    ProblemKind("lab-off", 404, "The lab is off"),
    ProblemKind("no-such-replay", 404, "No such replay"),
    ProblemKind("cross-site", 403, "The form was sent by another site"),
    ProblemKind("too-large", 413, "The file is too large"),
    ProblemKind("not-a-recording", 422, "The file is no HAR that can be replayed"),
    ProblemKind("replay-too-long", 422, "The replay took too long"),
    ProblemKind("replay-failed", 500, "The lab could not replay the page"),
    ProblemKind("method-not-allowed", 405, "The method is not allowed at this address"),
    ProblemKind("bad-request", 400, "The request cannot be answered"),
    ProblemKind("internal-error", 500, "The service failed"),
]

NO_SUCH_CHOICE = "literal_error"

_BY_ID = {kind.id: kind for kind in PROBLEM_KINDS}
_BY_STATUS = {404: "not-found", 405: "method-not-allowed"}

_SAID = {
    404: "no page, file or call of the API has this address; pages begin at /, and /docs lists the calls",
    405: "the header Allow lists the methods of this address",
}
"""Details in place of the framework's."""


class Problem(Exception):
    """Raised where a request cannot be answered; it becomes the answer."""

    def __init__(
        self, kind: str, detail: str, *, headers: Mapping[str, str] | None = None, **members: object
    ) -> None:
        """`members` are extensions (RFC 9457 §3.2)."""
        super().__init__(detail)
        self.headers = headers or {}
        self.kind = _BY_ID[kind]
        self.detail = detail
        self.members = members


def _sentence(error: Mapping[str, Any]) -> str:
    """State what is wrong with a value.

    >>> _sentence({"type": "int_parsing", "msg": "Input should be a valid integer", "input": "ten"})
    "'ten' is no whole number"
    >>> _sentence({"type": NO_SUCH_CHOICE, "ctx": {"expected": "'h2' or 'h3'"}})
    'no such value; there are h2, h3'
    """
    if error["type"] == NO_SUCH_CHOICE:
        choices = error["ctx"]["expected"].replace(" or ", ", ").replace("'", "")
        return f"no such value; there are {choices}"
    if error["type"] == "int_parsing":
        return f"{str(error['input'])[:20]!r} is no whole number"
    # The library writes before every sentence of ours which exception had it.
    return str(error["msg"]).removeprefix("Value error, ")


@contextlib.contextmanager
def suppress_problems() -> Iterator[None]:
    try:
        yield
    except Problem as problem:
        reraise_exhaustion(problem)


def _parameter(location: Sequence[Any]) -> str:
    """Name of the parameter of a validation error: not query or path, nor a place in a list."""
    return ".".join(part for part in location[1:] if isinstance(part, str)) or str(location[0])


def from_exception(exc: Exception) -> Problem:
    if is_exhaustion(exc):  # whatever was made of it on its way: nothing is known about the file
        return Problem("busy", NO_DESCRIPTOR, headers={"Retry-After": RETRY_AFTER_S})
    if isinstance(exc, Problem):
        return exc
    if isinstance(exc, RequestValidationError):
        faults = dict.fromkeys((_parameter(error["loc"]), _sentence(error)) for error in exc.errors())
        errors = [{"parameter": parameter, "detail": detail} for parameter, detail in faults]
        is_choice = all(error["type"] == NO_SUCH_CHOICE for error in exc.errors())
        return Problem(
            "no-such-choice" if is_choice else "bad-parameter",
            "; ".join(f"{e['parameter']}: {e['detail']}" for e in errors),
            errors=errors,
        )
    if isinstance(exc, HTTPException):
        default = (
            "bad-request" if exc.status_code < http.HTTPStatus.INTERNAL_SERVER_ERROR else "internal-error"
        )
        detail = _SAID.get(exc.status_code, str(exc.detail))
        return Problem(
            _BY_STATUS.get(exc.status_code, default), detail, headers=_with_head(exc.headers or {})
        )
    return Problem("internal-error", "an unexpected error; it has been logged")


def _with_head(headers: Mapping[str, str]) -> dict[str, str]:
    """Headers in which Allow has HEAD beside GET: every address that answers one answers the other.

    >>> _with_head({"Allow": "GET"}), _with_head({"Allow": "POST"})
    ({'Allow': 'GET, HEAD'}, {'Allow': 'POST'})
    """
    return {
        name: "GET, HEAD" if (name, value) == ("Allow", "GET") else value for name, value in headers.items()
    }


def problem_response(problem: Problem, path: str, base_url: str = "") -> Response:
    body = {
        "type": f"/problems#{problem.kind.id}",
        "title": problem.kind.title,
        "status": problem.kind.status,
        "detail": problem.detail,
        "instance": path,
        **problem.members,
    }
    # Some problems are answered outside the middleware that adds the common headers.
    headers = _headers(problem, base_url)
    return Response(
        json.dumps(body, ensure_ascii=False), problem.kind.status, headers=headers, media_type=MEDIA_TYPE
    )


def _headers(problem: Problem, base_url: str) -> dict[str, str]:
    described = f'<{base_url}/problems#{problem.kind.id}>; rel="describedby"; type="text/html"'
    return {**HEADERS, "Cache-Control": "no-store", "Vary": "Accept", "Link": described, **problem.headers}


def answer_with_problems(app: FastAPI, as_page: Callable[[Request, Problem], str]) -> None:
    async def answer(request: Request, exc: Exception) -> Response:
        problem = from_exception(exc)
        if problem.kind.status == http.HTTPStatus.NOT_FOUND and (elsewhere := without_slash(request)):
            return elsewhere
        base_url = request.scope.get("base_url", "")
        # Browsers name it first when somebody follows a link; programs do not.
        if request.headers.get("accept", "").lower().startswith("text/html"):
            page = as_page(request, problem)
            return HTMLResponse(page, problem.kind.status, headers=_headers(problem, base_url))
        # Not `request.url`: it contains the Host header, which may be malformed.
        return problem_response(problem, request.scope["path"], base_url)

    for kind in (Problem, RequestValidationError, HTTPException, Exception):
        app.add_exception_handler(kind, answer)


class Elsewhere(Exception):
    """Raised where another address answers the request; it becomes a redirect."""

    def __init__(self, location: str) -> None:
        super().__init__(location)
        self.location = location


async def _redirect(_request: Request, exc: Exception) -> RedirectResponse:
    assert isinstance(exc, Elsewhere)
    return RedirectResponse(exc.location, status_code=307, headers={"Cache-Control": "no-store"})


def without_slash(request: Request) -> RedirectResponse | None:
    """Redirect from a slash at the end to the route without.

    Links of pages are paths from the root, so that a page is the same at both.
    """
    if "route" in request.scope:
        return None
    path = request.scope["path"].rstrip("/")
    # Two slashes at the beginning would lead to another host.
    if path == request.scope["path"] or not path or path.startswith("//"):
        return None
    scope = {**request.scope, "path": path}
    if all(route.matches(scope)[0] is not Match.FULL for route in request.app.routes):
        return None
    query = request.scope["query_string"].decode("latin-1")
    return RedirectResponse(quote(path) + (f"?{query}" if query else ""), status_code=308)


def answer_with_redirects(app: FastAPI) -> None:
    app.add_exception_handler(Elsewhere, _redirect)


class Overload:
    """Answers exhaustion with 503, and cuts an answer that has begun.

    The head is held back until the first bytes are there. The server itself must open no file: it would
    answer 404 where it cannot.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        head: Message | None = None
        has_begun = False

        async def send_with_body(message: Message) -> None:
            nonlocal head, has_begun
            if message["type"] == "http.response.start":
                head = message
                return
            if head is not None:
                has_begun = True
                begin, head = head, None
                await send(begin)
            await send(message)

        extensions = scope.get("extensions", {})
        scope["extensions"] = {name: extensions[name] for name in extensions if name != PATHSEND}
        try:
            await self.app(scope, receive, send_with_body)
        except Exception as exc:
            if not is_exhaustion(exc):
                raise
            if not has_begun:
                answer = problem_response(from_exception(exc), scope["path"])
                await answer(scope, receive, send)
