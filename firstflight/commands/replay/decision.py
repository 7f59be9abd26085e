"""`firstflight replay run --until decided`: a replay in stages that ends when the answer is known."""

import dataclasses
import datetime
import json
import re
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
from firstflight.commands.replay.stage_loads import StageLoads
from firstflight.commit import code_commit
from firstflight.errors import one_line
from firstflight.settings import Settings
from replay.lab.guest_process import usable_cpus
from replay.runs.cells import Cell, loaded_recipe, sample
from replay.runs.chunks import plan_of
from replay.runs.initial_window import is_paced
from replay.runs.replay_folder import plan_facts
from reports.backcast.stored import standing
from reports.decision.history import history
from reports.decision.plan_text import plan_lines
from reports.decision.problem import Problem
from reports.decision.record import possible, sentence, to_dict
from reports.decision.stage import Stage
from reports.decision.stored_stages import (
    check_programs,
    check_unfinished,
    decided_before,
    read_begun,
    read_stage_facts,
    read_stages,
    stages_folder,
    write_outcome,
    write_stage,
)
from reports.decision.until_decided import Budget, Outcome, until_decided
from reports.recommendation.candidates import CANDIDATES
from reports.recommendation.mixture import queues_are_mixed
from reports.recommendation.rule import RULE

BUDGET = re.compile(r"(\d{1,4})(s|m|h)|(\d{1,9})loads", re.ASCII)
SECONDS = {"s": 1, "m": 60, "h": 3600}


def parse_budget(_ctx: click.Context, _option: click.Parameter, value: str) -> Budget:
    """Read a wall time such as 45m or 2h, or a number of loads."""
    match = BUDGET.fullmatch(value)
    if not match or not int(match[1] or match[3]):
        raise click.BadParameter(
            f"{value!r} is neither a time such as 45m or 2h nor a number such as 20000loads"
        )
    if match[3]:
        return Budget(amount=int(match[3]), unit="loads")
    return Budget(amount=int(match[1]) * SECONDS[match[2]])


UNTIL_OPTIONS = (
    click.option(
        "--until",
        type=click.Choice(["decided"]),
        help="decided: replay in stages, each of further pairs of page and network, until the rule's answer "
        "is known. Harm conditions are replayed for candidates that nothing else speaks against; "
        "lost candidates are left out.",
    ),
    click.option(
        "--budget",
        callback=parse_budget,
        metavar="TIME|LOADS",
        default="45m",
        show_default=True,
        help="With --until: most wall time, as 45m or 2h; or about how many loads, as 20000loads, which are "
        "the same loads on any machine. A run that is stopped goes on with the same command.",
    ),
    click.option(
        "--plan",
        "plan_only",
        is_flag=True,
        help="With --until: print loads, core-hours and expected half-intervals against each limit, "
        "and replay nothing.",
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
    replay: Path
    """The folder of a replay of every page over every network of the same release."""
    plan: dict[str, Any]
    """Everything that the loads depend on, as all stages state it."""

    @property
    def folder(self) -> Path:
        """The folder of the stages."""
        return stages_folder(self.replay, self.plan)


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
        "harm_windows",
        "harm_seeds",
        "sensitivity_pages",
    ):  # each draw has a network and a seed of its own
        given.pop(name)
    source = find_source(settings, **{name: given.pop(name) for name in [*given] if name in SOURCES})
    conditions = arms(**given)
    if len(conditions) != 1:
        raise click.UsageError("--until decided takes one value for each condition")
    some = sample(source.recipes, pages or len(source.recipes))
    recipes = [loaded_recipe(recipe, conditions[0]) for recipe in some]
    wanted = windows if own_windows else tuple(one.window for one in CANDIDATES)
    if conditions[0].pacing:
        wanted = tuple(window for window in wanted if not is_paced(window))
    if set(wanted) <= {RULE.permanent_incumbent}:
        raise click.UsageError(
            f"IW {RULE.permanent_incumbent} is in force: name a window beside it, such as --iw 16,30, "
            "or leave --iw out"
        )
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
    asked = {"run": number, "candidates": list(map(repr, problem.windows))}
    plan = plan_of({**facts, **asked}, cells, responses=False)
    return PlannedDecision(problem=problem, replay=settings.replays / source.folder, plan=plan)


SOURCES = ("crawl", "recorded", "hars", "logs")
"""Options that say where the pages come from."""


def examples(problem: Problem) -> list[Cell]:
    """Loads that together have every page, network, window and condition:
    what a replay depends on is read from them."""
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
    budget: Budget,
    guests: int | None,
    plan_only: bool,
    unless_stored: bool,
    as_json: bool,
) -> None:
    """Print the plan, replay in stages, and print the answer in one line."""
    with one_line(*EXPECTED):
        planned = plan_decision(settings, number=number, options=options, own_windows=own_windows)
    if unless_stored and (there := decided_before(planned.replay, planned.plan)):
        click.echo(f"decided already: {there}", err=True)
        return
    at_once = guests or len(usable_cpus())
    for line in plan_lines(planned.problem, budget=budget, guests=at_once):
        click.echo(line, err=not plan_only)
    if plan_only:
        return
    with one_line(*EXPECTED):
        lab = find_lab(settings.cache_dir)
        load = StageLoads(lab, planned.folder, planned.plan, guests=at_once)
        check_same(planned, load.programs)
        outcome = decide(planned, load, budget=budget, guests=at_once)
    instrument = standing(settings.backcast).sentence
    if as_json:
        click.echo(json.dumps({"instrument": instrument} | to_dict(outcome), indent=2))
    else:
        click.echo(f"{instrument}\n{sentence(outcome)}")


def decide(planned: PlannedDecision, load: StageLoads, *, budget: Budget, guests: int) -> Outcome:
    """Add stages to those that are stored, each stored as its loads end; ClickException on an interrupt."""
    folder, plan = planned.folder, planned.plan
    stages = read_stages(folder)
    begun = read_begun(folder, len(stages) + 1)
    if stages:
        click.echo(f"{len(stages)} stages were done already: {folder}", err=True)
        if stages[-1].fraction >= 1:
            another = f"--run {planned.problem.run + 1}"
            click.echo(
                "their budget is used, and a longer one adds nothing to them: begin another run, with "
                f"{another} and a larger --budget",
                err=True,
            )
    try:
        return until_decided(
            planned.problem,
            stages,
            budget=budget,
            guests=guests,
            load=load,
            begun=begun.parts if begun else (),
            begin=load.begin,
            keep=lambda number, stage: write_stage(
                folder, number, stage, plan, {**load.facts, "budget": dataclasses.asdict(budget)}
            ),
            tell=lambda outcome, done: tell(folder, outcome, done, budget),
        )
    except KeyboardInterrupt:
        whole = len(read_stages(folder))
        raise click.ClickException(
            f"stopped: {whole} whole stages and the parts of the next are kept in {folder}, and the same "
            "command goes on from there"
        ) from None


def check_same(planned: PlannedDecision, programs: Mapping[str, str]) -> None:
    """Raise StageError if stored stages, or an unfinished run of the same question, are by other code,
    pages or programs."""
    check_programs(planned.folder, programs)
    check_unfinished(planned.folder, planned.replay, planned.plan)


def tell(folder: Path, outcome: Outcome, stages: Sequence[Stage], budget: Budget) -> None:
    """Store the answer so far with what each stage decided, and print where the run stands."""
    if not outcome.stages:
        return
    write_outcome(folder, outcome, list(history(outcome, stages, read_stage_facts(folder))))
    lost = ", ".join(f"IW {window} ({why.subject})" for window, why in sorted(outcome.standing.lost.items()))
    answers = " or ".join(possible(outcome))
    click.echo(
        f"stage {outcome.stages}: {outcome.loads:,} loads, {used(outcome, budget)}; possible: "
        f"{answers}; lost: {lost or 'none'}",
        err=True,
    )
    sys.stderr.flush()


def used(outcome: Outcome, budget: Budget) -> str:
    """How much of the budget is used, in words."""
    if budget.unit == "loads":
        return f"of about {budget.amount:,.0f}"
    spent, whole = (datetime.timedelta(seconds=round(some)) for some in (outcome.wall_s, budget.amount))
    return f"{spent} of {whole}"
