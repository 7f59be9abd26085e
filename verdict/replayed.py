"""Stored replays read back as looks: in stages, or all pairs at once, which is one stage."""

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import msgspec
import pyarrow as pa

from replay.errors import ReplayError
from replay.networks.mlab.draws import MONTH as LINES_MONTH
from replay.networks.profiles import MOST_MONTHS, Population, is_stale
from replay.runs.conditions import Conditions
from replay.runs.policy import Policy
from verdict.arms import ARMS, EVERYONE, SAME, arm_of, is_shared
from verdict.calibration import Standing
from verdict.closing import find_closing
from verdict.effects import BY_ID, measure
from verdict.evidence import Evidence, read_evidence, weighted_networks
from verdict.judgement import Look, Reason, judge
from verdict.ledger import Arm, judge_groups, make_ledger, measure_levels
from verdict.question import HALF_LOADED, Question, network_of
from verdict.replay_file import ReplayFile
from verdict.rule import RULE, Rule
from verdict.rule7 import verdict as rule7_verdict
from verdict.rule7.ledger import Arm as PairedArm
from verdict.rule7.rule import RULE as RULE_7
from verdict.rule7.verdict import PageList, Verdict
from verdict.sampling import Plan
from verdict.stages import sites_in
from verdict.stored import VerdictFacts, verdict_of


@dataclass(frozen=True, kw_only=True, eq=False)
class Replayed:
    """What was loaded, as the rule takes it."""

    looks: tuple[Look, ...]
    everyone: Evidence | None
    rule: Rule
    arms: tuple[Arm, ...] = ()
    shared: Mapping[str, Evidence] = field(default_factory=dict)
    """Loads on a half-loaded line, by id of the arm."""
    month: str | None = None
    """Month of the pages, which says whether what the networks were drawn from is too old for them; None of
    networks that were not drawn."""

    def verdict(self, back_cast: Standing, *, mark: str = "", reasons: Iterable[Reason] = ()) -> VerdictFacts:
        """Return the verdict as data: the same for the same loads and back-cast, wherever it is asked for.

        `mark` stands before the answer of inputs that are no evidence, and `reasons` say why they are none.
        """
        answer = judge(
            self.looks,
            self.rule,
            everyone=self.everyone,
            broken=back_cast.broken,
            reasons=[*reasons, *back_cast.reasons, *stale_lines(self.month)],
        )
        effects = self.looks[-1].effects(self.rule)
        rows = make_ledger(self.looks, self.rule, everyone=self.everyone, arms=self.arms)
        shared = {
            name: measure(
                evidence,
                [window for window in evidence.windows if window != self.rule.incumbent],
                incumbent=self.rule.incumbent,
                quantities=(BY_ID["page"], BY_ID["short flows"]),
            )
            for name, evidence in self.shared.items()
        }
        return verdict_of(
            answer,
            self.rule,
            effects=effects,
            ledger=rows,
            groups=judge_groups(self.looks[-1], self.rule),
            levels=measure_levels(self.looks[-1], self.rule),
            closing=tuple(
                find_closing(effects, answer.of(window), self.rule) for window in answer.having("open")
            ),
            shared=shared,
            mark=mark,
        )


def stale_lines(month: str | None) -> list[Reason]:
    """Return that the lines which networks are drawn from are too old for pages of a month, if they are."""
    if month is None or not is_stale(LINES_MONTH, month):
        return []
    what = f"rates, round trips and losses of access lines by country are of {LINES_MONTH}"
    return [Reason(level="low", sentence=f"The {what}, more than {MOST_MONTHS} months older than the pages.")]


def month_of(plan: Mapping[str, Any]) -> str:
    """Return the month of the pages that a stage's plan names."""
    name: str = plan["release"]["crawl"]
    return name.partition(".")[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class PolicyReplayed:
    """What was loaded over a list of pages, as rule 7 takes it, and of which release."""

    pages: PageList
    release: Mapping[str, Any]
    """Crawl, version and checksum."""
    confirms: Mapping[str, Any] | None = None
    """Of pages that are to confirm the answer over another release: that release."""

    def verdict(
        self,
        back_cast: Standing,
        *,
        confirming: Sequence["PolicyReplayed"] = (),
        ends: bool = True,
        mark: str = "",
        reasons: Iterable[Reason] = (),
    ) -> Verdict:
        """Return the verdict, as far as other lists of pages confirm it; with `ends` no loads follow.

        `mark` stands before the answer of inputs that are no evidence, and `reasons` say why they are none.
        Raises ReplayError if another list is not one to confirm these pages.
        """
        for other in confirming:
            if other.confirms != self.release:
                raise ReplayError(
                    f"the loads over {other.release['crawl']} do not confirm {self.release['crawl']} of "
                    f"version {self.release['version']}: `firstflight replay confirm "
                    f"{other.release['crawl']}` loads what does"
                )
        return rule7_verdict.verdict_of(
            self.pages,
            [other.pages for other in confirming],
            ends=ends,
            mark=mark,
            broken=back_cast.broken,
            reasons=[*reasons, *back_cast.reasons, *stale_lines(self.pages.month)],
        )


def of_stages(tables: Sequence[pa.Table], facts: Sequence[Mapping[str, Any]]) -> Replayed:
    """Return the stages and arms of a replay by rule 6; `facts` are what stage.json says of each.

    One of every page over every network is one stage.
    """
    if "stage" not in facts[0]["plan"]:
        return of_pairs(tables[0], facts[0]["plan"]["populations"])
    read = _read(tables, facts)
    file, everyone = read.file, read.everyone
    return Replayed(
        looks=read.looks,
        everyone=read.arms.get(EVERYONE) if everyone is None else everyone,
        rule=file.rule,
        arms=tuple(
            Arm(id=name, title=ARMS[name].title, evidence=evidence)
            for name, evidence in read.arms.items()
            if not is_shared(name)
        ),
        shared={name: evidence for name, evidence in read.arms.items() if is_shared(name)},
        month=month_of(facts[0]["plan"]),
    )


def policies_of_stages(tables: Sequence[pa.Table], facts: Sequence[Mapping[str, Any]]) -> PolicyReplayed:
    """Return the stages and arms of a replay by rule 7; `facts` are what stage.json says of each.

    One of every page over every network is one stage.
    """
    plan = facts[0]["plan"]
    if "stage" not in plan:
        return policies_of_pairs(tables[0], plan)
    read = _read(tables, facts)
    base = read.arms.get(SAME.id)
    return PolicyReplayed(
        pages=PageList(
            looks=read.looks,
            rule=read.file.policies,
            crawl=plan["release"]["crawl"],
            month=month_of(plan),
            everyone=read.everyone,
            arms=tuple(
                PairedArm(id=name, title=ARMS[name].title, evidence=evidence, base=base)
                for name, evidence in read.arms.items()
                if base is not None and name != SAME.id
            ),
            is_confirming="confirms" in plan,
        ),
        release=plan["release"],
        confirms=plan.get("confirms"),
    )


@dataclass(frozen=True, kw_only=True, eq=False)
class _Read:
    file: ReplayFile
    looks: tuple[Look, ...]
    everyone: Evidence | None
    arms: Mapping[str, Evidence]


def _read(tables: Sequence[pa.Table], facts: Sequence[Mapping[str, Any]]) -> _Read:
    file = msgspec.convert(facts[0]["plan"]["asked"], ReplayFile)
    incumbent, sites = file.rule.incumbent, sites_in(facts[0]["plan"])
    question = Question(recipes=(), incumbent=incumbent, run=file.run, conditions=file.base)
    names = [stage["plan"].get("arm") for stage in facts]
    staged = [(table, stage) for table, stage, name in zip(tables, facts, names, strict=True) if name is None]
    plans = [plan_of_facts(stage["plan"]["stage"]) for _, stage in staged]
    drawn = question.networks(plans)
    seconds = list(itertools.accumulate(stage["core_s"] for _, stage in staged))
    read = functools.partial(read_evidence, incumbent=incumbent, sites=sites)
    looks = []
    for at in range(len(staged)):
        networks = [network_of(network) for stage in drawn[: at + 1] for network in stage]
        loads = pa.concat_tables([table for table, _ in staged[: at + 1]])
        evidence = read(loads, networks, arm=question.conditions)
        looks.append(Look(evidence=evidence, fraction=min(seconds[at] / (60 * file.budget_minutes), 1.0)))
    of_arms = {}
    for table, name in zip(tables, names, strict=True):
        if name is not None:
            arm = arm_of(name, file.rule_version)
            other = arm.question(question)
            own = [network_of(network) for network in other.networks([arm.plan])[0]]
            of_arms[name] = read(table, own, arm=other.conditions)
    everyone = None
    if any(plan.everyone for plan in plans):
        everyone = read(loads, networks, arm=question.everyone)
    return _Read(file=file, looks=tuple(looks), everyone=everyone, arms=of_arms)


def of_pairs(table: pa.Table, populations: Iterable[Mapping[str, Any]]) -> Replayed:
    """Return a replay of every page over every network: one stage; `populations` are those of its plan."""
    networks = weighted_networks(
        [
            Population(**{**population, "weights": tuple(population["weights"].items())})
            for population in populations
        ]
    )
    evidence = read_evidence(table, networks, incumbent=RULE.incumbent)
    half = read_evidence(table, networks, incumbent=RULE.incumbent, arm=Conditions(neighbours=HALF_LOADED))
    return Replayed(
        looks=(Look(evidence=evidence),),
        everyone=half if len(half) else None,
        rule=RULE.over(tuple({*evidence.windows, RULE.incumbent})),
    )


def policies_of_pairs(table: pa.Table, plan: Mapping[str, Any]) -> PolicyReplayed:
    """Return a replay of every page over every network as rule 7 takes it, larger windows as candidates."""
    replayed = of_pairs(table, plan["populations"])
    windows, ten = replayed.looks[-1].evidence.windows, RULE_7.incumbent
    larger = tuple(window for window in windows if window.window > ten.window)
    shown = tuple(window for window in windows if window != ten and window not in larger)
    return PolicyReplayed(
        pages=PageList(
            looks=replayed.looks,
            rule=dataclasses.replace(RULE_7, candidates=larger, shown=shown),
            crawl=plan["release"]["crawl"],
            everyone=replayed.everyone,
        ),
        release=plan["release"],
    )


def plan_of_facts(facts: Mapping[str, Any]) -> Plan:
    """Return the plan of a stage from what stage.json says of it."""
    return Plan(
        networks={int(stratum): count for stratum, count in facts["networks"].items()},
        pages=facts["pages"],
        windows=tuple(map(Policy.parse, facts["windows"])),
        again=facts["again"],
        everyone=tuple(map(Policy.parse, facts["everyone"])),
        everyone_share=facts.get("everyone_share", 1.0),
    )
