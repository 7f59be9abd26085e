"""The content of report.json: its parts as types, its canonical text, and its JSON Schema.

Every form of a report is made from it alone. Names contain the units. pydantic reads it, and not msgspec as
other stored data: it writes the schema, and gives a dataclass another form in JSON, as a policy its text.
"""

import hashlib
import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Required, TypeVar

from pydantic import JsonValue, TypeAdapter, ValidationError
from typing_extensions import TypedDict

from releases.catalogue import ReleaseFacts
from releases.citation.licences import licence_text
from releases.formatting import visible_text
from replay.runs.facts import CheckFacts, FailureFacts, KernelFacts, LoadedRelease
from reports.answer import Answer
from reports.inputs.replays import ReportError
from reports.sections.servers import ServersFacts
from reports.sections.shape import Figure, Section, Table
from reports.sections.sizes.counts import Sizes
from storage.report_versions import Publication
from verdict.verdict import Verdict

FORMAT_VERSION = 3

DIALECT = "https://json-schema.org/draft/2020-12/schema"

CLOSED = (
    "Answer", "Confidence", "KeyNumber", "Deciding",
    "Section", "Paragraph", "Reference", "Figure", "Table", "Column", "ReferenceLine",
)  # fmt: skip
"""Shapes that have no other fields than the declared ones."""

OF_A_VERSION = ("publication", "citation", "redo")


@dataclass(frozen=True, slots=True, kw_only=True)
class ReportedRelease(ReleaseFacts):
    """The release that a report is of."""

    crawl: str
    """Whole name of its crawl."""
    sha256: str
    """Its checksum."""


class CrawlFacts(TypedDict):
    """The crawl's provenance and its final visits by outcome."""

    month: str
    device: str
    vantage: str
    arm: str
    kind: str
    list_id: str
    top: int | None
    method_version: str
    commit: str
    browser: str
    user_agent: str | None
    browser_flags: str | None
    planned_at: str | None
    sealed_at: str | None
    browser_built_on: str | None
    sites: int
    outcomes: dict[str, int]


class InferredFacts(TypedDict):
    """What was inferred of the requests, and by which rules."""

    share: float | None
    requests: dict[str, int]
    rules: dict[str, str]


class RecordedFacts(TypedDict):
    """Whence recorded pages are, what was inferred of them, and what they cannot tell."""

    recorded: str
    source: str
    commit: str | None
    pages: int
    requests: int
    inferred: dict[str, InferredFacts]
    limits: list[str]


class ChecksFacts(TypedDict):
    """The number of calibration checks, and those that did not pass."""

    checked: int
    not_passed: list[CheckFacts]


class ProvenanceFacts(TypedDict, total=False):
    """Everything that the loads of a replay depend on, as its stages state it.

    A replay of every page over every network states its parameters, a decision its last stage.
    """

    format_version: int
    rule_version: int
    commit: str
    commits: list[str]
    """Commits of all stages."""
    release: LoadedRelease
    recorded_pages: dict[str, JsonValue]
    recordings: JsonValue
    kernel: KernelFacts
    player: str
    programs: dict[str, str]
    """SHA-256 of the programs that ran."""
    asked: dict[str, JsonValue]
    """What the replay's file had in place of the defaults."""
    stage: dict[str, JsonValue]
    parameters: dict[str, JsonValue]
    """The choices of the method; of conditions after the first what differs from it."""
    profiles: list[dict[str, JsonValue]]
    populations: list[dict[str, JsonValue]]
    gates: Required[ChecksFacts]
    failures: list[FailureFacts]
    core_s: float
    virtual_s: float


class ReplayFacts(TypedDict):
    """The extent of a replay, and everything that its loads depend on."""

    name: str
    stages: int
    loads: int
    states: dict[str, int]
    pages: int
    networks: int
    sha256: str
    provenance: ProvenanceFacts


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
    """The content of report.json without the fields OF_A_VERSION."""

    format_version: int
    year: int
    is_illustrative: bool
    illustrative_because: list[str]
    recorded_pages: RecordedFacts | None
    """Whence recorded pages are, what was inferred of them, and what they cannot tell."""
    answer: Answer
    verdict: Verdict | None
    """verdict.json."""
    release: ReportedRelease
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

    @property
    def marks(self) -> str:
        """Words that mark every number and figure: recorded, illustrative, both or none."""
        words = {"recorded pages": self.recorded_pages is not None, "illustrative": self.is_illustrative}
        return ", ".join(word for word, holds in words.items() if holds)

    @property
    def licence(self) -> str:
        return licence_text(self.release.licence, is_recorded=self.recorded_pages is not None)

    def figures(self) -> Iterator[Figure]:
        return (figure for section in self.sections for figure in section.figures)

    def tables(self) -> Iterator[Table]:
        return (table for section in self.sections for table in section.tables)


@dataclass(frozen=True, slots=True, kw_only=True)
class Published(Report):
    """The content of report.json."""

    publication: Publication
    citation: CitationFacts


Content = TypeVar("Content", bound=Report)


_ADAPTERS: dict[type[Report], TypeAdapter[Any]] = {}


def _adapter(kind: type[Content]) -> TypeAdapter[Content]:
    """Return the reader of a type, made in a tenth of a second."""
    if kind not in _ADAPTERS:
        _ADAPTERS[kind] = TypeAdapter(kind)
    return _ADAPTERS[kind]


def parse_content(kind: type[Content], content: Mapping[str, Any]) -> Content:
    """Return a report.json as `kind`, every text of it visible; ReportError if it is of another format."""
    try:
        return _adapter(kind).validate_python(_visible(content))
    except ValidationError as exc:
        place = ".".join(map(str, exc.errors()[0]["loc"]))
        raise ReportError(f"report.json is of another format{f', from {place} on' if place else ''}") from exc


def read_published(path: Path) -> Published:
    """Return a report.json, every text of it visible; OSError or ReportError."""
    try:
        content = json.loads(path.read_text(encoding="utf-8"))
    except ValueError as exc:
        raise ReportError(f"{path} is no JSON: {exc}") from exc
    return parse_content(Published, content)


def _visible(value: Any) -> Any:  # noqa: ANN401  # JSON has any shape
    if isinstance(value, str):
        return visible_text(value)
    if isinstance(value, Mapping):
        return {_visible(name): _visible(inner) for name, inner in value.items()}
    return [_visible(inner) for inner in value] if isinstance(value, list | tuple) else value


def schema() -> dict[str, Any]:
    """Return the JSON Schema of report.json, with every declared field but for those of a replay's
    provenance.
    """
    document = _adapter(Published).json_schema(mode="serialization")
    for name, shape in {"": document, **document["$defs"]}.items():
        if "properties" in shape and name not in ("ProvenanceFacts", "KernelFacts", "CheckFacts"):
            shape["required"] = sorted(shape["properties"])
    for name in CLOSED:
        document["$defs"][name]["additionalProperties"] = False
    return {"$schema": DIALECT, **document, "title": "The annual report of firstflight"}


def canonical(content: Mapping[str, Any]) -> str:
    """Return JSON text of the same bytes for the same content."""
    compact = json.dumps(content, separators=(",", ":"), sort_keys=True, ensure_ascii=False, allow_nan=False)
    return compact + "\n"


def content_digest(content: Mapping[str, Any]) -> str:
    """Return the SHA-256 of a report's canonical content without OF_A_VERSION."""
    rest = {name: value for name, value in content.items() if name not in OF_A_VERSION}
    return hashlib.sha256(canonical(rest).encode()).hexdigest()
