"""The answer in sentences: what a server should do, for whom that differs by round trip, and how sure."""

import calendar
import itertools
import math
from collections.abc import Collection, Iterable, Mapping, Sequence

from releases.formatting import capital, grouped, listed, quantity, stated
from replay.runs.policy import AT_ONCE, Policy
from verdict.judgement import GuardCheck, Level, ListAnswer, Reason, Recommendation
from verdict.ledger import GroupAnswer
from verdict.rule import Rule

SPARED = {"others": "others' short flows", "slow": "pages over the slowest networks"}

SURE: Mapping[Level, str] = {
    "high": "This is sure",
    "medium": "This is fairly sure, and no more",
    "low": "This is not sure",
}


def headline(
    answer: ListAnswer,
    recommended: Recommendation,
    rule: Rule,
    *,
    own: str = "",
    others: Mapping[str, str] | None = None,
    mark: str = "",
) -> str:
    """Return what a server should do, and why, in one sentence.

    `own` is the title of the list that decides, `others` those that are to confirm it; `mark` stands
    before inputs that are no evidence.
    """
    if answer.kind == "no answer":
        return f"No answer: {' '.join(answer.broken)}"
    because = _because(answer, recommended, rule, own=own, others=others or {})
    return f"{f'{mark}: ' if mark else ''}{advise(recommended.policy, rule)}: {because}."


def _because(
    answer: ListAnswer, recommended: Recommendation, rule: Rule, *, own: str, others: Mapping[str, str]
) -> str:
    if recommended.kind == "raise":
        saved = quantity(answer.of(recommended.policy).touched_percent.estimate, "%", 2)
        what = "the pages that it changes" if recommended.policy.beyond_ms is not None else "pages"
        where = f" on {pages_of([own, *others.values()])}" if others else ""
        return f"{what} load in {saved} less time{where}, for less than 2010 paid"
    if not is_told(answer, rule):
        return "too few loads tell what a larger first flight saves"
    if unconfirmed := [policy for policy, lists in recommended.disagreeing.items() if lists]:
        lists = {name for policy in unconfirmed for name in recommended.disagreeing[policy]}
        deny = pages_of([title for name, title in others.items() if name in lists])
        what = f"{describe(unconfirmed, rule)} are worth their price on {pages_of([own])}"
        return f"{what}, and {deny} do not confirm it"
    if doubted := [check for check in answer.guards if check.holds is None]:
        return _unspared(doubted, rule)
    if opened := answer.having("open"):
        return f"whether {describe(opened, rule)} are worth their price is open"
    if failed := [check for check in answer.guards if not check.holds]:
        return _unspared(failed, rule)
    if near := answer.having("at the price"):
        return f"{describe(near, rule)} save about what they cost by the price of 2010"
    return "no larger first flight saves enough time for what it sends again"


def _unspared(checks: Sequence[GuardCheck], rule: Rule) -> str:
    spared = listed(list(dict.fromkeys(SPARED.get(check.guard.id, check.guard.what) for check in checks)))
    worth = describe({check.window for check in checks}, rule)
    return f"{worth} would be worth their price, but are not shown to spare {spared}"


def describe_nearest(
    answer: ListAnswer,
    policy: Policy | None,
    rule: Rule,
    *,
    agreeing: Sequence[str] = (),
    disagreeing: Sequence[str] = (),
) -> str:
    """Return how near an open policy comes, in one or two sentences; empty where its net benefit per load
    is not shown.

    `agreeing` and `disagreeing` are titles of other lists.
    """
    if answer.kind != "open" or policy is None:
        return ""
    judgement = answer.of(policy)
    is_saving = judgement.touched_percent.lower >= rule.worthwhile_percent
    if judgement.standing != "open" or judgement.per_load_pp.lower < 0 or not is_saving:
        return ""
    what = describe([policy], rule, is_alone=True).rstrip(",")
    first = f"Closest come {what}: worth their price on average over loads, but not shown to be so in total."
    parts = [
        f"{pages_of(titles)} {verb}"
        for titles, verb in ((agreeing, "confirm them"), (disagreeing, "do not"))
        if titles
    ]
    if not parts:
        return first
    if not agreeing:
        parts = [f"{parts[0]} confirm them"]
    also = ", and ".join(parts)
    return f"{first} {capital(also)}."


def confirmation(answer: ListAnswer, confirmed: Sequence[Policy], rule: Rule, *, own: str) -> str:
    """Return which policies a list confirms, of those that are worth it on another."""
    if answer.broken:
        return f"No answer: {' '.join(answer.broken)}"
    denied = [policy for policy in rule.candidates if policy not in confirmed]
    parts = [
        f"{describe(policies, rule)} {verb}"
        for policies, verb in ((confirmed, "are confirmed"), (denied, "are not confirmed"))
        if policies
    ]
    return f"By {pages_of([own])}, {', and '.join(parts)}."


def is_told(answer: ListAnswer, rule: Rule) -> bool:
    """Return whether the answer is settled, or the loads tell whether a larger window saves or costs time."""
    return answer.kind != "open" or any(
        candidate.standing != "open" or candidate.touched_percent.excludes_zero
        for candidate in answer.judgements
        if candidate.policy.window > rule.incumbent.window
    )


def differs(groups: Iterable[GroupAnswer], recommended: Recommendation, rule: Rule) -> str:
    """Return for whom the answer differs by round trip; empty where no group was loaded."""
    alike = [
        (answers[0], answers[-1])
        for _, same in itertools.groupby(groups, key=lambda group: (group.answer.kind, group.answer.policy))
        for answers in (list(same),)
    ]
    if not alike:
        return ""
    if len(alike) == 1:
        is_same = alike[0][0].answer.kind == recommended.kind
        return "Near and distant clients have the same answer." if is_same else ""
    clauses = []
    for first, last in alike:
        ends = (stated(first.above_ms), stated(last.up_to_ms, "ms"))
        where = f"from {ends[0]} to {ends[1]}" if first.above_ms else f"up to {ends[1]}"
        if math.isinf(last.up_to_ms):
            where = f"beyond {stated(first.above_ms, 'ms')}"
        what = f"{rule.incumbent.window} segments stay"
        if first.answer.kind == "raise":
            what = f"{describe([first.answer.policy], rule, is_alone=True)} are worth their price"
        elif first.answer.kind in {"open", "no answer"}:
            what = "it is open whether more are worth their price"
        clauses.append(f"{where}, {what}")
    return f"By a page's longest handshake: {'; '.join(clauses)}."


def certainty(level: Level, reasons: Sequence[Reason], *, pairs: int) -> str:
    """Return how sure the answer is, with the reason that weighs most against it.

    >>> certainty("low", [Reason(level="low", sentence="The lines are of 2020.")], pairs=10)
    'This is not sure: the lines are of 2020.'
    """
    because = next((reason.sentence for reason in reasons if reason.level == level), "")
    if not because:
        return f"{SURE[level]}, by {grouped(pairs)} pairs of loads."
    return f"{SURE[level]}: {because[:1].lower()}{because[1:]}"


def advise(policy: Policy, rule: Rule) -> str:
    """Return what a server should do.

    >>> advise(Policy(10), Rule()), advise(Policy(16, "paced"), Rule())
    ('Keep the initial window at 10 segments', 'Set the initial window to 16 segments, paced')
    >>> advise(Policy(20, "spread", 100), Rule()).removeprefix("Set the initial window to ")
    '20 segments, spread, where the handshake takes more than 100 ms, and keep 10 elsewhere'
    """
    if policy == rule.incumbent:
        return f"Keep the initial window at {policy.window} segments"
    clause = f"Set the initial window to {policy_text(policy)}"
    if policy.beyond_ms is None:
        return clause
    return f"{clause}, and keep {rule.incumbent.window} elsewhere"


def policy_text(policy: Policy) -> str:
    """Return a policy in words.

    >>> policy_text(Policy(16)), policy_text(Policy(16, "paced", 100))
    ('16 segments', '16 segments, paced, where the handshake takes more than 100 ms')
    """
    sending = "" if policy.sending == AT_ONCE else f", {policy.sending}"
    where = "" if policy.beyond_ms is None else f", where the handshake takes more than {policy.beyond_ms} ms"
    return f"{policy.window} segments{sending}{where}"


def describe(policies: Collection[Policy], rule: Rule, *, is_alone: bool = False) -> str:
    """Return policies in a few words: from which window to which, and how and for whom, if one for all.

    >>> far = [Policy(16, "paced", 100), Policy(32, "spread", 100)]
    >>> describe(far, Rule())
    '16 to 32 segments, where the handshake takes more than 100 ms,'
    >>> describe([Policy(16), Policy(16, "paced")], Rule()), describe(far[:1], Rule(), is_alone=True)
    ('16 segments for all connections', '16 segments, paced, where the handshake takes more than 100 ms,')
    >>> describe([Policy(20, "paced"), *far], Rule()), describe([Policy(16), Policy(30)], Rule(candidates=()))
    ('16 to 32 segments', '16 to 30 segments')
    """
    windows = [policy.window for policy in policies]
    sendings, limits = ({getattr(policy, name) for policy in policies} for name in ("sending", "beyond_ms"))
    size = f"{min(windows)} to {max(windows)}" if len({*windows}) > 1 else f"{min(windows)}"
    clause = f"{size} segments"
    if len(sendings) == 1 and sendings != {AT_ONCE}:
        clause += f", {sendings.pop()},"
    if limits == {None}:
        is_for_some = not is_alone and any(policy.beyond_ms is not None for policy in rule.candidates)
        return f"{clause} for all connections" if is_for_some else clause
    if len(limits) == 1:
        return f"{clause.rstrip(',')}, where the handshake takes more than {limits.pop()} ms,"
    return clause


def pages_of(titles: Sequence[str]) -> str:
    """Return lists of pages by their titles.

    >>> pages_of(["August 2025", "November 2023"]), pages_of([""])
    ('the pages of August 2025 and November 2023', 'these pages')
    """
    named = [title for title in titles if title]
    return f"the pages of {listed(named)}" if named else "these pages"


def month_text(month: str) -> str:
    """Return a month in words.

    >>> month_text("2023-11")
    'November 2023'
    """
    year, _, number = month.partition("-")
    return f"{calendar.month_name[int(number)]} {year}"
