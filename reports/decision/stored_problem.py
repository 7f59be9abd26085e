"""A replay in stages read back with the question that it answers,
so that a report can measure and judge it again."""

import dataclasses
import functools
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from replay.networks.profiles import Population, Profile
from replay.recipes.page_recipe import Recipe
from replay.runs.cells import sample
from replay.runs.conditions import Conditions
from replay.runs.initial_window import window_of
from reports.decision.history import history
from reports.decision.problem import Problem
from reports.decision.stage import Stage
from reports.decision.stored_stages import (
    StageError,
    read_stage_facts,
    read_stages,
    stages_checksum,
)
from reports.decision.until_decided import Outcome, outcome_of
from reports.recommendation.mixture import queues_are_mixed
from reports.recommendation.rule import Rule


@dataclasses.dataclass(frozen=True, kw_only=True, eq=False)
class StagedReplay:
    """The stages of a plan, and the question that they answer."""

    problem: Problem
    stages: tuple[Stage, ...]
    provenance: dict[str, Any]
    """Everything that the loads depend on and that their guests say, by the names of replay.json."""
    plan: str
    """Name of the plan: the beginning of its hash."""
    checksum: str
    """Checksum of all stages."""
    facts: tuple[Mapping[str, Any], ...]
    """What stage.json says of each stage."""

    @functools.cached_property
    def outcome(self) -> Outcome:
        """The answer after the stages, measured again."""
        return outcome_of(self.problem, self.stages)

    @functools.cached_property
    def ledger(self) -> tuple[dict[str, Any], ...]:
        """What each stage added and decided."""
        return tuple(history(self.outcome, self.stages, self.facts))


def read_staged(folder: Path, recipes: Sequence[Recipe], *, rule: Rule) -> StagedReplay:
    """Read the stages in `folder` of a release with these pages.

    StageError if they are damaged or of another rule.
    """
    stages = read_stages(folder)
    if not stages:
        raise StageError(f"{folder} has no stage: run `firstflight replay run --until decided` again")
    facts = read_stage_facts(folder)
    plan = facts[0]["plan"]
    if any(one["plan"] != plan for one in facts):
        raise StageError(f"the stages in {folder} are of several plans: remove the folder and replay again")
    return StagedReplay(
        problem=problem_of(plan, recipes, rule=rule),
        stages=tuple(stages),
        provenance=provenance_of(facts, stages),
        plan=folder.name.split(".")[-2],
        checksum=stages_checksum(folder),
        facts=tuple(facts),
    )


def problem_of(plan: Mapping[str, Any], recipes: Sequence[Recipe], *, rule: Rule) -> Problem:
    """The question of a stored plan.

    StageError if another rule, other pages or other conditions were asked about.
    """
    if plan["rule_version"] != rule.version:
        raise StageError(
            f"the stages are of version {plan['rule_version']} of the rule, "
            f"this code has {rule.version}: replay again"
        )
    base = Conditions()
    if plan["parameters"]["conditions"][0] != base.columns():
        raise StageError(
            "the stages are not of the default conditions of this code, "
            "which alone a report decides on: replay again"
        )
    pages = sample(recipes, plan["recipes"]["pages"])
    networks = [profile_of(one) for one in plan["profiles"]]
    return Problem(
        recipes=tuple(sorted(pages, key=lambda one: (one.response_bytes, one.visit_id))),
        networks=tuple(sorted(networks, key=lambda one: (one.down_bps, one.id))),
        populations=tuple(population_of(one) for one in plan["populations"]),
        windows=tuple(map(window_of, plan["candidates"])),
        incumbent=rule.permanent_incumbent,
        run=plan["run"],
        rule=dataclasses.replace(
            rule, has_queues_in_population=queues_are_mixed(one.queue_bytes for one in networks)
        ),
        base=base,
    )


def profile_of(facts: Mapping[str, Any]) -> Profile:
    """A network from the facts of a replay."""
    names = {field.name for field in dataclasses.fields(Profile)}
    return Profile(**{name: value for name, value in facts.items() if name in names})


def population_of(facts: Mapping[str, Any]) -> Population:
    """A population from the facts of a replay."""
    return Population(**{**facts, "weights": tuple(facts["weights"].items())})


def provenance_of(facts: Sequence[Mapping[str, Any]], stages: Sequence[Stage]) -> dict[str, Any]:
    """The plan, with the calibration checks, failures and times of all stages."""
    times = [row["page_ms"] for stage in stages for row in stage.rows if row["page_ms"] is not None]
    return {
        **facts[0]["plan"],
        "gates": [gate for one in facts for gate in one["gates"]],
        "failures": [failure for one in facts for failure in one["failures"]],
        "programs": facts[0]["programs"],
        "wall_s": round(math.fsum(stage.wall_s for stage in stages), 3),
        "core_s": round(math.fsum(stage.core_s for stage in stages), 3),
        "virtual_s": round(math.fsum(times) / 1e3, 3),
    }
