"""What goes with every number that leaves the service: its quality, its licence, who signed it, and how to cite it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from api.shelf import Version
    from schema.crawls import CrawlName
    from storage.signatures import Signature

QUALITY = {
    "illustrative": "not evidence about the live web: made from the bundled local web",
    "observed": "from live sites, as a browser received them",
}
"""Levels of quality, by their stable names."""


def quality(crawl: CrawlName) -> str:
    """The level of quality of a crawl's release: only a crawl of live sites is evidence."""
    return "observed" if crawl.kind == "web" else "illustrative"


def signed(signature: Signature) -> str:
    """A signature in words; of one that does not count not why, which would tell of the machine."""
    return {"good": f"signed by {signature.said}", "bad": "bad signature"}.get(signature.kind, "unsigned")


def citation(version: Version) -> str:
    """One line that names the release for ever: its checksum finds the bytes wherever they lie."""
    manifest = version.readable.manifest
    return (
        f"firstflight, crawl {manifest.crawl}, release version {manifest.version}, "
        f"method {manifest.method_version}, sha256:{version.checksum}, {manifest.licence}"
    )
