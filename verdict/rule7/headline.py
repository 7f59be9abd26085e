"""The answer by rule 7 in one sentence."""

from collections.abc import Sequence

from releases.formatting import interval_text, quantity
from replay.runs.policy import AT_ONCE, Policy
from verdict.rule7.judgement import Answer
from verdict.rule7.rule import Rule


def headline(answer: Answer, rule: Rule) -> str:
    """Return what a server should do, and why."""
    if answer.kind == "no answer":
        return f"No answer: {' '.join(answer.broken)}"
    if answer.kind == "raise":
        chosen = answer.of(answer.policy)
        saved = quantity(chosen.touched_percent.estimate, "%", 2)
        where = "the pages that it changes" if answer.policy.beyond_ms is not None else "pages"
        return f"{advise(answer.policy, rule)}: {where} load in {saved} less time, for less than 2010 paid."
    stays = f"IW {rule.incumbent} stays"
    if opened := answer.having("open"):
        are = "are" if len(opened) > 1 else "is"
        untold = "the loads do not tell whether it is worth its price"
        return f"{stays}; {join(list(map(str, opened)))} {are} open: {untold}."
    if worth := answer.having("worth it"):
        return f"{stays}: what {join(list(map(str, worth)))} does to others' flows is not known."
    if guarded := answer.having("not recommended"):
        harms = "would be worth it, and costs others or the slow too much"
        return f"{stays}: {join(list(map(str, guarded)))} {harms}."
    if answer.having("at the price"):
        return f"{stays}: no larger first flight is worth more than what 2010 paid."
    return f"{stays}: no larger first flight is worth what it sends again."


def advise(policy: Policy, rule: Rule) -> str:
    """Return what a server should do.

    >>> advise(Policy(16, "paced"), Rule())
    'Set the initial window to 16 segments, paced'
    >>> advise(Policy(20, "spread", 100), Rule()).removeprefix("Set the initial window to ")
    '20 segments, spread, where the handshake takes more than 100 ms, and keep 10 elsewhere'
    """
    sending = "" if policy.sending == AT_ONCE else f", {policy.sending}"
    clause = f"Set the initial window to {policy.window} segments{sending}"
    if policy.beyond_ms is None:
        return clause
    return (
        f"{clause}, where the handshake takes more than {policy.beyond_ms} ms, and keep "
        f"{rule.incumbent} elsewhere"
    )


def candidate_text(answer: Answer, policy: Policy) -> str:
    """Return a candidate's net benefits, with their intervals."""
    judgement = answer.of(policy)
    per_load, in_sum = (
        interval_text(interval, "pp") for interval in (judgement.per_load_pp, judgement.in_sum_pp)
    )
    return f"IW {policy}: {judgement.standing}; net benefit {per_load} per load, {in_sum} in sum"


def join(words: Sequence[str]) -> str:
    """Return words in a sentence.

    >>> join(["16 paced", "20 paced", "20 spread"])
    '16 paced, 20 paced and 20 spread'
    """
    return " and ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])} and {words[-1]}"
