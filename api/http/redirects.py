"""Redirects to what an address means at the moment; caches never keep them."""

from fastapi import FastAPI, Request
from fastapi.responses import RedirectResponse


class Elsewhere(Exception):
    """Raised where another address answers the request; it becomes a redirect."""

    def __init__(self, location: str) -> None:
        """`location` is a path on this service, with its query if it has one."""
        super().__init__(location)
        self.location = location


def redirect(location: str) -> RedirectResponse:
    """Redirect temporarily (307): the address may mean something else tomorrow,
    so that no cache may keep it."""
    return RedirectResponse(location, status_code=307, headers={"Cache-Control": "no-store"})


async def _answer(_request: Request, exc: Exception) -> RedirectResponse:
    assert isinstance(exc, Elsewhere)
    return redirect(exc.location)


def answer_with_redirects(app: FastAPI) -> None:
    """Answer every `Elsewhere` with its redirect."""
    app.add_exception_handler(Elsewhere, _answer)
