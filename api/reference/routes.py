"""`/docs`: every endpoint of the API with its parameters, an example call, and the service's own answer; `/openapi.json`."""

import http
import json
from typing import Any

from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import HTMLResponse, JSONResponse, Response

from api.reference.asking import ask
from api.reference.examples import address, code, filtered, shown
from api.reference.links import described, targets
from api.routes.pages import page
from api.routes.parameters import ShelfDep
from api.routes.provenance import quality
from api.routes.remembered import Remembered
from api.stored.shelf import Shelf

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Remembered)

OF_THE_MOMENT = "/v1/progress"
"""The endpoint whose answer changes every few seconds, so that no example of it would stay true."""

SERVED_AT = "http://127.0.0.1:8750"
"""Where `firstflight serve` serves unless it is told otherwise: examples of code need a whole URL."""

FEW = 20
"""Most parameters that are listed one by one where an endpoint filters by columns."""


@router.get("/openapi.json", name="openapi")
def openapi(request: Request) -> JSONResponse:
    """The OpenAPI 3.1 document of the API."""
    return JSONResponse(described(request.app))


@router.get("/docs", name="docs")
async def docs(request: Request, shelf: ShelfDep) -> Response:
    """The documentation of the API, from its OpenAPI document and the service's own answers."""
    document = request.app.openapi()
    facts = await _facts(request.app, shelf)
    endpoints = [
        await _endpoint(request, path, operation, facts)
        for path, operations in document["paths"].items()
        for operation in operations.values()
    ]
    return page(
        request,
        "docs.html",
        description=document["info"]["description"],
        endpoints=endpoints,
        numbers={one["path"]: number for number, one in enumerate(endpoints, 1)},
    )


async def _facts(app: FastAPI, shelf: Shelf) -> dict[str, str]:
    """Values of parameters that have an answer in this library, by name: of the best release that can be read."""
    order = ("observed", "recorded", "illustrative")
    sound = [one for one in map(shelf.newest, shelf.crawls) if one.is_sound]
    facts: dict[str, str] = {"name": "distribution.parquet"}
    if shelf.years:
        facts["year"] = next(iter(shelf.years))
    if sound:
        first = min(sound, key=lambda one: order.index(quality(one.crawl)))
        crawl = first.crawl
        facts |= {"crawl": str(crawl), "version": str(first.version)}
        facts |= {"device": crawl.device, "vantage": crawl.vantage, "arm": crawl.arm, "kind": crawl.kind}
        visits = await ask(app, f"/v1/visits.ndjson?crawl={crawl}&limit=1&fields=id,host")
        row = (
            json.loads(visits.body.partition(b"\n")[0] or b"{}")
            if visits.status == http.HTTPStatus.OK
            else {}
        )
        if "id" in row:
            facts |= {"visit": str(row["id"]), "host": str(row["host"])}
    return facts


async def _endpoint(
    request: Request, path: str, operation: dict[str, Any], facts: dict[str, str]
) -> dict[str, Any]:
    """What the page shows of an endpoint."""
    parameters = operation.get("parameters", [])
    columns = filtered([one["name"] for one in parameters]) if len(parameters) > FEW else []
    listed = [one for one in parameters if not columns or one.get("required") or one["name"] in ALWAYS]
    found: dict[str, Any] = {
        "path": path,
        "says": operation.get("description", operation["summary"]),
        "parameters": listed,
        "columns": columns,
        "address": None,
        "leads_to": list(targets(path)),
    }
    called = None if path == OF_THE_MOMENT else address(path, operation, facts)
    media_types = operation["responses"].get("200", {}).get("content", {})
    if called and {"application/json", "text/csv"} & set(media_types):
        answer = await ask(request.app, called)
        if answer.status == http.HTTPStatus.OK and answer.media_type in media_types:
            url = (request.app.state.base_url or SERVED_AT).rstrip("/") + called
            found |= {"address": called, "answer": shown(answer.body, answer.media_type)}
            found["code"] = list(code(url)) if answer.media_type == "application/json" else []
    return found


ALWAYS = ("crawl", "version", "fields", "limit", "cursor")
"""Parameters that are listed even where an endpoint filters by columns."""
