"""Replays in stages until the answer is known or the budget is used."""

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import Literal

from replay.errors import ReplayError
from replay.runs.cells import Cell
from replay.runs.chunks import core_seconds
from reports.decision.forecast import Need, needs
from reports.decision.problem import Part, Problem, cells_of, next_parts
from reports.decision.stage import Row, Stage, drawn, least_coverage_percent, looks_at
from reports.decision.standing import Look, Standing, stand

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
    starts: tuple[str, ...] = ()
    ended: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class Budget:
    """The most that all stages of a run use.

    How much a stage loads follows from what the stages before it used. In seconds that is measured; in loads
    it is not, so that a run of the same number makes the same loads on any machine.
    """

    amount: float
    unit: Literal["seconds", "loads"] = "seconds"
    """Seconds of wall time, or loads."""

    def part(self, *, wall_s: float, loads: int) -> float:
        """The part of the budget that so much is."""
        return (loads if self.unit == "loads" else wall_s) / self.amount

    def check(self, cells: Sequence[Cell], *, guests: int) -> None:
        """Raise ReplayError if there is no room for these loads."""
        seconds = core_seconds(cells) / guests
        if self.part(wall_s=seconds, loads=len(cells)) > 1:
            least = f"{len(cells)}loads" if self.unit == "loads" else f"{math.ceil(seconds / 60)}m"
            raise ReplayError(f"the budget is too small for a first stage: give at least --budget {least}")


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
    looks: tuple[Look, ...]
    """A look after each stage."""
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
    budget: Budget,
    guests: int,
    load: Callable[[Sequence[Cell]], Loaded],
    begun: tuple[Part, ...] = (),
    begin: Callable[[int, tuple[Part, ...]], None] = lambda _number, _parts: None,
    keep: Callable[[int, Stage], None] = lambda _number, _stage: None,
    tell: Callable[[Outcome, Sequence[Stage]], None] = lambda _outcome, _stages: None,
) -> Outcome:
    """Add stages to those that are done, keep each, tell the outcome after each, and return the last.

    `budget` is for all stages, those that are done included. `begun` are the parts of a stage that was begun
    and not ended: it is the next one, as it was planned.
    """
    done = list(stages)
    while True:
        outcome = outcome_after(problem, done, budget=budget)
        tell(outcome, done)
        parts, begun = begun or outcome.parts, ()
        if outcome.is_over or not parts:
            return outcome
        cells = cells_of(problem, parts)
        if not done:
            budget.check(cells, guests=guests)
        begin(len(done) + 1, parts)
        loaded = load(cells)
        used = budget.part(wall_s=outcome.wall_s + loaded.wall_s, loads=outcome.loads + len(loaded.rows))
        stage = Stage(
            parts=parts,
            rows=loaded.rows,
            fraction=1.0
            if used > 1 - LEAST_STEP
            else used,  # what is left may be too little for another stage
            wall_s=loaded.wall_s,
            core_s=loaded.core_s,
            planned_s=core_seconds(cells),
            starts=loaded.starts,
            ended=loaded.ended,
        )
        keep(len(done) + 1, stage)
        done.append(stage)


def outcome_after(problem: Problem, stages: Sequence[Stage], *, budget: Budget) -> Outcome:
    """The answer after these stages, with the parts of the next one if there is one."""
    outcome = outcome_of(problem, stages)
    used = budget.part(wall_s=outcome.wall_s, loads=outcome.loads)
    if outcome.is_over:
        return outcome
    planned_s = math.fsum(stage.planned_s for stage in stages)
    for step in STEPS:
        if step > used + LEAST_STEP:
            # The first stage is as small as can be: it shows what a load costs here.
            seconds = (step - used) * planned_s / used if stages else 0.0
            parts = next_parts(problem, outcome.standing, seconds=seconds, drawn=outcome.draws)
            if parts:
                return dataclasses.replace(outcome, parts=parts)
    return outcome


def outcome_of(problem: Problem, stages: Sequence[Stage]) -> Outcome:
    """The answer after these stages, without a plan for another."""
    return outcome_by(problem, stages, looks_at(problem, stages))


def outcome_by(problem: Problem, stages: Sequence[Stage], looks: Sequence[Look]) -> Outcome:
    """The answer after these stages by the looks after each."""
    standing = stand(problem.statements, looks, incumbent=problem.incumbent)
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
        looks=tuple(looks),
    )
