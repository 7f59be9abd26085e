"""The project's documents as pages: the Markdown of docs/, and the data dictionary from its declarations."""

import datetime
import functools
import hashlib
import json
import re
from pathlib import Path
from typing import TYPE_CHECKING

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from api.documents import shelved
from api.documents.shelved import text
from api.http.links import link, relate
from api.http.problems import Problem
from api.routes.files import MEDIA_TYPES
from api.routes.pages import page
from api.routes.remembered import Remembered
from api.routes.works import Metadata, forms_of, public
from releases.citation.licences import licence_page
from releases.citation.work import Work, of_method
from schema.computed_tables import MEASURES
from schema.dictionary import dictionary

if TYPE_CHECKING:
    from api.documents.rendering import Rendered

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Remembered)

DICTIONARY = "dictionary"
"""Name of the data dictionary, which is a document without a file."""

LICENCE = "MIT"
"""Licence of the documents, by its SPDX identifier: that of the code."""

_RELEASED = re.compile(r"^## (?P<version>[0-9.]+), (?P<date>[0-9-]{10})$", re.MULTILINE)
"""Heading of a version in the changelog."""

_NEXT = re.compile(r"^## Unreleased\s+-", re.MULTILINE)
"""Beginning of the changelog of code that is later than the last version."""


@router.get("/documents", name="documents")
def documents(request: Request) -> Response:
    """The list of the documents, by reader."""
    return shown(request, "")


@router.get(f"/documents/{DICTIONARY}", name="dictionary")
def data_dictionary(request: Request) -> Response:
    """The data dictionary: every measure, table and column with its definition."""
    relate(request, "license", licence_page(LICENCE))
    metadata = document_of(request, DICTIONARY)
    return page(request, "dictionary.html", tables=dictionary(), measures=MEASURES, metadata=metadata)


@router.get("/documents/{name:path}", name="document")
def document(request: Request, name: str) -> Response:
    """One document, or an image or a table of one."""
    if name not in shelved.files():
        return shown(request, name)
    relate(request, "license", licence_page(LICENCE))
    return Response(shelved.content(name), media_type=MEDIA_TYPES[Path(name).suffix])


def shown(request: Request, name: str) -> Response:
    """The page of the document `name`."""
    found = rendered(request, name)
    relate(request, "license", licence_page(LICENCE))
    metadata = document_of(request, name) if name else None
    return page(request, "document.html", document=found, is_list=not name, metadata=metadata)


def rendered(request: Request, name: str) -> "Rendered":
    """The document `name` as HTML; Problem if there is none."""
    from api.documents import rendering  # its library takes 2 MB, and many services show no document

    base = request.app.url_path_for("documents")
    try:
        return rendering.render(shelved.text(name), source=shelved.sources()[name], base=base)
    except KeyError as exc:
        raise Problem("not-found", f"there is no document {name!r}", see=base) from exc


def document_of(request: Request, name: str) -> Metadata:
    """What the page of a document says of it; Problem if there is none of that name."""
    is_dictionary = name == DICTIONARY
    title = "Data dictionary" if is_dictionary else rendered(request, name).title
    work = _document_work(name, title=title, url=public(request, link(request, "document", name=name)))
    return Metadata(
        work=work,
        checksum=work.data.removeprefix("sha256:"),
        checksum_of="of the dictionary as JSON" if is_dictionary else "of the document's Markdown",
        signature="unsigned",
        citations=forms_of(request, work, "cite_document", document=name),
    )


def _document_text(name: str) -> str:
    """The text of a document; that of the dictionary is JSON. KeyError if there is none of that name."""
    if name == DICTIONARY:
        return json.dumps({"measures": MEASURES, "tables": dictionary()}, indent=2, ensure_ascii=False)
    return text(name)


def _document_work(name: str, *, title: str, url: str | None) -> Work:
    """A document as it is cited, at the address of its page."""
    version, day = _edition(text("changelog"))
    return of_method(
        name or "documents",
        title=title,
        version=version,
        year=day.year if day else datetime.datetime.now(datetime.UTC).year,
        date=day.isoformat() if day and not version.startswith("after") else None,
        checksum=hashlib.sha256(_document_text(name).encode()).hexdigest(),
        licence=LICENCE,
        url=url,
    )


@functools.cache
def _edition(changelog: str) -> tuple[str, datetime.date | None]:
    """The version of the code and the day of its release; of code that is later,
    the version that it comes after.

    >>> _edition("## Unreleased\\n\\n## 0.2.0, 2026-11-22\\n")
    ('0.2.0', datetime.date(2026, 11, 22))
    >>> _edition("## Unreleased\\n\\n- New.\\n\\n## 0.2.0, 2026-11-22\\n")[0]
    'after 0.2.0'
    >>> _edition("## Unreleased\\n\\n- New.\\n")
    ('unreleased', None)
    """
    last = _RELEASED.search(changelog)
    if last is None:
        return "unreleased", None
    after = "after " if _NEXT.search(changelog) else ""
    return after + last["version"], datetime.date.fromisoformat(last["date"])
