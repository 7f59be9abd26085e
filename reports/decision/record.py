"""The outcome in words and as JSON: the answer in one line, and every effect behind it."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any

from reports.decision.forecast import Need
from reports.decision.statements import Statement
from reports.decision.until_decided import Outcome


def answer_text(answer: int | None) -> str:
    """An answer in two words."""
    return "no change" if answer is None else f"IW {answer}"


def possible(outcome: Outcome) -> list[str]:
    """The answers that are left, "no change" first."""
    ordered = sorted(outcome.standing.answers, key=lambda window: -1 if window is None else window)
    return [answer_text(window) for window in ordered]


def sentence(outcome: Outcome) -> str:
    """The answer, and whether it is settled; if not, what it would take."""
    used = f"{outcome.loads:,} loads, {outcome.core_s / 60:.1f} core-minutes"
    answers = " or ".join(possible(outcome))
    if outcome.is_settled:
        return f"{answers}: settled ({used})."
    return f"{answers}: not settled ({used}); {_obstacle(outcome)}."


def reason(outcome: Outcome) -> str:
    """Why a run ends after a stage, or why another one follows."""
    if outcome.is_settled:
        return "one answer is left"
    return ("the budget is used: " if outcome.fraction >= 1 else "") + _obstacle(outcome)


def _obstacle(outcome: Outcome) -> str:
    minimum = outcome.problem.rule.minimum_coverage_percent
    if outcome.standing.is_sound is False:
        return f"IW {outcome.problem.incumbent} differs from itself with other seeds, so that no answer can be trusted"
    if outcome.coverage_percent < minimum:
        return f"{outcome.coverage_percent:.1f} % of the loads over a network are done, and the rule asks for {minimum:g} %"
    if not outcome.further:
        return "statements that further loads cannot settle are left open"
    first = outcome.further[0]
    return f"the {first.statement.subject} is open ({_effect(first)}): {_takes(outcome, first)}"


def _effect(need: Need) -> str:
    if need.effect is None:
        return "too few loads to measure it"
    unit = "log ratio" if need.statement.margin is None else need.statement.margin.unit
    effect = need.effect
    return f"{effect.value:.3g} ± {1.96 * effect.error:.2g} {unit} against {effect.limit:.3g}"


def _takes(outcome: Outcome, need: Need) -> str:
    if need.pages is not None:
        return f"about {need.pages:,} pages would be needed, whatever the loads"
    if math.isinf(need.times):
        return "it needs a longer budget" if need.effect is None else "it lies on its limit"
    if need.times <= 1:
        return "the looks at the loads have used up the error probability that it may have, and a longer budget would settle it"
    loads, hours = further_loads(outcome, need)
    return f"if it stays as measured, about {loads:,} more loads ({hours:.1f} core-hours) would settle it"


def further_loads(outcome: Outcome, need: Need) -> tuple[int, float]:
    """Loads that a need takes beyond those that are done, at the windows still in question, and their core-hours."""
    done = outcome.draws.get(need.statement.condition, 0)
    windows = len(outcome.standing.live) + 1 + (need.statement.kind == "self")
    loads = math.ceil((need.times - 1) * done * windows)
    return loads, loads * outcome.core_s / max(1, outcome.loads) / 3600


def to_dict(outcome: Outcome) -> dict[str, Any]:
    """The outcome for decision.json."""
    standing = outcome.standing
    return {
        "answer": possible(outcome)[0] if len(standing.answers) == 1 else None,
        "is_settled": outcome.is_settled,
        "possible_answers": possible(outcome),
        "sentence": sentence(outcome),
        "incumbent": standing.incumbent,
        "run": outcome.problem.run,
        "stages": outcome.stages,
        "loads": outcome.loads,
        "wall_s": round(outcome.wall_s, 1),
        "core_minutes": round(outcome.core_s / 60, 2),
        "part_of_budget": round(outcome.fraction, 4),
        "coverage_percent": round(outcome.coverage_percent, 2),
        "is_sound": standing.is_sound,
        "lost": {str(window): why.id for window, why in sorted(standing.lost.items())},
        "needs": [_need(outcome, need) for need in outcome.further],
        "statements": list(_statements(outcome)),
    }


def _need(outcome: Outcome, need: Need) -> dict[str, Any]:
    unknown = math.isinf(need.times) or need.times <= 1
    loads, hours = (None, None) if unknown else further_loads(outcome, need)
    return {
        "statement": need.statement.id,
        "loads": loads,
        "core_hours": hours if hours is None else round(hours, 3),
        "pages": need.pages,
    }


def _statements(outcome: Outcome) -> Iterator[dict[str, Any]]:
    for one in outcome.problem.statements:
        effect = outcome.standing.measured.get(one.id)
        if effect is not None:
            yield {
                "id": one.id,
                "unit": _unit(one),
                "value": round(effect.value, 6),
                "half_interval": round(1.96 * effect.error, 6),
                "limit": round(effect.limit, 6),
                "pages": effect.pages,
                "holds": outcome.standing.holds[one.id],
            }


def _unit(one: Statement) -> str:
    return "log ratio of page time" if one.margin is None else one.margin.unit
