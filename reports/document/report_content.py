"""A report as plain facts: what goes to report.json, and all that the page and the summary may say."""

from __future__ import annotations

import dataclasses
import json
import shlex
from typing import TYPE_CHECKING, Any

import pyarrow.compute as pc
import pyarrow.parquet as pq

from replay.networks.populations import POPULATIONS
from reports.document.replay_summary import summarise
from reports.document.report_inputs import ReportError
from reports.document.standing_text import LIMITS, TERMS
from reports.recommendation.estimates import estimates_of
from reports.recommendation.harm_conditions import HIGH_LOAD
from reports.recommendation.recommend import decide
from reports.recommendation.rule import RULE, UNMEASURED
from reports.recommendation.sensitivity import sensitivity
from reports.statistics.arithmetic import compare
from reports.statistics.paired_loads import PairedLoads, pair_loads
from schema.glossary import GLOSSARY

if TYPE_CHECKING:
    from collections.abc import Mapping

    from releases.catalogue import Release
    from releases.interval import Interval
    from reports.document.replay_summary import WindowResult
    from reports.document.report_inputs import Replay, ReportInputs
    from reports.recommendation.recommend import Recommendation
    from reports.recommendation.rule import Role, Rule
    from reports.statistics.arithmetic import Comparison

FORMAT_VERSION = 1
"""Of report.json."""

DIGITS = 6
"""Significant digits of a number: fewer than differ between machines' linear algebra."""

FRESH_MONTHS = 24
"""A population older than this, on the crawl's first day, makes a report illustrative."""


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class ReplayAnalysis:
    """What the replay gave, as values: figures are drawn from it."""

    loads: PairedLoads
    outcomes: list[WindowResult]
    recommendation: Recommendation
    facts: dict[str, Any]


def report_content(
    inputs: ReportInputs, *, sizes: dict[str, Any], measured: ReplayAnalysis | None
) -> dict[str, Any]:
    """Everything, JSON-ready. Units stand in the names."""
    because = illustrative_because(inputs)
    facts: dict[str, Any] = rounded(
        {
            "format_version": FORMAT_VERSION,
            "year": inputs.year,
            "is_illustrative": bool(because),
            "illustrative_because": because,
            "release": release_section(inputs.release),
            "crawl": crawl_section(inputs.release),
            "sizes": sizes,
            **(
                measured.facts
                if measured
                else dict.fromkeys(("replay", "recommendation", "sensitivity", "rule", "arithmetic"))
            ),
            "limits": LIMITS,
            "redo": redo(inputs),
            "glossary": {term: GLOSSARY[term] for term in TERMS},
        }
    )
    return facts


def measure(inputs: ReportInputs, replay: Replay, *, rule: Rule = RULE) -> ReplayAnalysis:
    """Decide on the replay's cells, and say what they are."""
    networks = replay.provenance.get("profiles", [])
    loads = pair_loads(replay.cells, congestion_control=rule.congestion_control, networks=networks)
    if not loads.pages:
        raise ReportError(
            f"the replay has no cell with {rule.congestion_control} and all else by default; run `firstflight replay run --crawl {inputs.release.manifest.crawl}`"
        )
    harm_loads = pair_harm_loads(replay, rule)
    estimates = estimates_of(
        loads, population_roles(replay), rule=rule, last_years=inputs.last_years_iw, harm_loads=harm_loads
    )
    recommendation = decide(estimates, rule=rule)
    # As the profiles were replayed; the sort is stable.
    place = {profile["id"]: at for at, profile in enumerate(networks)}

    def declared(one: WindowResult | Comparison) -> int:
        return place.get(one.profile, len(place))

    outcomes = sorted(summarise(loads, incumbent=estimates.incumbent, rule=rule), key=declared)
    tried = sensitivity(estimates, rule=rule)
    return ReplayAnalysis(
        loads=loads,
        outcomes=outcomes,
        recommendation=recommendation,
        facts={
            "replay": replay_section(loads, outcomes, replay) | {"harm": harm_section(harm_loads)},
            "recommendation": recommendation_section(recommendation),
            "arithmetic": [
                dataclasses.asdict(one)
                for one in sorted(
                    compare(
                        inputs.release,
                        replay.cells,
                        networks,
                        congestion_control=rule.congestion_control,
                    ),
                    key=declared,
                )
            ],
            "sensitivity": [
                {"id": variant.id, "title": variant.title, "answer": found.answer, "iw": found.iw}
                for variant, found in tried
            ],
            "rule": dataclasses.asdict(rule)
            | {"unmeasured": [dataclasses.asdict(one) for one in UNMEASURED]},
        },
    )


def pair_harm_loads(replay: Replay, rule: Rule) -> dict[str, PairedLoads]:
    """Those of each harm condition that was replayed."""
    found = {
        one.id: pair_loads(
            replay.cells,
            congestion_control=rule.congestion_control,
            conditions=one.conditions,
            networks=replay.provenance.get("profiles", []),
        )
        for one in rule.harm_conditions
    }
    return {name: loads for name, loads in found.items() if loads.pages}


def harm_section(harm_loads: Mapping[str, PairedLoads]) -> list[dict[str, Any]]:
    """How much of each was replayed."""
    return [
        {"id": name, "pages": len(loads.pages), "seeds": loads.seeds, "cells": dict(loads.states)}
        for name, loads in harm_loads.items()
    ]


def populations(replay: Replay) -> list[dict[str, Any]]:
    """Those that the replay was made for: one for the average, one for the slow."""
    found: list[dict[str, Any]] = replay.provenance.get("populations", [])
    if sorted(one["slow"] for one in found) != [False, True]:
        raise ReportError(
            "the replay names no populations to weigh it with; run `firstflight replay run` again"
        )
    return found


def population_roles(replay: Replay) -> dict[Role, Mapping[str, float]]:
    """The weights of either."""
    return {"slow" if one["slow"] else "average": one["weights"] for one in populations(replay)}


def age_in_months(measured: str, month: str) -> int:
    """From the month, or the January of the year, in which something was measured.

    >>> age_in_months("2024-11", "2026-11"), age_in_months("2010", "2026-11")
    (24, 202)
    """
    (year, at), (since, then) = ((int(text[:4]), int(text[5:7] or 1)) for text in (month, measured))
    return 12 * (year - since) + at - then


def illustrative_because(inputs: ReportInputs) -> list[str]:
    """Why the report is no evidence about the live web of its year; empty where it is."""
    because = []
    if inputs.release.manifest.crawl.kind != "web":
        because.append("the crawl is of the bundled local web, not of live sites")
    if inputs.replay:
        month = inputs.release.manifest.crawl.month
        old = [
            one["id"]
            for one in populations(inputs.replay)
            if age_in_months(one["measured"], month) > FRESH_MONTHS
        ]
        if old:
            because.append(f"the network populations {', '.join(old)} are more than 24 months old")
    return because


def release_section(release: Release) -> dict[str, Any]:
    """Which release, and its checksum."""
    manifest = dataclasses.asdict(release.manifest)
    del manifest["files"]
    return {**manifest, "crawl": str(release.manifest.crawl), "sha256": release.checksum}


def crawl_section(release: Release) -> dict[str, Any]:
    """How the crawl went: its provenance row, and its visits by outcome."""
    (row,) = pq.ParquetFile(release.file("crawl")).read().to_pylist()
    visits = pq.ParquetFile(release.file("visit")).read(columns=["is_final", "outcome"]).to_pylist()
    outcomes = sorted(visit["outcome"] for visit in visits if visit["is_final"])
    kept = (
        "month", "device", "vantage", "arm", "kind", "list_id", "top", "method_version", "commit", "browser",
        "user_agent", "browser_flags", "planned_at", "sealed_at", "browser_built_on",
    )  # fmt: skip
    return {
        **{name: _plain(row.get(name)) for name in kept},
        "sites": len(outcomes),
        "outcomes": {outcome: outcomes.count(outcome) for outcome in dict.fromkeys(outcomes)},
    }


def replay_section(loads: PairedLoads, outcomes: list[WindowResult], replay: Replay) -> dict[str, Any]:
    """What was replayed, what came of it, and under which conditions."""
    return {
        "congestion_control": loads.congestion_control,
        "pages": len(loads.pages),
        "profiles": list(dict.fromkeys(one.profile for one in outcomes)),
        "windows": list(loads.windows),
        "seeds": loads.seeds,
        "cells": dict(loads.states),
        "coverage_percent": loads.coverage_percent,
        "missing": [dataclasses.asdict(one) for one in loads.missing],
        "outcomes": [dataclasses.asdict(one) for one in outcomes],
        "populations": populations(replay),
        "sha256": replay.checksum,
        "provenance": replay.provenance,
    }


def recommendation_section(found: Recommendation) -> dict[str, Any]:
    """The answer with every bound."""
    return {
        "answer": found.answer,
        "iw": found.iw,
        "incumbent_iw": found.incumbent,
        "iw_in_force": found.incumbent if found.iw is None else found.iw,
        "is_decided": found.is_decided,
        "rfc9040_iw": found.rfc9040_iw,
        "reasons": list(found.reasons),
        "checks": [dataclasses.asdict(check) for check in found.checks],
        "candidates": [
            {
                **dataclasses.asdict(verdict),
                "harms": [
                    {
                        "id": harm.margin.id,
                        "title": harm.margin.title,
                        "against_iw": harm.against,
                        "worsening": _interval(harm.worsening),
                        "unit": harm.margin.unit,
                        "limit": harm.limit,
                        "is_level": harm.is_level,
                        "condition": harm.condition,
                        "verdict": harm.verdict,
                        "reason": harm.reason,
                        "source": harm.margin.source,
                    }
                    for harm in verdict.harms
                ],
            }
            for verdict in found.candidates
        ],
    }


def redo(inputs: ReportInputs) -> list[str]:
    """The commands that make the report anew from its release."""
    name = inputs.release.manifest.crawl
    commands = [f"firstflight release verify --offline --crawl {name}"]
    if inputs.replay:
        parameters = inputs.replay.provenance.get("parameters", {})
        profiles = [profile["id"] for profile in inputs.replay.provenance.get("profiles", [])]
        windows = ",".join(str(window) for window in parameters.get("windows", []))
        average = next(one for one in populations(inputs.replay) if not one["slow"])
        own = average["id"] not in {one.id for one in POPULATIONS}
        networks = (
            f"--population {average['id']}.csv --population-measured {average['measured']} "
            f"--population-source {shlex.quote(average['source'])}"
            if own
            else f"--profiles {','.join(profiles)}"
        )
        commands.append(
            f"firstflight replay run --crawl {name} --iw {windows} {networks} "
            f"--seeds {len(parameters.get('seeds', []))}{harm_option(inputs.replay)}"
        )
    without = "" if inputs.replay else " --without-replay"
    return [*commands, f"firstflight report build --year {inputs.year} --crawl {name}{without}"]


def harm_option(replay: Replay) -> str:
    """How the harm conditions that were replayed are asked for again."""
    rows = replay.cells.filter(pc.field("queue").is_valid()).select(["visit_id", "background_load"])
    if not rows.num_rows:
        return ""
    which = "all" if HIGH_LOAD in rows["background_load"].to_pylist() else "core"
    return f" --harm {which} --harm-pages {len(set(rows['visit_id'].to_pylist()))}"


def rounded(value: Any) -> Any:  # noqa: ANN401  # JSON has any shape
    """`value` with every float at DIGITS significant digits, and tuples as lists."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}")
    if isinstance(value, dict):
        return {key: rounded(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple):
        return [rounded(inner) for inner in value]
    return value


def canonical(facts: Mapping[str, Any]) -> str:
    """JSON with the same bytes for the same facts."""
    return json.dumps(facts, indent=2, sort_keys=True, ensure_ascii=False, allow_nan=False) + "\n"


def _interval(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else dataclasses.asdict(interval)


def _plain(value: Any) -> Any:  # noqa: ANN401  # a cell of a table
    """Dates as ISO 8601."""
    return value.isoformat() if hasattr(value, "isoformat") else value
