"""What is cited of the shelf: releases, reports and figures, with what their pages say of them."""

import dataclasses
import json
from collections.abc import Mapping
from typing import Any

from fastapi import Request

from api.http.links import link
from api.http.problems import Problem
from api.routes.provenance import signed
from api.service import service_of
from api.stored.shelf import Report, Version
from releases.citation.forms import FORMS
from releases.citation.work import Work, cite_release, cite_report
from storage.exhaustion import reraise_exhaustion
from storage.report_versions import CONTENT

LICENCE = "CC-BY-4.0"


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Metadata:
    """What the page of a work says of it."""

    work: Work
    checksum: str
    checksum_of: str
    signature: str
    reason: str = ""
    citations: tuple[tuple[str, str], ...] = ()
    """Title and address of each form."""

    @property
    def observed(self) -> str:
        return (self.work.observed or "").replace("/", " to ")


def public(request: Request, url: str) -> str | None:
    """An address below the base URL: any other is of no use in a list of references."""
    return url if service_of(request).base_url else None


def forms_of(
    request: Request, work: Work, route: str, query: str = "", **named: object
) -> tuple[tuple[str, str], ...]:
    if work.refusal:
        return ()
    path = request.app.url_path_for
    return tuple(
        (form.title, f"{path(route, form=suffix, **named)}{query}") for suffix, form in FORMS.items()
    )


def release_work(request: Request, version: Version) -> Work:
    page = link(request, "release_page", **version.key)
    return cite_release(
        version.readable.manifest,
        url=public(request, page),
        observed=service_of(request).releases.observed(version),
    )


def release_metadata(request: Request, version: Version) -> Metadata:
    work = release_work(request, version)
    unchecked = "" if version.is_checked else "; not every file has been compared with its checksum yet"
    return Metadata(
        work=work,
        checksum=version.checksum,
        checksum_of="of the release's SHA256SUMS",
        signature=signed(version.signature) + unchecked,
        reason=version.readable.manifest.record.reason or "",
        citations=forms_of(request, work, "cite_release", **version.key),
    )


def content_of(request: Request, report: Report) -> dict[str, Any]:
    """A report's content; Problem."""
    path, _ = service_of(request).releases.file(report, CONTENT)
    content: dict[str, Any] = json.loads(path.read_text(encoding="utf-8"))
    return content


def stated(request: Request, report: Report) -> dict[str, Any]:
    try:
        return content_of(request, report)
    except Problem as problem:
        reraise_exhaustion(problem)
        return {}


def figures_of(content: Mapping[str, Any]) -> dict[str, dict[str, Any]]:
    return {figure["id"]: figure for section in content.get("sections", ()) for figure in section["figures"]}


def page_of(request: Request, report: Report, figure: str | None) -> str:
    return (
        link(request, "figure_page", **report.key, figure=figure)
        if figure
        else link(request, "report_page", **report.key)
    )


def report_work(request: Request, report: Report, figure: str | None = None) -> Work:
    """A report, or a figure, as it says that it is cited.

    Without readable content its checksum identifies it.
    """
    content = stated(request, report)
    identified = f"sha256:{report.checksum}" if report.checksum else "without checksum"
    unreadable = {"title": "First flights of the web", "data": identified, "licence": LICENCE}
    cited = content["citation"] if content else unreadable
    work = cite_report(
        title=cited["title"] + (" (withdrawn)" if report.withdrawal else ""),
        year=report.of_year,
        version=report.version,
        date=report.publication.date,
        data=cited["data"],
        licence=cited["licence"],
        is_recorded=bool(content.get("recorded_pages")),
        is_illustrative=content.get("is_illustrative", False),
        url=public(request, page_of(request, report, figure)),
        figure=(figure, figures_of(content)[figure]["title"]) if figure else None,
        observed=_observed(request, content),
    )
    if content:
        return work
    damaged = f"version {report.version} of the report of {report.year} cannot be read: cite its address"
    return dataclasses.replace(work, refusal=damaged)


def _observed(request: Request, content: Mapping[str, Any]) -> str | None:
    """Days of the release's visits if it is here, else its month."""
    release = content.get("release", {})
    for version in request.scope["shelf"].versions:
        if version.is_sound and version.checksum == release.get("sha256"):
            return service_of(request).releases.observed(version)
    month: str | None = content.get("crawl", {}).get("month")
    return month


def report_metadata(request: Request, report: Report, figure: str | None = None) -> Metadata:
    work = report_work(request, report, figure)
    return Metadata(
        work=work,
        checksum=report.checksum,
        checksum_of="of the report's SHA256SUMS",
        signature=signed(report.signature),
        reason=report.publication.reason or "",
        citations=forms_of(request, work, "cite_report", f"?figure={figure}" if figure else "", **report.key),
    )
