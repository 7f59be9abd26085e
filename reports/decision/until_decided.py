"""Replays in stages until the answer is known or the budget is used."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from replay.errors import ReplayError
from replay.runs.cells import Cell
from replay.runs.chunks import core_seconds
from reports.decision.forecast import Need, needs
from reports.decision.problem import Part, Problem, cells_of, next_parts
from reports.decision.stage import Row, Stage, drawn, least_coverage_percent, standing_after
from reports.decision.standing import Standing

STEPS = (1 / 6, 1 / 3, 1 / 2, 2 / 3, 5 / 6, 1.0)
"""Parts of the budget after which the loads are looked at, beside a look after the first stage."""

LEAST_STEP = 1 / 48
"""Part of the budget that is too small for a stage."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Loaded:
    """Loads of a stage, and what they cost."""

    rows: Sequence[Row]
    wall_s: float
    core_s: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Outcome:
    """The answer so far."""

    problem: Problem
    standing: Standing
    stages: int
    loads: int
    wall_s: float
    core_s: float
    fraction: float
    """Part of the budget that is used."""
    coverage_percent: float
    further: tuple[Need, ...]
    """What the open statements would take, the greatest need first."""
    draws: Mapping[str, int]
    """Draws by condition."""
    parts: tuple[Part, ...] = ()
    """Parts of the next stage."""

    @property
    def is_settled(self) -> bool:
        """Return whether one answer is left and the replay is sound and whole enough to say so."""
        enough = self.coverage_percent >= self.problem.rule.minimum_coverage_percent
        return self.standing.is_settled and enough

    @property
    def is_over(self) -> bool:
        """Return whether no further stage follows."""
        return self.is_settled or self.fraction >= 1 or self.standing.is_sound is False


def until_decided(
    problem: Problem,
    stages: Sequence[Stage],
    *,
    budget_s: float,
    guests: int,
    load: Callable[[Sequence[Cell]], Loaded],
    keep: Callable[[int, Stage], None] = lambda _number, _stage: None,
    tell: Callable[[Outcome], None] = lambda _outcome: None,
) -> Outcome:
    """Add stages to those that are done, keep each, tell the outcome after each, and return the last.

    `budget_s` is wall time on so many `guests`, that of the stages that are done included.
    """
    done = list(stages)
    while True:
        outcome = outcome_after(problem, done, budget_s=budget_s, guests=guests)
        tell(outcome)
        if outcome.is_over:
            return outcome
        cells = cells_of(problem, outcome.parts)
        if not done and (least := core_seconds(cells) / guests) > budget_s:
            raise ReplayError(
                f"the budget is too small for a first stage: give at least --budget {math.ceil(least / 60)}m"
            )
        loaded = load(cells)
        stage = Stage(
            parts=outcome.parts,
            rows=loaded.rows,
            fraction=_fraction((outcome.wall_s + loaded.wall_s) / budget_s),
            wall_s=loaded.wall_s,
            core_s=loaded.core_s,
            planned_s=core_seconds(cells),
        )
        keep(len(done) + 1, stage)
        done.append(stage)


def outcome_after(problem: Problem, stages: Sequence[Stage], *, budget_s: float, guests: int) -> Outcome:
    """The answer after these stages, with the parts of the next one if there is one."""
    outcome = outcome_of(problem, stages)
    if outcome.is_over:
        return outcome
    wall_s = outcome.wall_s
    step = next(step for step in STEPS if step > wall_s / budget_s + LEAST_STEP)
    # The first stage is as small as can be: it shows what a load costs here.
    seconds = (step * budget_s - wall_s) * guests / _price_ratio(stages, guests) if stages else 0.0
    parts = next_parts(problem, outcome.standing, seconds=seconds, drawn=outcome.draws)
    return dataclasses.replace(outcome, parts=parts)


def outcome_of(problem: Problem, stages: Sequence[Stage]) -> Outcome:
    """The answer after these stages, without a plan for another."""
    standing = standing_after(problem, stages)
    return Outcome(
        problem=problem,
        standing=standing,
        stages=len(stages),
        loads=sum(len(stage.rows) for stage in stages),
        wall_s=math.fsum(stage.wall_s for stage in stages),
        core_s=math.fsum(stage.core_s for stage in stages),
        fraction=stages[-1].fraction if stages else 0.0,
        coverage_percent=least_coverage_percent(stages) if stages else 100.0,
        further=tuple(needs(problem.statements, standing)),
        draws=drawn(stages),
    )


def _price_ratio(stages: Sequence[Stage], guests: int) -> float:
    """Time of the stages so far, on so many guests, over what was planned for them."""
    planned = math.fsum(stage.planned_s for stage in stages)
    return math.fsum(stage.wall_s for stage in stages) * guests / planned if planned else 1.0


def _fraction(used: float) -> float:
    """Part of the budget at a stage's end; what is left of it may be too little for another."""
    return 1.0 if used > 1 - LEAST_STEP else used
