"""The content of report.json, from which the page and the summary are rendered. Serialises only."""

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import TypeAdapter
from typing_extensions import TypedDict

from recordings.pages.recording import recorder_of
from releases.catalogue import Release
from releases.citation.forms import cite
from releases.citation.work import AUTHOR, NotCitable, cite_report
from releases.statements import (
    CrawlFacts,
    RecordedFacts,
    ReleaseFacts,
    describe_crawl,
    describe_recording,
    describe_release,
)
from replay.runs.initial_window import in_json
from reports.answer import Answer
from reports.document.all_sections import fuller, sections_of
from reports.document.illustrative import illustrative_because
from reports.document.method import LIMITS, glossary_of, method_of
from reports.document.rebuilding import rebuild_commands
from reports.forms.typesetting import in_type
from reports.inputs.replays import Replay
from reports.inputs.report_inputs import ReportInputs
from reports.sections.servers import ServersFacts
from reports.sections.shape import Section
from reports.sections.sizes.counts import SizeCounts, Sizes
from storage.report_versions import Publication
from verdict.stored import VerdictFacts

FORMAT_VERSION = 2
"""Format of report.json."""

READ = ("answer", "sections", "limits", "fuller", "method", "glossary")
"""Parts of the content that the report's forms print as they are."""

DIALECT = "https://json-schema.org/draft/2020-12/schema"

CLOSED = ("Answer", "Confidence", "KeyNumber", "Deciding", "Section", "Figure", "Table", "Column", "Line")
"""Shapes that have no other fields than the declared ones."""

OF_A_VERSION = ("publication", "citation", "redo")
"""Fields of the content that have the version's number, date and reason."""

DIGITS = 6
"""Significant digits of a number, few enough to be the same with any linear algebra library."""


class ReplayFacts(TypedDict):
    """The extent of a replay, and everything that its loads depend on."""

    name: str
    stages: int | None
    loads: int
    states: dict[str, int]
    pages: int
    networks: int
    sha256: str
    provenance: dict[str, Any]


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


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """The content of report.json without the fields OF_A_VERSION. Names contain the units."""

    format_version: int
    year: int
    is_illustrative: bool
    illustrative_because: list[str]
    recorded_pages: RecordedFacts | None
    """Whence recorded pages are, what was inferred of them, and what they cannot tell."""
    answer: Answer
    verdict: VerdictFacts | None
    """verdict.json."""
    release: ReleaseFacts
    crawl: CrawlFacts
    sizes: Sizes
    servers: ServersFacts | None
    """What captured packets tell of servers; None without a capture."""
    replay: ReplayFacts | None
    sections: list[Section]
    limits: list[str]
    fuller: str
    """What a fuller release would add; empty if nothing is missing."""
    method: list[str]
    glossary: dict[str, str]
    redo: list[str]


@dataclass(frozen=True, slots=True, kw_only=True)
class Published(Report):
    """The content of report.json."""

    publication: Publication
    citation: CitationFacts


def schema() -> dict[str, Any]:
    """Return the JSON Schema of report.json: every declared field is there, and answers, sections, tables
    and figures have no other."""
    document = TypeAdapter(Published).json_schema(mode="serialization")
    for shape in (document, *document["$defs"].values()):
        if "properties" in shape:
            shape["required"] = sorted(shape["properties"])
    for name in CLOSED:
        document["$defs"][name]["additionalProperties"] = False
    return {"$schema": DIALECT, **document, "title": "The annual report of firstflight"}


def report_content(
    inputs: ReportInputs,
    *,
    counted: SizeCounts,
    servers: ServersFacts | None,
    verdict: VerdictFacts | None,
    answer: Answer,
) -> dict[str, Any]:
    """Return the whole content, ready for JSON; `verdict` is that of verdict.json."""
    because = illustrative_because(inputs)
    recorded = describe_recording(inputs.release)
    sections = [*sections_of(inputs, counted, servers=servers, verdict=verdict)]
    months = months_limit(inputs.months, inputs.release.crawl.month)
    limits = [*LIMITS, *(recorded["limits"] if recorded else [months])]
    method = method_of(counted.content["mss_bytes"], verdict["rule"] if verdict else None)
    words = (dataclasses.asdict(answer), [section.to_dict() for section in sections], limits, method, because)
    report = Report(
        format_version=FORMAT_VERSION,
        year=inputs.year,
        is_illustrative=bool(because),
        illustrative_because=because,
        recorded_pages=recorded,
        answer=answer,
        verdict=verdict,
        release=describe_release(inputs.release),
        crawl=describe_crawl(inputs.release),
        sizes=counted.content,
        servers=servers,
        replay=replay_section(inputs.replay) if inputs.replay else None,
        sections=sections,
        limits=limits,
        fuller=fuller(inputs, counted.content, sections),
        method=method,
        glossary=glossary_of(*words),
        redo=rebuild_commands(inputs),
    )
    whole: dict[str, Any] = round_floats(dataclasses.asdict(report))
    return {**whole, **{name: in_type(whole[name]) for name in READ}}


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
    recorder = recorder_of(manifest)
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


def replay_section(replay: Replay) -> ReplayFacts:
    """Return the extent of a replay and everything that its loads depend on."""
    evidence = replay.replayed.looks[-1].evidence
    return {
        "name": replay.name,
        "stages": len(replay.loads) if replay.is_staged else None,
        "loads": sum(len(table) for table in replay.loads),
        "states": dict(evidence.states),
        "pages": len(set(evidence.visits.tolist())),
        "networks": len(set(evidence.places.tolist())),
        "sha256": replay.checksum,
        "provenance": _condense(replay.provenance),
    }


def round_floats(value: Any) -> Any:  # noqa: ANN401  # JSON has any shape
    """Return `value` with each float rounded to DIGITS significant digits, tuples as lists, an end without
    bound as null, and paced windows as text."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {round_floats(key): round_floats(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [round_floats(inner) for inner in value]
    return in_json(value) if isinstance(value, int) else value


def canonical(content: Mapping[str, Any]) -> str:
    """Return JSON text that has the same bytes for the same content, without spaces,
    which would nearly double it."""
    compact = json.dumps(content, separators=(",", ":"), sort_keys=True, ensure_ascii=False, allow_nan=False)
    return compact + "\n"


def content_digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of the canonical JSON of a report's content without what differs
    in every version (OF_A_VERSION)."""
    rest = {name: value for name, value in content.items() if name not in OF_A_VERSION}
    return hashlib.sha256(canonical(rest).encode()).hexdigest()


def months_limit(months: Sequence[str], month: str) -> str:
    """State what one month of a year cannot tell; `months` are those of the year that have a release.

    >>> months_limit(["2026-10", "2026-11"], "2026-11")[:88]
    'The sizes are of one month, 2026-11. 10 months of 2026 have no release of the same kind '
    """
    year = month[:4]
    missing = [each for each in (f"{year}-{number:02}" for number in range(1, 13)) if each not in months]
    if not missing:
        return f"The sizes are of one month, {month}; every month of {year} has a release of the same kind."
    count = f"{len(missing)} months of {year} have" if len(missing) > 1 else f"One month of {year} has"
    return (
        f"The sizes are of one month, {month}. {count} no release of the same kind ({', '.join(missing)}), "
        "so that the year cannot be told from its season."
    )


def _condense(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """Return the provenance with the number of calibration checks and those that did not pass, and of later
    conditions what differs from the first.

    >>> check = {"guest": 1, "profile": "a", "name": "IW 10"}
    >>> _condense({"gates": [{**check, "passed": True}, {**check, "passed": False}]})["gates"]
    {'checked': 2, 'not_passed': [{'guest': 1, 'profile': 'a', 'name': 'IW 10', 'passed': False}]}
    >>> _condense({"parameters": {"conditions": [{"a": 1, "b": 1}, {"a": 1, "b": 2}]}})["parameters"]
    {'conditions': [{'a': 1, 'b': 1}, {'b': 2}]}
    """
    gates, parameters = provenance.get("gates", []), provenance.get("parameters", {})
    not_passed = [check for check in gates if not check["passed"]]
    condensed = {**provenance, "gates": {"checked": len(gates), "not_passed": not_passed}}
    if conditions := parameters.get("conditions"):
        first, *others = conditions
        condensed["parameters"] = {
            **parameters,
            "conditions": [first, *(_keep_differing(other, first) for other in others)],
        }
    return condensed


def _keep_differing(conditions: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in conditions.items() if name not in first or value != first[name]}
