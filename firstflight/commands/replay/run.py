"""`firstflight replay run`: the replay that a file describes."""

import contextlib
import json
import math
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import click
import msgspec

from firstflight.bars import bar as progress_bar
from firstflight.commands.options import AS_JSON, show
from firstflight.commands.replay.lab import find_lab
from firstflight.commands.replay.sources import ReplaySource, find_source, leave_out_sites
from firstflight.commit import code_commit
from firstflight.errors import GO_ON, Stopped, one_line
from firstflight.settings import Settings
from recordings.exchange import RecordingError
from recordings.page import describe_left_out
from releases.catalogue import ReleaseError
from replay.errors import ReplayError
from replay.lab.guest_process import usable_cpus
from replay.networks.population_csv import PopulationError
from replay.runs.facts import LoadsPlan
from replay.runs.parts import count_parts, count_whole_parts
from replay.runs.price import core_seconds
from replay.runs.replay_folder import count_states, read_cells
from storage.data_lock import InUse, making
from storage.signatures import SigningFailed
from verdict.arms import LOADED, paired
from verdict.calibration import instrument, read_finding
from verdict.deciding import Loaded, decide, first_windows
from verdict.full_replay import plan_replay
from verdict.question import STRATA, ReplayQuestion
from verdict.replay_file import PRESETS, ReplayFile, file_schema, read_file
from verdict.replayed import policies_of_stages
from verdict.sampling import StagePlan, first_plan
from verdict.stages import Stages, load_stage, read_stages, stage_name
from verdict.verdict import Verdict
from verdict.verdict_file import to_data, write_verdict

EXPECTED = (
    ReplayError,
    ReleaseError,
    RecordingError,
    PopulationError,
    SigningFailed,
    OSError,
    ValueError,
    msgspec.ValidationError,
)


@click.command("run")
@click.argument("name", metavar=f"[FILE|{'|'.join(PRESETS)}]", required=False)
@click.option(
    "--set", "given", multiple=True, metavar="NAME=VALUE", help="A value in place of the file's. Repeatable."
)
@click.option("--guests", type=click.IntRange(1, 256), help="Guests at once.  [default: one per usable core]")
@click.option(
    "--plan", "only_plan", is_flag=True, help="Print the loads and their price, and replay nothing."
)
@AS_JSON
@click.option("--schema", is_flag=True, help="Print the JSON Schema of the file, with all names and values.")
@click.pass_obj
def run_replay(
    settings: Settings,
    *,
    name: str | None,
    given: tuple[str, ...],
    guests: int | None,
    only_plan: bool,
    as_json: bool,
    schema: bool,
) -> None:
    """Replay what a TOML file or a preset describes; without one, the yearly answer.

    A replay until all is decided loads stages over networks drawn anew, until each candidate has its verdict
    or the budget is used, then arms: other inputs, for the table of who would decide otherwise. It writes
    verdict.json beside its stages. A replay of all loads every page over every network, in one stage. A stage
    has cells.parquet, with a row for each load, and stage.json, with everything the loads depend on. The
    replay's folder is below replays/ in the data folder, and its name ends in eight characters by what was
    asked. Whole parts are kept: the same command goes on from there if it was stopped.

    \b
    Example:
      firstflight replay run edition
      firstflight replay run --set pages=2026-11 --set budget_minutes=30 --set run=2
      firstflight replay run har --set pages=page.har --set 'conditions.warm_cache=[false, true]'
      firstflight replay run demo --set pages=recorded --set max_pages=50 --plan
      firstflight replay run mine.toml --set conditions.congestion_control=cubic,bbr
    """
    if schema:
        click.echo(json.dumps(file_schema(), indent=2))
        return
    with one_line(*EXPECTED, InUse), making(settings.data_dir):
        file = read_file(name, given)
        settings.check_signer()
        source = find_source(settings, file.pages)
        if file.confirms is not None:
            source = leave_out_sites(settings, source, file.confirms)
        at_once = guests or len(usable_cpus())
        folder = settings.replays / f"{source.folder}.{file.checksum}"
        if file.until == "decided":
            decided = run_decision(settings, file, source, folder, guests=at_once, only_plan=only_plan)
            if decided:
                verdict, path = decided
                show(to_data(verdict), as_json=as_json, lines=[*describe_verdict(verdict), str(path)])
        else:
            place = folder / stage_name(1)
            facts = run_all(settings, file, source, place, guests=at_once, only_plan=only_plan)
            if facts:
                show(facts, as_json=as_json, lines=describe_replay(facts, place))
                for failure in facts["failures"]:
                    click.echo(f"failed: {failure['reason']}", err=True)


def run_decision(
    settings: Settings, file: ReplayFile, source: ReplaySource, folder: Path, *, guests: int, only_plan: bool
) -> tuple[Verdict, Path] | None:
    """Load stages until all is settled, then arms; None of a plan."""
    if "release" not in source.facts:
        raise ValueError("pages: a decision takes a release; for recordings there is the preset har")
    (conditions,) = file.combinations()
    rule, arms = file.rule, paired(file.arms)
    question = ReplayQuestion(
        recipes=source.recipes, run=file.run, incumbent=rule.incumbent, conditions=conditions
    )
    if only_plan:
        cells = question.cells([first_plan(first_windows(rule), rule, STRATA)])
        click.echo(
            f"{len(source.recipes):,} pages, {len(first_windows(rule))} policies, a first stage of "
            f"{len(cells):,} loads, about {format_duration(core_seconds(cells))} of a core; all stages at "
            f"most {format_duration(60 * file.budget_minutes)}, then {len(arms)} arms"
        )
        return None
    facts: LoadsPlan = {
        **source.facts,
        "commit": code_commit(settings.commit),
        **instrument(),
        "asked": file.asked,
        "sites": source.sites,
    }
    lab = find_lab(settings.cache_dir)
    stages = Stages(folder, question, lab, facts, guests=guests, signer=settings.signer)
    back_cast = read_finding(settings.backcast, of=facts)

    @contextlib.contextmanager
    def show_progress(what: str, loads: int) -> Iterator[None]:
        with progress_bar(settings, desc=what, unit="loads", total=loads) as stages.progress:
            yield

    def load(plans: Sequence[StagePlan]) -> Loaded:
        with show_progress(f"stage {len(plans)}", plans[-1].loads):
            return stages(plans)

    def write_so_far() -> tuple[Verdict, Path]:
        verdict = policies_of_stages(*read_stages(folder)).verdict(back_cast)
        return verdict, write_verdict(folder, verdict)

    try:
        for decision in decide(load, rule, strata=STRATA, budget_s=60 * file.budget_minutes):
            verdict, _ = write_so_far()
            click.echo(f"stage {len(decision.plans)}: {verdict.headline}", err=True)
        for name in arms:
            with show_progress(name, LOADED[name].plan.loads):
                stages.arm(name)
    except KeyboardInterrupt:
        raise Stopped(
            f"whole stages with their verdict, and parts of the next, are kept in {folder}, and {GO_ON}"
        ) from None
    return write_so_far()


def describe_verdict(verdict: Verdict) -> list[str]:
    standings = [
        f"IW {candidate.policy}: {candidate.standing or 'shown beside them'}"
        for candidate in verdict.candidates
    ]
    return [*standings, verdict.headline, *verdict.sentences]


def run_all(
    settings: Settings, file: ReplayFile, source: ReplaySource, place: Path, *, guests: int, only_plan: bool
) -> dict[str, Any] | None:
    """Load every page over every network as one stage; None of a plan."""
    full = plan_replay(
        file,
        source.recipes,
        source.facts,
        populations=settings.populations,
        commit=code_commit(settings.commit),
    )
    price = format_duration(core_seconds(full.cells))
    click.echo(f"{full.sentence}, about {price} of a core", err=not only_plan)
    if only_plan:
        return None
    lab = find_lab(settings.cache_dir)
    plan, total = full.plan(lab), count_parts(full.cells, guests=guests)
    if done := count_whole_parts(place, plan, total):
        click.echo(f"{done} of {total} parts were done already", err=True)
    with progress_bar(settings, total=len(full.cells), unit="loads", desc="replay") as progress:
        try:
            facts = load_stage(
                place, full.cells, plan, lab, guests=guests, progress=progress, signer=settings.signer
            )
        except KeyboardInterrupt:
            kept = count_whole_parts(place, plan, total)
            raise Stopped(f"{kept} of {total} parts are kept, and {GO_ON}") from None
    cells = read_cells(place)
    times = (time for time in cells["page_ms"].to_pylist() if time is not None)
    extent = {"cells": count_states(cells), "virtual_s": round(math.fsum(times) / 1e3, 3)}
    return {**facts["plan"], **facts, **extent}


def describe_replay(facts: Mapping[str, Any], place: Path) -> Iterator[str]:
    recipes, cells = facts["recipes"], facts["cells"]
    yield (
        f"{recipes['pages']} pages, {recipes['objects']} objects, {recipes['response_bytes'] / 1e6:.1f} MB "
        f"({recipes['left_out_responses']} responses left out: of unknown size, or incomplete)"
    )
    for recording in facts.get("recordings", ()):
        if left_out := describe_left_out(recording["left_out"]):
            yield f"left out of {recording['file']}: {left_out}"
    yield f"{cells['done']} loads done, {cells['refused']} refused, {cells['failed']} failed"
    yield f"{facts['virtual_s']:.0f} s of page loads"
    yield str(place / "cells.parquet")


def format_duration(seconds: float) -> str:
    """Return a duration as text.

    >>> format_duration(163), format_duration(20), format_duration(5399), format_duration(5400)
    ('3 minutes', '1 minute', '90 minutes', '1.5 hours')
    """
    minutes = max(1, round(seconds / 60))
    if seconds >= 1.5 * 3600:
        return f"{seconds / 3600:,.1f} hours"
    return "1 minute" if minutes == 1 else f"{minutes} minutes"
