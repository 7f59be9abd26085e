"""The web pages: the home page, and each release with its distributions.

They run no script and load nothing external.
"""

import dataclasses
import functools
import importlib.resources
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any
from urllib.parse import urlencode

import jinja2
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from api import charts
from api.http.links import link, relate
from api.http.middleware import HEADERS
from api.http.problems import KINDS, Elsewhere, Problem, suppress_problems
from api.routes.answers import DistributionAnswer
from api.routes.files import MEDIA_TYPES, release_files
from api.routes.parameters import CrawlPath, ShelfDep, VersionPath
from api.routes.provenance import (
    QUALITY,
    best_first,
    quality,
    relate_to_release,
    signed,
)
from api.routes.strata import distributions
from api.routes.works import release_metadata
from api.service import Kept, service_of
from api.stored.shelf import Report, Version
from recordings.pages.sets import SETS
from releases.cdf import count_incomplete, is_stated
from releases.citation.licences import licence_page
from releases.citation.work import Work
from releases.formatting import (
    apart,
    between,
    grouped,
    packet_agreement,
    percent,
    quantity,
    size,
    stated,
    visible_text,
    with_code,
)
from releases.slow_start import MSS_FIG1, WINDOWS
from releases.strata.bootstrap import CONFIDENCE
from releases.strata.sample import WHOLE
from replay.runs.policy import Policy
from schema.computed_tables import MEASURES
from schema.recorded import is_recorded

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Kept)

LABELS = {
    "first_flights_after_tls": "first flights, after TLS",
    "responses_first": "responses, first on a connection",
    "responses_derived": "responses, of derived size",
    "responses_derived_bodies": "responses, of derived size, bodies alone",
    "responses_incomplete": "responses, incomplete",
    "responses_iw_limited": "responses, IW-limited",
    "tls_flights": "TLS flights",
}
"""Labels of measures that their names do not give."""


def label(measure: str) -> str:
    """The label of a measure.

    >>> label("responses_iw_limited"), label("tls_flights")
    ('responses, IW-limited', 'TLS flights')
    """
    return LABELS.get(measure, measure.replace("_", " "))


def in_words(distributions: Sequence[DistributionAnswer]) -> str:
    """Count and share of incomplete responses, in a sentence; empty if no response crossed the network."""
    count, share = count_incomplete({distribution.measure: distribution for distribution in distributions})
    return (
        ""
        if share is None
        else f"Incomplete responses, counted apart: {grouped(count)} ({percent(share)} of all)."
    )


def level(share: float) -> str:
    """A share that was stated, as a level of confidence, in percent.

    >>> from releases.formatting import NARROW
    >>> level(0.95).replace(NARROW, " ")
    '95 %'
    """
    return stated(100 * share, "%")


def milliseconds(time_us: int | None) -> str:
    """A time in µs as milliseconds with three significant digits.

    >>> from releases.formatting import NARROW
    >>> [milliseconds(time).replace(NARROW, " ") for time in (1250, 2_470_400)], milliseconds(None) == quantity(None, "ms")
    (['1.25 ms', '2 470 ms'], True)
    """  # noqa: E501
    return quantity(None if time_us is None else time_us / 1000, "ms")


def _environment() -> jinja2.Environment:
    environment = jinja2.Environment(
        loader=jinja2.PackageLoader("api"),
        autoescape=True,
        undefined=jinja2.StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    environment.filters.update(
        zip=zip,
        between=between,
        number=grouped,
        size=functools.partial(size, has_zeros=True),
        bound=size,
        apart=apart,
        label=label,
        percent=percent,
        level=level,
        quality=quality,
        plainly=lambda sentence: sentence.rstrip(". "),
        incomplete=in_words,
        signed=signed,
        packet_agreement=packet_agreement,
        milliseconds=milliseconds,
        visible=visible_text,
        prose=lambda text: Markup(with_code(text)),  # noqa: S704  # it is escaped
    )
    environment.globals.update(QUALITY=QUALITY, CONFIDENCE=CONFIDENCE, NARROW=charts.NARROW, lab_is_on=False)
    return environment


TEMPLATES = _environment()


def page(request: Request, name: str, **context: Any) -> HTMLResponse:  # noqa: ANN401  # a template's context
    """Render the template `name`; its links are paths, which are valid behind any proxy."""
    return HTMLResponse(TEMPLATES.get_template(name).render(**surroundings(request), **context))


def surroundings(request: Request) -> dict[str, Any]:
    """What every template needs: for the header, for links, and for previews of the page elsewhere."""
    # Not `request.url_for`: behind a proxy that terminates TLS it would write http.
    path_for, path = request.app.url_path_for, request.scope["path"]
    shelf = request.scope.get("shelf")
    picture = (
        str(path_for("explorer_png")) if shelf and any(version.is_sound for version in shelf.versions) else ""
    )
    if picture and path == path_for("explorer") and request.url.query:
        picture += f"?{request.url.query}"
    return {
        "path_for": path_for,
        "lab_is_on": service_of(request).lab is not None,
        "path": path,
        "base": request.scope.get("base_url", ""),
        "crumbs": crumbs(path),
        "picture": picture,
    }


def crumbs(path: str) -> list[tuple[str, str]]:
    """The pages above the page at a path, the outermost first, and the page itself, which has no address.

    >>> crumbs("/releases/2026-11.desktop.local.tcp.web/v1/pages/5")[1:]
    [('2026-11.desktop.local.tcp.web, version 1', '/releases/2026-11.desktop.local.tcp.web/v1'), ('page load 5', '')]
    >>> crumbs("/reports/2026/errata"), crumbs("/sites"), crumbs("/")
    ([('Reports', '/reports'), ('2026', '/reports/2026/'), ('errata', '')], [], [])
    >>> crumbs("/reports/2026/v1/")
    [('Reports', '/reports'), ('2026, version 1', '')]
    """  # noqa: E501
    first, *rest = path.strip("/").split("/")
    if first not in ("releases", "reports", "crawls", "sites", "documents", "lab") or not rest:
        return []
    above, here = [(first.capitalize(), f"/{first}")], "/".join(rest)
    if first in ("releases", "reports") and len(rest) > 1:
        of, version, *below = rest
        here = f"{of}, version {version[1:]}"
        if below:
            above.append((here, f"/{first}/{of}/{version}{'/' * (first == 'reports')}"))
            here = " ".join(below).replace("pages ", "page load ").replace("figures ", "figure ")
        elif version == "errata":
            above.append((of, f"/{first}/{of}/"))
            here = version
    return [*above, (here, "")]


def with_form(answer: HTMLResponse) -> HTMLResponse:
    """The page, with leave to send its form to the service itself."""
    policy = HEADERS["Content-Security-Policy"]
    answer.headers["Content-Security-Policy"] = policy.replace("form-action 'none'", "form-action 'self'")
    return answer


def problem_page(request: Request, problem: Problem) -> str:
    """A problem as a page, for people."""
    return TEMPLATES.get_template("problem.html").render(
        **{**surroundings(request), "picture": "", "crumbs": []},
        kind=problem.kind,
        detail=problem.detail,
        see=problem.members.get("see"),
    )


def read_distributions(request: Request, version: Version) -> list[DistributionAnswer]:
    """The distributions of all measures of a release with their intervals, as the pages show them."""
    releases = service_of(request).releases
    samples = {measure: releases.sample(version, measure, WHOLE) for measure in MEASURES}
    return distributions(samples, windows=WINDOWS, mss=MSS_FIG1)


PICTURES = ("forms/figures/fig-plane.svg", "forms/slide.svg")
"""Figures of a report of what each window saves and sends again, the best first."""

AGAIN_S = 5
"""Seconds after which the home page asks again while a demo fills the folder."""

LEADING = ("first_flights", "responses")
"""Measures of which the home page shows the first that is known."""


def stated_first(request: Request, versions: Iterable[Version], measures: Iterable[str]) -> Iterator[Version]:
    """Yield the readable versions by their quality, but last those that state no share of any measure."""
    releases = service_of(request).releases
    others = []
    for version in best_first(versions):
        with suppress_problems():
            counts = releases.counts(version)
            if any(is_stated(counts[measure]) for measure in measures):
                yield version
            else:
                others.append(version)
    yield from others


def headline(
    request: Request, versions: Sequence[Version], windows: Sequence[int]
) -> tuple[Version | None, DistributionAnswer | None]:
    """The readable version of the best quality that has known sizes, and its distribution of first flights,
    or of responses where no first flight is known."""
    releases = service_of(request).releases
    for version in stated_first(request, versions, LEADING):
        with suppress_problems():
            samples = {measure: releases.sample(version, measure, WHOLE) for measure in LEADING}
            leading = distributions(samples, windows=windows, mss=MSS_FIG1)
            return version, next((distribution for distribution in leading if distribution.is_stated), None)
    return None, None


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StatedAnswer:
    """What the pages state of a report's answer."""

    is_illustrative: bool
    headline: str
    sentences: tuple[str, ...]
    """What follows the headline: for whom the answer differs, and how sure it is."""
    first_line: str
    limits: str
    confidence: str
    window: int | None
    """The recommended window, in segments."""
    picture: str | None
    """Name of the file of the figure; None if the report has none."""


def answer_of(report: Report) -> StatedAnswer | None:
    """What a report answers, with its verdict; None if it is damaged, withdrawn, or of another form."""
    if report.damage or report.withdrawal:
        return None
    try:
        content = json.loads((report.path / "report.json").read_bytes())
        answer = content["answer"]
        # Reports of format 2 have one sentence, and name the policy otherwise.
        sentences = answer["sentences"] if "sentences" in answer else (answer["sentence"], answer["differs"])
        policy = answer.get("policy", answer.get("iw"))
        return StatedAnswer(
            is_illustrative=content["is_illustrative"],
            headline=answer["headline"],
            sentences=tuple(sentences),
            first_line=answer["first_line"],
            limits=answer["limits"],
            confidence=answer["confidence"]["level"],
            window=None if policy is None else Policy.parse(policy).window,
            picture=next((picture for picture in PICTURES if picture in report.files), None),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


def _is_of_another_year(version: Version) -> bool:
    return version.is_sound and version.readable.manifest.list_id in SETS


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Own:
    """What a folder's own crawl has so far, below the edition that came with the code."""

    release: Version | None
    distribution: DistributionAnswer | None
    chosen: str
    report: Report | None
    answer: StatedAnswer | None


def choice(version: Version | None, distribution: DistributionAnswer | None, windows: Sequence[int]) -> str:
    """The query by which the explorer shows a distribution beside windows; empty without one."""
    if version is None or distribution is None:
        return ""
    asked = {"crawl": version.name, "measure": distribution.measure, "iw": ",".join(map(str, windows))}
    return urlencode(asked)


@router.get("/", name="home")
def home(request: Request, shelf: ShelfDep) -> Response:
    """The home page: the newest real answer, the CDF of the best release, and the way to all others."""
    newest = [shelf.newest(crawl) for crawl in shelf.crawls]
    sound = [version for version in newest if version.is_sound]
    reports = ((report, answer_of(report)) for report in map(shelf.report, shelf.years))
    answered = [(report, answer) for report, answer in reports if answer]
    # Of two that are evidence or are not, the first is the newest.
    report, answer = min(answered, key=lambda pair: pair[1].is_illustrative, default=(None, None))
    recommended = (answer and answer.window) or 0
    windows = [*WINDOWS[:2], recommended if recommended > WINDOWS[1] else WINDOWS[2]]
    first, distribution = headline(request, sound, windows)
    own = None
    if shelf.steps or (report and report.is_edition):
        others = [version for version in sound if not is_recorded(version.crawl.kind)]
        release, share = headline(request, others, windows)
        ours = next((pair for pair in answered if not pair[0].is_edition), (None, None))
        own = Own(
            release=release,
            distribution=share,
            chosen=choice(release, share, windows),
            report=ours[0],
            answer=ours[1],
        )
    shown = page(
        request,
        "home.html",
        crawls=len(newest),
        report=report,
        answer=answer,
        own=own,
        steps=shelf.steps,
        under_way=shelf.under_way,
        has_years=sum(_is_of_another_year(version) for version in newest) > 1,
        headline=first,
        distribution=distribution,
        chosen=choice(first, distribution, windows),
    )
    if shelf.steps:
        shown.headers["Refresh"] = str(AGAIN_S)
    return shown


@router.get("/releases/{crawl}", name="crawl_page")
def crawl_page(request: Request, shelf: ShelfDep, crawl: CrawlPath) -> Response:
    """Redirect to the newest version of a crawl's release."""
    version = shelf.newest(crawl)
    raise Elsewhere(request.app.url_path_for("release_page", **version.key))


@router.get("/releases/{crawl}/v{version}", name="release_page")
def release_page(request: Request, shelf: ShelfDep, crawl: CrawlPath, version: VersionPath) -> Response:
    """The page of one version of a release: provenance, distributions and files."""
    release_version = shelf.version(crawl, version)
    relate_to_release(request, release_version)
    metadata = release_metadata(request, release_version)
    answer = page(
        request,
        "release.html",
        version=release_version,
        manifest=release_version.readable.manifest,
        metadata=metadata,
        dataset=dataset(request, release_version, metadata.work),
        versions=shelf.matching(crawl),
        errata=shelf.errata_of(crawl, version),
        distributions=read_distributions(request, release_version),
        files=release_files(request, release_version),
        mss=MSS_FIG1,
    )
    return with_form(answer)


def dataset(request: Request, version: Version, work: Work) -> dict[str, Any]:
    """A release as schema.org describes a data set, by which search engines find it.

    Its croissant.json describes every column.
    """
    crawl, manifest = str(version.crawl), version.readable.manifest
    files = [
        file_answer
        for file_answer in release_files(request, version)
        if file_answer.name.endswith((".parquet", ".json"))
    ]
    return {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "name": work.title,
        "description": f"Crawl {crawl}: sizes of responses, connections and pages beside initial windows of "
        f"TCP; {QUALITY[quality(version.crawl)]}.",
        "url": link(request, "release_page", **version.key),
        "version": str(version.version),
        "license": licence_page(manifest.licence),
        "isAccessibleForFree": True,
        "creator": [{"@type": "Person", "name": author.inverted} for author in work.authors],
        "temporalCoverage": work.observed or version.crawl.month,
        "identifier": f"sha256:{version.checksum}",
        "distribution": [
            {
                "@type": "DataDownload",
                "name": file.name,
                "contentUrl": file.url,
                "encodingFormat": MEDIA_TYPES[Path(file.name).suffix].partition(";")[0],
                "contentSize": f"{file.bytes} B",
                "sha256": file.sha256,
            }
            for file in files
        ],
    }


@router.get("/problems", name="problems")
def problems(request: Request) -> Response:
    """The page that explains the types of problems."""
    return page(request, "problems.html", kinds=KINDS)


@router.get("/static/{path}", name="static")
def static(request: Request, path: str) -> Response:
    """Style sheet and icon of the pages."""
    relate(request, "license", licence_page("MIT"))
    for entry in importlib.resources.files("api").joinpath("static").iterdir():
        if entry.name == path:
            return Response(entry.read_bytes(), media_type=MEDIA_TYPES[Path(path).suffix])
    raise Problem("not-found", f"there is no style sheet, script or icon {path!r}")


@router.get("/about-the-crawler", name="about_the_crawler")
def about_the_crawler(request: Request) -> Response:
    """What the crawler fetches, how often, what is stored, and whom to ask."""
    contact = service_of(request).contact
    return page(
        request,
        "crawler.html",
        url=contact.url,
        elsewhere=contact.elsewhere(request.scope["path"]),
        email=contact.email,
    )
