"""Errata of releases: what was found wrong after the publication, beside releases that never change."""

import dataclasses

from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response

from api.formats.offered import IN_JSON, get_in
from api.http.links import link
from api.routes.answers import ErrataAnswer, ErratumAnswer
from api.routes.pages import page
from api.routes.parameters import AnyCrawlQuery, ShelfDep, VersionQuery
from api.routes.provenance import releases_asked_for
from api.routes.v1 import aside
from api.service import Kept
from api.stored.shelf import Notice, Shelf
from releases.errata import Erratum

router = APIRouter(route_class=Kept)


@get_in(router, "/v1/errata", IN_JSON, name="errata_json", tags=["v1"])
def errata_json(
    request: Request, shelf: ShelfDep, crawl: AnyCrawlQuery = None, version: VersionQuery = None
) -> ErrataAnswer:
    """What was found wrong in releases after their publication, and which versions were withdrawn;
    of all or of one crawl."""
    versions = releases_asked_for(shelf, crawl, version)
    about = {(str(version.crawl), version.version) for version in versions}
    answers = [
        answer(request, shelf, notice, erratum)
        for notice, erratum in readable(shelf)
        if crawl is None or any((release.crawl, release.version) in about for release in erratum.releases)
    ]
    return ErrataAnswer(
        errata=answers,
        damaged_errata=[notice.number for notice in shelf.errata if notice.damage],
        **dict(aside(versions)),
    )


@router.get("/errata", name="errata", response_class=HTMLResponse, include_in_schema=False)
def errata(request: Request, shelf: ShelfDep) -> Response:
    """The page of all errata of releases, and of all versions that were withdrawn."""
    return page(
        request,
        "errata/releases.html",
        errata=[erratum for _, erratum in readable(shelf)],
        damaged=[notice.number for notice in shelf.errata if notice.damage],
        replaced=shelf.replaced,
        withdrawn=[version for version in shelf.versions if version.withdrawal],
        years=list(shelf.years),
    )


def readable(shelf: Shelf) -> list[tuple[Notice, Erratum]]:
    notices = [(notice, notice.readable) for notice in shelf.errata]
    return [(notice, erratum) for notice, erratum in notices if erratum is not None]


def answer(request: Request, shelf: Shelf, notice: Notice, erratum: Erratum) -> ErratumAnswer:
    return ErratumAnswer(
        **dataclasses.asdict(erratum),
        url=f"{link(request, 'errata')}#{erratum.number}",
        replaced_by=shelf.replaced.get(erratum.number),
        signature=notice.signature.kind,
        signed_by=notice.signed_by,
    )
