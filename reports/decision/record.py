"""The outcome in words and as JSON: the answer in one line, and every effect behind it."""

import math
from collections.abc import Callable, Iterator
from typing import Any

from releases.formatting import grouped, interval_text, quantity, stated
from releases.interval import Interval
from reports.decision.bounds import Measured
from reports.decision.forecast import Need
from reports.decision.statements import Statement
from reports.decision.until_decided import Outcome

EFFECTS = {"gain": "page time saved: ", "harm": "", "self": "change of page time: "}
"""What an effect is, before its number; a harm's subject says it."""


def answer_text(answer: int | None) -> str:
    """An answer in two words."""
    return "no change" if answer is None else f"IW {answer}"


def possible(outcome: Outcome) -> list[str]:
    """The answers that are left, "no change" first."""
    ordered = sorted(outcome.standing.answers, key=lambda window: -1 if window is None else window)
    return [answer_text(window) for window in ordered]


def sentence(outcome: Outcome) -> str:
    """The answer, and whether it is settled; if not, what it would take."""
    used = f"{grouped(outcome.loads)} loads, {quantity(outcome.core_s / 60, 'core-minutes')}"
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
        return (
            f"IW {outcome.problem.incumbent} differs from itself with other seeds, "
            "so that no answer can be trusted"
        )
    if outcome.coverage_percent < minimum:
        return (
            f"{quantity(outcome.coverage_percent, '%')} of the loads over a network are done, and the rule "
            f"asks for {stated(minimum, '%')}"
        )
    if not outcome.further:
        return "statements that further loads cannot settle are left open"
    first = outcome.further[0]
    return f"the {first.statement.subject} is open ({_effect(first)}): {_takes(outcome, first)}"


def _effect(need: Need) -> str:
    if need.effect is None:
        return "too few loads to measure it"
    one, unit = need.statement, unit_of(need.statement)
    limit = stated(float(f"{limit_of(one, need.effect):.3g}"), unit)
    sides = "\u00b1" if one.kind == "self" else ""
    return f"{EFFECTS[one.kind]}{interval_text(shown(one, need.effect), unit)} against {sides}{limit}"


def _takes(outcome: Outcome, need: Need) -> str:
    if need.pages is not None:
        return f"about {grouped(need.pages)} pages would be needed, whatever the loads"
    if math.isinf(need.times):
        return "it needs a longer budget" if need.effect is None else "it lies on its limit"
    if need.times <= 1:
        return (
            "the looks at the loads have used up the error probability that it may have, "
            "and a longer budget would settle it"
        )
    loads, hours = further_loads(outcome, need)
    return (
        f"if it stays as measured, about {grouped(loads)} more loads "
        f"({quantity(hours, 'core-hours')}) would settle it"
    )


def further_loads(outcome: Outcome, need: Need) -> tuple[int, float]:
    """Loads that a need takes beyond those that are done, at the windows still in question,
    and their core-hours."""
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


def unit_of(one: Statement) -> str:
    """The unit that an effect is shown in."""
    return "%" if one.margin is None else one.margin.unit


def shown(one: Statement, effect: Measured) -> Interval:
    """The effect with its 95 % interval, as `in_words` has it."""
    return in_words(one, effect.interval)


def in_words(one: Statement, effect: Interval) -> Interval:
    """An effect as readers see it: percent of page time saved for a gain,
    else the change or worsening in percent or the margin's unit."""
    found = effect if one.sign > 0 else -effect
    if one.kind == "gain":
        return Interval(*(saved_percent(value) for value in (found.estimate, found.upper, found.lower)))
    as_shown: Callable[[float], float] = float
    if unit_of(one) == "%":
        as_shown = _percent if one.margin else change_percent
    return Interval(*(as_shown(value) for value in (found.estimate, found.lower, found.upper)))


def limit_of(one: Statement, effect: Measured) -> float:
    """The limit in the unit of `shown`."""
    if one.margin is None:
        return (saved_percent if one.kind == "gain" else change_percent)(effect.limit)
    return limit_of_margin(one.margin.unit, effect.limit, one.margin.limit)


def limit_of_margin(unit: str, limit: float, asked: float) -> float:
    """A measured effect's limit in the margin's unit; the one that is asked for itself where it is that."""
    told = _percent(limit) if unit == "%" else limit
    return asked if math.isclose(told, asked) else told


def saved_percent(log_ratio: float) -> float:
    """Percent of page time that a log ratio of it saves."""
    return -change_percent(log_ratio)


def change_percent(log_ratio: float) -> float:
    """Percent by which page time changes with a log ratio of it."""
    return 100 * math.expm1(log_ratio)


def _percent(hundredfold_log_ratio: float) -> float:
    return 100 * math.expm1(hundredfold_log_ratio / 100)
