"""Redirects to what an address means at the moment, which caches never keep,
and to the address without a slash at its end."""

from urllib.parse import quote

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse
from starlette.routing import Match


class Elsewhere(Exception):
    """Raised where another address answers the request; it becomes a redirect."""

    def __init__(self, location: str) -> None:
        """`location` is a path on this service, with its query if it has one."""
        super().__init__(location)
        self.location = location


async def _redirect(_request: Request, exc: Exception) -> RedirectResponse:
    """Redirect temporarily (307): the address may mean something else tomorrow, so no cache may keep it."""
    assert isinstance(exc, Elsewhere)
    return RedirectResponse(exc.location, status_code=307, headers={"Cache-Control": "no-store"})


def without_slash(request: Request) -> RedirectResponse | None:
    """Redirect from an address of no route that ends with a slash to the one without, if that has a route;
    else None.

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
    """Answer every `Elsewhere` with its redirect."""
    app.add_exception_handler(Elsewhere, _redirect)
