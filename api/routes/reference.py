"""`/docs`, the reference of the API as Swagger UI, and `/openapi.json`, which it shows."""

import importlib.resources
import re
from typing import Any

import pyarrow.parquet as pq
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from api.http.links import relate
from api.http.problems import Elsewhere, Problem
from api.routes.pages import page
from api.routes.parameters import ShelfDep
from api.routes.provenance import best_first
from api.routes.works import figures_of, stated
from api.service import Kept, service_of
from api.stored.shelf import Shelf
from releases.citation.licences import licence_page
from storage.exhaustion import reraise_exhaustion

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Kept)

SWAGGER_UI = {
    "swagger-ui-bundle.js": "text/javascript; charset=utf-8",
    "swagger-ui.css": "text/css; charset=utf-8",
}

POLICY = (
    "default-src 'none'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; script-src 'self'; "
    "connect-src 'self'; base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
)
"""Swagger UI asks the service alone."""

ALWAYS = frozenset({"crawl", "version", "limit"})


@router.get("/openapi.json", name="openapi")
def openapi(request: Request, shelf: ShelfDep) -> JSONResponse:
    """The OpenAPI 3.1 document of the API, with an example of each call that this service can answer."""
    document = request.app.openapi()
    of_releases, of_reports = _facts_of_releases(request, shelf), _facts_of_reports(request, shelf)
    paths = {
        path: {
            method: _with_examples(operation, of_reports if path.startswith("/reports/") else of_releases)
            for method, operation in operations.items()
        }
        for path, operations in document["paths"].items()
    }
    return JSONResponse(document | {"paths": paths})


@router.get("/v1", name="v1", response_class=Response)
def begin(request: Request) -> Response:
    """Redirect from where the API's addresses begin to its calls."""
    raise Elsewhere(request.app.url_path_for("docs"))


@router.get("/docs", name="docs")
def docs(request: Request) -> Response:
    """The reference of the API, with calls to try."""
    answer = page(request, "docs.html")
    answer.headers["Content-Security-Policy"] = POLICY
    return answer


@router.get("/docs/{name}", name="swagger_ui", response_class=Response)
def swagger_ui(request: Request, name: str) -> Response:
    """A file of Swagger UI."""
    if name not in SWAGGER_UI:
        raise Problem("not-found", f"the reference has no file {name!r}; it is at /docs")
    relate(request, "license", licence_page("Apache-2.0"))
    content = importlib.resources.files("fastapi_swagger.resources").joinpath(name).read_bytes()
    return Response(content, headers={"Content-Type": SWAGGER_UI[name]})


def _with_examples(operation: dict[str, Any], facts: dict[str, Any]) -> dict[str, Any]:
    """An operation with the parameters that an example needs."""
    parameters = []
    for parameter in operation.get("parameters", []):
        name = parameter["name"]
        # Swagger UI would fill every field with the example of its schema, and nothing would be found.
        schema = {key: value for key, value in parameter["schema"].items() if key != "examples"}
        has_value = name in facts and (parameter.get("required") or name in ALWAYS)
        parameters.append(parameter | {"schema": schema} | ({"example": facts[name]} if has_value else {}))
    description = operation.get("description", operation["summary"]).replace("\n", " ").replace("`", "")
    return operation | {"parameters": parameters, "summary": re.split(r"[.:;] ", description)[0].rstrip(".")}


def _facts_of_releases(request: Request, shelf: Shelf) -> dict[str, Any]:
    facts: dict[str, Any] = {"document": "methods", "form": "bib", "limit": 2}
    sound = best_first(shelf.newest_sound)
    if not sound:
        return facts
    crawl = str(sound[0].crawl)
    facts |= {"crawl": crawl, "version": sound[0].version, "from": crawl, "to": crawl}
    facts["name"] = "distribution.parquet"
    try:
        path, _ = service_of(request).releases.file(sound[0], "visit.parquet")
    except Problem as problem:
        reraise_exhaustion(problem)
        return facts
    first = next(pq.ParquetFile(path).iter_batches(batch_size=1, columns=["id", "host"]), None)
    return facts | ({"visit": first["id"][0].as_py(), "host": first["host"][0].as_py()} if first else {})


def _facts_of_reports(request: Request, shelf: Shelf) -> dict[str, Any]:
    if not shelf.years:
        return {}
    report = shelf.report(next(iter(shelf.years)))
    facts = {"year": report.year, "version": report.version, "name": "summary.txt", "form": "bib"}
    figures = figures_of(stated(request, report))
    return facts | ({"figure": next(iter(figures))} if figures else {})
