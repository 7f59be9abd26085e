"""The recommendation: a window or "no change", decided by a rule from estimates, with every reason."""

import dataclasses
import math
from collections.abc import Sequence

from releases.formatting import interval_text, stated
from reports.recommendation.adequacy import AdequacyCheck, adequacy_checks
from reports.recommendation.candidate_verdicts import AppliedRule, CandidateVerdict
from reports.recommendation.estimates import Estimates
from reports.recommendation.rule import RULE, UNMEASURED, Rule


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Recommendation:
    """The answer with its reasons and every bound behind it."""

    iw: int | None
    """The recommended window; None for "no change"."""
    incumbent: int
    is_decided: bool
    """False if an adequacy check failed: then "no change" is for lack of evidence."""
    reasons: tuple[str, ...]
    checks: tuple[AdequacyCheck, ...]
    candidates: tuple[CandidateVerdict, ...]
    rfc9040_iw: int
    """The largest window that RFC 9040's automatic IW would allow this year on the way to the answer."""

    @property
    def answer(self) -> str:
        """The answer in two words."""
        return "no change" if self.iw is None else f"IW {self.iw}"


def decide(estimates: Estimates, *, rule: Rule = RULE) -> Recommendation:
    """Apply every bound of `rule` to `estimates`."""
    applied = AppliedRule(estimates, rule)
    incumbent, verdicts = applied.incumbent, applied.verdicts()
    chosen = applied.choose(applied.admissible)
    # More loads could still make a candidate admissible or worthwhile if its harm is not proved.
    open_gains = [
        (window, gain)
        for window, harms in applied.harms.items()
        if (gain := applied.gains.get((window, incumbent))) and not any(harm.is_shown for harm in harms)
    ]
    checks = adequacy_checks(
        estimates,
        dict(open_gains),
        rule,
        attained_percent=_attained(applied),
        undecided_harm=_undecided_harm(applied, chosen),
    )
    failed = [check.sentence for check in checks if not check.passed]
    iw = None if failed else chosen
    return Recommendation(
        iw=iw,
        incumbent=incumbent,
        is_decided=not failed,
        reasons=tuple(failed or _reasons(iw, verdicts, applied)),
        checks=checks,
        candidates=verdicts,
        rfc9040_iw=incumbent if iw is None else min(iw, incumbent + rule.rfc9040_step),
    )


def _attained(applied: AppliedRule) -> float:
    """Half interval of the gain over the incumbent that is known least, in percent;
    0 without a finite one."""
    widths = (
        (gain.upper - gain.lower) / 2
        for (_, other), gain in applied.gains.items()
        if other == applied.incumbent
    )
    return max((width for width in widths if math.isfinite(width)), default=0.0)


def _undecided_harm(applied: AppliedRule, chosen: int | None) -> str | None:
    """The window that would be chosen if harms with too few loads were none, and its first harm.

    None if `chosen`.
    """
    hopeful = {window for window, harms in applied.harms.items() if all(harm.could_permit for harm in harms)}
    window = applied.choose(hopeful)
    if window == chosen:
        return None
    objections = [harm.objection for harm in applied.harms.get(window or 0, ()) if not harm.permits]
    return (
        f"IW {window} would be the answer, but too little is known of its harm: {'; '.join(objections[:1])}."
    )


def _reasons(iw: int | None, verdicts: Sequence[CandidateVerdict], applied: AppliedRule) -> list[str]:
    incumbent = applied.incumbent
    if iw is not None:
        return [
            *(verdict.sentence for verdict in verdicts if verdict.candidate.window == iw),
            "No larger admissible candidate saves another "
            f"{stated(applied.rule.worthwhile_percent, '%')} over IW {iw}.",
            "Not measured in this edition, and not counted as passed: "
            f"{', '.join(one.title for one in UNMEASURED)}.",
        ]
    reasons = [
        f"No candidate is admissible, worthwhile against IW {incumbent} and unsurpassed: "
        f"IW {incumbent} stays.",
        *(verdict.sentence for verdict in verdicts if verdict.candidate.window != incumbent),
    ]
    smallest = min(applied.windows)
    if confirmed := applied.gains.get((incumbent, smallest)):
        reasons.append(
            f"The incumbent itself: IW {incumbent} saves {interval_text(confirmed, '%')} of page "
            f"time against IW {smallest}."
        )
    return reasons
