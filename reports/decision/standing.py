"""What the looks so far confirm and refute, which candidates are lost, and which answers are still possible.

A pure function of the looks: what a bound showed once stays shown,
so that a run that was stopped and resumed ends alike.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from releases.interval import Interval
from reports.decision.bounds import Measured
from reports.decision.spending import increments
from reports.decision.statements import Statement

NO_CHANGE = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Look:
    """The effects measured from all draws up to a stage's end."""

    fraction: float
    """Part of the budget that was used by then."""
    measured: Mapping[str, Measured]
    """By statement; those without enough draws are missing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Standing:
    """What is known after some looks."""

    candidates: tuple[int, ...]
    incumbent: int
    holds: Mapping[str, bool | None]
    """Whether each statement is confirmed (True), refuted (False) or open."""
    measured: Mapping[str, Measured]
    """The effects at the last look."""
    lost: Mapping[int, Statement]
    """Candidates that cannot be the answer, with the statement that lost them."""
    answers: frozenset[int | None]
    """Windows that could still be the answer; None is "no change"."""
    is_sound: bool | None
    """Whether the incumbent was found equal to itself; None: open."""
    decided_by: Mapping[str, Interval]
    """The effects with the bounds that say of each statement what `holds` does,
    at the last look at which they do so."""

    @property
    def live(self) -> tuple[int, ...]:
        """Candidates that are not lost."""
        return tuple(window for window in self.candidates if window not in self.lost)

    @property
    def is_settled(self) -> bool:
        """Return whether one answer is left, and the replay is shown to be sound."""
        return len(self.answers) == 1 and self.is_sound is True


def stand(statements: Sequence[Statement], looks: Sequence[Look], *, incumbent: int) -> Standing:
    """Judge each statement at each look with the error probability that the look may spend."""
    candidates = tuple(sorted({one.candidate for one in statements} - {incumbent}))
    holds: dict[str, bool | None] = {one.id: None for one in statements}
    lost: dict[int, Statement] = {}
    for look, share in zip(looks, increments([look.fraction for look in looks]), strict=True):
        for one in statements:
            if holds[one.id] is None and one.id in look.measured:
                holds[one.id] = _judge(one, look.measured[one.id], share)
                if _loses(one, holds[one.id], incumbent):
                    lost.setdefault(one.candidate, one)
    return Standing(
        candidates=candidates,
        incumbent=incumbent,
        holds=holds,
        measured=looks[-1].measured if looks else {},
        lost=lost,
        answers=possible_answers(
            candidates,
            incumbent=incumbent,
            admissible={
                window: _all(
                    holds[one.id] for one in statements if one.kind == "harm" and one.candidate == window
                )
                for window in candidates
            },
            is_worthwhile={
                (one.candidate, one.other): holds[one.id] for one in statements if one.kind == "gain"
            },
        ),
        is_sound=_all(holds[one.id] for one in statements if one.kind == "self"),
        decided_by=_decided_by(statements, looks, holds),
    )


def _decided_by(
    statements: Sequence[Statement], looks: Sequence[Look], holds: Mapping[str, bool | None]
) -> dict[str, Interval]:
    """Each effect with its bounds at the last look at which they show what is known:
    what was shown once stays shown.

    The bounds of all statements and looks hold together with the rule's confidence, so that they are wider
    than an interval of one number.
    """
    found: dict[str, Interval] = {}
    shares = increments([look.fraction for look in looks])
    for one in statements:
        for look, share in zip(reversed(looks), reversed(shares), strict=True):
            effect = look.measured.get(one.id)
            if effect is not None and _judge(one, effect, share) == holds[one.id]:
                lower, upper = effect.lower(share * one.refute_tail), effect.upper(share * one.confirm_tail)
                found[one.id] = Interval(effect.value, lower, upper)
                break
    return found


def _judge(one: Statement, found: Measured, share: float) -> bool | None:
    """True or False if the effect is shown to lie below or above its limit, else None."""
    if share <= 0:
        return None
    if found.upper(share * one.confirm_tail) < found.limit:
        return True
    return False if found.lower(share * one.refute_tail) >= found.limit else None


def _loses(one: Statement, holds: bool | None, incumbent: int) -> bool:
    """Return whether a refuted statement rules its candidate out: a harm, or a gain over the incumbent."""
    return holds is False and (one.kind == "harm" or (one.kind == "gain" and one.other == incumbent))


def _all(values: Iterable[bool | None]) -> bool | None:
    """Three-valued conjunction."""
    found = list(values)
    if False in found:
        return False
    return None if None in found else True


def targets(statements: Sequence[Statement], standing: Standing) -> list[Statement]:
    """The open statements that further draws should settle.

    One refuted statement loses a candidate: where an effect lies beyond its limit, the one that is furthest
    in terms of its error is enough. A candidate without one needs all its statements that can tell between
    the answers that are left: where one is left, none can, and it remains to show that the incumbent equals
    itself. While one candidate is first in question, larger ones need only be shown not to surpass it.
    """
    found = [one for one in statements if one.kind == "self" and standing.holds[one.id] is None]
    first = _first_in_question(statements, standing)
    for window in _that_matter(statements, standing):
        is_later = first is not None and window > first
        open_ones = [
            one
            for one in statements
            if one.candidate == window
            and standing.holds[one.id] is None
            and (one.kind == "gain" and one.other == first if is_later else _matters(one, standing))
        ]
        against = [one for one in open_ones if _is_against(one, standing)]
        found += (
            [max(against, key=lambda one: _distance(standing.measured[one.id]))] if against else open_ones
        )
    return found


def _first_in_question(statements: Sequence[Statement], standing: Standing) -> int | None:
    """The smallest candidate that is shown worthwhile, whose harms are open and seem small,
    and that no larger one seems to surpass.

    If it is admitted, larger ones are not needed; if not, their turn comes.
    None if there is no such candidate.
    """
    gains = {(one.candidate, one.other): one for one in statements if one.kind == "gain"}
    for window in standing.live:
        if window not in standing.answers or not standing.holds[gains[window, standing.incumbent].id]:
            continue
        harms = [one for one in statements if one.kind == "harm" and one.candidate == window]
        if all(standing.holds[one.id] for one in harms):
            return None
        larger = [gains[rival, window] for rival in standing.live if rival > window]
        if not any(_is_against(one, standing) for one in harms) and not any(
            _seems_true(one, standing) for one in larger
        ):
            return window
    return None


def _seems_true(one: Statement, standing: Standing) -> bool:
    """Return whether a statement is shown, or is open with an estimate that agrees."""
    shown, effect = standing.holds[one.id], standing.measured.get(one.id)
    return shown is True or (shown is None and effect is not None and effect.excess < 0)


def _that_matter(statements: Sequence[Statement], standing: Standing) -> list[int]:
    """The candidates that could be the answer, or surpass one that could."""
    surpassing = {
        one.candidate
        for one in statements
        if one.kind == "gain"
        and one.other in standing.answers
        and one.other < one.candidate
        and standing.holds[one.id] is not False
    }
    return [window for window in standing.live if window in standing.answers or window in surpassing]


def _matters(one: Statement, standing: Standing) -> bool:
    """Return whether a statement about such a candidate can tell between the answers that are left:
    gains over others cannot."""
    if one.kind == "gain":
        return one.other in standing.answers or (
            one.other == standing.incumbent and one.candidate in standing.answers
        )
    return one.kind == "harm"


def windows_of(wanted: Iterable[Statement], condition: str, *, incumbent: int) -> tuple[int, ...]:
    """The windows that a draw under a condition needs for these statements, the incumbent among them."""
    compared = [(one.candidate, one.other) for one in wanted if one.condition == condition]
    return tuple(sorted({incumbent, *(window for pair in compared for window in pair)}))


def _is_against(one: Statement, standing: Standing) -> bool:
    effect = standing.measured.get(one.id)
    return effect is not None and effect.excess > 0 and _loses(one, False, standing.incumbent)


def _distance(effect: Measured) -> float:
    return effect.excess / effect.error if effect.error > 0 else float("inf")


def possible_answers(
    candidates: Sequence[int],
    *,
    incumbent: int,
    admissible: Mapping[int, bool | None],
    is_worthwhile: Mapping[tuple[int, int], bool | None],
) -> frozenset[int | None]:
    """All answers of `reports.recommendation.candidate_verdicts.choose` over every way in
    which open statements can end.

    None as a truth value is open; None as an answer is "no change". Statements are taken as independent, so
    that the set may hold answers that cannot be, but never lacks one that can.

    >>> possible_answers([16], incumbent=10, admissible={16: None}, is_worthwhile={(16, 10): True}) == {16, None}
    True
    """  # noqa: E501
    windows = sorted(set(candidates) - {incumbent})
    bits = {window: 1 << place for place, window in enumerate([incumbent, *windows])}
    # Every way in which candidates can be admissible, as a set of bits; the incumbent always is.
    ways = np.array([bits[incumbent]], dtype=np.int64)
    for window in windows:
        without = ways[:0] if admissible[window] else ways
        within = ways[:0] if admissible[window] is False else ways | bits[window]
        ways = np.concatenate([without, within])
    found: set[int | None] = set()
    is_left = np.ones(len(ways), dtype=bool)  # whether no smaller window is chosen for certain
    for window in windows:
        gain = is_worthwhile[window, incumbent]
        surpassing = {rival: is_worthwhile[rival, window] for rival in bits if rival > window}
        shown = sum(bits[rival] for rival, surpasses in surpassing.items() if surpasses)
        not_refuted = sum(bits[rival] for rival, surpasses in surpassing.items() if surpasses is not False)
        is_rival = (ways & bits[window]) != 0
        if gain is not False and (is_left & is_rival & ((ways & shown) == 0)).any():
            found.add(window)
        if gain:
            is_left &= ~(is_rival & ((ways & not_refuted) == 0))
    if is_left.any():
        found.add(NO_CHANGE)
    return frozenset(found)
