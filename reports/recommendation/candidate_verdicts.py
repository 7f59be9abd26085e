"""Verdicts on candidates: gains and harm bounds under one rule, and a sentence that explains each verdict."""

import dataclasses
from collections.abc import Callable, Collection

from releases.formatting import interval_text, stated
from releases.interval import Interval
from reports.recommendation.candidates import Candidate
from reports.recommendation.effects import Gain
from reports.recommendation.estimates import Estimates
from reports.recommendation.harm_verdicts import HarmVerdict, judge
from reports.recommendation.rule import Rule
from reports.statistics.bootstrap import holm


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CandidateVerdict:
    """The rule's verdict on one candidate."""

    candidate: Candidate
    gain_percent: Interval | None
    """Gain over the incumbent; None for the incumbent itself, or if no loads pair."""
    beside_percent: dict[str, Interval | None]
    """Gains over the incumbent in the other estimands, by id; None where they are not measured."""
    in_use_percent: Interval | None
    """Gain over the window that content networks use, the second baseline;
    None if it was not replayed or is this one."""
    typical_percent: float | None
    """Hodges-Lehmann estimate over the gains of single pages."""
    p_value: float | None
    """Wilcoxon test, adjusted over the candidates by Holm; reported, but without influence on the answer."""
    harms: tuple[HarmVerdict, ...]
    is_admissible: bool
    is_worthwhile: bool
    surpassed_by: tuple[int, ...]
    """Larger admissible windows with a worthwhile gain over this one."""
    sentence: str = ""
    """Why the candidate is or is not the answer."""


class AppliedRule:
    """A rule applied to estimates: an interval for each gain, and a verdict on each harm."""

    def __init__(self, estimates: Estimates, rule: Rule) -> None:
        self.estimates = estimates
        self.rule = rule
        self.incumbent = estimates.incumbent
        self.windows = [candidate.window for candidate in estimates.candidates]
        self.gains = {
            pair: found.effect.interval(rule.confidence)
            for pair, found in estimates.gains.items()
            if isinstance(found, Gain)
        }
        self.harms = {window: self._judge(window) for window in self.windows}
        self.admissible = {
            window for window, harms in self.harms.items() if all(harm.permits for harm in harms)
        }

    def _judge(self, window: int) -> tuple[HarmVerdict, ...]:
        found = (
            judge(margin, incumbent, self.estimates.harms[margin.id, window, incumbent], self.rule)
            for margin in self.rule.margins
            for incumbent in self.estimates.incumbents
            if incumbent != window
        )
        return tuple(verdict for verdict in found if verdict)

    def _beside(self, window: int) -> dict[str, Interval | None]:
        found = {
            one.id: self.estimates.beside.get((one.id, window))
            for one in self.rule.estimands
            if not one.is_primary
        }
        return {
            name: gain.effect.interval(self.rule.confidence) if isinstance(gain, Gain) else None
            for name, gain in found.items()
        }

    def is_worthwhile(self, window: int, other: int) -> bool:
        """Return whether the lower bound of the gain of `window` over `other` reaches the rule's minimum."""
        interval = self.gains.get((window, other))
        return interval is not None and interval.lower >= self.rule.worthwhile_percent

    def choose(self, admissible: Collection[int]) -> int | None:
        """The window that would be chosen if `admissible` were the admissible windows; None for no change."""
        return choose(
            self.windows, incumbent=self.incumbent, admissible=admissible, is_worthwhile=self.is_worthwhile
        )

    def verdicts(self) -> tuple[CandidateVerdict, ...]:
        """The verdict on each candidate, smallest first."""
        found = {window: self.estimates.gains.get((window, self.incumbent)) for window in self.windows}
        tested = {window: gain for window, gain in found.items() if isinstance(gain, Gain)}
        adjusted = dict(zip(tested, holm([gain.p_value for gain in tested.values()]), strict=True))
        return tuple(
            self._verdict(candidate, tested.get(candidate.window), adjusted.get(candidate.window))
            for candidate in self.estimates.candidates
        )

    def _verdict(self, candidate: Candidate, gain: Gain | None, p_value: float | None) -> CandidateVerdict:
        window = candidate.window
        verdict = CandidateVerdict(
            candidate=candidate,
            gain_percent=self.gains.get((window, self.incumbent)),
            beside_percent=self._beside(window),
            in_use_percent=self.gains.get((window, self.rule.windows_in_use)),
            typical_percent=gain.typical_percent if gain else None,
            p_value=p_value,
            harms=self.harms[window],
            is_admissible=window in self.admissible,
            is_worthwhile=self.is_worthwhile(window, self.incumbent),
            surpassed_by=surpassing(window, {*self.admissible, self.incumbent}, self.is_worthwhile),
        )
        sentence = _sentence(verdict, self.incumbent, self.rule.worthwhile_percent)
        return dataclasses.replace(verdict, sentence=sentence)


def _sentence(verdict: CandidateVerdict, incumbent: int, worthwhile_percent: float) -> str:
    """Why the candidate is or is not the answer, by the first reason that settles it."""
    window = verdict.candidate.window
    if window == incumbent:
        return f"IW {window} is the incumbent."
    if verdict.gain_percent is None:
        return f"IW {window} has no loads that pair with those of IW {incumbent}."
    saves = f"IW {window} {_saves(verdict.gain_percent)} of page time against IW {incumbent}"
    if not verdict.is_worthwhile:
        return f"{saves}: the lower bound of the gain is below {stated(worthwhile_percent, '%')}."
    objections = [
        harm.objection for harm in sorted(verdict.harms, key=_exceeds, reverse=True) if not harm.permits
    ]
    if objections:
        more = f" ({_further(len(objections) - 1)})" if len(objections) > 1 else ""
        return f"{saves}, but is not admissible: {objections[0]}{more}."
    if verdict.surpassed_by:
        larger = " and ".join(f"IW {larger}" for larger in verdict.surpassed_by)
        return (
            f"{saves} and is admissible, but {larger} would save another "
            f"{stated(worthwhile_percent, '%')} or more."
        )
    return f"{saves}, and every harm bound that was measured holds."


def _further(bounds: int) -> str:
    return "1 more bound does not hold" if bounds == 1 else f"{bounds} more bounds do not hold"


def _exceeds(harm: HarmVerdict) -> tuple[bool, float]:
    """Order of harms: those whose bound is not met first,
    and of them the one that is the largest multiple of its bound."""
    multiple = harm.worsening.estimate / harm.limit if harm.worsening and harm.limit > 0 else 0.0
    return harm.verdict == "failed", multiple


def _saves(gain: Interval) -> str:
    return f"costs {interval_text(-gain, '%')}" if gain.upper < 0 else f"saves {interval_text(gain, '%')}"


def choose(
    candidates: Collection[int],
    *,
    incumbent: int,
    admissible: Collection[int],
    is_worthwhile: Callable[[int, int], bool],
) -> int | None:
    """The smallest admissible worthwhile candidate that no larger admissible window surpasses.

    None for no change. `is_worthwhile(a, b)` tells whether the gain of window a over window b is worthwhile.
    """
    # The incumbent is always admissible: a smaller candidate must not be surpassed by it either.
    rivals = {*admissible, incumbent}
    for candidate in sorted(set(candidates) & set(admissible) - {incumbent}):
        if is_worthwhile(candidate, incumbent) and not surpassing(candidate, rivals, is_worthwhile):
            return candidate
    return None


def surpassing(
    candidate: int, rivals: Collection[int], is_worthwhile: Callable[[int, int], bool]
) -> tuple[int, ...]:
    """The larger windows among `rivals` with a worthwhile gain over `candidate`."""
    return tuple(
        window for window in sorted(rivals) if window > candidate and is_worthwhile(window, candidate)
    )
