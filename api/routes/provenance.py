"""Statements that accompany every number of the service: quality level, signature and citation."""

from __future__ import annotations

from api.routes.answers import Standing
from api.stored.shelf import Report, Shelf, Version
from schema.crawls import CrawlName
from schema.recorded import RECORDED, is_recorded
from storage.signatures import Signature

QUALITY = {
    "illustrative": "not evidence about the live web: made from the bundled local web",
    "recorded": "from live pages that somebody else recorded: about those pages alone, with the limits that recording.json states",
    "observed": "from live sites, as a browser received them",
}
"""Meanings of the quality levels, by their stable names."""


def quality(crawl: CrawlName) -> str:
    """The quality level of a crawl's release: only a crawl of live sites is evidence about the web."""
    if is_recorded(crawl.kind):
        return RECORDED
    return "observed" if crawl.kind == "web" else "illustrative"


def signed(signature: Signature) -> str:
    """A signature in words; for a bad one without the reason, which would reveal details of the machine."""
    return {"good": f"signed by {signature.said}", "bad": "bad signature"}.get(signature.kind, "unsigned")


def citation(version: Version) -> str:
    """A citation in one line; the checksum identifies the release permanently."""
    manifest = version.readable.manifest
    return (
        f"firstflight, crawl {manifest.crawl}, release version {manifest.version}, "
        f"method {manifest.method_version}, sha256:{version.checksum}, {manifest.licence}"
        + (" (pages recorded by others)" if is_recorded(manifest.crawl.kind) else "")
    )


REPORT_LICENCE = "https://creativecommons.org/licenses/by/4.0/"
"""Licence of the texts, figures and numbers of reports."""


def standing(shelf: Shelf, report: Report) -> Standing:
    """How a version of a report stands among the versions of its year."""
    if report.withdrawal is not None:
        return "erased" if report.withdrawal.is_erased else "withdrawn"
    return "newest" if report == shelf.report(report.year) else "superseded"


def report_citation(report: Report) -> str:
    """A citation in one line; the checksum identifies the version permanently."""
    facts = [
        "firstflight",
        f"report for {report.year}",
        f"version {report.version}",
        report.publication.date,
        report.checksum and f"sha256:{report.checksum}",
        "withdrawn" if report.withdrawal else None,
    ]
    return ", ".join(fact for fact in facts if fact)
