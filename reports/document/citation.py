"""How to cite a report: a line for a reference list, and BibTeX."""

from typing_extensions import TypedDict

from recordings.pages.recording import SETS, read_source
from releases.catalogue import Release
from releases.citation.forms import cite
from releases.citation.work import AUTHOR, NotCitable, cite_report


class CitationFacts(TypedDict):
    """The parts of a citation, its line for a reference list and its BibTeX entry."""

    author: str
    title: str
    year: int
    version: int
    data: str
    licence: str
    commit: str
    line: str
    bibtex: str


def citation(
    release: Release, *, year: int, version: int, date: str | None, marks: str, is_illustrative: bool
) -> CitationFacts:
    """Return the citation's parts, its line and its BibTeX entry,
    which of an illustrative report is a comment that says why not.

    `version` and `date` are the report's; `marks` are words that every number is marked by.
    """
    manifest = release.manifest
    title = f"First flights in {year}: how much of the web fits into the initial window"
    qualified = f"{title} ({marks})" if marks else title
    recorder = recorder_of(release)
    recorded = f"recorded by {recorder}, " if recorder else ""
    data = f"release {manifest.crawl}, version {manifest.version}, {recorded}sha256:{manifest.data_checksum}"
    work = cite_report(
        title=qualified,
        year=year,
        version=version,
        date=date,
        data=data,
        licence=manifest.licence,
        is_illustrative=is_illustrative,
    )
    try:
        bibtex = cite(work, "bib").rstrip("\n")
    except NotCitable as exc:
        bibtex = f"% {exc}"
    return {
        "author": AUTHOR,
        "title": qualified,
        "year": year,
        "version": version,
        "data": data,
        "licence": manifest.licence,
        "commit": manifest.commit,
        "line": work.line,
        "bibtex": bibtex,
    }


def recorder_of(release: Release) -> str:
    """State who recorded a release's pages; empty if we did, or nobody is named.

    A release that was made before releases named them is of a set that comes with the code, which does.
    """
    manifest = release.manifest
    if manifest.recorded_by or manifest.list_id not in SETS:
        return "; ".join(author.inverted for author in manifest.recorded_by)
    return read_source(SETS[manifest.list_id], {}).recorder
