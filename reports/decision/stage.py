"""Stages of a replay that ends when its answer is known: their loads, what they cost, and the looks after each."""

from __future__ import annotations

import collections
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from replay.runs.initial_window import Paced
from reports.decision.draws import Draws, gather
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
    return [
        Look(fraction=stage.fraction, measured=_measured(problem, stages[:number]))
        for number, stage in enumerate(stages, start=1)
    ]


def standing_after(problem: Problem, stages: Sequence[Stage]) -> Standing:
    """What is known after these stages, with a look after each."""
    return stand(problem.statements, looks_at(problem, stages), incumbent=problem.incumbent)


def _measured(problem: Problem, stages: Sequence[Stage]) -> Mapping[str, Any]:
    draws = draws_of(problem, stages)
    return measure(problem.statements, draws, problem.weights, problem.rule, expected=problem.expected)


def draws_of(problem: Problem, stages: Sequence[Stage]) -> dict[str, Draws]:
    """All draws of the stages by condition."""
    # A load by an alias route is the incumbent's again; its even seed tells it apart. Pacing is the window's.
    names = [name for name in problem.base.columns() if name not in ("route", "pacing")]
    arms = {
        _columns({column: conditions.columns()[column] for column in names}): name
        for name, conditions in problem.conditions.items()
    }
    rows: dict[str, list[Row]] = collections.defaultdict(list)
    for stage in stages:
        for row in stage.rows:
            rows[arms[_columns({name: row[name] for name in names})]].append(
                row | {"iw": _window(problem, row)}
            )
    return {name: gather(some, problem.frame, incumbent=problem.incumbent) for name, some in rows.items()}


def _window(problem: Problem, row: Row) -> int:
    """The window of a load, which is paced if the load is and ordinary loads are not."""
    return Paced(row["iw"]) if row["pacing"] and not problem.base.pacing else row["iw"]


def _columns(values: Mapping[str, Any]) -> tuple[str, ...]:
    return tuple(str(value) for value in values.values())


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
