"""The recommendation: bounds held against estimates give a window, or "no change", with every reason."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from releases.interval import Interval
from reports.document.standing_text import spell
from reports.recommendation.adequacy import AdequacyCheck, adequacy_checks
from reports.recommendation.effects import Gain, NotEstimable
from reports.recommendation.harm_verdicts import HarmVerdict, judge
from reports.recommendation.rule import RULE, UNMEASURED, Candidate, Rule
from reports.statistics.bootstrap import holm

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Sequence

    from reports.recommendation.estimates import Estimates


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class CandidateVerdict:
    """What the rule says of one candidate."""

    candidate: Candidate
    gain_percent: Interval | None
    """Against the incumbent; None for the incumbent itself, or where nothing pairs."""
    typical_percent: float | None
    """Hodges-Lehmann over pages."""
    p_value: float | None
    """Wilcoxon's, after Holm over the candidates. It is reported and never decides."""
    harms: tuple[HarmVerdict, ...]
    is_admissible: bool
    is_worthwhile: bool
    surpassed_by: tuple[int, ...]
    """Larger admissible windows that gain enough again over this one."""
    sentence: str


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The answer with all it rests on."""

    iw: int | None
    """The recommended window; None for "no change"."""
    incumbent: int
    is_decided: bool
    """False where a check failed: then "no change" is for lack of evidence."""
    reasons: tuple[str, ...]
    checks: tuple[AdequacyCheck, ...]
    candidates: tuple[CandidateVerdict, ...]
    rfc9040_iw: int
    """The largest window that RFC 9040's automatic IW would allow on the way to the answer this year."""

    @property
    def answer(self) -> str:
        """In two words."""
        return "no change" if self.iw is None else f"IW {self.iw}"


def choose(
    candidates: Sequence[int],
    *,
    incumbent: int,
    admissible: Collection[int],
    lower_gain: Callable[[int, int], float],
    worthwhile_percent: float = RULE.worthwhile_percent,
) -> int | None:
    """The smallest admissible worthwhile candidate that no larger admissible one surpasses; None for no change.

    `lower_gain(a, b)` is the lower bound of the gain of window a over window b.
    """
    for candidate in sorted(set(candidates) & set(admissible) - {incumbent}):
        if lower_gain(candidate, incumbent) >= worthwhile_percent and not surpassing(
            candidate,
            # The incumbent is always admissible: a smaller candidate has to hold against it too.
            {*admissible, incumbent},
            lower_gain=lower_gain,
            worthwhile_percent=worthwhile_percent,
        ):
            return candidate
    return None


def surpassing(
    candidate: int,
    admissible: Collection[int],
    *,
    lower_gain: Callable[[int, int], float],
    worthwhile_percent: float,
) -> tuple[int, ...]:
    """The larger windows that are worth having over `candidate`."""
    larger = sorted(window for window in admissible if window > candidate)
    return tuple(window for window in larger if lower_gain(window, candidate) >= worthwhile_percent)


def decide(estimates: Estimates, *, rule: Rule = RULE) -> Recommendation:
    """Hold every bound of `rule` against `estimates`."""
    incumbent = estimates.incumbent
    windows = [candidate.segments for candidate in estimates.candidates]
    harms = {window: _harms(estimates, window, rule) for window in windows}
    admissible = {window for window in windows if all(verdict.permits for verdict in harms[window])}
    gains = {pair: _interval(found, rule) for pair, found in estimates.gains.items()}

    def lower_gain(window: int, against: int) -> float:
        interval = gains.get((window, against))
        return -math.inf if interval is None else interval.lower

    surpassed = {
        window: surpassing(
            window,
            {*admissible, incumbent},
            lower_gain=lower_gain,
            worthwhile_percent=rule.worthwhile_percent,
        )
        for window in windows
    }
    verdicts = _verdicts(estimates, rule, gains, harms, surpassed)
    chosen = choose(
        windows,
        incumbent=incumbent,
        admissible=admissible,
        lower_gain=lower_gain,
        worthwhile_percent=rule.worthwhile_percent,
    )
    hopeful = {window for window in windows if all(harm.could_permit for harm in harms[window])}
    could_be_chosen = choose(
        windows,
        incumbent=incumbent,
        admissible=hopeful,
        lower_gain=lower_gain,
        worthwhile_percent=rule.worthwhile_percent,
    )
    # More pages could still bring in a candidate whose harm is merely not ruled out.
    open_gains = {
        window: gains.get((window, incumbent))
        for window in windows
        if not any(verdict.is_shown for verdict in harms[window])
    }
    untold = _untold(could_be_chosen, harms) if could_be_chosen != chosen else None
    held = adequacy_checks(estimates, open_gains, rule, untold=untold)
    failed = [check.sentence for check in held if not check.passed]
    iw = None if failed else chosen
    reasons = failed or _reasons(iw, verdicts, incumbent, gains, rule)
    return Recommendation(
        iw=iw,
        incumbent=incumbent,
        is_decided=not failed,
        reasons=tuple(reasons),
        checks=held,
        candidates=verdicts,
        rfc9040_iw=incumbent if iw is None else min(iw, incumbent + rule.rfc9040_step),
    )


def _interval(found: Gain | NotEstimable, rule: Rule) -> Interval | None:
    return None if isinstance(found, NotEstimable) else found.estimate.interval(rule.confidence)


def _harms(estimates: Estimates, window: int, rule: Rule) -> tuple[HarmVerdict, ...]:
    found = (
        judge(margin, incumbent, estimates.harms[margin.id, window, incumbent], rule)
        for margin in rule.margins
        for incumbent in estimates.incumbents
        if incumbent != window
    )
    return tuple(verdict for verdict in found if verdict)


def _untold(window: int | None, harms: dict[int, tuple[HarmVerdict, ...]]) -> str:
    """What is not known of the window that would be the answer if it had no harm that is not shown."""
    stops = [harm.stop for harm in harms.get(window or 0, ()) if not harm.permits]
    return f"IW {window} would be the answer, but of its harm too little is known: {'; '.join(stops[:1])}."


def _verdicts(
    estimates: Estimates,
    rule: Rule,
    gains: dict[tuple[int, int], Interval | None],
    harms: dict[int, tuple[HarmVerdict, ...]],
    surpassed: dict[int, tuple[int, ...]],
) -> tuple[CandidateVerdict, ...]:
    found = {
        candidate.segments: estimates.gains.get((candidate.segments, estimates.incumbent))
        for candidate in estimates.candidates
    }
    tested = {window: gain for window, gain in found.items() if isinstance(gain, Gain)}
    adjusted = dict(zip(tested, holm([gain.p_value for gain in tested.values()]), strict=True))
    verdicts = []
    for candidate in estimates.candidates:
        window = candidate.segments
        interval = gains.get((window, estimates.incumbent))
        verdict = CandidateVerdict(
            candidate=candidate,
            gain_percent=interval,
            typical_percent=tested[window].typical_percent if window in tested else None,
            p_value=adjusted.get(window),
            harms=harms[window],
            is_admissible=all(harm.permits for harm in harms[window]),
            is_worthwhile=interval is not None and interval.lower >= rule.worthwhile_percent,
            surpassed_by=surpassed[window],
            sentence="",
        )
        sentence = _sentence(verdict, estimates.incumbent, rule)
        verdicts.append(dataclasses.replace(verdict, sentence=sentence))
    return tuple(verdicts)


def _sentence(verdict: CandidateVerdict, incumbent: int, rule: Rule) -> str:
    """Why the candidate is or is not the answer, by the first thing that settles it."""
    window = verdict.candidate.segments
    if window == incumbent:
        return f"IW {window} is the incumbent."
    if verdict.gain_percent is None:
        return f"IW {window} has no loads that pair with those of IW {incumbent}."
    saves = f"IW {window} {_saves(verdict.gain_percent)} of page time against IW {incumbent}"
    if not verdict.is_worthwhile:
        return f"{saves}: the lower bound of the gain is below {rule.worthwhile_percent:g} %."
    stops = [harm.stop for harm in verdict.harms if not harm.permits]
    if stops:
        more = f" ({len(stops) - 1} more bounds do not hold)" if len(stops) > 1 else ""
        return f"{saves}, but is not admissible: {stops[0]}{more}."
    if verdict.surpassed_by:
        larger = " and ".join(f"IW {larger}" for larger in verdict.surpassed_by)
        return (
            f"{saves} and is admissible, but over it {larger} would save {rule.worthwhile_percent:g} % again."
        )
    return f"{saves}, and every harm bound that was measured holds."


def _saves(gain: Interval) -> str:
    if gain.upper < 0:
        return f"costs {spell(Interval(-gain.estimate, -gain.upper, -gain.lower), '%')}"
    return f"saves {spell(gain, '%')}"


def _reasons(
    iw: int | None,
    verdicts: Sequence[CandidateVerdict],
    incumbent: int,
    gains: dict[tuple[int, int], Interval | None],
    rule: Rule,
) -> list[str]:
    reasons = []
    if iw is None:
        reasons.append(
            f"No candidate is admissible, worthwhile against IW {incumbent} and unsurpassed: IW {incumbent} stays."
        )
        reasons += [verdict.sentence for verdict in verdicts if verdict.candidate.segments != incumbent]
        smallest = min(verdict.candidate.segments for verdict in verdicts)
        confirmed = gains.get((incumbent, smallest))
        if confirmed is not None:
            reasons.append(
                f"The incumbent itself: IW {incumbent} saves {spell(confirmed, '%')} of page time against IW {smallest}."
            )
        return reasons
    reasons += [verdict.sentence for verdict in verdicts if verdict.candidate.segments == iw]
    reasons.append(f"No larger admissible candidate saves {rule.worthwhile_percent:g} % again over IW {iw}.")
    reasons.append(
        f"Not measured in this edition, and not counted as passed: {', '.join(one.title for one in UNMEASURED)}."
    )
    return reasons
