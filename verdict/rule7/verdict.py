"""The verdict by rule 7: everything that is stored of an answer."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from releases.interval import Interval
from replay.runs.policy import Policy
from verdict.evidence import Evidence
from verdict.judgement import Kind, Level, Look, Reason
from verdict.rule7.estimates import FAMILY, MILLISECONDS, NET_BENEFIT, PARTS, RESENT, measure
from verdict.rule7.headline import headline
from verdict.rule7.judgement import Answer, Standing, judge
from verdict.rule7.ledger import Arm, Row, judge_groups, make_ledger
from verdict.rule7.rule import Rule

FORMAT_VERSION = 2
"""Version of the stored verdict; 1 is that of rule 6."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Beside:
    """A quantity of a policy that decides nothing, by itself at 95 %."""

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
    share: float
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
class Verdict:
    """Everything that verdict.json holds."""

    format_version: int
    rule: Rule
    kind: Kind
    policy: Policy
    headline: str
    is_settled: bool
    confidence: Level | None
    reasons: tuple[Reason, ...]
    broken: tuple[str, ...]
    candidates: tuple[Candidate, ...]
    guards: tuple[GuardResult, ...]
    again: AgainResult
    ledger: tuple[Row, ...]
    groups: tuple[GroupResult, ...]


def verdict_of(
    looks: Sequence[Look],
    rule: Rule,
    *,
    ends: bool,
    everyone: Evidence | None = None,
    arms: Iterable[Arm] = (),
    broken: Iterable[str] = (),
    reasons: Iterable[Reason] = (),
) -> Verdict:
    """Return the verdict after the looks; with `ends` no loads follow."""
    answer = judge(looks, rule, ends=ends, everyone=everyone, broken=broken, reasons=reasons)
    asked = asked_about(answer, rule)
    return Verdict(
        format_version=FORMAT_VERSION,
        rule=rule,
        kind=answer.kind,
        policy=answer.policy,
        headline=headline(answer, rule),
        is_settled=answer.is_settled,
        confidence=answer.confidence,
        reasons=answer.reasons,
        broken=answer.broken,
        candidates=candidates_of(answer, looks[-1].evidence, rule, shown=rule.shown),
        guards=guards_of(answer),
        again=AgainResult(
            gain_percent=answer.again.gain_percent,
            resent_pp=answer.again.resent_pp,
            is_sound=answer.again.is_sound,
        ),
        ledger=make_ledger(looks[-1], asked, rule, arms=arms),
        groups=tuple(
            GroupResult(
                id=group.id,
                title=group.title,
                share=group.share,
                kind=group.answer.kind,
                policy=group.answer.policy,
                candidates=candidates_of(group.answer, group.evidence, rule, shown=()),
                guards=guards_of(group.answer),
            )
            for group in judge_groups(looks[-1], rule, everyone=everyone)
        ),
    )


def asked_about(answer: Answer, rule: Rule) -> Policy:
    """Return the policy that a reader asks about: the recommended one, else that with the most net benefit
    per load."""
    if answer.policy != rule.incumbent:
        return answer.policy
    return max(
        answer.judgements, key=lambda judgement: (judgement.per_load_pp.lower, judgement.policy)
    ).policy


def candidates_of(
    answer: Answer, evidence: Evidence, rule: Rule, *, shown: Sequence[Policy]
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


def guards_of(answer: Answer) -> tuple[GuardResult, ...]:
    """Return the guards that were asked."""
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
