"""The project's documents as pages: the Markdown of docs/, and the data dictionary from its declarations."""

from pathlib import Path

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from api.documents import shelved
from api.http.problems import Problem
from api.routes.files import MEDIA_TYPES
from api.routes.pages import page
from api.routes.remembered import Remembered
from schema.computed_tables import MEASURES
from schema.dictionary import dictionary

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Remembered)


@router.get("/documents", name="documents")
def documents(request: Request) -> Response:
    """The list of the documents, by reader."""
    return shown(request, "")


@router.get("/documents/dictionary", name="dictionary")
def data_dictionary(request: Request) -> Response:
    """The data dictionary: every measure, table and column with its definition."""
    return page(request, "dictionary.html", tables=dictionary(), measures=MEASURES)


@router.get(f"/documents/{shelved.IMAGES}/{{name:path}}", name="document_image")
def document_image(name: str) -> Response:
    """An image of a document."""
    try:
        content = shelved.image(name)
    except KeyError as exc:
        raise Problem("no-such-file", f"no document has an image {name!r}") from exc
    return Response(content, media_type=MEDIA_TYPES[Path(name).suffix])


@router.get("/documents/{name:path}", name="document")
def document(request: Request, name: str) -> Response:
    """One document."""
    return shown(request, name)


def shown(request: Request, name: str) -> Response:
    """The page of the document `name`."""
    from api.documents import rendering  # its library takes 2 MB, and many services show no document

    base = request.app.url_path_for("documents")
    try:
        found = rendering.render(shelved.text(name), source=shelved.sources()[name], base=base)
    except KeyError as exc:
        raise Problem("not-found", f"there is no document {name!r}", see=base) from exc
    return page(request, "document.html", document=found, is_list=not name)
