"""The page of a measure of a release: its definition, shares with their intervals, figure,
data and citation."""

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Path, Request
from fastapi.responses import HTMLResponse, Response

from api.explorer.drawing import NARROW
from api.http.links import link, relate
from api.http.problems import Problem
from api.routes.distributions import Distribution, distributions
from api.routes.pages import label, page
from api.routes.parameters import CrawlPath, ShelfDep, VersionPath
from api.routes.provenance import relate_to_release
from api.routes.remembered import Remembered
from api.routes.strata import EVERYTHING
from api.routes.works import release_metadata
from api.stored.shelf import Version
from releases.slow_start import MSS_FIG1, WINDOWS
from schema.computed_tables import MEASURES

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Remembered)

MeasurePath = Annotated[str, Path(max_length=100)]


@router.get("/releases/{crawl}/v{version}/measures/{measure}", name="measure_page")
def measure_page(
    request: Request, shelf: ShelfDep, crawl: CrawlPath, version: VersionPath, measure: MeasurePath
) -> Response:
    """The page of one measure of one version of a release."""
    if measure not in MEASURES:
        raise Problem("not-found", f"there is no measure {measure!r}; there are {', '.join(MEASURES)}")
    found = shelf.version(crawl, version)
    relate_to_release(request, found, measure=measure)
    relate(request, "describedby", link(request, "document", name="methods"), type="text/html")
    pinned = {"crawl": crawl, "version": version, "measure": measure}
    chosen = {"crawl": found.name, "measure": measure, "iw": ",".join(map(str, WINDOWS)), "mss": MSS_FIG1}
    variant = {name: getattr(found.crawl, name) for name in ("device", "vantage", "arm", "kind")}
    return page(
        request,
        "cited/measure.html",
        version=found,
        measure=measure,
        heading=label(measure)[0].upper() + label(measure)[1:],
        metadata=release_metadata(request, found, measure),
        errata=shelf.errata_of(crawl, version),
        distribution=whole(request, found, measure),
        pinned=urlencode(pinned),
        chosen=urlencode(chosen),
        over_months=urlencode({"measure": measure, **variant}),
        measures=list(MEASURES),
        narrow=NARROW,
    )


def whole(request: Request, version: Version, measure: str) -> Distribution:
    """The distribution of every item of a measure."""
    subject = EVERYTHING.subject(request, version, measure)
    (found,) = distributions({measure: subject}, windows=WINDOWS, mss=MSS_FIG1, points=2)
    return found
