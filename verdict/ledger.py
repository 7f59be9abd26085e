"""Who would decide otherwise by rule 7: net benefits by other prices, times, thresholds and inputs, each
compared on its own draws; and the standing of policies for connections by round trip."""

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from releases.interval import Interval
from replay.runs.policy import Policy
from verdict.estimates import NET_BENEFIT, difference, measure, name_of
from verdict.evidence import Evidence, select_draws, share_of_draws
from verdict.judgement import ListAnswer, Look, judge
from verdict.prices import price_in_sum_pp, price_per_load_pp
from verdict.rule import FAR_MS, IN_SUM, PER_LOAD, UNITS, Rule, Unit
from verdict.student import Mask

PRICE_OF_ALL_PP = 0.077
"""What all services sent again for what search saved in the slow data centre of 2010: the price of rule 6."""

OTHER_THRESHOLDS_MS = (60, 150)
"""Thresholds beside FAR_MS, from the same loads; they decide nothing."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Arm:
    """Loads under another input, and the default's over the same draws."""

    # Stable: written into every verdict.
    id: str
    title: str
    evidence: Evidence
    base: Evidence


@dataclass(frozen=True, slots=True, kw_only=True)
class LedgerRow:
    """The change of a policy's net benefit by another price, time, threshold or input."""

    # Stable: written into every verdict.
    id: str
    title: str
    per_load_pp: Interval
    """Difference, by itself at 95 %."""
    in_sum_pp: Interval
    turns: bool | None
    """Whether the difference turns that the policy is worth its price in both units; None if a part of its
    interval does.
    """


def make_ledger(look: Look, policy: Policy, rule: Rule, *, arms: Iterable[Arm] = ()) -> tuple[LedgerRow, ...]:
    """Return a policy's rows: prices, times and thresholds over all loads, then the arms."""
    evidence = look.evidence
    effects = measure(evidence, [policy], rule, quantities=[name_of(NET_BENEFIT, unit) for unit in UNITS])
    own = {unit: effects.of(name_of(NET_BENEFIT, unit), policy).value for unit in UNITS}
    other_rules = (
        (
            "price average",
            "the prices of 2010's average data centre",
            dataclasses.replace(
                rule,
                price_per_load_pp=round(price_per_load_pp("AvgDC"), 3),
                price_in_sum_pp=round(price_in_sum_pp("AvgDC"), 3),
            ),
        ),
        (
            "price 0.077",
            "what all services of 2010 sent again for what search saved, 0.077 pp",
            dataclasses.replace(rule, price_per_load_pp=PRICE_OF_ALL_PP, price_in_sum_pp=PRICE_OF_ALL_PP),
        ),
        (
            "document",
            "document time in place of page time",
            dataclasses.replace(rule, time="document_ms"),
        ),
        (
            "first byte",
            "time to the first usable byte in place of page time",
            dataclasses.replace(rule, time="first_byte_ms"),
        ),
    )
    rows = [
        _row(name, title, evidence, evidence, policy, (other, rule), own)
        for name, title, other in other_rules
    ]
    if policy.beyond_ms is not None:
        wide = dataclasses.replace(policy, beyond_ms=None)
        if wide in evidence.windows:
            base = switch(evidence, wide, policy, FAR_MS, rule)
            rows += [
                _row(
                    f"beyond {limit_ms}",
                    f"beyond {limit_ms} ms in place of {FAR_MS}, a page's connections together",
                    switch(evidence, wide, policy, limit_ms, rule),
                    base,
                    policy,
                    (rule, rule),
                    own,
                )
                for limit_ms in OTHER_THRESHOLDS_MS
            ]
    rows += [
        _row(arm.id, arm.title, arm.evidence, arm.base, policy, (rule, rule), own)
        for arm in arms
        if policy in arm.evidence.windows
    ]
    return tuple(rows)


def switch(evidence: Evidence, wide: Policy, policy: Policy, limit_ms: float, rule: Rule) -> Evidence:
    """Return the draws with `policy` as if a page's connections had `wide` where the incumbent's longest
    handshake is beyond a limit.
    """
    load, base = evidence.at(wide), evidence.at(rule.incumbent)
    is_beyond = base["handshake_max_ms"] > limit_ms
    values = {}
    for name, array in evidence.values.items():
        # Complete where the wide policy was loaded, whichever of the two loads counts.
        switched = np.where(is_beyond, load[name], np.where(np.isfinite(load[name]), base[name], np.nan))
        values[name] = np.column_stack([array[:, evidence.windows.index(rule.incumbent)], switched])
    return dataclasses.replace(evidence, windows=(rule.incumbent, policy), values=values)


def _row(
    name: str,
    title: str,
    evidence: Evidence,
    base: Evidence,
    policy: Policy,
    rules: tuple[Rule, Rule],
    own: dict[Unit, float],
) -> LedgerRow:
    intervals = difference(evidence, base, policy, rules, tail=rules[1].error / 2)
    return LedgerRow(
        id=name,
        title=title,
        per_load_pp=intervals[PER_LOAD],
        in_sum_pp=intervals[IN_SUM],
        turns=is_turned(own, intervals),
    )


def is_turned(own: Mapping[Unit, float], differences: Mapping[Unit, Interval]) -> bool | None:
    """Return whether differences turn that a policy is worth its price in both units.

    >>> own: dict[Unit, float] = {PER_LOAD: 0.1, IN_SUM: 0.02}
    >>> def turns(lower, upper):
    ...     return is_turned(own, dict.fromkeys(UNITS, Interval((lower + upper) / 2, lower, upper)))
    >>> turns(-0.5, -0.2), turns(-0.03, 0.01), turns(-0.01, 0.01)
    (True, None, False)
    """
    is_worth = all(value >= 0 for value in own.values())
    always = all(own[unit] + differences[unit].lower >= 0 for unit in own)
    never = any(own[unit] + differences[unit].upper < 0 for unit in own)
    if not always and not never:
        return None
    return always != is_worth


@dataclass(frozen=True, slots=True, kw_only=True)
class Group:
    """Loads by the longest handshake of their connections: a server knows that of its own."""

    # Stable: written into every verdict.
    id: str
    title: str
    above_ms: float
    up_to_ms: float = np.inf

    def of(self, evidence: Evidence, incumbent: Policy) -> Mask:
        longest_ms = evidence.at(incumbent)["handshake_max_ms"]
        mask: Mask = (longest_ms > self.above_ms) & (longest_ms <= self.up_to_ms)
        return mask


GROUPS = (
    Group(id="handshake-60", title="pages within 60 ms", above_ms=0, up_to_ms=60),
    Group(id="handshake-100", title="pages within 60 to 100 ms", above_ms=60, up_to_ms=100),
    Group(id="handshake-150", title="pages within 100 to 150 ms", above_ms=100, up_to_ms=150),
    Group(id="handshake-beyond", title="pages beyond 150 ms", above_ms=150),
)


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupAnswer:
    """The answer for a group of loads, with its guards."""

    id: str
    title: str
    above_ms: float
    up_to_ms: float
    share: float
    evidence: Evidence
    answer: ListAnswer


def judge_groups(
    look: Look, rule: Rule, *, everyone: Evidence | None = None, groups: Sequence[Group] = GROUPS
) -> tuple[GroupAnswer, ...]:
    """Return each group's answer, a family of its own over one look, with guards of what is worth it
    there.
    """
    own = rule.over(*(policy for policy in rule.candidates if policy.beyond_ms is None))
    if not own.candidates:
        return ()
    answers = []
    for group in groups:
        mask = group.of(look.evidence, rule.incumbent)
        if not mask.any():
            continue
        shared = None
        if everyone is not None:
            shared = select_draws(everyone, group.of(everyone, rule.incumbent))
        inside = select_draws(look.evidence, mask)
        answers.append(
            GroupAnswer(
                id=group.id,
                title=group.title,
                above_ms=group.above_ms,
                up_to_ms=group.up_to_ms,
                share=share_of_draws(look.evidence, mask),
                evidence=inside,
                answer=judge([Look(evidence=inside)], own, ends=True, everyone=shared),
            )
        )
    return tuple(answers)
