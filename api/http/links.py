"""Links to the service's own pages and files, below the configured base URL; a request's Host is never used."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from fastapi import Request


def link(request: Request, name: str, /, **parameters: object) -> str:
    """The URL of a route; without a base URL only its path, which is valid behind any proxy."""
    base: str = request.app.state.base_url
    return base.rstrip("/") + str(request.app.url_path_for(name, **parameters))
