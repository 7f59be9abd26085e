"""Values of parameters that have an answer in this library, so that examples of calls find something."""

from __future__ import annotations

import http
import json
from typing import TYPE_CHECKING

from api.reference.asking import ask
from api.routes.provenance import quality
from api.routes.works import figures_of, stated

if TYPE_CHECKING:
    from fastapi import Request

    from api.stored.shelf import Shelf

DOCUMENT = "methods"
"""Document that an example cites."""

ORDER = ("observed", "recorded", "illustrative")
"""Quality levels, the best first."""


async def facts_of_releases(request: Request, shelf: Shelf) -> dict[str, str]:
    """Values by parameter: a document, and the best release that can be read, with one of its page loads."""
    sound = [one for one in map(shelf.newest, shelf.crawls) if one.is_sound]
    facts = {"document": DOCUMENT, "suffix": "csv"}
    if not sound:
        return facts
    first = min(sound, key=lambda one: ORDER.index(quality(one.crawl)))
    crawl = first.crawl
    facts |= {"crawl": str(crawl), "version": str(first.version), "name": "distribution.parquet"}
    facts |= {"device": crawl.device, "vantage": crawl.vantage, "arm": crawl.arm, "kind": crawl.kind}
    visits = await ask(request, f"/v1/visits.ndjson?crawl={crawl}&limit=1&fields=id,host")
    row = json.loads(visits.body.partition(b"\n")[0] or b"{}") if visits.status == http.HTTPStatus.OK else {}
    if "id" in row:
        facts |= {"visit": str(row["id"]), "host": str(row["host"])}
    return facts


def facts_of_reports(request: Request, shelf: Shelf) -> dict[str, str]:
    """Values by parameter: the last year's report, with a figure and a short file of it; none without a report."""
    if not shelf.years:
        return {}
    report = shelf.report(next(iter(shelf.years)))
    facts = {"year": report.year, "version": str(report.version), "name": "summary.txt"}
    figures = figures_of(stated(request, report))
    return facts | ({"figure": next(iter(figures))} if figures else {})
