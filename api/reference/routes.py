"""`/docs`: every endpoint of the API with its parameters, an example call,
and the service's own answer; `/openapi.json`."""

import http
import json
from typing import Any

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from api.reference.asking import ask
from api.reference.examples import address, code, filtered, shown
from api.reference.links import described, targets
from api.routes.pages import page
from api.routes.parameters import ShelfDep
from api.routes.provenance import quality
from api.routes.remembered import Remembered
from api.routes.works import figures_of, stated
from api.stored.shelf import Shelf

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Remembered)

SERVED_AT = "http://127.0.0.1:8750"
"""Where `firstflight serve` serves unless it is told otherwise: examples of code need a whole URL."""

LARGEST = 2**31 - 1
"""Largest value of a 32-bit number, from which on a bound says no more than the type."""

FEW = 20
"""Most parameters that are listed one by one where an endpoint filters by columns."""

DOCUMENT = "methods"
"""Document that an example cites."""

ORDER = ("observed", "recorded", "illustrative")
"""Quality levels, the best first."""


@router.get("/openapi.json", name="openapi")
def openapi(request: Request) -> JSONResponse:
    """The OpenAPI 3.1 document of the API."""
    return JSONResponse(described(request.app))


@router.get("/docs", name="docs")
async def docs(request: Request, shelf: ShelfDep) -> Response:
    """The documentation of the API, from its OpenAPI document and the service's own answers."""
    document = request.app.openapi()
    of_releases, of_reports = await _facts_of_releases(request, shelf), _facts_of_reports(request, shelf)
    endpoints = [
        await _endpoint(request, path, operation, of_reports if path.startswith("/reports/") else of_releases)
        for path, operations in document["paths"].items()
        for operation in operations.values()
    ]
    return page(
        request,
        "docs.html",
        description=document["info"]["description"],
        endpoints=endpoints,
    )


async def _endpoint(
    request: Request, path: str, operation: dict[str, Any], facts: dict[str, str]
) -> dict[str, Any]:
    """What the page shows of an endpoint."""
    parameters = operation.get("parameters", [])
    columns = filtered([parameter["name"] for parameter in parameters]) if len(parameters) > FEW else []
    listed = [
        parameter
        for parameter in parameters
        if not columns or parameter.get("required") or parameter["name"] in ALWAYS
    ]
    found: dict[str, Any] = {
        "path": path,
        "says": operation.get("description", operation["summary"]),
        "parameters": [_parameter(one) for one in listed],
        "columns": columns,
        "address": None,
        "leads_to": list(targets(path)),
    }
    called = address(path, operation, facts)
    if called is not None:
        answer = await ask(request, called)
        # An error is no example: a release that must not be cited, say, gets one.
        if answer.status < http.HTTPStatus.BAD_REQUEST:
            url = (request.scope["base_url"] or SERVED_AT) + called
            found |= {"address": called, "answer": shown(answer), "code": list(code(url, answer))}
    return found


def _parameter(parameter: dict[str, Any]) -> dict[str, Any]:
    """What the page shows of a parameter: its values where they are a list, its default,
    and the largest value."""
    schema = parameter["schema"]
    # One that may be omitted is described as null or something else, one that may be repeated as items.
    kinds = [schema, *schema.get("anyOf", []), schema.get("items", {})]
    most = next((kind["maximum"] for kind in kinds if "maximum" in kind), LARGEST)
    default = schema.get("default")
    said = ", ".join(map(str, default)) if isinstance(default, list) else default
    facts = {
        "required": parameter.get("required", False),
        f"default: `{said}`": default is not None,
        f"at most {most:,}": most < LARGEST,
    }
    return {
        "name": parameter["name"],
        "says": parameter.get("description", ""),
        "facts": [fact for fact, is_so in facts.items() if is_so],
        "among": next((kind["enum"] for kind in kinds if "enum" in kind), []),
    }


ALWAYS = ("crawl", "version", "fields", "limit", "cursor")
"""Parameters that are listed even where an endpoint filters by columns."""


async def _facts_of_releases(request: Request, shelf: Shelf) -> dict[str, str]:
    """Values by parameter: a document, and the best release that can be read, with one of its page loads."""
    sound = [one for one in map(shelf.newest, shelf.crawls) if one.is_sound]
    facts = {"document": DOCUMENT, "suffix": "csv"}
    if not sound:
        return facts
    first = min(sound, key=lambda one: ORDER.index(quality(one.crawl)))
    crawl = first.crawl
    facts |= {"crawl": str(crawl), "version": str(first.version), "name": "distribution.parquet"}
    facts |= {"from": str(crawl), "to": str(crawl)}
    facts |= {"device": crawl.device, "vantage": crawl.vantage, "arm": crawl.arm, "kind": crawl.kind}
    visits = await ask(request, f"/v1/visits.ndjson?crawl={crawl}&limit=1&fields=id,host")
    row = json.loads(visits.body.partition(b"\n")[0] or b"{}") if visits.status == http.HTTPStatus.OK else {}
    if "id" in row:
        facts |= {"visit": str(row["id"]), "host": str(row["host"])}
    return facts


def _facts_of_reports(request: Request, shelf: Shelf) -> dict[str, str]:
    """Values by parameter: the last year's report, with a figure and a short file of it;
    none without a report."""
    if not shelf.years:
        return {}
    report = shelf.report(next(iter(shelf.years)))
    facts = {"year": report.year, "version": str(report.version), "name": "summary.txt"}
    figures = figures_of(stated(request, report))
    return facts | ({"figure": next(iter(figures))} if figures else {})
