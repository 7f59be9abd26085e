"""Cross-origin requests (Fetch standard §3.3): pages of any origin may read what is served, ranges of files included."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

EXPOSED = (
    "Accept-Ranges",
    "Content-Disposition",
    "Content-Length",
    "Content-Range",
    "ETag",
    "Link",
    "Retry-After",
)
"""Headers of an answer that a page's script may read."""

ALLOWED = (
    "Accept",
    "If-Match",
    "If-Modified-Since",
    "If-None-Match",
    "If-Range",
    "If-Unmodified-Since",
    "Range",
)
"""Headers that a page's script may send. A range of the last bytes of a file, by which Parquet is opened, needs leave."""

HEADERS = {
    # The data are public and need no credentials.
    "Access-Control-Allow-Origin": "*",
    "Access-Control-Expose-Headers": ", ".join(EXPOSED),
    # Pages that are isolated from other origins, as those whose threads share memory, load only what says this.
    "Cross-Origin-Resource-Policy": "cross-origin",
}
"""Common headers of every answer."""

PREFLIGHT = {
    "Access-Control-Allow-Methods": "GET, HEAD",
    "Access-Control-Allow-Headers": ", ".join(ALLOWED),
    "Access-Control-Max-Age": "86400",
    "Cache-Control": "public, max-age=86400",
    "Vary": "Access-Control-Request-Method, Access-Control-Request-Headers",
}


class Preflight:
    """Answers the question that a browser asks before a page's request with headers of its own."""

    def __init__(self, app: ASGIApp) -> None:
        """Wrap `app`."""
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """ASGI."""
        is_asked = scope["type"] == "http" and scope["method"] == "OPTIONS"
        if not is_asked or b"access-control-request-method" not in dict(scope["headers"]):
            await self.app(scope, receive, send)
            return
        headers = [(name.lower().encode(), value.encode()) for name, value in PREFLIGHT.items()]
        await send({"type": "http.response.start", "status": 204, "headers": headers})
        await send({"type": "http.response.body", "body": b""})
