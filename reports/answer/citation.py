"""How to cite a report: a line for a reference list, and BibTeX."""

from __future__ import annotations

from typing import Any

from releases.catalogue import Release

AUTHOR = "The firstflight maintainers"


def citation(release: Release, *, year: int, version: int, marks: str) -> dict[str, Any]:
    """The citation's parts, its line and its BibTeX entry.

    `version` is the report's; `marks` are words that every number is marked by.
    """
    manifest = release.manifest
    title = f"First flights in {year}: how much of the web fits into the initial window"
    qualified = f"{title} ({marks})" if marks else title
    data = f"release {manifest.crawl}, version {manifest.version}, sha256:{release.checksum}"
    return {
        "author": AUTHOR,
        "title": qualified,
        "year": year,
        "version": version,
        "data": data,
        "licence": manifest.licence,
        "commit": manifest.commit,
        "line": f"{AUTHOR}. {qualified}. Report for {year}, version {version}; {data}. {manifest.licence}.",
        "bibtex": "\n".join(
            (
                f"@techreport{{firstflight{year}v{version},",
                f"  author = {{{{{AUTHOR}}}}},",
                f"  title = {{{qualified}}},",
                f"  year = {{{year}}},",
                f"  note = {{Version {version}; {data}; {manifest.licence}}},",
                "}",
            )
        ),
    }
