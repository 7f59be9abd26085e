"""What goes with every number that leaves the service: its quality, its licence, and how to cite it."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from schema.releases import Manifest, Release

QUALITY = {
    "illustrative": "not evidence about the live web: made from the bundled local web",
    "observed": "from live sites, as a browser received them",
}
"""Levels of quality, by their stable names."""


def quality(manifest: Manifest) -> str:
    """The level of quality of a release: only a crawl of live sites is evidence."""
    return "observed" if manifest.crawl.kind == "web" else "illustrative"


def citation(release: Release) -> str:
    """One line that names the release for ever: its checksum finds the bytes wherever they lie."""
    manifest = release.manifest
    return (
        f"firstflight, crawl {manifest.crawl}, release version {manifest.version}, "
        f"method {manifest.method_version}, sha256:{release.checksum}, {manifest.licence}"
    )
