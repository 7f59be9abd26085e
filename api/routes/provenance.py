"""Statements that accompany every number of the service: quality level, signature and citation."""

from __future__ import annotations

from api.stored.shelf import Version
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
