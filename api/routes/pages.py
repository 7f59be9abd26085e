"""What every web page is made with: its template, the labels, numbers and links in it, and its answer.

Pages load nothing external, and work without scripts.
"""

import dataclasses
import functools
import importlib.resources
import json
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any

import jinja2
from fastapi import APIRouter, Request
from fastapi.responses import HTMLResponse, Response
from markupsafe import Markup

from api import drawing
from api.http.links import relate
from api.http.middleware import HEADERS
from api.http.problems import PROBLEM_KINDS, Problem, suppress_problems
from api.routes.answers import DistributionAnswer
from api.routes.files import MEDIA_TYPES
from api.routes.provenance import (
    QUALITY,
    best_first,
    quality,
    signed,
)
from api.service import Kept, service_of
from api.stored.shelf import Report, Version
from figures.findings import tell_incomplete
from releases.cdf import count_incomplete, is_stated
from releases.citation.licences import licence_page
from releases.formatting import (
    apart,
    between,
    capital,
    grouped,
    packet_agreement,
    percent,
    quantity,
    size,
    stated,
    visible_text,
    with_code,
)
from releases.strata.bootstrap import CONFIDENCE
from replay.runs.policy import Policy
from schema.computed_tables import LABELS, NOUNS

router = APIRouter(include_in_schema=False, default_response_class=HTMLResponse, route_class=Kept)


def incomplete(distributions: Sequence[DistributionAnswer]) -> str:
    """Count and share of incomplete responses, in a sentence; empty if there are none."""
    count, share = count_incomplete({distribution.measure: distribution for distribution in distributions})
    return tell_incomplete(count, None if share is None else 100 * share)


def stated_percent(share: float) -> str:
    """A share that was stated, as 0.95 of a confidence level, in percent.

    >>> from releases.formatting import NARROW
    >>> stated_percent(0.95).replace(NARROW, " ")
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
        label=LABELS.__getitem__,
        noun=NOUNS.__getitem__,
        capital=capital,
        percent=percent,
        stated_percent=stated_percent,
        quality=quality,
        plainly=lambda sentence: sentence.rstrip(". "),
        incomplete=incomplete,
        signed=signed,
        packet_agreement=packet_agreement,
        milliseconds=milliseconds,
        visible=visible_text,
        prose=lambda text: Markup(with_code(text)),  # noqa: S704  # it is escaped
    )
    environment.globals.update(QUALITY=QUALITY, CONFIDENCE=CONFIDENCE, lab_is_on=False)
    for name in ("NARROW", "HALF", "WIDE", "FULL"):
        environment.globals[f"FIGURE_{name}"] = getattr(drawing, name)
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
    >>> crumbs("/reports/2026/v1/forms/brief.html")[-1]
    ('brief', '')
    >>> crumbs("/lab/dm-TnW5I_-p5K5BgemsRyA")
    [('Lab', '/lab'), ('replay', '')]
    >>> crumbs("/reports/2026/v1/")
    [('Reports', '/reports'), ('2026, version 1', '')]
    """  # noqa: E501
    first, *rest = path.strip("/").split("/")
    if first not in ("releases", "reports", "crawls", "sites", "documents", "lab") or not rest:
        return []
    above, here = [(first.capitalize(), f"/{first}")], "replay" if first == "lab" else "/".join(rest)
    if first in ("releases", "reports") and len(rest) > 1:
        of, version, *below = rest
        here = f"{of}, version {version[1:]}"
        if below:
            above.append((here, f"/{first}/{of}/{version}{'/' * (first == 'reports')}"))
            here = " ".join(below).replace("pages ", "page load ").replace("figures ", "figure ")
            here = here.removeprefix("forms ").removesuffix(".html")
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
        )
    except (OSError, ValueError, KeyError, TypeError):
        return None


@router.get("/problems", name="problems")
def problems(request: Request) -> Response:
    """The page that explains the types of problems."""
    return page(request, "problems.html", kinds=PROBLEM_KINDS)


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
