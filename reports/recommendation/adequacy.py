"""Checks of whether the replay is adequate for a recommendation: coverage, sample size,
the A/A comparison, power."""

import dataclasses
import math
from collections.abc import Mapping

from releases.formatting import grouped, interval_text, quantity, stated
from releases.interval import Interval
from reports.recommendation.estimates import Estimates
from reports.recommendation.rule import Rule
from reports.recommendation.self_comparison import SelfComparison
from reports.recommendation.window_family import NotEstimable


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class AdequacyCheck:
    """A check of the whole replay; if one fails, the answer is "no change" for lack of evidence."""

    id: str
    title: str
    value: float | None
    """None if it could not be measured."""
    limit: float
    unit: str
    passed: bool
    sentence: str
    is_proved: bool = False
    """True if the failure itself is shown, and more loads would not mend it."""


def adequacy_checks(
    estimates: Estimates,
    open_gains: Mapping[int, Interval],
    rule: Rule,
    *,
    attained_percent: float,
    undecided_harm: str | None,
) -> tuple[AdequacyCheck, ...]:
    """Run all checks.

    `attained_percent` is the half interval of the gain that is known least. `open_gains` are gains over the
    incumbent of the candidates whose harm is not proved. `undecided_harm` names the window that would be the
    answer if the loads were enough to rule out its harm.
    """
    tolerance = max(rule.aa_tolerance_percent, attained_percent)
    return (
        _incumbent(estimates),
        _at_least(
            "coverage",
            "finished cells, on the network and at the window with the fewest",
            estimates.coverage_percent,
            rule.minimum_coverage_percent,
            "%",
            "On each network and at each window at least "
            f"{quantity(estimates.coverage_percent, '%')} of the cells are done",
        ),
        _at_least(
            "pages",
            "pages in the smallest comparison",
            estimates.pages,
            rule.minimum_pages,
            "pages",
            f"{estimates.pages} pages pair in the smallest comparison",
        ),
        _aa(SEEDS, estimates.aa, tolerance, rule),
        *(_aa(ALIAS, estimates.aa_alias, tolerance, rule) for _ in range(rule.asks_for_alias)),
        _power(open_gains, rule),
        _harm_conditions(estimates, rule),
        _harm_power(undecided_harm),
    )


def _at_least(name: str, title: str, value: float, limit: float, unit: str, found: str) -> AdequacyCheck:
    asked = stated(limit, unit if unit == "%" else "")
    return AdequacyCheck(
        id=name,
        title=title,
        value=value,
        limit=limit,
        unit=unit,
        passed=value >= limit,
        sentence=f"{found}; the rule asks for {asked}.",
    )


def _incumbent(estimates: Estimates) -> AdequacyCheck:
    windows = {candidate.window for candidate in estimates.candidates}
    lacking = [str(incumbent) for incumbent in estimates.incumbents if incumbent not in windows]
    others = len(windows - {estimates.incumbent})
    return AdequacyCheck(
        id="candidates",
        title="candidates replayed besides the incumbent",
        value=others,
        limit=1,
        unit="windows",
        passed=others >= 1 and not lacking,
        sentence=f"The incumbent IW {', '.join(lacking)} was not replayed."
        if lacking
        else f"{others} candidates were replayed besides IW {estimates.incumbent}.",
    )


@dataclasses.dataclass(frozen=True, slots=True)
class Again:
    """Loads that a window is held against itself with."""

    id: str
    others: str
    over: str


SEEDS = Again("aa", "with other seeds", "pairs of page and network with loss")
ALIAS = Again("aa_alias", "by another route, in other guests, in another order", "pairs of loads")


def _aa(again: Again, found: SelfComparison | NotEstimable, tolerance: float, rule: Rule) -> AdequacyCheck:
    """Check that a window equals itself within what the replay can tell:
    an equivalence test at the attained precision."""
    is_proved = False
    if isinstance(found, NotEstimable):
        value, passed = None, False
        sentence = f"The A/A comparison {again.others} could not be made: {found.reason}."
    else:
        interval = found.longer_percent
        value, passed = interval.estimate, -tolerance < interval.lower and interval.upper < tolerance
        sentence = (
            f"IW {rule.permanent_incumbent} against itself {again.others} differs by "
            f"{interval_text(interval, '%')} over {grouped(found.pairs)} {again.over}; its interval must lie "
            f"within ±{quantity(tolerance, '%', 2)}"
        )
        chance = (interval.upper - interval.lower) / 2
        if passed:
            sentence += "."
        elif chance > tolerance and math.isfinite(chance):
            factor = math.ceil((chance / tolerance) ** 2)
            sentence += f": too few loads to tell; about {factor} times as many pages or seeds are needed."
        else:
            is_proved = interval.lower * interval.upper > 0
            sentence += ": more than chance explains." if is_proved else ": too few loads to tell."
    return AdequacyCheck(
        id=again.id,
        title=f"A/A: IW {rule.permanent_incumbent} against itself {again.others}",
        value=value,
        limit=tolerance,
        unit="%",
        passed=passed,
        sentence=sentence,
        is_proved=is_proved,
    )


def _power(open_gains: Mapping[int, Interval], rule: Rule) -> AdequacyCheck:
    """Check that no wide interval straddles the worthwhile bound: more pages could then decide."""
    bound = rule.worthwhile_percent
    straddling = {
        window: (gain.upper - gain.lower) / 2
        for window, gain in open_gains.items()
        if gain.lower < bound <= gain.upper
    }
    widest = max(straddling.values(), default=0.0)
    named = ", ".join(f"IW {window}" for window in sorted(straddling))
    return AdequacyCheck(
        id="power",
        title="widest half interval of a gain that is still open",
        value=widest,
        limit=rule.maximum_half_width_pp,
        unit="pp",
        passed=widest <= rule.maximum_half_width_pp,
        sentence=f"The gain of {named} is known to ±{quantity(widest, 'pp')} and straddles "
        f"{stated(bound, '%')}; the rule asks for ±{stated(rule.maximum_half_width_pp, 'pp')} or better."
        if straddling
        else f"No gain that could still decide straddles {stated(bound, '%')}.",
    )


def _harm_conditions(estimates: Estimates, rule: Rule) -> AdequacyCheck:
    deciding = [one.id for one in rule.deciding_conditions]
    done = [one for one in deciding if one in estimates.harm_conditions]
    passed = len(done) == len(deciding)
    return AdequacyCheck(
        id="harm_conditions",
        title="harm conditions of the core set that were replayed",
        value=len(done),
        limit=len(deciding),
        unit="conditions",
        passed=passed,
        sentence=f"{len(done)} of the {len(deciding)} harm conditions that decide were replayed"
        + ("." if passed else "; the others need `firstflight replay run --harm core`."),
    )


def _harm_power(undecided_harm: str | None) -> AdequacyCheck:
    return AdequacyCheck(
        id="harm_power",
        title="candidates that would be the answer if the loads were enough to rule out their harm",
        value=int(undecided_harm is not None),
        limit=0,
        unit="windows",
        passed=undecided_harm is None,
        sentence=undecided_harm or "The answer depends on no harm bound with too few loads.",
    )
