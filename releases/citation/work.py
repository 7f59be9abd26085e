"""What is cited: one record, from which every form of a citation is written."""

import dataclasses
import re
from typing import Literal

from releases.catalogue import Manifest
from releases.citation.licences import licence_text
from schema.authors import MAINTAINERS, Author
from schema.recorded import is_recorded

Kind = Literal["dataset", "report"]

PUBLISHER = "firstflight"

DEFINED = (
    "How much of the web fits into the first flight of packets: sizes of responses, "
    "connections and pages on the wire"
)


class NotCitable(Exception):
    """No citation is written of this; the message is a sentence that says why."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Work:
    """A release, a report, or a figure of one."""

    key: str
    """Of letters, digits and hyphens, as BibTeX and XML take it."""
    kind: Kind
    title: str
    series: str
    """As `Report for 2026`."""
    version: int
    year: int
    """Year of the publication, or of the observation if that is unknown."""
    date: str | None
    """Day of the publication, as 2026-12-03."""
    observed: str | None
    """Day or month, or first and last day, as 2026-11-02/2026-11-05; None if nothing was observed."""
    data: str
    """Version and checksum of the data, in words."""
    licence: str
    """SPDX identifier."""
    is_recorded: bool
    """True if the licence is that of what we derived from others' pages."""
    abstract: str
    url: str | None
    """Address that stays; None without a public one."""
    authors: tuple[Author, ...] = (MAINTAINERS,)
    refusal: str = ""
    """Sentence that says why no citation is written; empty if one is."""
    is_evidence: bool = True
    """False if it is illustrative, as `refusal` says."""

    @property
    def licence_text(self) -> str:
        return licence_text(self.licence, is_recorded=self.is_recorded)

    @property
    def line(self) -> str:
        """A line for a list of references, or the refusal."""
        if not self.is_evidence:
            return self.refusal
        authors = "; ".join(author.inverted for author in self.authors)
        named = (
            f"{authors.rstrip('.')}. {self.title}. {self.series}, version {self.version}; "
            f"{self.data}. {self.licence_text}."
        )
        return f"{named} {self.url}" if self.url else named


def _key(name: str) -> str:
    return re.sub(r"[^A-Za-z0-9]+", "-", name)


def cite_release(
    manifest: Manifest,
    *,
    url: str | None = None,
    observed: str | None = None,
) -> Work:
    """Cite a release, whose authors are those who recorded it, by its month or the days `observed`."""
    ours = manifest.authors or (MAINTAINERS,)
    derived = f"derived by {'; '.join(tool.inverted for tool in ours)}, " if manifest.recorded_by else ""
    crawl, date = manifest.crawl, manifest.record.date
    is_illustrative = crawl.kind != "web" and not is_recorded(crawl.kind)
    marks = (
        " (illustrative)"
        if is_illustrative
        else f" (pages recorded by others: {manifest.list_id})"
        if is_recorded(crawl.kind)
        else ""
    )
    return Work(
        key=_key(f"firstflight-{crawl}-v{manifest.version}"),
        kind="dataset",
        title=f"First flights of the web, crawl {crawl}{marks}",
        series="Data set",
        version=manifest.version,
        year=int((date or crawl.month)[:4]),
        date=date,
        observed=observed or crawl.month,
        data=f"{derived}method {manifest.method_version}, commit {manifest.commit}, "
        f"sha256:{manifest.data_checksum}",
        licence=manifest.licence,
        is_recorded=is_recorded(crawl.kind),
        abstract=f"{DEFINED}. Browser: {manifest.browser}. List of sites: {manifest.list_id}.",
        url=url,
        authors=manifest.recorded_by or ours,
        refusal=f"Crawl {crawl} is illustrative: it is made from the bundled local web, is no evidence "
        "about the web, and is not to be cited."
        if is_illustrative
        else "",
        is_evidence=not is_illustrative,
    )


def cite_report(
    *,
    title: str,
    year: int,
    version: int,
    date: str | None,
    data: str,
    licence: str,
    is_recorded: bool,
    is_illustrative: bool,
    url: str | None = None,
    figure: tuple[str, str] | None = None,
    observed: str | None = None,
) -> Work:
    """Cite a version of a year's report, or one of its figures, by id and title.

    `title` has the marks of its numbers.
    """
    named, shown = (
        (f"-{figure[0]}", f"{figure[1].rstrip('.')}. Figure {figure[0]} of: ") if figure else ("", "")
    )
    return Work(
        key=_key(f"firstflight{year}v{version}{named}"),
        kind="report",
        title=f"{shown}{title}",
        series=f"Report for {year}",
        version=version,
        year=int(date[:4]) if date else year,
        date=date,
        observed=observed,
        data=data,
        licence=licence,
        is_recorded=is_recorded,
        abstract=f"Annual report of firstflight for {year}: "
        "which initial window of TCP the evidence supports.",
        url=url,
        refusal=f"The report for {year}, version {version}, is illustrative: its data are no evidence "
        "about the web, and it is not to be cited."
        if is_illustrative
        else "",
        is_evidence=not is_illustrative,
    )
