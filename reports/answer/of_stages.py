"""Findings from a replay in stages: its statements as a verdict matrix, and what the open ones would take."""

import math
from collections.abc import Iterator, Sequence

from releases.formatting import interval_text, quantity, stated
from reports.answer.key_numbers import harm_title, worst_harm
from reports.answer.shape import Deciding, Findings, Mark, VerdictCell, VerdictRow
from reports.decision.bounds import Measured
from reports.decision.forecast import Need
from reports.decision.record import further_loads, in_words, limit_of, limit_of_margin, shown, unit_of
from reports.decision.standing import Standing
from reports.decision.statements import Statement
from reports.decision.until_decided import Outcome
from reports.recommendation.mixture import ORDINARY

SEVERITY: tuple[Mark, ...] = ("holds", "not measured", "open", "fails")
"""Marks from the best to the worst."""

NOTES = (
    "Brackets are the bounds that the marks follow from. They hold together, with 95 % confidence, over all "
    "looks at the replay and all candidates, so that they are wider than the 95 % interval of a number by "
    "itself, which the rest of the report has.",
    "A candidate that one bound has ruled out is not replayed further, so that its other numbers stay as "
    "they were then or are not measured.",
)


def findings_of(outcome: Outcome, *, command: str) -> Findings:
    """What the rule says of the stages; `command` runs further ones."""
    standing, problem = outcome.standing, outcome.problem
    answers = standing.answers
    windows = standing.candidates
    is_settled = outcome.is_settled
    rows = (gain_row(outcome), *harm_rows(outcome))
    return Findings(
        incumbent=standing.incumbent,
        windows=windows,
        iw=next(iter(answers)) if is_settled else None,
        is_decided=is_settled,
        is_sound=standing.is_sound is not False,
        reasons=tuple(reasons(outcome, rows)),
        rows=rows,
        deciding=None if is_settled else deciding(outcome, command),
        loads=outcome.loads,
        pages=len(problem.recipes),
        networks=len(problem.networks),
        notes=NOTES,
    )


def reasons(outcome: Outcome, rows: Sequence[VerdictRow]) -> Iterator[str]:
    """Why each candidate is out, and what is left; `rows` are the verdict matrix.

    A candidate that several bounds rule out is told by the one that it exceeds most, as its worst harm is.
    """
    standing = outcome.standing
    for window, why in sorted(standing.lost.items()):
        worst = worst_harm(rows, window)
        if why.margin is not None and worst and worst[1].mark == "fails":
            row, cell, value = worst
            told = "" if row.is_level else f" more than at IW {row.against}"
            yield (
                f"IW {window} is ruled out by {harm_title(row, cell)}: "
                f"{interval_text(value, row.unit, near=[row.limit])}{told}, and the rule asks for below "
                f"{stated(row.limit, row.unit)}."
            )
            continue
        effect = standing.measured.get(why.id)
        told = "" if effect is None else f": {_asked(why, effect)}"
        yield f"IW {window} is ruled out by the {why.subject}{told}."
    for window in standing.live:
        if window in standing.answers:
            yield (
                f"IW {window} can still be the answer."
                if len(standing.answers) > 1
                else f"IW {window} meets every bound."
            )


def _asked(why: Statement, effect: Measured) -> str:
    asked, unit = "at least" if why.margin is None else "below", unit_of(why)
    limit = float(f"{limit_of(why, effect):.3g}")
    found = interval_text(shown(why, effect), unit, near=[limit])
    return f"{found}, and the rule asks for {asked} {stated(limit, unit)}"


def deciding(outcome: Outcome, command: str) -> Deciding:
    """What the open statements would take: loads of one condition serve all its statements,
    so each condition counts once."""
    first = outcome.further[0] if outcome.further else None
    by_condition: dict[str, list[Need]] = {}
    for need in outcome.further:
        by_condition.setdefault(need.statement.condition, []).append(need)
    pages = max((need.pages for need in outcome.further if need.pages is not None), default=None)
    told = first is not None and all(math.isfinite(need.times) for need in outcome.further)
    largest = [max(some, key=lambda need: need.times) for some in by_condition.values()] if told else []
    costs = [further_loads(outcome, need) for need in largest]
    asked = outcome.problem.rule.minimum_coverage_percent
    if outcome.coverage_percent < asked:
        what = (
            f"share of loads that are done, at least {quantity(outcome.coverage_percent, '%')} over each "
            f"network at each window, where the rule asks for {stated(asked, '%')}"
        )
        return Deciding(what=what, loads=None, core_hours=None, pages=None, command=command)
    return Deciding(
        what=first.statement.subject if first else "verdict on statements that further loads cannot settle",
        loads=sum(loads for loads, _ in costs) if told else None,
        core_hours=math.fsum(hours for _, hours in costs) if told else None,
        pages=pages,
        command=command,
    )


def gain_row(outcome: Outcome) -> VerdictRow:
    """Gains over the incumbent; a statement of a gain holds if page time falls
    by at least the rule's minimum."""
    standing = outcome.standing
    return VerdictRow(
        id="gain",
        title="page time saved",
        kind="gain",
        unit="%",
        limit=outcome.problem.rule.worthwhile_percent,
        against=standing.incumbent,
        is_level=False,
        is_required=True,
        source="ours: a change must be worth its trouble",
        cells=tuple(
            _cell(standing, one.candidate, [one])
            for one in outcome.problem.statements
            if one.kind == "gain" and one.other == standing.incumbent
        ),
    )


def harm_rows(outcome: Outcome) -> Iterator[VerdictRow]:
    """A row for each margin and the window that it compares with,
    the worst condition of each in its cells."""
    grouped: dict[tuple[str, int], dict[int, list[Statement]]] = {}
    for one in outcome.problem.statements:
        if one.margin is not None and one.kind == "harm":
            grouped.setdefault((one.margin.id, one.other), {}).setdefault(one.candidate, []).append(one)
    for (name, against), by_window in grouped.items():
        margin = next(iter(by_window.values()))[0].margin
        assert margin is not None
        found = (outcome.standing.measured.get(one.id) for some in by_window.values() for one in some)
        limits = [limit_of_margin(margin.unit, effect.limit, margin.limit) for effect in found if effect]
        limit = limits[0] if limits else margin.limit
        yield VerdictRow(
            id=name,
            title=margin.title,
            kind="harm",
            unit=margin.unit,
            limit=limit,
            against=against,
            is_level=margin.is_level and math.isclose(limit, margin.limit),
            is_required=margin.is_required,
            source=margin.source,
            cells=tuple(_cell(outcome.standing, window, some) for window, some in by_window.items()),
        )


def _cell(standing: Standing, window: int, statements: Sequence[Statement]) -> VerdictCell:
    """The worst of the statements."""
    marks = {one.id: _mark(standing, one) for one in statements}
    worst = max(statements, key=lambda one: (SEVERITY.index(marks[one.id]), _excess(standing, one)))
    effect, bounds = standing.measured.get(worst.id), standing.decided_by.get(worst.id)
    notes = [] if worst.condition == ORDINARY or effect is None else [worst.condition]
    if effect is None and window in standing.lost:
        notes.append("ruled out before")
    return VerdictCell(
        window=window,
        mark=marks[worst.id],
        value=None if effect is None else shown(worst, effect),
        printed=None if bounds is None else in_words(worst, bounds),
        note="; ".join(notes),
    )


def _mark(standing: Standing, one: Statement) -> Mark:
    holds = standing.holds[one.id]
    if holds is None:
        return "open" if one.id in standing.measured else "not measured"
    return "holds" if holds else "fails"


def _excess(standing: Standing, one: Statement) -> float:
    effect = standing.measured.get(one.id)
    return -math.inf if effect is None else effect.excess
