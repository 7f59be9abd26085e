"""What more loads are to tell by rule 7: which policies, and whose error is to shrink."""

from replay.runs.policy import Policy
from verdict.effects import Name
from verdict.judgement import Look
from verdict.rule import NEARLY
from verdict.rule7.estimates import NET_BENEFIT, name_of
from verdict.rule7.judgement import Answer, Judgement, measure_look
from verdict.rule7.rule import UNITS, Rule
from verdict.rule7.verdict import Candidate, Verdict
from verdict.sampling import FAVOURED_FROM, Aim


def aim_of(answer: Answer, look: Look, rule: Rule) -> Aim:
    """Return what more loads are to tell: the net benefits of open candidates in both units.

    From an eighth of the budget on, only those whose estimates are worth it are loaded, if any is, and also
    on a half-loaded line: it may be shown at the last look that they are. What is worth it with a guard to be
    shown is loaded on.
    """
    favoured = _favoured(answer, look.fraction, rule)
    asks_everyone = any(guard.everyone for guard in rule.guards)
    guarded = {check.window for check in answer.guards if check.holds is None and check.guard.everyone}
    unshown = {check.window for check in answer.guards if check.holds is None}
    is_over = answer.is_settled or bool(answer.broken)
    windows = () if is_over else tuple(sorted({*(favoured or answer.having("open")), *unshown}))
    factors: tuple[dict[Name, float], ...] = tuple(
        {(name_of(NET_BENEFIT, unit), policy): 1.0} for policy in windows for unit in UNITS
    )
    return Aim(
        windows=windows,
        effects=measure_look(look, rule),
        factors=factors,
        everyone=() if is_over else tuple(sorted({*(favoured if asks_everyone else ()), *guarded})),
    )


def _favoured(answer: Answer, fraction: float, rule: Rule) -> tuple[Policy, ...]:
    if fraction < NEARLY * FAVOURED_FROM:
        return ()
    undecided = [candidate for candidate in answer.judgements if candidate.standing == "open"]
    return tuple(candidate.policy for candidate in undecided if looks_worth_it(candidate, rule))


def looks_worth_it(candidate: Judgement | Candidate, rule: Rule) -> bool:
    """Return whether a candidate is worth it by its estimates."""
    per_load, in_sum, touched = candidate.per_load_pp, candidate.in_sum_pp, candidate.touched_percent
    if per_load is None or in_sum is None or touched is None:
        return False
    is_borne_out = per_load.estimate >= 0 and in_sum.estimate >= 0
    return is_borne_out and touched.estimate >= rule.worthwhile_percent


def asked_of_others(verdict: Verdict) -> tuple[Policy, ...]:
    """Return the policies that other lists of pages are asked about: what is worth it, or else what is open
    and worth it by its estimates."""
    return verdict.having("worth it") or tuple(
        candidate.policy
        for candidate in verdict.candidates
        if candidate.standing == "open" and looks_worth_it(candidate, verdict.rule)
    )
