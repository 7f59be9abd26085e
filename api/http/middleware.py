"""Middleware for every answer: common headers, and HEAD for every route that has GET.

Pages of any origin may read what is served, ranges of files included (Fetch standard §3.3).
"""

from starlette.datastructures import Headers, MutableHeaders
from starlette.middleware.cors import CORSMiddleware
from starlette.types import ASGIApp, Message, Receive, Scope, Send

EXPOSED = (
    "Accept-Ranges",
    "Content-Disposition",
    "Content-Length",
    "Content-Range",
    "ETag",
    "Link",
    "Retry-After",
)

HEADERS = {
    # Nothing is loaded from other origins and no script runs; pages that need more set their own policy.
    "Content-Security-Policy": "default-src 'none'; style-src 'self'; img-src 'self'; base-uri 'none'; "
    "form-action 'none'; frame-ancestors 'none'",
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    # The data are public and need no credentials. Every answer says so, whatever was asked:
    # a cache may give it to a page of another origin.
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": ", ".join(EXPOSED),
    # Pages that are isolated from other origins, as those whose threads share memory,
    # load only what says this.
    "Cross-Origin-Resource-Policy": "cross-origin",
    "Cache-Control": "no-cache",
    "Server": "firstflight",
}


class CommonHeaders:
    """Adds those of HEADERS that an answer does not set itself."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        async def send_with_headers(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                for name, value in HEADERS.items():
                    headers.setdefault(name, value)
            await send(message)

        await self.app(scope, receive, send_with_headers if scope["type"] == "http" else send)


class HeadAsGet:
    """Answers HEAD like GET without the body.

    `scope["asked_method"]` has the original method, so that a file need not be read.
    """

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def send_without_body(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self.app({**scope, "method": "GET", "asked_method": "HEAD"}, receive, send_without_body)


class Preflight(CORSMiddleware):
    """Answers a browser's question before a cross-origin request; any other answer has HEADERS."""

    async def simple_response(
        self,
        scope: Scope,
        receive: Receive,
        send: Send,
        request_headers: Headers,  # noqa: ARG002  # as Starlette calls it
    ) -> None:
        """Pass a request on: Starlette would let its answer vary by origin."""
        await self.app(scope, receive, send)
