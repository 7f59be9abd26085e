"""Lists of all releases and reports, the search over documents and measures, and what programs find pages by:
the site map, the rules for robots, and a feed of what is new."""

import dataclasses
import functools
from collections.abc import Iterable, Iterator, Sequence
from typing import Annotated

from fastapi import APIRouter, Query, Request
from fastapi.responses import HTMLResponse, Response

from api.documents import shelved
from api.http.links import link
from api.routes.pages import TEMPLATES, answer_of, page, static, with_form
from api.routes.parameters import ShelfDep
from api.routes.provenance import best_first
from api.service import Kept, service_of
from api.site_pages.listing import part_of_host, spellings
from api.stored.shelf import Shelf
from schema.computed_tables import LABELS, MEASURES
from schema.dictionary import dictionary

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Kept)

MOST_ENTRIES = 50

PAGES = (
    *("home", "explorer", "sites", "releases_index", "reports_index", "over_the_years", "documents"),
    *("dictionary", "docs", "errata", "about_the_crawler"),
)


@router.get("/releases", name="releases_index")
def releases_index(request: Request, shelf: ShelfDep) -> Response:
    """The list of all releases, the newest month first."""
    return page(
        request,
        "releases.html",
        newest=[shelf.newest(crawl) for crawl in shelf.crawls],
        errata={
            version.name: shelf.errata_of(str(version.crawl), version.version) for version in shelf.versions
        },
    )


@router.get("/reports", name="reports_index")
def reports_index(request: Request, shelf: ShelfDep) -> Response:
    """The list of all reports, the latest year first."""
    newest = [shelf.report(year) for year in shelf.years]
    return page(request, "reports.html", reports=[(report, answer_of(report)) for report in newest])


@router.get("/search", name="search")
def search(
    request: Request, shelf: ShelfDep, q: Annotated[str, Query(max_length=200, description="words")] = ""
) -> Response:
    """Sites, measures, columns and documents that have the words."""
    words = q.lower().split()
    newest = best_first(shelf.newest_sound)
    return with_form(
        page(
            request,
            "search.html",
            q=q.strip(),
            sites=_sites(request, shelf, q) if words else [],
            measures=search_measures(words) if words else [],
            columns=search_columns(words) if words else [],
            pages=search_pages(words) if words else [],
            documents=search_documents(words, request.scope["base_url"]) if words else [],
            newest=newest[0] if newest else None,
        )
    )


def _sites(request: Request, shelf: Shelf, text: str) -> list[str]:
    tables = service_of(request).sites
    named = [
        version
        for version in map(shelf.newest, shelf.crawls)
        if tables.has(version) and tables.is_named(version)
    ]
    try:
        part = part_of_host(text)
    except ValueError:
        return []
    exact = tables.find(named, spellings(part))
    return list(dict.fromkeys([*([exact] if exact else []), *tables.similar(named, part)]))


@router.get("/robots.txt", name="robots", response_class=Response)
def robots(request: Request) -> Response:
    """Rules for robots: pages may be read, not every question that can be asked."""
    lines = (
        "User-agent: *",
        "Disallow: /v1/",
        "Disallow: /explore?",
        "Disallow: /sites",
        "Disallow: /search",
    )
    text = "\n".join((*lines, f"Sitemap: {link(request, 'sitemap')}", ""))
    return Response(text, media_type="text/plain; charset=utf-8")


@router.get("/sitemap.xml", name="sitemap", response_class=Response)
def sitemap(request: Request, shelf: ShelfDep) -> Response:
    """The addresses of the pages that search engines may list; pages of single sites are left out."""
    text = TEMPLATES.get_template("sitemap.xml").render(addresses=_addresses(request, shelf))
    return Response(text, media_type="application/xml")


def _addresses(request: Request, shelf: Shelf) -> Iterator[str]:
    yield from (link(request, name) for name in PAGES)
    for version in map(shelf.newest, shelf.crawls):
        if version.is_sound:
            yield link(request, "release_page", **version.key)
    for report in map(shelf.report, shelf.years):
        if report.withdrawal is None and not report.damage:
            yield link(request, "report_page", **report.key)
            yield link(request, "report_errata", year=report.year)
    yield from (link(request, "document", name=name) for name in shelved.sources() if name)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Entry:
    """An entry of the feed."""

    url: str
    title: str
    summary: str
    day: str


@router.get("/feed.xml", name="feed", response_class=Response)
def feed(request: Request, shelf: ShelfDep) -> Response:
    """An Atom feed (RFC 4287) of releases, reports and errata."""
    newest = sorted(_entries(request, shelf), key=lambda entry: (entry.day, entry.url), reverse=True)
    text = TEMPLATES.get_template("feed.xml").render(
        own=link(request, "feed"), home=link(request, "home"), entries=newest[:MOST_ENTRIES]
    )
    return Response(text, media_type="application/atom+xml")


def _entries(request: Request, shelf: Shelf) -> Iterator[Entry]:
    for version in shelf.versions:
        if version.is_sound:
            manifest = version.readable.manifest
            rows = manifest.rows
            yield Entry(
                url=link(request, "release_page", **version.key),
                title=f"Release {version.crawl}, version {version.version}",
                summary=manifest.record.reason
                or f"{rows.get('visit', 0)} visits, {rows.get('response', 0)} responses.",
                day=manifest.record.date or f"{version.crawl.month}-01",
            )
    for report in shelf.reports:
        answer = answer_of(report)
        if answer:
            yield Entry(
                url=link(request, "report_page", **report.key),
                title=f"Report for {report.year}, version {report.version}: {answer.headline}",
                summary=report.publication.reason or " ".join(answer.sentences),
                day=report.publication.date or f"{report.of_year}-12-31",
            )
    for notice in shelf.errata:
        if erratum := notice.readable:
            yield Entry(
                url=f"{link(request, 'errata')}#{erratum.number}",
                title=f"Erratum {erratum.number} of releases",
                summary=f"{erratum.wrong.rstrip('. ')}. What to do: {erratum.advice.rstrip('. ')}.",
                day=erratum.date,
            )


@router.get("/favicon.ico", name="favicon", response_class=Response)
def favicon(request: Request) -> Response:
    """The icon, at the address at which browsers look for it by themselves."""
    return static(request, "icon.svg")


MOST_FOUND = 20

AROUND = 90


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Section:
    """A section of a document, by its heading."""

    document: str
    title: str
    heading: str
    """Empty before the first heading."""
    anchor: str
    text: str


def search_documents(words: Sequence[str], base_url: str) -> list[tuple[Section, str]]:
    """Sections that have every word, with an excerpt: those with one in their heading first."""
    matching = [
        section for section in sections() if _has(words, f"{section.title} {section.heading} {section.text}")
    ]
    matching.sort(
        key=lambda section: (
            not _has(words, f"{section.heading or section.title}"),
            section.document.count("/"),
        )
    )
    return [
        (section, _excerpt(shelved.addressed(section.text, base_url), words))
        for section in matching[:MOST_FOUND]
    ]


ALSO_CALLED = {"pages": "page weight"}
"""What others call a measure."""


def search_measures(words: Sequence[str]) -> list[tuple[str, str]]:
    return [
        (name, text)
        for name, text in MEASURES.items()
        if _has(words, f"{name} {LABELS[name]} {text} {ALSO_CALLED.get(name, '')}")
    ]


FOUND = {
    "explorer": (
        "Explorer",
        "distributions as charts (CDF, histogram, quantiles), by release, device, protocol, type and rank",
    ),
    "sites": ("Sites", "every site of a release: what fits, page weight, first flight, initcwnd of servers"),
    "releases_index": ("Releases", "the data to download, as Parquet and CSV, with checksums and recipes"),
    "reports_index": ("Reports", "each year's answer with its evidence: the recommended initcwnd"),
    "over_the_years": ("Over the years", "the same sites then and now; page weight by HTTP Archive"),
    "docs": ("API", "every call with its parameters; OpenAPI"),
}
"""Pages by route: title, and content in the words that people look for."""


def search_pages(words: Sequence[str]) -> list[tuple[str, str, str]]:
    return [(route, *said) for route, said in FOUND.items() if _has(words, " ".join(said))]


def search_columns(words: Sequence[str]) -> list[tuple[str, str, str]]:
    """Columns that have every word in their name."""
    return [
        (table, column["name"], column["comment"])
        for table, facts in dictionary().items()
        for column in facts["columns"]
        if _has(words, f"{table}.{column['name']} {column['name'].replace('_', ' ')}")
    ]


def _has(words: Iterable[str], text: str) -> bool:
    lowered = text.lower()
    return all(word in lowered for word in words)


def _excerpt(text: str, words: Sequence[str]) -> str:
    places = [place for word in words if (place := text.lower().find(word)) >= 0]
    begin = text.rfind(" ", 0, max(0, min(places, default=0) - AROUND)) + 1
    end = begin + 2 * AROUND
    shown = text[begin:end] if end >= len(text) else f"{text[begin:end].rpartition(' ')[0]} …"
    return f"{'… ' if begin else ''}{shown}"


@functools.cache
def sections() -> tuple[Section, ...]:
    from api.documents.rendering import read_sections  # its library is loaded where documents are read

    return tuple(
        Section(
            document=name,
            title=title,
            heading=heading if place else "",
            anchor=anchor if place else "",
            text=" ".join(text.split()),
        )
        for name in shelved.sources()
        if name
        for whole in [list(read_sections(shelved.text(name)))]
        for title in [shelved.title(name)]
        for place, (heading, anchor, text) in enumerate(whole)
    )
