"""The verdict by rule 7: everything that is stored of an answer."""

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from releases.interval import Interval
from replay.runs.policy import Policy
from verdict.estimates import FAMILY, MILLISECONDS, NET_BENEFIT, PARTS, RESENT, measure
from verdict.evidence import Evidence
from verdict.headline import certainty, confirmation, describe_nearest, differs, headline, is_told, month_text
from verdict.judgement import (
    Kind,
    Level,
    ListAnswer,
    Look,
    Reason,
    Recommendation,
    Standing,
    confidence_after,
    judge,
    list_confirmed,
    looks_worth_it,
    recommend,
)
from verdict.ledger import Arm, LedgerRow, judge_groups, make_ledger
from verdict.rate_classes import RateClassResult, SharedResult, measure_rate_classes, measure_shared
from verdict.rule import Rule, next_look

FORMAT_VERSION = 2

OTHER_LISTS = 2
"""Lists of pages that are to confirm an answer, by the protocol."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A quantity of a policy that decides nothing; its interval holds by itself at 95 %."""

    id: str
    unit: str
    interval: Interval


@dataclass(frozen=True, slots=True, kw_only=True)
class Candidate:
    """A policy with its standing; one that is shown for the picture has none."""

    policy: Policy
    standing: Standing | None
    per_load_pp: Interval | None
    in_sum_pp: Interval | None
    touched_percent: Interval | None
    pairs: int
    beside: tuple[Beside, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class GuardResult:
    """A guard that was asked of a policy."""

    id: str
    what: str
    policy: Policy
    limit_percent: float
    longer_percent: Interval | None
    holds: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class GroupResult:
    """The answer for a group of pages by their longest handshake."""

    id: str
    title: str
    above_ms: float
    """Handshakes of the group took longer, and `up_to_ms` at most; null if there is no most."""
    up_to_ms: float | None
    share: float
    """Share of the population's loads."""
    kind: Kind
    policy: Policy
    candidates: tuple[Candidate, ...]
    guards: tuple[GuardResult, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class AgainResult:
    """The policy in force held against itself."""

    gain_percent: Interval
    resent_pp: Interval
    is_sound: bool | None


@dataclass(frozen=True, slots=True, kw_only=True)
class ListResult:
    """The answer over another list of pages, less the sites of the deciding one: a family of its own."""

    crawl: str
    title: str
    pages: int
    kind: Kind
    candidates: tuple[Candidate, ...]
    confirms: tuple[Policy, ...]
    """Policies that are worth it on the deciding list and confirmed by this one."""
    broken: tuple[str, ...]
    """Reasons why it says nothing, in sentences."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Disagreement:
    """A policy that is worth it on the deciding list and not confirmed by others."""

    policy: Policy
    crawls: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class Verdict:
    """Everything that verdict.json holds."""

    format_version: int
    rule: Rule
    crawl: str
    """Whole name of the crawl whose pages decide; empty of recordings."""
    title: str
    """Month of the pages in words; empty of recordings."""
    pages: int
    kind: Kind
    policy: Policy
    """The policy that is recommended over all lists; the incumbent if none is."""
    asked: Policy | None
    """The policy that a reader asks about, and that the ledger is of: the recommended one, else what is worth
    it on the deciding list, else that with the most net benefit per load; null without a candidate."""
    mark: str
    """Words before an answer whose inputs are no evidence; empty for evidence."""
    headline: str
    """The headline: what a server should do, and why, in one sentence."""
    sentences: tuple[str, ...]
    """What comes nearest where it is open, for whom that differs by round trip, and how sure it is; each if
    there is something to say."""
    is_told: bool
    """False if the loads are too few to tell whether any larger window saves time."""
    is_settled: bool
    confidence: Level | None
    reasons: tuple[Reason, ...]
    broken: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    guards: tuple[GuardResult, ...]
    again: AgainResult
    ledger: tuple[LedgerRow, ...]
    groups: tuple[GroupResult, ...]
    levels: tuple[RateClassResult, ...]
    shared: tuple[SharedResult, ...]
    lists: tuple[ListResult, ...]
    """Other lists of pages that are to confirm what is worth it."""
    disagreeing: tuple[Disagreement, ...]
    confirms: tuple[Policy, ...] | None
    """Of pages that are to confirm the answer over others: the policies that they confirm; else null."""

    def of(self, policy: Policy) -> Candidate:
        """Return a candidate; KeyError if it was not loaded."""
        try:
            return next(candidate for candidate in self.candidates if candidate.policy == policy)
        except StopIteration:
            raise KeyError(str(policy)) from None

    def having(self, standing: Standing) -> tuple[Policy, ...]:
        return tuple(candidate.policy for candidate in self.candidates if candidate.standing == standing)


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class PageList:
    """The loads over a list of pages, as the rule takes them."""

    looks: tuple[Look, ...]
    rule: Rule
    crawl: str = ""
    month: str | None = None
    """Month of the pages (YYYY-MM), which says whether what the networks were drawn from is too old for
    them; None of networks that were not drawn."""
    everyone: Evidence | None = None
    arms: tuple[Arm, ...] = ()
    is_confirming: bool = False
    """True if the pages are to confirm the answer over others."""

    @property
    def title(self) -> str:
        return month_text(self.month) if self.month else ""

    @property
    def pages(self) -> int:
        return len(np.unique(self.looks[-1].evidence.visits))


def verdict_of(
    own: PageList,
    others: Sequence[PageList] = (),
    *,
    ends: bool,
    mark: str = "",
    broken: Iterable[str] = (),
    reasons: Iterable[Reason] = (),
) -> Verdict:
    """Return the verdict over the pages that decide, as far as the other lists confirm it.

    With `ends` no loads follow. `broken` is what is wrong with the chain of evidence, `reasons` what else
    lowers the confidence, and `mark` stands before the answer of inputs that are no evidence.
    """
    rule, look = own.rule, own.looks[-1]
    answer = judge(own.looks, rule, ends=ends, everyone=own.everyone, broken=broken, reasons=reasons)
    answers = {other.crawl: _judge_other(other) for other in others}
    recommended = recommend(answer, answers, rule)
    groups, asked = judge_groups(look, rule, everyone=own.everyone), asked_about(answer, recommended, rule)
    confirmed = list_confirmed(answer, rule) if own.is_confirming else None
    confidence, reasons = answer.confidence, answer.reasons
    if recommended.kind == "raise" and len(others) < OTHER_LISTS and not own.is_confirming:
        which = "One other list of pages alone" if others else "No other list of pages"
        reasons = (*reasons, Reason(level="medium", sentence=f"{which} confirms it yet."))
        confidence = confidence_after(reasons)
    if confirmed is None:
        titles = {other.crawl: other.title for other in others}
        first = headline(answer, recommended, rule, own=own.title, others=titles, mark=mark)
    else:
        first = confirmation(answer, confirmed, rule, own=own.title)
    pairs = max((judgement.pairs for judgement in answer.judgements), default=0)
    asking = [other for other in others if asked in other.rule.candidates]
    agreeing = [other for other in asking if asked in list_confirmed(answers[other.crawl], other.rule)]
    sentences = (
        describe_nearest(
            answer,
            asked,
            rule,
            agreeing=[other.title for other in agreeing],
            disagreeing=[other.title for other in asking if other not in agreeing],
        )
        if confirmed is None
        else "",
        differs(groups, recommended, rule) if confirmed is None and not answer.broken else "",
        certainty(confidence, reasons, pairs=pairs) if confidence is not None else "",
    )
    return Verdict(
        format_version=FORMAT_VERSION,
        rule=rule,
        crawl=own.crawl,
        title=own.title,
        pages=own.pages,
        kind=recommended.kind,
        policy=recommended.policy,
        asked=asked,
        mark=mark,
        headline=first,
        sentences=tuple(filter(None, sentences)),
        is_told=is_told(answer, rule),
        is_settled=answer.is_settled,
        confidence=confidence,
        reasons=reasons,
        broken=answer.broken,
        candidates=candidates_of(answer, look.evidence, rule, shown=rule.shown),
        guards=guards_of(answer),
        again=AgainResult(
            gain_percent=answer.again.gain_percent,
            resent_pp=answer.again.resent_pp,
            is_sound=answer.again.is_sound,
        ),
        ledger=() if asked is None else make_ledger(look, asked, rule, arms=own.arms),
        groups=tuple(
            GroupResult(
                id=group.id,
                title=group.title,
                above_ms=group.above_ms,
                up_to_ms=group.up_to_ms if math.isfinite(group.up_to_ms) else None,
                share=group.share,
                kind=group.answer.kind,
                policy=group.answer.policy,
                candidates=candidates_of(group.answer, group.evidence, rule, shown=()),
                guards=guards_of(group.answer),
            )
            for group in groups
        ),
        levels=measure_rate_classes(look.evidence, rule),
        shared=measure_shared(own.everyone, rule),
        lists=tuple(
            ListResult(
                crawl=other.crawl,
                title=other.title,
                pages=other.pages,
                kind=answers[other.crawl].kind,
                candidates=candidates_of(
                    answers[other.crawl], other.looks[-1].evidence, other.rule, shown=other.rule.shown
                ),
                confirms=list_confirmed(answers[other.crawl], other.rule),
                broken=answers[other.crawl].broken,
            )
            for other in others
        ),
        disagreeing=tuple(
            Disagreement(policy=policy, crawls=crawls)
            for policy, crawls in recommended.disagreeing.items()
            if crawls
        ),
        confirms=confirmed,
    )


def _judge_other(other: PageList) -> ListAnswer:
    """Return the answer over a list that is to confirm another; without a statement if its loads were
    stopped."""
    is_over = next_look(other.rule.looks, other.looks[-1].fraction) is None
    if is_over or judge(other.looks, other.rule, ends=False).is_settled:
        return judge(other.looks, other.rule, ends=True)
    return judge(other.looks, other.rule, ends=True, broken=["Its loads were stopped before their budget."])


def asked_about(answer: ListAnswer, recommended: Recommendation, rule: Rule) -> Policy | None:
    """Return the policy that a reader asks about: the recommended one, else what is worth it on the deciding
    list, else that with the most net benefit per load; None without a candidate."""
    for policy in (recommended.policy, answer.policy):
        if policy != rule.incumbent:
            return policy
    best = max(
        answer.judgements,
        key=lambda judgement: (judgement.per_load_pp.lower, judgement.policy),
        default=None,
    )
    return None if best is None else best.policy


def candidates_of(
    answer: ListAnswer, evidence: Evidence, rule: Rule, *, shown: Sequence[Policy]
) -> tuple[Candidate, ...]:
    """Return every candidate, then what is shown beside them, with all quantities."""
    judged = {judgement.policy: judgement for judgement in answer.judgements}
    policies = (*judged, *shown)
    effects = measure(evidence, policies, rule)
    candidates = []
    for policy in policies:
        beside = tuple(
            Beside(id=name, unit=unit_of(name), interval=effects.of(name, policy).interval(rule.error / 2))
            for name, at in effects.names
            if at == policy and name not in FAMILY
        )
        judgement = judged.get(policy)
        pairs = int(effects.draws[effects.names[FAMILY[0], policy]])
        candidates.append(
            Candidate(
                policy=policy,
                standing=judgement.standing if judgement else None,
                per_load_pp=judgement.per_load_pp if judgement else None,
                in_sum_pp=judgement.in_sum_pp if judgement else None,
                touched_percent=judgement.touched_percent if judgement else None,
                pairs=judgement.pairs if judgement else pairs,
                beside=beside,
            )
        )
    return tuple(candidates)


def unit_of(quantity: str) -> str:
    """Return the unit of a quantity.

    >>> [unit_of(name) for name in ("gain per load", "resent in sum", MILLISECONDS, "short flows")]
    ['%', 'pp', 'ms', '%']
    """
    if quantity == MILLISECONDS:
        return "ms"
    return "pp" if quantity.startswith((RESENT, NET_BENEFIT, *PARTS)) else "%"


def asked_of_others(verdict: Verdict) -> tuple[Policy, ...]:
    """Return the policies that other lists of pages are asked about: what is worth it, or else what is open
    and worth it by its estimates."""
    return verdict.having("worth it") or tuple(
        candidate.policy
        for candidate in verdict.candidates
        if candidate.standing == "open"
        and candidate.per_load_pp
        and candidate.in_sum_pp
        and candidate.touched_percent
        and looks_worth_it(
            candidate.per_load_pp, candidate.in_sum_pp, candidate.touched_percent, verdict.rule
        )
    )


def guards_of(answer: ListAnswer) -> tuple[GuardResult, ...]:
    return tuple(
        GuardResult(
            id=check.guard.id,
            what=check.guard.what,
            policy=check.window,
            limit_percent=check.guard.limit_percent,
            longer_percent=check.longer,
            holds=check.holds,
        )
        for check in answer.guards
    )
