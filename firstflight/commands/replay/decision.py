"""`firstflight replay run --until decided`: a replay in stages that ends when the answer is known."""

from __future__ import annotations

import dataclasses
import datetime
import json
import re
import resource
import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import click

from firstflight.commands.replay.conditions import arms
from firstflight.commands.replay.lab import find_lab
from firstflight.commands.replay.options import EXPECTED, chosen_networks
from firstflight.commands.replay.sources import find_source
from firstflight.commit import code_commit
from firstflight.errors import one_line
from firstflight.settings import Settings
from replay.errors import ReplayError
from replay.lab.guest_process import usable_cpus
from replay.runs.cells import Cell, sample
from replay.runs.chunks import plan_of
from replay.runs.replay_folder import guest_facts, plan_facts
from replay.runs.run import Result
from reports.backcast.stored import standing
from reports.decision.plan_text import plan_lines
from reports.decision.problem import Problem
from reports.decision.record import answer_text, sentence, to_dict
from reports.decision.stored_stages import read_stages, stages_folder, write_outcome, write_stage
from reports.decision.until_decided import Loaded, Outcome, until_decided
from reports.recommendation.mixture import queues_are_mixed
from reports.recommendation.rule import CANDIDATES, RULE

BUDGET = re.compile(r"(\d{1,4})(s|m|h)", re.ASCII)
SECONDS = {"s": 1, "m": 60, "h": 3600}

Replayer = Callable[[Sequence[Cell]], Result]


def parse_budget(_ctx: click.Context, _option: click.Parameter, value: str) -> float:
    """Read a wall time such as 45m or 2h, in seconds."""
    match = BUDGET.fullmatch(value)
    if not match or not int(match[1]):
        raise click.BadParameter(f"{value!r} is no time such as 45m or 2h")
    return float(int(match[1]) * SECONDS[match[2]])


UNTIL_OPTIONS = (
    click.option(
        "--until",
        type=click.Choice(["decided"]),
        help="decided: replay in stages, each of further pairs of page and network, until the rule's answer is known. Harm "
        "conditions are replayed for candidates that nothing else speaks against; lost candidates are left out.",
    ),
    click.option(
        "--budget",
        callback=parse_budget,
        metavar="TIME",
        default="45m",
        show_default=True,
        help="With --until: most wall time, as 45m or 2h. A run that is stopped goes on with the same command.",
    ),
    click.option(
        "--plan",
        "plan_only",
        is_flag=True,
        help="With --until: print loads, core-hours and expected half-intervals against each limit, and replay nothing.",
    ),
    click.option(
        "--run",
        "number",
        type=click.IntRange(1, 1000),
        default=1,
        show_default=True,
        help="With --until: number of the run. Another run draws other pairs and other random events.",
    ),
)


def until_options(command: Callable[..., Any]) -> Callable[..., Any]:
    """Add UNTIL_OPTIONS to a command."""
    for option in reversed(UNTIL_OPTIONS):
        command = option(command)
    return command


@dataclass(frozen=True, kw_only=True, slots=True)
class PlannedDecision:
    """A replay in stages before its next stage."""

    problem: Problem
    folder: Path
    plan: dict[str, Any]
    """Everything that the loads depend on, as all stages state it."""


def plan_decision(
    settings: Settings, *, number: int, options: Mapping[str, Any], own_windows: bool
) -> PlannedDecision:
    """The question that the options describe; `own_windows` tells whether the user named windows."""
    given = dict(options)
    profiles, populations, _ = chosen_networks(
        settings,
        *(given.pop(name) for name in ("profiles", "population", "population_measured", "population_source")),
    )
    windows, pages = given.pop("windows"), given.pop("pages")
    if given.pop("responses") or given.pop("harm") != "none" or given.pop("sensitivity"):
        raise click.UsageError(
            "--until decided chooses its harm conditions, and keeps no responses and no sensitivity"
        )
    for name in (
        "networks",
        "seeds",
        "harm_pages",
        "harm_seeds",
    ):  # each draw has a network and a seed of its own
        given.pop(name)
    source = find_source(settings, **{name: given.pop(name) for name in [*given] if name in SOURCES})
    conditions = arms(**given)
    if len(conditions) != 1:
        raise click.UsageError("--until decided takes one value for each condition")
    recipes = sample(source.recipes, pages or len(source.recipes))
    wanted = windows if own_windows else tuple(one.segments for one in CANDIDATES)
    problem = Problem(
        recipes=tuple(sorted(recipes, key=lambda one: (one.response_bytes, one.visit_id))),
        networks=tuple(sorted(profiles, key=lambda one: (one.down_bps, one.id))),
        populations=populations,
        windows=tuple(sorted({*wanted, RULE.permanent_incumbent})),
        incumbent=RULE.permanent_incumbent,
        rule=dataclasses.replace(
            RULE, has_queues_in_population=queues_are_mixed(one.queue_bytes for one in profiles)
        ),
        run=number,
        base=conditions[0],
    )
    cells = examples(problem)
    facts = plan_facts(
        cells,
        {**source.facts, "pages_there": len(source.recipes)},
        commit=code_commit(settings.commit),
        rule_version=RULE.version,
        populations=populations,
    )
    plan = plan_of({**facts, "run": number}, cells, responses=False)
    return PlannedDecision(
        problem=problem, folder=stages_folder(settings.replays / source.folder, plan), plan=plan
    )


SOURCES = ("crawl", "recorded", "hars", "logs")
"""Options that say where the pages come from."""


def examples(problem: Problem) -> list[Cell]:
    """Loads that together have every page, network, window and condition: what a replay depends on is read from them."""
    first = next(iter(problem.conditions))
    return [
        *(problem.cell(page, 0, problem.incumbent, 1, first) for page in range(len(problem.recipes))),
        *(problem.cell(0, place, problem.incumbent, 1, first) for place in range(1, len(problem.networks))),
        *(problem.cell(0, 0, window, 1, first) for window in problem.windows if window != problem.incumbent),
        *(problem.cell(0, 0, problem.incumbent, 1, name) for name in problem.conditions if name != first),
    ]


def run_until_decided(
    settings: Settings,
    *,
    options: Mapping[str, Any],
    own_windows: bool,
    number: int,
    budget_s: float,
    guests: int | None,
    plan_only: bool,
    as_json: bool,
    replayer: Callable[[Any], Replayer],
) -> None:
    """Print the plan, replay in stages, and print the answer in one line."""
    with one_line(*EXPECTED):
        planned = plan_decision(settings, number=number, options=options, own_windows=own_windows)
    there = guests or len(usable_cpus())
    for line in plan_lines(planned.problem, budget_s=budget_s, guests=there):
        click.echo(line, err=not plan_only)
    if plan_only:
        return
    with one_line(*EXPECTED):
        stages = read_stages(planned.folder)
        if stages:
            click.echo(f"{len(stages)} stages were done already: {planned.folder}", err=True)
        load = Loader(replayer(find_lab(settings.cache_dir)))
        try:
            outcome = until_decided(
                planned.problem,
                stages,
                budget_s=budget_s,
                guests=there,
                load=load,
                keep=lambda number, stage: write_stage(
                    planned.folder, number, stage, planned.plan, load.facts
                ),
                tell=lambda outcome: tell(planned.folder, outcome, budget_s),
            )
        except KeyboardInterrupt:
            whole = len(read_stages(planned.folder))
            raise click.ClickException(
                f"stopped: {whole} whole stages are kept in {planned.folder}, and the same command goes on from there"
            ) from None
    instrument = standing(settings.backcast).sentence
    if as_json:
        click.echo(json.dumps({"instrument": instrument} | to_dict(outcome), indent=2))
    else:
        click.echo(f"{instrument}\n{sentence(outcome)}")


class Loader:
    """Replays the loads of a stage, and keeps the facts of its guests."""

    def __init__(self, replayer: Replayer) -> None:
        self.replayer = replayer
        self.facts: dict[str, Any] = {}

    def __call__(self, cells: Sequence[Cell]) -> Loaded:
        """Replay; raises ReplayError if no load was done."""
        before = children_s()
        result = self.replayer(cells)
        if not any(row["state"] == "done" for row in result.rows):
            raise ReplayError(f"no load was done: {result.rows[0]['reason']}")
        self.facts = guest_facts(result)
        return Loaded(rows=result.rows, wall_s=result.wall_s, core_s=children_s() - before)


def children_s() -> float:
    """CPU seconds of all guests so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def tell(folder: Path, outcome: Outcome, budget_s: float) -> None:
    """Store the answer so far, and print where the run stands."""
    if not outcome.stages:
        return
    write_outcome(folder, outcome)
    used, whole = (datetime.timedelta(seconds=round(seconds)) for seconds in (outcome.wall_s, budget_s))
    lost = ", ".join(f"IW {window} ({why.subject})" for window, why in sorted(outcome.standing.lost.items()))
    possible = " or ".join(sorted(answer_text(one) for one in outcome.standing.answers))
    click.echo(
        f"stage {outcome.stages}: {outcome.loads:,} loads, {used} of {whole}; possible: {possible}; lost: {lost or 'none'}",
        err=True,
    )
    sys.stderr.flush()
