"""Whether the replay as a whole can bear a recommendation: coverage, power, and the A/A gate."""

from __future__ import annotations

import dataclasses
import math
from typing import TYPE_CHECKING

from reports.recommendation.effects import NotEstimable

if TYPE_CHECKING:
    from collections.abc import Mapping

    from releases.interval import Interval
    from reports.recommendation.estimates import Estimates
    from reports.recommendation.rule import Rule


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AdequacyCheck:
    """A check of the whole replay; where one fails the answer is "no change" for lack of evidence."""

    id: str
    title: str
    value: float | None
    """None where it could not be measured."""
    limit: float
    unit: str
    passed: bool
    sentence: str


def adequacy_checks(
    estimates: Estimates, gains: Mapping[int, Interval | None], rule: Rule, *, untold: str | None
) -> tuple[AdequacyCheck, ...]:
    """All of them; `gains` are those over the incumbent, of candidates not shown to be harmful.

    `untold` says which window would be the answer if its harms, which the loads cannot tell, were none.
    """
    return (
        _incumbent(estimates),
        _coverage(estimates, rule),
        _pages(estimates, rule),
        _seeds(estimates, rule),
        _aa(estimates, rule),
        _power(gains, rule),
        _harm_conditions(estimates, rule),
        _harm_power(untold),
    )


def _incumbent(estimates: Estimates) -> AdequacyCheck:
    windows = {candidate.segments for candidate in estimates.candidates}
    lacking = [str(incumbent) for incumbent in estimates.incumbents if incumbent not in windows]
    rivals = len(windows - {estimates.incumbent})
    return AdequacyCheck(
        id="candidates",
        title="candidates replayed beside the incumbent",
        value=rivals,
        limit=1,
        unit="windows",
        passed=rivals >= 1 and not lacking,
        sentence=f"The incumbent IW {', '.join(lacking)} was not replayed."
        if lacking
        else f"{rivals} candidates were replayed beside IW {estimates.incumbent}.",
    )


def _coverage(estimates: Estimates, rule: Rule) -> AdequacyCheck:
    done = estimates.coverage_percent
    return AdequacyCheck(
        id="coverage",
        title="cells done, of those asked for, where they are fewest",
        value=done,
        limit=rule.minimum_coverage_percent,
        unit="%",
        passed=done >= rule.minimum_coverage_percent,
        sentence=f"Of every network and window at least {done:.1f} % of the cells are done; the rule asks for {rule.minimum_coverage_percent:g} %.",
    )


def _pages(estimates: Estimates, rule: Rule) -> AdequacyCheck:
    return AdequacyCheck(
        id="pages",
        title="pages in the smallest comparison",
        value=estimates.pages,
        limit=rule.minimum_pages,
        unit="pages",
        passed=estimates.pages >= rule.minimum_pages,
        sentence=f"{estimates.pages} pages pair in the smallest comparison; the rule asks for {rule.minimum_pages}.",
    )


def _seeds(estimates: Estimates, rule: Rule) -> AdequacyCheck:
    return AdequacyCheck(
        id="seeds",
        title="seeds of the poorest page",
        value=estimates.seeds,
        limit=rule.minimum_seeds,
        unit="seeds",
        passed=estimates.seeds >= rule.minimum_seeds,
        sentence=f"The poorest page has {estimates.seeds} paired seeds; the rule asks for {rule.minimum_seeds}.",
    )


def _aa(estimates: Estimates, rule: Rule) -> AdequacyCheck:
    title = f"A/A: IW {rule.permanent_incumbent} against itself with other seeds, under loss"
    tolerance = rule.aa_tolerance_percent
    if isinstance(estimates.aa, NotEstimable):
        value, passed = None, False
        sentence = f"The A/A gate could not be held: {estimates.aa.reason}."
    else:
        found = estimates.aa
        value, chance = found.deviation_percent, found.chance_percent
        # The bound holds where chance could not have kept it, nor broken it.
        passed = abs(value) <= tolerance and chance <= tolerance
        more = math.ceil((chance / tolerance) ** 2)
        sentence = (
            f"IW {rule.permanent_incumbent} against itself with other seeds differs by {value:+.2f} % over "
            f"{found.pairs} pairs of page and network under loss, where chance alone moves it by ±{chance:.2f} %; "
            f"the rule allows ±{tolerance:g} %"
        ).replace("-", "\u2212")
        if chance > tolerance:
            sentence += f": too few loads to tell, about {more} times as many would do, of pages or of seeds."
        else:
            sentence += "." if passed else ": more than chance explains."
    return AdequacyCheck(
        id="aa", title=title, value=value, limit=tolerance, unit="%", passed=passed, sentence=sentence
    )


def _power(gains: Mapping[int, Interval | None], rule: Rule) -> AdequacyCheck:
    """An interval that straddles the bound decides nothing; if it is also wide, more pages could."""
    straddling = {
        window: (gain.upper - gain.lower) / 2
        for window, gain in gains.items()
        if gain is not None and gain.lower < rule.worthwhile_percent <= gain.upper
    }
    widest = max(straddling.values(), default=0.0)
    named = ", ".join(f"IW {window}" for window in sorted(straddling))
    return AdequacyCheck(
        id="power",
        title="widest half interval that leaves a gain open",
        value=widest,
        limit=rule.maximum_half_width_pp,
        unit="pp",
        passed=widest <= rule.maximum_half_width_pp,
        sentence=f"The gain of {named} is known to ±{widest:.2f} pp and straddles {rule.worthwhile_percent:g} %; "
        f"the rule asks for ±{rule.maximum_half_width_pp:g} pp or better."
        if straddling
        else f"No gain that could still decide straddles {rule.worthwhile_percent:g} %.",
    )


def _harm_conditions(estimates: Estimates, rule: Rule) -> AdequacyCheck:
    asked = [one.id for one in rule.asked]
    done = [one for one in asked if one in estimates.harm_conditions]
    return AdequacyCheck(
        id="harm_conditions",
        title="harm conditions of the core set that were replayed",
        value=len(done),
        limit=len(asked),
        unit="conditions",
        passed=len(done) == len(asked),
        sentence=f"{len(done)} of the {len(asked)} harm conditions that decide were replayed"
        + ("." if len(done) == len(asked) else "; the others need `firstflight replay run --harm core`."),
    )


def _harm_power(untold: str | None) -> AdequacyCheck:
    """A bound that the loads cannot tell is neither kept nor broken: what hangs on it is not decided."""
    return AdequacyCheck(
        id="harm_power",
        title="candidates that only bounds which the loads cannot tell keep from being the answer",
        value=int(untold is not None),
        limit=0,
        unit="windows",
        passed=untold is None,
        sentence=untold or "The answer hangs on no harm bound that the loads cannot tell.",
    )
