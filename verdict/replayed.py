"""Stored replays read back as looks: in stages, or all pairs at once, which is one stage."""

import dataclasses
import functools
import itertools
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import msgspec
import pyarrow as pa

from replay.errors import ReplayError
from replay.networks.mlab.draws import MONTH as LINES_MONTH
from replay.networks.profiles import MOST_MONTHS, Population, is_stale
from replay.runs.conditions import Conditions
from replay.runs.facts import LoadedRelease, LoadsPlan, PlannedStage, StageFacts
from replay.runs.policy import Policy
from verdict.arms import ARMS, LOADED, SAME
from verdict.calibration import BackCastFinding
from verdict.evidence import Evidence, read_evidence, weighted_networks
from verdict.judgement import Look, Reason
from verdict.ledger import Arm
from verdict.question import HALF_LOADED, ReplayQuestion, network_of
from verdict.replay_file import ReplayFile
from verdict.rule import RULE
from verdict.sampling import StagePlan
from verdict.stages import sites_in
from verdict.verdict import PageList, Verdict, verdict_of


def stale_lines(month: str | None) -> list[Reason]:
    """Return why access lines are too old for pages of a month, if they are."""
    if month is None or not is_stale(LINES_MONTH, month):
        return []
    what = f"rates, round trips and losses of access lines by country are of {LINES_MONTH}"
    return [Reason(level="low", sentence=f"The {what}, more than {MOST_MONTHS} months older than the pages.")]


def month_of(plan: LoadsPlan) -> str:
    return plan["release"]["crawl"].partition(".")[0]


@dataclass(frozen=True, kw_only=True, eq=False)
class PolicyReplayed:
    """The loads over a list of pages, as the rule takes them, and the release that they are of."""

    pages: PageList
    release: LoadedRelease | None
    confirms: LoadedRelease | None = None
    """Release whose answer these pages are to confirm."""

    def verdict(
        self,
        back_cast: BackCastFinding,
        *,
        confirming: Sequence["PolicyReplayed"] = (),
        ends: bool = True,
        mark: str = "",
        reasons: Iterable[Reason] = (),
    ) -> Verdict:
        """Return the verdict, as far as other lists confirm it; with `ends` no loads follow.

        `mark` stands before inputs that are no evidence, for `reasons`. ReplayError if a list is not one
        to confirm these pages.
        """
        for other in confirming:
            if self.release is not None and other.confirms != self.release:
                raise ReplayError(
                    f"the loads over {other.pages.crawl} do not confirm {self.pages.crawl} of "
                    f"version {self.release['version']}: `firstflight replay confirm "
                    f"{other.pages.crawl}` loads what does"
                )
        return verdict_of(
            self.pages,
            [other.pages for other in confirming],
            ends=ends,
            mark=mark,
            broken=back_cast.broken,
            reasons=[*reasons, *back_cast.reasons, *stale_lines(self.pages.month)],
        )


def policies_of_stages(tables: Sequence[pa.Table], facts: Sequence[StageFacts]) -> PolicyReplayed:
    """Return a replay's stages and arms; `facts` are what stage.json says of each."""
    plan = facts[0]["plan"]
    if "stage" not in plan:
        return policies_of_pairs(tables[0], plan)
    read = _read(tables, facts)
    base = read.arms.get(SAME.id)
    return PolicyReplayed(
        pages=PageList(
            looks=read.looks,
            rule=read.file.rule,
            crawl=plan["release"]["crawl"],
            month=month_of(plan),
            everyone=read.everyone,
            arms=tuple(
                Arm(id=name, title=ARMS[name].title, evidence=evidence, base=base)
                for name, evidence in read.arms.items()
                if base is not None and name != SAME.id
            ),
            is_confirming="confirms" in plan,
        ),
        release=plan["release"],
        confirms=plan.get("confirms"),
    )


def fractions_of(facts: Sequence[StageFacts]) -> list[float]:
    """Return the used part of the budget at each stage's end."""
    budget_s = 60 * msgspec.convert(facts[0]["plan"]["asked"], ReplayFile).budget_minutes
    seconds = itertools.accumulate(stage["core_s"] for stage in facts if stage["plan"].get("arm") is None)
    return [min(used_s / budget_s, 1.0) for used_s in seconds]


@dataclass(frozen=True, kw_only=True, eq=False)
class _Read:
    file: ReplayFile
    looks: tuple[Look, ...]
    everyone: Evidence | None
    arms: Mapping[str, Evidence]


def _read(tables: Sequence[pa.Table], facts: Sequence[StageFacts]) -> _Read:
    file = msgspec.convert(facts[0]["plan"]["asked"], ReplayFile)
    incumbent, sites = file.rule.incumbent, sites_in(facts[0]["plan"])
    question = ReplayQuestion(recipes=(), incumbent=incumbent, run=file.run, conditions=file.base)
    names = [stage["plan"].get("arm") for stage in facts]
    staged = [(table, stage) for table, stage, name in zip(tables, facts, names, strict=True) if name is None]
    plans = [plan_of_facts(stage["plan"]["stage"]) for _, stage in staged]
    drawn = question.networks(plans)
    fractions = fractions_of(facts)
    read = functools.partial(read_evidence, incumbent=incumbent, sites=sites)
    looks = []
    for at in range(len(staged)):
        networks = [network_of(network) for stage in drawn[: at + 1] for network in stage]
        loads = pa.concat_tables([table for table, _ in staged[: at + 1]])
        evidence = read(loads, networks, conditions=question.conditions)
        looks.append(Look(evidence=evidence, fraction=fractions[at]))
    of_arms = {}
    for table, name in zip(tables, names, strict=True):
        if name is not None:
            arm = LOADED[name]
            other = arm.question(question)
            own = [network_of(network) for network in other.networks([arm.plan])[0]]
            of_arms[name] = read(table, own, conditions=other.conditions)
    everyone = None
    if any(plan.everyone for plan in plans):
        everyone = read(loads, networks, conditions=question.everyone)
    return _Read(file=file, looks=tuple(looks), everyone=everyone, arms=of_arms)


def policies_of_pairs(table: pa.Table, plan: LoadsPlan) -> PolicyReplayed:
    """Return a replay of one stage, larger windows as candidates and smaller ones for the picture."""
    networks = weighted_networks(
        [
            msgspec.convert({**population, "weights": tuple(population["weights"].items())}, type=Population)
            for population in plan["populations"]
        ]
    )
    ten = RULE.incumbent
    evidence = read_evidence(table, networks, incumbent=ten)
    half = read_evidence(table, networks, incumbent=ten, conditions=Conditions(neighbours=HALF_LOADED))
    larger = tuple(policy for policy in evidence.windows if policy.window > ten.window)
    shown = tuple(policy for policy in evidence.windows if policy != ten and policy not in larger)
    release = plan.get("release")
    return PolicyReplayed(
        pages=PageList(
            looks=(Look(evidence=evidence),),
            rule=dataclasses.replace(RULE, candidates=larger, shown=shown),
            crawl=release["crawl"] if release else "",
            everyone=half if len(half) else None,
        ),
        release=release,
    )


def plan_of_facts(facts: PlannedStage) -> StagePlan:
    return StagePlan(
        networks={int(stratum): count for stratum, count in facts["networks"].items()},
        pages=facts["pages"],
        windows=tuple(map(Policy.parse, facts["windows"])),
        again=facts["again"],
        everyone=tuple(map(Policy.parse, facts["everyone"])),
        everyone_share=facts.get("everyone_share", 1.0),
    )
