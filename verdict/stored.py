"""verdict.json: the verdict as data, byte for byte equal for equal loads."""

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from releases.interval import Interval
from replay.runs.initial_window import in_json
from storage.staging import put_file_in_place
from verdict.closing import Closing
from verdict.effects import BY_ID, Effects
from verdict.headline import headline, sentences
from verdict.judgement import Answer
from verdict.ledger import Entry, Level, clauses
from verdict.rule import Rule

FORMAT_VERSION = 1

FILE = "verdict.json"

DIGITS = 6
"""Significant digits of a stored number: fewer than sums in another order differ by."""


def verdict_of(
    answer: Answer,
    rule: Rule,
    *,
    effects: Effects | None = None,
    ledger: tuple[Entry, ...] = (),
    groups: tuple[Entry, ...] = (),
    levels: tuple[Level, ...] = (),
    closing: tuple[Closing, ...] = (),
    shared: Mapping[str, Effects] | None = None,
) -> dict[str, Any]:
    """Return everything that verdict.json holds; `effects` are shown beside the verdict, each by itself at 95
    %, and so are the effects on a half-loaded line, by arm."""
    rival = answer.rival
    return {
        "format_version": FORMAT_VERSION,
        "rule": rule_facts(rule),
        "kind": answer.kind,
        "window": in_json(answer.window),
        "headline": headline(answer, rule),
        "sentences": sentences(answer, rule, groups=clauses(groups, answer)),
        "is_settled": answer.is_settled,
        "confidence": answer.confidence,
        "reasons": [dataclasses.asdict(reason) for reason in answer.reasons],
        "broken": list(answer.broken),
        "open": [in_json(window) for window in answer.having("open")],
        "at_the_price": [in_json(window) for window in answer.having("at the price")],
        "rival": None if rival is None else in_json(rival.window),
        "candidates": [
            {
                "window": in_json(candidate.window),
                "verdict": candidate.verdict,
                "gain_percent": interval_facts(candidate.gain),
                "milliseconds": interval_facts(candidate.milliseconds),
                "resent_pp": interval_facts(candidate.resent),
                "net_benefit_pp": interval_facts(candidate.net_benefit),
                "pairs": candidate.pairs,
                "surpassed_by": [in_json(other) for other in candidate.surpassed_by],
                "beside": beside(effects, candidate.window, rule) if effects else {},
            }
            for candidate in answer.judged
        ],
        "guards": [
            {
                "id": guard.guard.id,
                "what": guard.guard.what,
                "window": in_json(guard.window),
                "limit_percent": guard.guard.limit_percent,
                "longer_percent": None if guard.longer is None else interval_facts(guard.longer),
                "holds": guard.holds,
            }
            for guard in answer.guards
        ],
        "again": {
            "gain_percent": interval_facts(answer.again.gain),
            "resent_pp": interval_facts(answer.again.resent),
            "is_sound": answer.again.is_sound,
        },
        "ledger": [entry_facts(entry) for entry in ledger],
        "groups": [entry_facts(group) for group in groups],
        "levels": [
            {
                "id": level.id,
                "title": level.title,
                "share": level.share,
                "resent_percent": interval_facts(level.resent),
                "responses_percent": interval_facts(level.responses),
            }
            for level in levels
        ],
        "closing": [
            {**dataclasses.asdict(need), "window": in_json(need.window), "sentence": need.sentence}
            for need in closing
        ],
        "half_loaded": {
            name: shared_facts(effects_of_arm, rule) for name, effects_of_arm in (shared or {}).items()
        },
    }


def shared_facts(effects: Effects, rule: Rule) -> list[dict[str, Any]]:
    """Return what each window saves of page time and of others' short flows on a half-loaded line."""
    tail = (1 - rule.confidence) / 2
    return [
        {
            "window": in_json(window),
            "page_percent": interval_facts(effects.saved("page", window, tail)),
            "short_flows_percent": interval_facts(effects.saved("short flows", window, tail)),
            "pairs": int(effects.draws[effects.names["page", window]]),
        }
        for window in sorted({window for _, window in effects.names})
    ]


def rule_facts(rule: Rule) -> dict[str, Any]:
    """Return the rule as data."""
    facts = dataclasses.asdict(rule)
    return facts | {
        "incumbent": in_json(rule.incumbent),
        "candidates": [in_json(candidate) for candidate in rule.candidates],
        "looks": list(rule.looks),
    }


def entry_facts(entry: Entry) -> dict[str, Any]:
    """Return a row of the ledger as data."""
    return {
        "id": entry.id,
        "title": entry.title,
        "window": None if entry.window is None else in_json(entry.window),
        "gain_percent": None if entry.gain is None else interval_facts(entry.gain),
        "resent_pp": None if entry.resent is None else interval_facts(entry.resent),
        "price_pp": entry.price_pp,
        "answer": entry.answer,
        "kind": entry.kind,
        "turns": entry.turns,
        "pairs": entry.pairs,
        "share": entry.share,
    }


def beside(effects: Effects, window: int, rule: Rule) -> dict[str, Any]:
    """Return every quantity at a window, in its unit, by itself at 95 %."""
    tail = (1 - rule.confidence) / 2
    return {
        name: {"unit": BY_ID[name].unit, **interval_facts(effects.saved(name, window, tail))}
        for name, measured_window in effects.names
        if measured_window == window
    }


def interval_facts(interval: Interval) -> dict[str, float | None]:
    """Return an interval as data; what is unknown or infinite is null."""
    return {
        name: value if math.isfinite(value) else None for name, value in dataclasses.asdict(interval).items()
    }


def encode_verdict(verdict: dict[str, Any]) -> bytes:
    """Return the verdict as the file holds it: sorted names, rounded numbers."""
    return (json.dumps(round_numbers(verdict), indent=2, sort_keys=True, allow_nan=False) + "\n").encode()


def write_verdict(folder: Path, verdict: dict[str, Any]) -> Path:
    """Write verdict.json, whole or not at all."""
    path = folder / FILE
    with put_file_in_place(path) as half:
        half.write_bytes(encode_verdict(verdict))
    return path


def round_numbers(value: Any) -> Any:  # noqa: ANN401  # any JSON
    """Return the value with each float rounded to DIGITS significant digits, and tuples as lists."""
    if isinstance(value, float):
        return float(f"{value:.{DIGITS}g}") + 0.0
    if isinstance(value, dict):
        return {str(name): round_numbers(item) for name, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [round_numbers(item) for item in value]
    return value
