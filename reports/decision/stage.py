"""Stages of a replay that ends when its answer is known: their loads, what they cost,
and the looks after each."""

import collections
import functools
import operator
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from reports.decision.draws import Draws, Loads, gather, loads_of
from reports.decision.measuring import measure
from reports.decision.problem import Part, Problem
from reports.decision.standing import Look, Standing, stand

Row = dict[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Stage:
    """A stage that is done."""

    parts: tuple[Part, ...]
    rows: Sequence[Row]
    """A row for each load, in any order."""
    fraction: float
    """Part of the budget that was used at its end."""
    wall_s: float
    core_s: float
    """CPU time of the guests."""
    planned_s: float
    """Seconds of a core that were planned for it."""
    starts: tuple[str, ...] = ()
    """Times in UTC at which it was begun, and gone on with after a stop; empty where it was not kept."""
    ended: str | None = None
    """Time in UTC at which it ended; None where it was not kept."""


def looks_at(problem: Problem, stages: Sequence[Stage]) -> list[Look]:
    """A look after each of these stages."""
    return looks_by(problem, stages, draws_after_each(problem, stages))


def looks_by(problem: Problem, stages: Sequence[Stage], draws: Iterable[Mapping[str, Draws]]) -> list[Look]:
    """A look after each of these stages, by the `draws` after each."""
    return [
        Look(
            fraction=stage.fraction,
            measured=measure(
                problem.statements, there, problem.weights, problem.rule, expected=problem.expected
            ),
        )
        for stage, there in zip(stages, draws, strict=True)
    ]


def standing_after(problem: Problem, stages: Sequence[Stage]) -> Standing:
    """What is known after these stages, with a look after each."""
    return stand(problem.statements, looks_at(problem, stages), incumbent=problem.incumbent)


def draws_of(problem: Problem, stages: Sequence[Stage]) -> dict[str, Draws]:
    """All draws of the stages by condition."""
    return _draws(problem, [_loads(problem, stage) for stage in stages])


def draws_after_each(problem: Problem, stages: Sequence[Stage]) -> Iterator[dict[str, Draws]]:
    """Yield all draws by condition after each of these stages."""
    loads: list[dict[str, Loads]] = []
    for stage in stages:
        loads.append(_loads(problem, stage))
        yield _draws(problem, loads)


def _draws(problem: Problem, loads: Sequence[Mapping[str, Loads]]) -> dict[str, Draws]:
    parts: dict[str, list[Loads]] = collections.defaultdict(list)
    for stage in loads:
        for name, some in stage.items():
            parts[name].append(some)
    return {name: gather(some, problem.frame, incumbent=problem.incumbent) for name, some in parts.items()}


def _loads(problem: Problem, stage: Stage) -> dict[str, Loads]:
    """The loads of a stage by condition."""
    # A load by an alias route is the incumbent's again; its even seed tells it apart. Pacing is the window's.
    names = [name for name in problem.base.columns() if name not in ("route", "pacing")]
    arms = {
        _columns(conditions.columns()[column] for column in names): name
        for name, conditions in problem.conditions.items()
    }
    # Words are compared, since a file's numbers may be of another type; few combinations occur.
    arm_of = functools.cache(lambda *values: arms[_columns(values)])
    values = operator.itemgetter(*names)
    rows: dict[str, list[Row]] = collections.defaultdict(list)
    for row in stage.rows:
        rows[arm_of(*values(row))].append(row)
    return {name: loads_of(some, problem.frame, paces_all=problem.base.pacing) for name, some in rows.items()}


def _columns(values: Iterable[Any]) -> tuple[str, ...]:
    return tuple(map(str, values))


def drawn(stages: Sequence[Stage]) -> dict[str, int]:
    """Number of draws so far by condition."""
    found: collections.Counter[str] = collections.Counter()
    for stage in stages:
        for part in stage.parts:
            found[part.condition] += part.draws
    return dict(found)


def least_coverage_percent(stages: Sequence[Stage]) -> float:
    """Smallest percentage of done loads over networks and windows."""
    planned: collections.Counter[tuple[str, int, bool]] = collections.Counter()
    done: collections.Counter[tuple[str, int, bool]] = collections.Counter()
    for stage in stages:
        for row in stage.rows:
            sender = row["profile"], row["iw"], row["pacing"]
            planned[sender] += 1
            done[sender] += row["state"] == "done"
    return min((100 * done[key] / count for key, count in planned.items()), default=0.0)
