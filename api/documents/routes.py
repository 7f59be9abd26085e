"""The project's documents as pages: the Markdown of docs/, and the data dictionary from its declarations."""

from pathlib import Path
from urllib.parse import quote

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from api.documents import shelved
from api.http.links import relate
from api.http.problems import Elsewhere, Problem
from api.routes.files import MEDIA_TYPES
from api.routes.pages import page
from api.service import Kept
from releases.citation.licences import licence_page
from schema.computed_tables import MEASURES
from schema.dictionary import dictionary

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Kept)

DICTIONARY = "dictionary"

LICENCE = "MIT"


@router.get("/documents", name="documents")
def documents(request: Request) -> Response:
    """The list of the documents, by reader."""
    return show_document(request, "")


@router.get(f"/documents/{DICTIONARY}", name="dictionary")
def data_dictionary(request: Request) -> Response:
    """The data dictionary: every measure, table and column with its definition."""
    relate(request, "license", licence_page(LICENCE))
    return page(request, "dictionary.html", tables=dictionary(), measures=MEASURES)


@router.get("/documents/{name:path}", name="document")
def document(request: Request, name: str) -> Response:
    """One document, or an image or a table of one."""
    if name.endswith("/"):
        raise Elsewhere(request.app.url_path_for("document", name=quote(name.rstrip("/"))))
    if name not in shelved.files():
        return show_document(request, name)
    relate(request, "license", licence_page(LICENCE))
    return Response(shelved.content(name), media_type=MEDIA_TYPES[Path(name).suffix])


def show_document(request: Request, name: str) -> Response:
    from api.documents import rendering  # its library takes 2 MB, and many services show no document

    base = request.app.url_path_for("documents")
    if name not in shelved.sources():
        raise Problem("not-found", f"there is no document {name!r}", see=base)
    document = rendering.render(shelved.text(name), source=shelved.sources()[name], base=base)
    html = shelved.addressed(document.html, request.scope["base_url"])  # it escapes the address
    relate(request, "license", licence_page(LICENCE))
    return page(request, "document.html", document=document, html=html, is_list=not name)
