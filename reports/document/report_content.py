"""The content of report.json, from which the page and the summary are rendered. Serialises only."""

import dataclasses
import hashlib
import json
import math
from collections.abc import Mapping, Sequence
from typing import Any

import pyarrow.parquet as pq

from releases.catalogue import Release
from replay.runs.initial_window import in_json
from reports.answer import Answer
from reports.document.all_sections import fuller, sections_of
from reports.document.illustrative import illustrative_because, recorded_section
from reports.document.method import LIMITS, glossary_of, method_of
from reports.document.rebuilding import rebuild_commands
from reports.forms.typesetting import in_type
from reports.inputs.replays import Replay
from reports.inputs.report_inputs import ReportInputs
from reports.sections.sizes.counts import SizeCounts

FORMAT_VERSION = 2
"""Format of report.json."""

READ = ("answer", "sections", "limits", "fuller", "method", "glossary")
"""Parts of the content that the report's forms print as they are."""

OF_A_VERSION = ("publication", "citation", "redo")
"""Fields of the content that have the version's number, date and reason."""

DIGITS = 6
"""Significant digits of a number, few enough to be the same with any linear algebra library."""

CRAWL_COLUMNS = (
    "month", "device", "vantage", "arm", "kind", "list_id", "top", "method_version", "commit", "browser",
    "user_agent", "browser_flags", "planned_at", "sealed_at", "browser_built_on",
)  # fmt: skip
"""Columns of the crawl's provenance row that the report contains."""


def report_content(
    inputs: ReportInputs,
    *,
    counted: SizeCounts,
    servers: dict[str, Any] | None,
    verdict: Mapping[str, Any] | None,
    answer: Answer,
) -> dict[str, Any]:
    """The whole content, ready for JSON. Names contain the units; `verdict` is that of verdict.json."""
    because = illustrative_because(inputs)
    recorded = recorded_section(inputs.release)
    content: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "year": inputs.year,
        "is_illustrative": bool(because),
        "recorded_pages": recorded,
        "illustrative_because": because,
        "answer": dataclasses.asdict(answer),
        "verdict": verdict,
        "release": release_section(inputs.release),
        "crawl": crawl_section(inputs.release),
        "sizes": counted.content,
        "servers": servers,
        "replay": replay_section(inputs.replay) if inputs.replay else None,
        "limits": [
            *LIMITS,
            *(recorded["limits"] if recorded else [months_limit(inputs.months, inputs.release.crawl.month)]),
        ],
        "redo": rebuild_commands(inputs),
    }
    sections = [*sections_of(inputs, content, bands=counted.bands)]
    content["fuller"] = fuller(inputs, content, sections)
    content["method"] = method_of(content)
    content["sections"] = [one.to_dict() for one in sections]
    content["glossary"] = glossary_of(content)
    whole: dict[str, Any] = rounded(content)
    return {**whole, **{name: in_type(whole[name]) for name in READ}}


def replay_section(replay: Replay) -> dict[str, Any]:
    """The extent of a replay and everything that its loads depend on."""
    evidence = replay.replayed.looks[-1].evidence
    return {
        "name": replay.name,
        "stages": len(replay.loads) if replay.is_staged else None,
        "loads": sum(len(table) for table in replay.loads),
        "states": dict(evidence.states),
        "pages": len(set(evidence.visits.tolist())),
        "networks": len(set(evidence.places.tolist())),
        "sha256": replay.checksum,
        "provenance": _condensed(replay.provenance),
    }


def release_section(release: Release) -> dict[str, Any]:
    """The release's manifest and checksum."""
    manifest = dataclasses.asdict(release.manifest)
    del manifest["files"]
    return {**manifest, "crawl": str(release.manifest.crawl), "sha256": release.checksum}


def crawl_section(release: Release) -> dict[str, Any]:
    """The crawl's provenance and its number of final visits by outcome."""
    (row,) = pq.ParquetFile(release.file("crawl")).read().to_pylist()
    visits = pq.ParquetFile(release.file("visit")).read(columns=["is_final", "outcome"]).to_pylist()
    outcomes = sorted(visit["outcome"] for visit in visits if visit["is_final"])
    return {
        **{name: _plain(row.get(name)) for name in CRAWL_COLUMNS},
        "sites": len(outcomes),
        "outcomes": {outcome: outcomes.count(outcome) for outcome in dict.fromkeys(outcomes)},
    }


def rounded(value: Any) -> Any:  # noqa: ANN401  # JSON has any shape
    """`value` with each float rounded to DIGITS significant digits, tuples as lists, an end without bound as
    null, and paced windows as text."""
    if isinstance(value, float):
        if not math.isfinite(value):
            return None
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {rounded(key): rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner) for inner in value]
    return in_json(value) if isinstance(value, int) else value


def canonical(content: Mapping[str, Any]) -> str:
    """JSON text that has the same bytes for the same content, without spaces,
    which would nearly double it."""
    compact = json.dumps(content, separators=(",", ":"), sort_keys=True, ensure_ascii=False, allow_nan=False)
    return compact + "\n"


def content_digest(content: Mapping[str, Any]) -> str:
    """SHA-256 of the canonical JSON of a report's content without what differs
    in every version (OF_A_VERSION)."""
    rest = {name: value for name, value in content.items() if name not in OF_A_VERSION}
    return hashlib.sha256(canonical(rest).encode()).hexdigest()


def _plain(value: Any) -> Any:  # noqa: ANN401  # a value of a table
    """Dates in ISO 8601."""
    return value.isoformat() if hasattr(value, "isoformat") else value


def months_limit(months: Sequence[str], month: str) -> str:
    """What one month of a year cannot tell; `months` are those of the year that have a release.

    >>> months_limit(["2026-10", "2026-11"], "2026-11")[:88]
    'The sizes are of one month, 2026-11. 10 months of 2026 have no release of the same kind '
    """
    every = [f"{month[:4]}-{number:02}" for number in range(1, 13)]
    missing = [one for one in every if one not in months]
    if not missing:
        return (
            f"The sizes are of one month, {month}; every month of {month[:4]} has a release of the same kind."
        )
    count = (
        f"{len(missing)} months of {month[:4]} have" if len(missing) > 1 else f"One month of {month[:4]} has"
    )
    return (
        f"The sizes are of one month, {month}. {count} no release of the same kind ({', '.join(missing)}), "
        "so that the year cannot be told from its season."
    )


def _condensed(provenance: Mapping[str, Any]) -> dict[str, Any]:
    """The provenance with the number of calibration checks and those that did not pass, and of later
    conditions what differs from the first.

    >>> _condensed({"gates": [{"passed": True}, {"passed": False}]})
    {'gates': {'checked': 2, 'not_passed': [{'passed': False}]}}
    >>> _condensed({"parameters": {"conditions": [{"a": 1, "b": 1}, {"a": 1, "b": 2}]}})["parameters"]
    {'conditions': [{'a': 1, 'b': 1}, {'b': 2}]}
    """
    gates, parameters = provenance.get("gates", []), provenance.get("parameters", {})
    not_passed = [one for one in gates if not one["passed"]]
    found = {**provenance, "gates": {"checked": len(gates), "not_passed": not_passed}}
    if conditions := parameters.get("conditions"):
        first, *others = conditions
        found["parameters"] = {
            **parameters,
            "conditions": [first, *(_differing(one, first) for one in others)],
        }
    return found


def _differing(conditions: Mapping[str, Any], first: Mapping[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in conditions.items() if name not in first or value != first[name]}
