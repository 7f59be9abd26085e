"""The commands that rebuild a report from its release."""

from __future__ import annotations

import shlex

import pyarrow.compute as pc

from replay.networks.populations import POPULATIONS
from reports.decision.stored_problem import StagedReplay
from reports.document.report_inputs import Replay, ReportInputs
from reports.recommendation.harm_conditions import HIGH_LOAD
from reports.recommendation.rule import CANDIDATES


def rebuild_commands(inputs: ReportInputs) -> list[str]:
    """Command lines that verify the release, replay its pages and build the report."""
    name, replay = inputs.release.manifest.crawl, inputs.replay
    commands = [f"firstflight release verify --offline --crawl {name}"]
    if replay:
        parameters = replay.provenance.get("parameters", {})
        windows = ",".join(str(window) for window in parameters.get("windows", []))
        seeds = len(parameters.get("seeds", []))
        commands.append(
            f"firstflight replay run --crawl {name} --iw {windows} {_network_options(replay)} "
            f"--seeds {seeds}{_harm_options(replay)}"
        )
    if inputs.staged:
        commands.append(decision_command(str(name), inputs.staged))
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


def _network_options(replay: Replay) -> str:
    """Options for the replay's profiles, or for its population if it was stored or imported from a file."""
    average = next(one for one in replay.populations if not one["slow"])
    if average.get("is_stored"):
        return f"--population {average['id']} --networks {len(replay.profiles)}"
    if average["id"] in {one.id for one in POPULATIONS}:
        return f"--profiles {','.join(profile['id'] for profile in replay.profiles)}"
    return (
        f"--population {average['id']}.csv --networks {len(replay.profiles)} --population-measured {average['measured']} "
        f"--population-source {shlex.quote(average['source'])}"
    )


def _harm_options(replay: Replay) -> str:
    """Options for the harm conditions that were replayed."""
    rows = replay.cells.filter(pc.field("background_load").is_valid()).select(["visit_id", "background_load"])
    if not rows.num_rows:
        return ""
    which = "all" if HIGH_LOAD in rows["background_load"].to_pylist() else "core"
    return f" --harm {which} --harm-pages {len(set(rows['visit_id'].to_pylist()))}"
