"""Links to our own pages and files: below the base URL that was configured, and never by a host that a request names."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import Request


def link(request: Request, name: str, /, **parameters: object) -> str:
    """The URL of a route; without a base URL its path, which holds behind any proxy."""
    base: str = request.app.state.base_url
    return base.rstrip("/") + str(request.app.url_path_for(name, **parameters))
