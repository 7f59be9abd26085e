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
from reports.answer.beside import with_harm_beside
from reports.answer.shape import MARK_SIGNS, MARKS, Answer, Findings
from reports.decision.record import to_dict
from reports.decision.stored_problem import StagedReplay
from reports.document.all_sections import sections_of
from reports.document.examination import Examination
from reports.document.illustrative import illustrative_because, recorded_section
from reports.document.rebuilding import rebuild_commands
from reports.document.replay_analysis import ReplayAnalysis
from reports.forms.typesetting import in_type
from reports.inputs.report_inputs import ReportInputs
from reports.recommendation.candidate_verdicts import CandidateVerdict
from reports.recommendation.harm_verdicts import HarmVerdict
from reports.recommendation.recommend import Recommendation
from reports.recommendation.rule import UNMEASURED, Rule
from reports.sections.networks.by_network import networks_table
from reports.sections.sizes.counts import SizeCounts
from schema.glossary import GLOSSARY

FORMAT_VERSION = 1
"""Format of report.json."""

READ = ("answer", "verdicts", "sections", "networks", "limits", "glossary")
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

TERMS = (
    "segment",
    "initial window (IW)",
    "flight",
    "first flight",
    "IW-limited",
    "wire bytes",
    "page",
    "profile",
    "population",
    "cell",
    "page time",
    "gain",
    "incumbent",
    "admissible",
    "worthwhile",
    "illustrative",
)
"""Terms of the glossary that a report explains."""

OWN_TERMS = {
    "nearest rival": "the recommended window; where none is, of the candidates whose gain may be worthwhile, "
    "the one whose worst harm is the smallest multiple of its bound, by the upper ends of the intervals; "
    "candidates that no bound has ruled out come first",
    "change of page time": "of one window or seed against another: the geometric mean over pages of the "
    "ratio of their page times, less 1, in percent; over networks by their weights. "
    "A gain is the change downwards",
}
"""Terms of reports alone, which the glossary of releases need not have."""

LIMITS: tuple[str, ...] = (
    "Page time is network time. The replay sends recorded sizes in recorded order; parsing, "
    "scripts and servers take no time.",
    "The replay requests a response as soon as the response that names it is complete, and then all that it "
    "names at once. Browsers request earlier and more spread out. So bursts, and losses at the bottleneck's "
    "single queue, are larger than on the web; the retransmission margins come from servers with "
    "far fewer retransmissions.",
    "Each page is loaded once, with a cold cache, from one vantage. "
    "Repeat visits and inner pages are not part of the estimand.",
    "Linux receivers open with a window of 44 segments. "
    "A larger initial window has no effect until they raise it.",
    "The senders are Linux with the stated congestion control, and send a window at once unless it is called "
    "paced. BBR spreads the first flight, too. QUIC needs measurements of its own; "
    "no TCP gain is scaled to it.",
    "CUBIC's HyStart works from a window of 16 on, so larger initial windows start inside it.",
    "A gain is measured while only the page's servers change their window. Cells in which every sender "
    "changes are among the harm conditions, and count for harm alone.",
    "The bootstrap describes pages like those measured. It cannot describe pages that the list, the vantage "
    "or failures of the crawl left out.",
)
"""Limits of every edition."""


def report_content(
    inputs: ReportInputs,
    *,
    counted: SizeCounts,
    servers: dict[str, Any] | None,
    found: Examination,
    answer: Answer,
) -> dict[str, Any]:
    """The whole content, ready for JSON. Names contain the units."""
    because = illustrative_because(inputs)
    recorded = recorded_section(inputs.release)
    marked = {"is_illustrative": bool(because), "recorded_pages": recorded}
    content: dict[str, Any] = {
        "format_version": FORMAT_VERSION,
        "year": inputs.year,
        **marked,
        "illustrative_because": because,
        "answer": dataclasses.asdict(answer),
        "verdicts": verdicts_section(found.findings),
        "release": release_section(inputs.release),
        "crawl": crawl_section(inputs.release),
        "sizes": counted.content,
        "servers": servers,
        **analysis_sections(found),
        # What an illustrative edition finds says nothing of the years of one that is not.
        "earlier_ledgers": [
            one for one in inputs.earlier_ledgers if one["is_illustrative"] == marked["is_illustrative"]
        ],
        "limits": [
            *LIMITS,
            *(recorded["limits"] if recorded else [months_limit(inputs.months, inputs.release.crawl.month)]),
        ],
        "redo": rebuild_commands(inputs),
        "glossary": {**{term: GLOSSARY[term] for term in TERMS}, **OWN_TERMS},
    }
    sections = [one.to_dict() for one in sections_of(inputs, found, content, bands=counted.bands)]
    content["verdicts"] = with_harm_beside(content["verdicts"], sections if found.beside else ())
    whole: dict[str, Any] = rounded({**content, "sections": sections, "networks": networks_section(content)})
    return {**whole, **{name: in_type(whole[name]) for name in READ}}


def networks_section(content: Mapping[str, Any]) -> dict[str, Any] | None:
    """The table of the replay's networks; None without a replay."""
    made = content["replay"] or content["stages"]
    if made is None:
        return None
    profiles = made["provenance"].get("profiles", [])
    return dataclasses.asdict(networks_table(profiles, made["populations"], source="the replay"))


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


def verdicts_section(findings: Findings | None) -> dict[str, Any] | None:
    """The verdict matrix: candidates by columns, gain and bounds by rows; None without a replay."""
    if findings is None:
        return None
    return {
        "id": "verdicts",
        "title": f"Every candidate against IW {findings.incumbent}, bound by bound",
        "incumbent": findings.incumbent,
        "windows": list(findings.windows),
        "rows": [dataclasses.asdict(row) for row in findings.rows],
        "marks": {mark: {"sign": MARK_SIGNS[mark], "meaning": meaning} for mark, meaning in MARKS.items()},
        "notes": list(findings.notes),
    }


def analysis_sections(found: Examination) -> dict[str, Any]:
    """The sections that depend on a replay; each is None without a replay,
    or where only the other kind of replay has it."""
    sections: dict[str, Any] = dict.fromkeys(
        ("replay", "recommendation", "sensitivity", "ledger", "rule", "arithmetic", "stages", "beside")
    )
    if found.analysis is not None:
        analysis = found.analysis
        sections |= {
            "replay": replay_section(analysis),
            "recommendation": recommendation_section(analysis.recommendation),
            "arithmetic": [dataclasses.asdict(one) for one in analysis.document_times],
            "sensitivity": [
                {"id": variant.id, "title": variant.title, "answer": found.answer, "iw": found.iw}
                for variant, found in analysis.sensitivity
            ],
            "rule": rule_section(analysis.rule),
        }
    if found.staged is not None and found.findings is not None:
        sections |= {
            "stages": stages_section(found.staged),
            "beside": replay_section(found.beside) if found.beside else None,
            "recommendation": staged_recommendation(found.findings, found.staged.problem.rule),
            "rule": rule_section(found.staged.problem.rule),
        }
    if found.findings is not None:
        sections["ledger"] = [dataclasses.asdict(one) | {"turns": one.turns} for one in found.ledger]
    return sections


def rule_section(rule: Rule) -> dict[str, Any]:
    """Every choice of the rule, and what it asks that no cell measures."""
    return dataclasses.asdict(rule) | {"unmeasured": [dataclasses.asdict(one) for one in UNMEASURED]}


def stages_section(staged: StagedReplay) -> dict[str, Any]:
    """The extent, outcome and provenance of a replay in stages."""
    return {
        "plan": staged.plan,
        "outcome": to_dict(staged.outcome),
        "draws": dict(staged.outcome.draws),
        "ledger": list(staged.ledger),
        "populations": staged.provenance["populations"],
        "sha256": staged.checksum,
        "provenance": _condensed(staged.provenance),
    }


def staged_recommendation(found: Findings, rule: Rule) -> dict[str, Any]:
    """The recommendation of a replay in stages; its bounds are those of the verdict matrix."""
    iw = found.iw if found.is_decided else None
    return {
        "answer": "no change" if iw is None else f"IW {iw}",
        "iw": iw,
        "incumbent_iw": found.incumbent,
        "iw_in_force": found.incumbent if iw is None else iw,
        "is_decided": found.is_decided,
        "rfc9040_iw": found.incumbent if iw is None else min(iw, found.incumbent + rule.rfc9040_step),
        "reasons": list(found.reasons),
    }


def replay_section(analysis: ReplayAnalysis) -> dict[str, Any]:
    """The replay's extent, results and provenance."""
    loads, replay = analysis.loads, analysis.replay
    return {
        "congestion_control": loads.congestion_control,
        "pages": len(loads.pages),
        "profiles": list(dict.fromkeys(one.profile for one in analysis.results)),
        "windows": list(loads.windows),
        "seeds": loads.seeds,
        "cells": dict(loads.states),
        "coverage_percent": loads.coverage_percent,
        "missing": [dataclasses.asdict(one) for one in loads.missing],
        "outcomes": [dataclasses.asdict(one) for one in analysis.results],
        "populations": replay.populations,
        "sha256": replay.checksum,
        "provenance": _condensed(replay.provenance),
        "harm": [
            {"id": name, "pages": len(there.pages), "seeds": there.seeds, "cells": dict(there.states)}
            for name, there in analysis.harm_loads.items()
        ],
    }


def recommendation_section(found: Recommendation) -> dict[str, Any]:
    """The recommendation with every bound."""
    return {
        "answer": found.answer,
        "iw": found.iw,
        "incumbent_iw": found.incumbent,
        "iw_in_force": found.incumbent if found.iw is None else found.iw,
        "is_decided": found.is_decided,
        "rfc9040_iw": found.rfc9040_iw,
        "reasons": list(found.reasons),
        "checks": [dataclasses.asdict(check) for check in found.checks],
        "candidates": [_candidate(verdict) for verdict in found.candidates],
    }


def _candidate(verdict: CandidateVerdict) -> dict[str, Any]:
    return {**dataclasses.asdict(verdict), "harms": [_harm(harm) for harm in verdict.harms]}


def _harm(harm: HarmVerdict) -> dict[str, Any]:
    return {
        "id": harm.margin.id,
        "title": harm.margin.title,
        "against_iw": harm.against,
        "worsening": dataclasses.asdict(harm.worsening) if harm.worsening else None,
        "unit": harm.margin.unit,
        "limit": harm.limit,
        "is_level": harm.is_level,
        "condition": harm.condition,
        "verdict": harm.verdict,
        "reason": harm.reason,
        "is_required": harm.margin.is_required,
        "source": harm.margin.source,
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
