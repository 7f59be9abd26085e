"""Redirects to what an address means at the moment; caches never keep them."""

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse


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


def answer_with_redirects(app: FastAPI) -> None:
    """Answer every `Elsewhere` with its redirect."""
    app.add_exception_handler(Elsewhere, _redirect)
