"""Statements that accompany every number of the service: quality, signature and citation."""

from collections.abc import Iterable, Sequence
from typing import Annotated

from fastapi import Depends, Request

from api.http.links import link, own_link, relate
from api.http.problems import Problem
from api.routes.answers import Provenance
from api.routes.parameters import CrawlQuery, ShelfDep, VersionQuery
from api.stored.shelf import Shelf, Version
from releases.citation.licences import licence_page
from releases.citation.work import cite_release
from releases.errata import Erratum
from schema.crawls import CrawlName
from schema.recorded import RECORDED, is_recorded
from storage.signatures import Signature

QUALITY = {
    "observed": "from live sites, as a browser received them",
    RECORDED: "from live pages that somebody else recorded: about those pages alone, with the limits "
    "that recording.json states",
    "illustrative": "not evidence about the live web: made from the bundled local web",
}
"""Meanings of the qualitys by their stable names, the best first."""


def quality(crawl: CrawlName) -> str:
    """The quality: only a crawl of live sites is evidence about the web."""
    if is_recorded(crawl.kind):
        return RECORDED
    return "observed" if crawl.kind == "web" else "illustrative"


def best_first(versions: Iterable[Version]) -> list[Version]:
    """Versions: observed first, illustrative last; then the newest month, then the fewest parts beside the
    defaults.
    """
    by_parts = sorted(versions, key=lambda version: version.crawl.other_parts)
    by_month = sorted(by_parts, key=lambda version: version.crawl.month, reverse=True)
    return sorted(by_month, key=lambda version: list(QUALITY).index(quality(version.crawl)))


def signed(signature: Signature) -> str:
    """A signature in words, without the reason of a bad one, which reveals the machine."""
    return {"good": f"signed by {signature.detail}", "bad": "bad signature"}.get(signature.kind, "unsigned")


def citation(version: Version) -> str:
    return cite_release(version.readable.manifest).line


def provenance(request: Request, version: Version) -> Provenance:
    own = quality(version.crawl)
    return Provenance(
        **version.key,
        checksum=version.checksum,
        signature=version.signature.kind,
        signed_by=version.signed_by,
        is_checked=version.is_checked,
        quality=own,
        quality_means=QUALITY[own],
        licence=version.readable.manifest.licence,
        cite_as=citation(version),
        url=link(request, "release_page", **version.key),
        errata=[f"{link(request, 'errata')}#{erratum.number}" for erratum in errata_of(request, version)],
    )


def errata_of(request: Request, version: Version) -> list[Erratum]:
    shelf: Shelf = request.scope["shelf"]
    return shelf.errata_of(**version.key)


def relate_to_release(request: Request, version: Version) -> None:
    """Link the citation, licence and dictionary of a release."""
    relate(request, "cite-as", link(request, "release_page", **version.key))
    if version.release is not None:
        relate(request, "license", licence_page(version.release.manifest.licence))
    dictionary = link(request, "release_file", **version.key, name="dictionary.json")
    relate(request, "describedby", dictionary, type="application/json")
    for erratum in errata_of(request, version):
        relate(
            request,
            "describedby",
            f"{link(request, 'errata')}#{erratum.number}",
            type="text/html",
            title="erratum",
        )


def releases_asked_for(shelf: Shelf, crawl: str | None, version: int | None) -> Sequence[Version]:
    if version is None:
        return shelf.versions if crawl is None else shelf.matching(crawl)
    if crawl is None:
        raise Problem(
            "bad-parameter", "version: needs a crawl, as crawl=2026-11.desktop.local.tcp.web&version=1"
        )
    return [shelf.version(crawl, version)]


def release_asked_for(shelf: Shelf, crawl: str | None, version: int | None) -> Version:
    """The version asked for; without a crawl, the newest sound one of the best quality."""
    if version is not None:
        return releases_asked_for(shelf, crawl, version)[0]
    if crawl is not None:
        return shelf.find(crawl)
    newest = best_first(shelf.newest_sound)
    if not newest:
        raise Problem("no-such-crawl", "there is no release yet")
    return newest[0]


async def asked_release(
    request: Request, shelf: ShelfDep, crawl: CrawlQuery = None, version: VersionQuery = None
) -> Version:
    """The version asked for; its canonical address, in the header, stays the same."""
    chosen = release_asked_for(shelf, crawl, version)
    relate(request, "canonical", own_link(request, **chosen.key))
    relate_to_release(request, chosen)
    return chosen


AskedRelease = Annotated[Version, Depends(asked_release)]

REPORT_LICENCE = licence_page("CC-BY-4.0")
