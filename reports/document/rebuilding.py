"""The commands that rebuild a report from its release."""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import Any

import pyarrow.compute as pc

from replay.networks.populations import POPULATIONS
from replay.runs.conditions import ADDED_COLUMNS, FIRST_BYTE
from reports.decision.stored_problem import StagedReplay
from reports.inputs.replays import Replay
from reports.inputs.report_inputs import ReportInputs
from reports.recommendation.harm_conditions import HIGH_LOAD
from reports.recommendation.inputs import ENDS
from reports.recommendation.rule import CANDIDATES


def rebuild_commands(inputs: ReportInputs) -> list[str]:
    """Command lines that verify the release, replay its pages and build the report."""
    name, replay = inputs.release.manifest.crawl, inputs.replay
    commands = [f"firstflight release verify --offline --crawl {name}"]
    if inputs.staged:
        commands.append(decision_command(str(name), inputs.staged))
    if replay:
        parameters = replay.provenance.get("parameters", {})
        windows = ",".join(str(window) for window in parameters.get("windows", []))
        seeds = len(parameters.get("seeds", []))
        commands.append(
            f"firstflight replay run --crawl {name} --iw {windows} {_network_options(replay)} "
            f"--seeds {seeds}{_pages_option(replay)}{_few_pages_options(replay)}"
        )
    without = "" if replay or inputs.staged else " --without-replay"
    return [*commands, f"firstflight report build --year {inputs.year} --crawl {name}{without}"]


def decision_command(crawl: str, staged: StagedReplay) -> str:
    """The command that makes the stages, and goes on with them where their budget is not used."""
    plan, problem = staged.provenance, staged.problem
    asked = [f"firstflight replay run --crawl {crawl} --until decided"]
    average = next(one for one in problem.populations if not one.slow)
    if average.is_stored:
        asked.append(f"--population {average.id}")
    if plan["recipes"]["pages"] < plan["pages_there"]:
        asked.append(f"--pages {plan['recipes']['pages']}")
    if problem.windows != tuple(one.segments for one in CANDIDATES):
        asked.append(f"--iw {','.join(map(str, problem.windows))}")
    if problem.run != 1:
        asked.append(f"--run {problem.run}")
    return " ".join(asked)


def _pages_option(replay: Replay) -> str:
    """The option for the number of pages, unless all were replayed."""
    pages = replay.provenance.get("recipes", {}).get("pages")
    return f" --pages {pages}" if pages and pages < replay.provenance["pages_there"] else ""


def _network_options(replay: Replay) -> str:
    """Options for the replay's profiles, or for its population if it was stored or imported from a file."""
    average = next(one for one in replay.populations if not one["slow"])
    if average.get("is_stored"):
        return f"--population {average['id']} --networks {len(replay.own_profiles)}"
    if average["id"] in {one.id for one in POPULATIONS}:
        return f"--profiles {','.join(profile['id'] for profile in replay.profiles)}"
    return (
        f"--population {average['id']}.csv --networks {len(replay.own_profiles)} --population-measured {average['measured']} "
        f"--population-source {shlex.quote(average['source'])}"
    )


def _few_pages_options(replay: Replay) -> str:
    """Options for the harm conditions and the ends of inputs that were replayed, both on the same few pages."""
    cells = replay.cells.select(["visit_id", "background_load", "discovery"])
    harm = cells.filter(pc.field("background_load").is_valid())
    ends = cells.filter(pc.field("discovery") == FIRST_BYTE)
    options = ""
    if harm.num_rows:
        options += f" --harm {'all' if HIGH_LOAD in harm['background_load'].to_pylist() else 'core'}"
    if has_ends(replay.provenance):
        options += " --sensitivity"
    pages = {*harm["visit_id"].to_pylist(), *ends["visit_id"].to_pylist()}
    return f"{options} --harm-pages {len(pages)}" if options else ""


def has_ends(provenance: Mapping[str, Any]) -> bool:
    """Return whether a replay has loads at the ends of the inputs."""
    there = [ADDED_COLUMNS | one for one in provenance.get("parameters", {}).get("conditions", [])]
    return all(end.conditions.columns() in there for end in ENDS if not end.population)
