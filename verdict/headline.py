"""The answer in sentences, made from the verdict's data alone."""

import math
from collections.abc import Sequence

from releases.formatting import interval_text, quantity, stated
from releases.interval import Interval
from replay.runs.policy import AT_ONCE, Policy
from verdict.judgement import Answer, Judgement
from verdict.rule import Rule


def headline(answer: Answer, rule: Rule, *, falls: str = "", mark: str = "") -> str:
    """Return the answer in one sentence, the same wherever it is shown.

    `falls` says on which lines most of what an open rival sends again falls; `mark` stands before the answer
    of inputs that are no evidence.
    """
    if answer.kind == "no answer":
        return f"No answer: {' '.join(answer.broken)}"
    because = falls if falls and is_told(answer, rule) else _because(answer, rule)
    return f"{f'{mark}: ' if mark else ''}{decision_text(answer, rule)}: {because}."


def decision_text(answer: Answer, rule: Rule) -> str:
    """Return what to do and what is open, in a clause."""
    if answer.kind == "no answer":
        return "No answer"
    clause = f"IW {rule.incumbent} stays"
    if answer.kind == "raise":
        clause = f"Set the initial window to {advise(answer.window)}"
    if not (windows := answer.having("open")):
        return clause
    return f"{clause}; {list_windows(windows)} {'are' if len(windows) > 1 else 'is'} open"


def is_told(answer: Answer, rule: Rule) -> bool:
    """Return whether the answer is settled, or the loads tell of a larger window that it saves or costs
    time."""
    return answer.kind != "open" or any(
        candidate.gain_percent.excludes_zero
        for candidate in answer.judgements
        if candidate.window.window > rule.incumbent.window
    )


def _because(answer: Answer, rule: Rule) -> str:
    """Return the reason for an answer."""
    rival = answer.rival
    if rival is None:
        return "no other window was replayed"
    worthwhile = f"{stated(rule.worthwhile_percent, '%')} of {rule.time} time"
    if answer.kind == "raise":
        saved = f"that saves {quantity(rival.gain_percent.estimate, '%', 2)} of {rule.time} time"
        if not rival.resent_pp.excludes_zero:
            return f"{saved}, and sends no more again as far as the loads tell"
        more = "more" if rival.resent_pp.estimate > 0 else "less"
        again = quantity(abs(rival.resent_pp.estimate), "pp", 2)
        return f"{saved}, and sends {again} {more} of the payload again"
    if answer.kind == "open":
        if not is_told(answer, rule):
            return "too few loads tell what larger windows save"
        nearest = rival if rival.verdict == "open" else answer.of(answer.having("open")[0])
        lacks = nearest.gain_percent.lower < rule.worthwhile_percent
        enough = worthwhile if lacks else "enough for what it sends again"
        return f"the loads do not tell whether {nearest.window} saves {enough}"
    if rival.verdict == "at the price":
        return f"{rival.window} costs what 2010 paid for as much"
    if rival.gain_percent.upper < rule.worthwhile_percent:
        return f"no other window saves {worthwhile}"
    return "no other window saves enough for what it sends again"


def sentences(answer: Answer, rule: Rule, *, groups: Sequence[str] = ()) -> list[str]:
    """Return what follows the headline: what the rival saves and sends again, and who has another answer.

    `groups` are clauses on groups of lines with another answer.
    """
    clauses = (candidate_clause(answer.rival, rule) if answer.rival else "", "; ".join(groups))
    return [f"{clause[:1].upper()}{clause[1:]}." for clause in clauses if clause]


def candidate_clause(candidate: Judgement, rule: Rule) -> str:
    """Return what a window saves and sends again, in a clause."""
    gain, name, time = candidate.gain_percent, f"IW {candidate.window}", f"{rule.time} time"
    milliseconds = candidate.milliseconds.estimate
    if not gain.excludes_zero:
        saved = f"the loads do not tell whether {name} saves {time}: {known_text(gain, '%')}"
    elif gain.estimate > 0:
        saved = f"{name} saves {known_text(gain, '%')} of {time}"
    else:
        saved = f"{name} takes {known_text(-gain, '%')} more {time}"
    if gain.estimate * milliseconds < 0:
        longer = "longer" if milliseconds < 0 else "less"
        saved += (
            f" by the mean ratio, but {quantity(abs(milliseconds), 'ms')} {longer} a page, where long pages "
            "weigh more"
        )
    elif math.isfinite(milliseconds):
        saved += f", {quantity(abs(milliseconds) if gain.excludes_zero else milliseconds, 'ms')} a page"
    return f"{saved}; it sends {resent_text(candidate.resent_pp)}"


def resent_text(interval: Interval) -> str:
    """Return how much more or less a window sends again.

    >>> resent_text(Interval(0.25, 0.125, 0.375)).startswith("0.250"), resent_text(Interval(0.25, -1, 1))[:9]
    (True, 'no more a')
    """
    if not interval.excludes_zero:
        return f"no more again as far as the loads tell, {known_text(interval, 'pp')}"
    more = "more" if interval.estimate > 0 else "less"
    return f"{known_text(interval if interval.estimate > 0 else -interval, 'pp')} {more} of the payload again"


def confidence_text(level: str, because: str) -> str:
    """Return how sure the answer is, and why.

    >>> confidence_text("low", "The lines are of 2020")
    'Confidence: low. The lines are of 2020.'
    """
    return f"Confidence: {level}. {because.rstrip('.')}." if because else f"Confidence: {level}."


def known_text(interval: Interval, unit: str) -> str:
    """Return an estimate with its interval, without one that is infinite.

    >>> known_text(Interval(2.345, -math.inf, math.inf), "%").endswith("%")
    True
    """
    if not math.isfinite(interval.estimate):
        return "an unknown part"
    if not math.isfinite(interval.upper - interval.lower):
        return quantity(interval.estimate, unit)
    return interval_text(interval, unit)


def advise(window: Policy) -> str:
    """Return a window as advice.

    >>> advise(Policy(16, "paced")), advise(Policy(16))
    ('16 segments, paced', '16 segments')
    """
    number, sending, rest = str(window).partition(" ")
    return f"{number} segments{sending and ','}{sending}{rest}"


def list_windows(windows: Sequence[Policy]) -> str:
    """Return the windows in a sentence, those at once before those that are paced or spread.

    >>> paced = (Policy(16, "paced"), Policy(20, "paced"))
    >>> list_windows(paced), list_windows((Policy(16),)), list_windows((Policy(16), Policy(30), paced[0]))
    ('16 and 20 paced', '16', '16 and 30 at once, and 16 paced')
    """
    kinds: dict[str, list[Policy]] = {}
    for window in sorted(windows, key=lambda window: (window.sending != AT_ONCE, window)):
        kinds.setdefault(str(window).partition(" ")[2], []).append(window)
    parts = []
    for words, alike in kinds.items():
        sending = [AT_ONCE] if alike[0].sending == AT_ONCE and len(kinds) > 1 else []
        parts.append(" ".join([_join([str(window.window) for window in alike]), *sending, words]).strip())
    return f"{', '.join(parts[:-1])}, and {parts[-1]}" if len(parts) > 1 else "".join(parts)


def _join(words: Sequence[str]) -> str:
    return " and ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])} and {words[-1]}"
