"""Links to the service's own pages and files, below the base URL of the
request (`api.http.hosts.base_of`)."""

from __future__ import annotations

from typing import TYPE_CHECKING
from urllib.parse import quote, urlencode

from releases.citation.licences import licence_page

if TYPE_CHECKING:
    from fastapi import Request


def link(request: Request, name: str, /, **parameters: object) -> str:
    """The URL of a route; only its path without a base URL."""
    return _based(request, str(request.app.url_path_for(name, **parameters)))


def own_link(request: Request, **changed: object) -> str:
    """The request's URL with changed query parameters; a list is repeated."""
    unchanged = [(name, value) for name, value in request.query_params.multi_items() if name not in changed]
    query = urlencode([*unchanged, *changed.items()], doseq=True)
    return _based(request, quote(request.scope["path"]) + (f"?{query}" if query else ""))


def _based(request: Request, path: str) -> str:
    base: str = request.scope["base_url"]
    return base + path


def relate(request: Request, relation: str, target: str, **attributes: str) -> None:
    """Add to the Link header (RFC 8288), in place of the relation's default."""
    if not hasattr(request.state, "related"):
        request.state.related = []
    request.state.related.append((relation, target, attributes))


def relate_help_with_csv(request: Request) -> None:
    """Link to help: a spreadsheet may take a text of sites for a formula."""
    page = link(request, "document", name="recipes")
    relate(request, "help", f"{page}#csv-in-a-spreadsheet", type="text/html")


def link_header(request: Request) -> str:
    """The Link header: what `relate` was told, and the defaults.

    By default an answer is canonical and cited at its own URL, under the licence of the data, and
    described by the documentation of the API.
    """
    related = list(getattr(request.state, "related", []))
    stated = {relation for relation, *_ in related}
    canonical = next(
        (target for relation, target, _ in related if relation == "canonical"), own_link(request)
    )
    defaults = {
        "canonical": canonical,
        "cite-as": canonical,
        "license": licence_page("CC-BY-4.0"),
        "describedby": link(request, "docs"),
    }
    related += [(relation, target, {}) for relation, target in defaults.items() if relation not in stated]
    return ", ".join(
        "; ".join(
            (f"<{target}>", *(f'{name}="{value}"' for name, value in {"rel": relation, **attributes}.items()))
        )
        for relation, target, attributes in related
    )
