"""Who would decide otherwise: the answer by other prices, by other quantities, over other inputs, and for
groups of lines."""

import dataclasses
import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from releases.formatting import quantity
from releases.interval import Interval
from replay.runs.policy import Policy
from verdict.effects import LEVELS, measure
from verdict.evidence import Evidence, select_draws, share_of_draws
from verdict.headline import decision_text, known_text, resent_text
from verdict.judgement import Answer, Judgement, Kind, Look, Verdict, judge
from verdict.rule import Rule
from verdict.student import Mask

PRICES: tuple[tuple[float, str], ...] = (
    (0.027, "the average data centre of 2010"),
    (0.05, "as the authors of 2010 told Linux's maintainers"),
    (0.077, "the slow data centre of 2010"),
)
"""Prices in percentage points for 1 %, each with who paid it."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Lines between two bounds."""

    # Stable: written into every verdict.
    id: str
    title: str
    column: str
    """`rtt_ms` or `down_bps`: the access line's, without the distance beyond it."""
    above: float = -np.inf
    up_to: float = np.inf

    def of(self, evidence: Evidence) -> Mask:
        """Return the draws over such a line."""
        values = evidence.of_network(self.column)
        mask: Mask = (values > self.above) & (values <= self.up_to)
        return mask


GROUPS = (
    Group(id="rtt-20", title="lines of 20 ms or less", column="rtt_ms", up_to=20),
    Group(id="rtt-50", title="lines of 20 to 50 ms", column="rtt_ms", above=20, up_to=50),
    Group(id="rtt-beyond", title="lines beyond 50 ms", column="rtt_ms", above=50),
    Group(id="slow", title="lines below 6 Mbps", column="down_bps", up_to=6e6),
    Group(id="middle", title="lines of 6 to 25 Mbps", column="down_bps", above=6e6, up_to=25e6),
    Group(id="quick", title="lines above 25 Mbps", column="down_bps", above=25e6),
)


def select_group(evidence: Evidence, group: Group) -> Evidence:
    """Return the draws of a group."""
    return select_draws(evidence, group.of(evidence))


def share_of(evidence: Evidence, group: Group) -> float:
    """Return the share of the population's lines that are in the group."""
    return share_of_draws(evidence, group.of(evidence))


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """Loads under another input."""

    # Stable: written into every verdict.
    id: str
    title: str
    evidence: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class Entry:
    """A row of the ledger."""

    id: str
    title: str
    kind: Kind
    answer: str
    window: Policy | None
    """The recommended window, or the rival that the numbers are of."""
    gain_percent: Interval | None
    resent_pp: Interval | None
    price_pp: float | None
    """Payload sent again for 1 % of time saved; None where nothing is saved."""
    pairs: int
    turns: bool | None
    """True if the answer differs from the ledger's first; None if the loads cannot tell."""
    share: float | None = None
    """Share of the population's lines; None for all."""


def make_ledger(
    looks: Sequence[Look], rule: Rule, *, everyone: Evidence | None = None, arms: Iterable[Arm] = ()
) -> tuple[Entry, ...]:
    """Return every row, the rule's own first."""
    free = dataclasses.replace(rule, price_pp=None, guards=())
    rules = [
        ("own", "the rule", rule),
        *(
            (
                f"price {price:g}",
                f"a price of {price:g} pp ({who})",
                dataclasses.replace(rule, price_pp=price),
            )
            for price, who in PRICES
            if price != rule.price_pp
        ),
        ("time alone", "page time alone, whatever is sent again", free),
        ("document", "document time in place of page time", dataclasses.replace(rule, time="document")),
    ]
    entries = [
        _make_entry(name, title, judge(looks, other, everyone=everyone), other)
        for name, title, other in rules
    ]
    if everyone is not None:
        answer = _judge_by_others(judge(looks, free), everyone, rule)
        entries.insert(-1, _make_entry("others alone", "harm to others' short flows alone", answer, free))
    for arm in arms:
        loaded = {*arm.evidence.windows, rule.incumbent}
        narrowed = rule.over(tuple(candidate for candidate in rule.candidates if candidate in loaded))
        if narrowed.rivals():
            answer = judge([Look(evidence=arm.evidence)], narrowed, everyone=everyone)
            entries.append(_make_entry(arm.id, arm.title, answer, narrowed))
    first, *others = entries
    return (first, *(dataclasses.replace(entry, turns=_turns(entry, first)) for entry in others))


def _turns(entry: Entry, first: Entry) -> bool | None:
    """Return whether a reader would do something else by a row; None if its loads leave that open."""
    if entry.kind == "open":
        return None
    advice, own = ((row.kind, row.window if row.kind == "raise" else None) for row in (entry, first))
    return advice != own


def judge_groups(look: Look, rule: Rule) -> tuple[Entry, ...]:
    """Return the answer for each group of lines, by the loads of one look and without guards."""
    own = dataclasses.replace(rule, guards=())
    entries = []
    for group in GROUPS:
        inside = select_group(look.evidence, group)
        if len(inside):
            answer = judge([Look(evidence=inside)], own)
            entry = _make_entry(group.id, group.title, answer, own)
            if answer.kind != "raise" and not any(
                window > rule.incumbent for window in answer.having("open")
            ):
                entry = dataclasses.replace(entry, kind="stays", answer="No larger window is worth it")
            entries.append(dataclasses.replace(entry, share=share_of(look.evidence, group)))
    return tuple(entries)


PUBLISHED_PACKETS_PERCENT, PUBLISHED_RESPONSES_PERCENT, PUBLISHED_MBPS = 2.8, 6.1, 1.9
"""Packets sent again, responses of which any was, and mean rate of the clients.

Google's web, May 2011: N. Dukkipati et al., Proportional Rate Reduction for TCP, IMC 2011.
"""


@dataclass(frozen=True, slots=True, kw_only=True)
class Level:
    """What the incumbent sends again over a group of lines, in per cent."""

    id: str
    title: str
    share: float
    resent_percent: Interval
    """Payload sent again."""
    responses_percent: Interval
    """Responses of whose bytes any were sent again."""


def measure_levels(look: Look, rule: Rule) -> tuple[Level, ...]:
    """Return what the incumbent sends again by class of rate, each interval by itself."""
    tail = (1 - rule.confidence) / 2
    levels_of_groups = []
    for group in GROUPS:
        inside = select_group(look.evidence, group)
        if group.column == "down_bps" and len(inside):
            effects = measure(inside, [rule.incumbent], incumbent=rule.incumbent, quantities=LEVELS)
            resent, responses = (effects.saved(level.id, rule.incumbent, tail) for level in LEVELS)
            share = share_of(look.evidence, group)
            levels_of_groups.append(
                Level(
                    id=group.id,
                    title=group.title,
                    share=share,
                    resent_percent=resent,
                    responses_percent=responses,
                )
            )
    return tuple(levels_of_groups)


def clauses(groups: Sequence[Entry], answer: Answer) -> list[str]:
    """Return a clause on each group of lines for which a window is worth it or none is, and all lines
    differ."""
    phrases = []
    for group in groups:
        if group.share is None or group.kind not in ("raise", "stays") or group.kind == answer.kind:
            continue
        who = f"over {group.title} ({quantity(100 * group.share, '%', 2)})"
        if group.kind == "stays" or group.gain_percent is None or group.resent_pp is None:
            phrases.append(f"{who} no larger window is worth it")
        else:
            phrases.append(
                f"{who} IW {group.window} is worth it: it saves {known_text(group.gain_percent, '%')} and "
                f"sends {resent_text(group.resent_pp)}"
            )
    return phrases


PARTS = {
    1 / 2: "half",
    3 / 5: "three fifths",
    2 / 3: "two thirds",
    3 / 4: "three quarters",
    4 / 5: "four fifths",
    9 / 10: "nine tenths",
    1.0: "nearly all",
}
"""Parts in words."""


def where_sent_again(groups: Sequence[Entry], answer: Answer) -> str:
    """Return the clause on the lines by rate on which most of what the open rival sends again falls.

    Empty unless these are half of it or more, and more than twice as much as their share of the lines.
    """
    rival = answer.rival
    if rival is None or rival.verdict != "open" or not rival.resent_pp.lower > 0:
        return ""
    rates = {group.id for group in GROUPS if group.column == "down_bps"}
    for group in groups:
        again = group.resent_pp
        if group.id in rates and group.window == rival.window and group.share and again and again.lower > 0:
            part = group.share * again.estimate / rival.resent_pp.estimate
            if part >= max(0.5, 2 * group.share):
                words = PARTS[min(PARTS, key=lambda known: abs(known - part))]
                where = group.title.removeprefix("lines ")
                where = f"on {group.title}" if where.startswith("of ") else where
                return f"{words} of what {rival.window} sends again falls {where}"
    return ""


def _judge_by_others(answer: Answer, everyone: Evidence, rule: Rule) -> Answer:
    """Return the largest saving of the windows at which others' short flows are shown to take no longer than
    now."""
    limit = next(guard.limit_percent for guard in rule.guards if guard.everyone)
    windows = [rival for rival in rule.rivals() if rival in everyone.windows]
    effects = measure(everyone, windows, incumbent=rule.incumbent)
    tail = (1 - rule.confidence) / 2 / max(1, len(windows))
    longer = {window: -effects.saved("short flows", window, tail) for window in windows}

    def verdict(judgement: Judgement) -> Verdict:
        interval = longer.get(judgement.window)
        if judgement.verdict == "not worth it":
            return "not worth it"
        if interval is None or interval.lower <= limit < interval.upper:
            return "open"
        return judgement.verdict if interval.upper <= limit else "not worth it"

    judgements = tuple(
        dataclasses.replace(judgement, verdict=verdict(judgement)) for judgement in answer.judgements
    )
    fit = [candidate for candidate in judgements if candidate.verdict == "worth it"]
    best = max(fit, key=lambda candidate: candidate.gain_percent.estimate, default=None)
    is_open = any(candidate.verdict == "open" for candidate in judgements)
    return dataclasses.replace(
        answer,
        judgements=judgements,
        kind="raise" if best else "open" if is_open else "stays",
        window=best.window if best else rule.incumbent,
        is_settled=not is_open,
    )


def _make_entry(name: str, title: str, answer: Answer, rule: Rule) -> Entry:
    rival = answer.rival
    price = None
    if rival is not None and math.isfinite(rival.gain_percent.estimate) and rival.gain_percent.estimate > 0:
        price = rival.resent_pp.estimate / rival.gain_percent.estimate
    return Entry(
        id=name,
        title=title,
        kind=answer.kind,
        answer=decision_text(answer, rule),
        window=rival.window if rival else None,
        gain_percent=rival.gain_percent if rival else None,
        resent_pp=rival.resent_pp if rival else None,
        price_pp=price,
        pairs=rival.pairs if rival else 0,
        turns=False,
    )
