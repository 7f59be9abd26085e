"""verdict.json: the verdict as data, byte for byte equal for equal loads."""

import dataclasses
import json
import math
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, NotRequired, cast

from pydantic import BeforeValidator
from typing_extensions import TypedDict

from replay.runs.policy import Policy
from storage.staging import put_file_in_place
from verdict.closing import Closing
from verdict.effects import BY_ID, Effects
from verdict.headline import headline, is_told, sentences
from verdict.judgement import Answer, Kind, Level
from verdict.ledger import Entry, clauses, where_sent_again
from verdict.ledger import Level as LedgerLevel
from verdict.rule import Rule

FORMAT_VERSION = 1

FILE = "verdict.json"

DIGITS = 6
"""Significant digits of a stored number: fewer than sums in another order differ by."""


Window = Annotated[str, BeforeValidator(str)]
"""A policy as text; files of version 1.0 have a number for a window at once."""


class IntervalFacts(TypedDict):
    """An estimate with the ends of its interval; null if unknown or infinite."""

    estimate: float | None
    lower: float | None
    upper: float | None


class EffectFacts(IntervalFacts):
    """The effect of a window on a quantity, with its unit."""

    unit: str


class RuleGuardFacts(TypedDict):
    """A guard of the rule."""

    id: str
    what: str
    quantity: str
    limit_percent: float
    everyone: bool


class RuleFacts(TypedDict):
    """The rule that decides."""

    version: int
    incumbent: Window
    candidates: list[Window]
    time: str
    worthwhile_percent: float
    price_pp: float
    zone_pp: float
    guards: list[RuleGuardFacts]
    looks: list[float]
    confidence: float
    most_again: float


class ReasonFacts(TypedDict):
    """A reason for less confidence."""

    level: str
    sentence: str


class CandidateFacts(TypedDict):
    """A candidate window beside the incumbent, with its verdict."""

    window: Window
    verdict: str
    gain_percent: IntervalFacts
    milliseconds: IntervalFacts
    resent_pp: IntervalFacts
    net_benefit_pp: IntervalFacts
    pairs: int
    surpassed_by: list[Window]
    beside: dict[str, EffectFacts]


class GuardFacts(TypedDict):
    """A guard that was asked of a window."""

    id: str
    what: str
    window: Window
    limit_percent: float
    longer_percent: IntervalFacts | None
    holds: bool | None


class AgainFacts(TypedDict):
    """The incumbent held against itself."""

    gain_percent: IntervalFacts
    resent_pp: IntervalFacts
    is_sound: bool | None


class EntryFacts(TypedDict):
    """The answer by another rule or input, or for a group of lines."""

    id: str
    title: str
    window: Window | None
    gain_percent: IntervalFacts | None
    resent_pp: IntervalFacts | None
    price_pp: float | None
    answer: str
    kind: str
    turns: bool | None
    pairs: int
    share: float | None


class LevelFacts(TypedDict):
    """What the incumbent sends again over lines of a class of rates."""

    id: str
    title: str
    share: float
    resent_percent: IntervalFacts
    responses_percent: IntervalFacts


class ClosingFacts(TypedDict):
    """What an open window needs."""

    window: Window
    loads: float | None
    pages: float | None
    sentence: str


class SharedFacts(TypedDict):
    """What a window saves on a half-loaded line."""

    window: Window
    page_percent: IntervalFacts
    short_flows_percent: IntervalFacts
    pairs: int


class VerdictFacts(TypedDict):
    """Everything that verdict.json holds."""

    format_version: int
    rule: RuleFacts
    kind: Kind
    window: Window
    headline: str
    """The answer in one sentence."""
    sentences: list[str]
    """What follows it."""
    is_told: NotRequired[bool]
    """False if the answer is open since the loads tell of no larger window whether it saves time."""
    is_settled: bool
    confidence: Level | None
    reasons: list[ReasonFacts]
    broken: list[str]
    open: list[Window]
    at_the_price: list[Window]
    rival: Window | None
    candidates: list[CandidateFacts]
    guards: list[GuardFacts]
    again: AgainFacts
    ledger: list[EntryFacts]
    groups: list[EntryFacts]
    levels: list[LevelFacts]
    closing: list[ClosingFacts]
    half_loaded: dict[str, list[SharedFacts]]


def verdict_of(
    answer: Answer,
    rule: Rule,
    *,
    effects: Effects | None = None,
    ledger: tuple[Entry, ...] = (),
    groups: tuple[Entry, ...] = (),
    levels: tuple[LedgerLevel, ...] = (),
    closing: tuple[Closing, ...] = (),
    shared: Mapping[str, Effects] | None = None,
    mark: str = "",
) -> VerdictFacts:
    """State a verdict as verdict.json holds it.

    `effects` are shown beside the verdict, each by itself at 95 %, and so are the effects on a half-loaded
    line, by arm; `mark` stands before the answer of inputs that are no evidence.
    """
    rival = answer.rival
    return {
        "format_version": FORMAT_VERSION,
        "rule": rule_facts(rule),
        "kind": answer.kind,
        "window": str(answer.window),
        "headline": headline(answer, rule, falls=where_sent_again(groups, answer), mark=mark),
        "is_told": is_told(answer, rule),
        "sentences": sentences(answer, rule, groups=clauses(groups, answer)),
        "is_settled": answer.is_settled,
        "confidence": answer.confidence,
        "reasons": as_json(answer.reasons),
        "broken": list(answer.broken),
        "open": [str(window) for window in answer.having("open")],
        "at_the_price": [str(window) for window in answer.having("at the price")],
        "rival": None if rival is None else str(rival.window),
        "candidates": [
            as_json(candidate) | {"beside": beside(effects, candidate.window, rule) if effects else {}}
            for candidate in answer.judgements
        ],
        "guards": [
            {
                "id": check.guard.id,
                "what": check.guard.what,
                "window": str(check.window),
                "limit_percent": check.guard.limit_percent,
                "longer_percent": as_json(check.longer),
                "holds": check.holds,
            }
            for check in answer.guards
        ],
        "again": as_json(answer.again) | {"is_sound": answer.again.is_sound},
        "ledger": as_json(ledger),
        "groups": as_json(groups),
        "levels": as_json(levels),
        "closing": [as_json(need) | {"sentence": need.sentence} for need in closing],
        "half_loaded": {name: shared_facts(measured, rule) for name, measured in (shared or {}).items()},
    }


def shared_facts(effects: Effects, rule: Rule) -> list[SharedFacts]:
    """State what each window saves of page time and of others' short flows on a half-loaded line."""
    tail = (1 - rule.confidence) / 2
    return [
        {
            "window": str(window),
            "page_percent": as_json(effects.saved("page", window, tail)),
            "short_flows_percent": as_json(effects.saved("short flows", window, tail)),
            "pairs": int(effects.draws[effects.names["page", window]]),
        }
        for window in dict.fromkeys(window for _, window in effects.names)
    ]


def rule_facts(rule: Rule) -> RuleFacts:
    """State a rule that has a price."""
    return cast("RuleFacts", as_json(rule))


def as_json(value: object) -> Any:  # noqa: ANN401  # any JSON
    """Return a value as JSON: a dataclass by its fields, a policy as text, a number that is unknown or
    infinite as null."""
    if isinstance(value, Policy):
        return str(value)
    if dataclasses.is_dataclass(value):
        return {field.name: as_json(getattr(value, field.name)) for field in dataclasses.fields(value)}
    if isinstance(value, tuple):
        return [as_json(item) for item in value]
    if isinstance(value, float):
        return value if math.isfinite(value) else None
    return value


def beside(effects: Effects, window: Policy, rule: Rule) -> dict[str, EffectFacts]:
    """State every quantity at a window, in its unit, by itself at 95 %."""
    tail = (1 - rule.confidence) / 2
    return {
        name: as_json(effects.saved(name, window, tail)) | {"unit": BY_ID[name].unit}
        for name, measured_at in effects.names
        if measured_at == window
    }


def rival_of(verdict: VerdictFacts | None) -> CandidateFacts | None:
    """Find the candidate that the answer speaks of; None if there is none."""
    candidates = verdict["candidates"] if verdict else ()
    return next((each for each in candidates if verdict and each["window"] == verdict["rival"]), None)


def encode_verdict(verdict: Mapping[str, Any] | VerdictFacts) -> bytes:
    """Return the verdict as the file holds it: sorted names, rounded numbers."""
    return (json.dumps(round_numbers(verdict), indent=2, sort_keys=True, allow_nan=False) + "\n").encode()


def write_verdict(folder: Path, verdict: Mapping[str, Any] | VerdictFacts) -> Path:
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
