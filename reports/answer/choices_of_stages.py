"""The rule's choices in the ledger of a replay in stages:
the same draws judged again with one choice changed."""

from collections.abc import Iterator, Mapping, Sequence

from releases.interval import Interval
from reports.decision.draws import Draws
from reports.decision.record import saved_percent
from reports.decision.stage import draws_after_each, looks_by
from reports.decision.stored_problem import StagedReplay
from reports.decision.until_decided import Outcome, outcome_by, outcome_of
from reports.recommendation.ledger import CHOICES, UNDECIDED, Entry
from reports.recommendation.rule import Rule
from reports.recommendation.sensitivity import variants


def choices_of(staged: StagedReplay, *, window: int | None) -> Iterator[Entry]:
    """Yield an entry for each choice of the rule; gains are those of `window`.

    Stages were drawn to settle the answer by the rule as it is: by another,
    what they never drew can stay open.
    """
    found = staged.outcome
    known = {one.id: one.rule for one in variants(staged.problem.rule)}
    draws = list(draws_after_each(staged.problem, staged.stages))
    for one in CHOICES:
        low, high = (end if end and end[1] in known else None for end in (one.low, one.high))
        at_low, at_high = (_judged(staged, draws, known[end[1]]) if end else None for end in (low, high))
        yield Entry(
            input=one.id,
            title=one.title,
            unit=one.unit,
            low=low and low[0],
            default=one.default,
            high=high and high[0],
            answer_low=_answer(at_low) if at_low else None,
            answer_default=_answer(found),
            answer_high=_answer(at_high) if at_high else None,
            gain_low=_gain(at_low, window) if at_low else None,
            gain_default=_gain(found, window),
            gain_high=_gain(at_high, window) if at_high else None,
            window=window,
            basis="all loads in stages, by intervals",
            pages=len(staged.problem.recipes),
            source=one.source,
        )


def _judged(staged: StagedReplay, draws: Sequence[Mapping[str, Draws]], rule: Rule) -> Outcome:
    """The outcome by another rule and the same `draws` after each stage,
    which differ only if the rule asks of other conditions."""
    problem, stages = staged.problem.by(rule), staged.stages
    if problem.conditions == staged.problem.conditions:
        return outcome_by(problem, stages, looks_by(problem, stages, draws))
    return outcome_of(problem, stages)


def _answer(found: Outcome) -> str:
    """The answer in the words of `Recommendation.answer`."""
    if not found.is_settled:
        return UNDECIDED
    (window,) = found.standing.answers
    return "no change" if window is None else f"IW {window}"


def _gain(found: Outcome, window: int | None) -> Interval | None:
    """The window's gain over the incumbent in percent,
    with an interval of the rule's confidence for itself alone."""
    effect = found.standing.measured.get(f"gain/{window}-{found.standing.incumbent}")
    if effect is None:
        return None
    tail = (1 - found.problem.rule.confidence) / 2
    return Interval(*(saved_percent(end) for end in (effect.value, effect.upper(tail), effect.lower(tail))))
