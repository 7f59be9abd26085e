"""The answer in sentences, made from the verdict's data alone."""

import math
from collections.abc import Sequence

from releases.formatting import interval_text, quantity
from releases.interval import Interval
from verdict.judgement import Answer, Judgement
from verdict.rule import Rule


def headline(answer: Answer, rule: Rule) -> str:
    """Return what to do, in a few words."""
    if answer.kind == "no answer":
        return "No answer"
    if answer.kind == "raise":
        return f"Raise the initial window to {advise(answer.window)}"
    if answer.kind == "stays":
        return f"IW {rule.incumbent} stays"
    return f"Open between {list_windows((rule.incumbent, *answer.having('open')))}"


def sentences(answer: Answer, rule: Rule, *, groups: Sequence[str] = ()) -> list[str]:
    """Return at most three sentences: what to do, what it saves and sends again in both units, for whom it
    differs, how sure it is.

    `groups` are clauses on groups of lines with another answer.
    """
    if answer.kind == "no answer":
        finding = (
            f" By itself the rule finds this: {candidate_clause(answer.rival, rule)}." if answer.rival else ""
        )
        return [f"No answer: {' '.join(answer.broken)}{finding}"]
    clause = "; ".join(groups)
    differs = [f"{clause[:1].upper()}{clause[1:]}."] if groups else []
    return [f"{headline(answer, rule)}: {_why(answer, rule)}.", *differs, _confidence(answer)]


def _why(answer: Answer, rule: Rule) -> str:
    rival = answer.rival
    if rival is None:
        return "nothing else was replayed"
    clause = candidate_clause(rival, rule)
    if answer.kind == "raise":
        still = answer.having("open")
        return clause + (f"; {list_windows(still)} {'are' if len(still) > 1 else 'is'} open" if still else "")
    if answer.kind == "open":
        return f"{clause}; IW {rule.incumbent} stays meanwhile"
    if rival.verdict == "at the price":
        return f"{clause}, just what 2010 paid for as much"
    return f"no other window is worth it, and {clause}, the nearest"


def candidate_clause(candidate: Judgement, rule: Rule) -> str:
    """Return what a window saves and sends again, in a clause."""
    what = "page time" if rule.time == "page" else f"{rule.time} time"
    milliseconds = quantity(_finite(candidate.milliseconds.estimate), "ms")
    return (
        f"IW {candidate.window} saves {known_text(candidate.gain_percent, '%')} of {what}, {milliseconds} a "
        f"page, and sends {known_text(candidate.resent_pp, 'pp')} more of the payload again"
    )


def _confidence(answer: Answer) -> str:
    why = " ".join(reason.sentence for reason in answer.reasons)
    return f"Confidence is {answer.confidence}{': ' if why else '.'}{why[:1].lower()}{why[1:]}"


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


def advise(window: int) -> str:
    """Return a window as advice.

    >>> from replay.runs.initial_window import Paced
    >>> advise(Paced(16)), advise(16)
    ('16 segments, paced', '16 segments')
    """
    return f"{int(window)} segments{', paced' if str(window) != str(int(window)) else ''}"


def list_windows(windows: Sequence[int]) -> str:
    """Return the windows in a sentence.

    >>> list_windows((16, 20)), list_windows((16,))
    ('IW 16 and IW 20', 'IW 16')
    """
    words = [f"IW {window}" for window in windows]
    return " and ".join(words) if len(words) < 3 else f"{', '.join(words[:-1])} and {words[-1]}"


def _finite(value: float) -> float | None:
    return value if math.isfinite(value) else None
