"""The folder of a decision: its stages, each whole or not at all.

decisions/NAME/
    verdict.json
    stage-01/ cells.parquet stage.json manifest.json SHA256SUMS
    arm-bbr/    the same files of loads under another input (verdict/arms.py)
    stage-02.parts/    parts of the stage in progress (replay/runs/parts.py)
"""

import dataclasses
import functools
import itertools
import json
import resource
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from replay.errors import ReplayError
from replay.lab.guest_process import Lab
from replay.runs.cells import Cell
from replay.runs.guests import Progress
from replay.runs.parts import count_parts, plan_of, read_parts, remove_parts, replay_part, replay_parts
from replay.runs.replay_folder import read_cells, store_loads
from storage.sums import broken_sums
from verdict.arms import ARMS, SAME, arm_of
from verdict.deciding import Loaded
from verdict.evidence import read_evidence
from verdict.question import Question, network_of
from verdict.sampling import Plan, Prices

FORMAT_VERSION = 1

NETWORK_LOADS = 3
"""What a network costs besides its loads, in loads: the calibration of its topology."""


class Stages:
    """Replays the stages of a question into a folder, or reads those that are stored there."""

    def __init__(
        self, folder: Path, question: Question, lab: Lab, facts: Mapping[str, Any], *, guests: int
    ) -> None:
        """Read and replay nothing yet. `facts` are what the loads depend on besides the question."""
        self.folder, self.question, self.lab, self.guests = folder, question, lab, guests
        self.facts = {**facts, "format_version": FORMAT_VERSION, "programs": dict(lab.sums())}
        self.progress: Progress | None = None
        self._tables: list[pa.Table] = []
        self._core_s = 0.0

    def __call__(self, plans: Sequence[Plan]) -> Loaded:
        """Load the last stage, and return all loads so far; raises ReplayError."""
        place = self.folder / f"stage-{len(plans):02}"
        cells = self.question.cells(plans)
        plan = plan_of({**self.facts, "stage": stage_facts(plans[-1])}, cells, responses=False)
        if not place.exists():
            self._replay(place, cells, plan)
        self._core_s += read_stage(place, plan)["core_s"]
        self._tables.append(read_cells(place))
        loads = pa.concat_tables(self._tables)
        networks = [network_of(network) for stage in self.question.networks(plans) for network in stage]
        read = functools.partial(
            read_evidence,
            loads,
            networks,
            incumbent=self.question.incumbent,
            sites=sites_in(self.facts),
        )
        load_s = self._core_s / (len(loads) + NETWORK_LOADS * len(networks))
        return Loaded(
            evidence=read(arm=self.question.conditions),
            everyone=read(arm=self.question.everyone) if any(plan.everyone for plan in plans) else None,
            seconds=self._core_s,
            prices=Prices(network=NETWORK_LOADS * load_s, load=load_s),
        )

    def arm(self, name: str) -> None:
        """Load an arm, unless it is stored; raises ReplayError."""
        arm, place = arm_of(name, self.facts["rule_version"]), self.folder / f"arm-{name}"
        cells = arm.question(self.question).cells([arm.plan])
        plan = plan_of({**self.facts, "stage": stage_facts(arm.plan), "arm": name}, cells, responses=False)
        if not place.exists():
            self._replay(place, cells, plan)
        read_stage(place, plan)

    def _replay(self, place: Path, cells: list[Cell], plan: Mapping[str, Any]) -> None:
        pieces, used = count_parts(cells, guests=self.guests), children_s()
        one_part = functools.partial(replay_part, self.lab, progress=self.progress)
        replay_parts(cells, place, plan, pieces, guests=self.guests, replayer=one_part)
        table, facts = read_parts(place, plan, pieces)
        if "done" not in table["state"].to_pylist():
            raise ReplayError(f"no load was done: {table['reason'][0]}")
        facts = {**facts, "core_s": children_s() - used}
        store_loads(place, "stage", table, {"plan": plan, **facts})
        remove_parts(place)


def stage_places(folder: Path) -> list[Path]:
    """Return the folders of a decision's whole stages in order, then of its arms."""
    stages = itertools.takewhile(Path.exists, (folder / f"stage-{at:02}" for at in itertools.count(1)))
    return [
        *stages,
        *(place for place in (folder / f"arm-{name}" for name in (*ARMS, SAME.id)) if place.exists()),
    ]


def sites_in(plan: Mapping[str, Any]) -> dict[int, int] | None:
    """Return the number of each page's site by visit, as a plan has it; None where a page is a site of its
    own."""
    sites = plan.get("sites")
    return None if sites is None else {int(visit): site for visit, site in sites.items()}


def read_facts(place: Path) -> dict[str, Any]:
    """Return what a stage or an arm says of itself; ReplayError if it is damaged."""
    if broken := broken_sums(place):
        raise ReplayError(f"{place} is damaged ({', '.join(broken)}): remove it and all later stages")
    facts: dict[str, Any] = json.loads((place / "stage.json").read_text(encoding="utf-8"))
    return facts


def read_stages(folder: Path) -> tuple[list[pa.Table], list[dict[str, Any]]]:
    """Return the loads and facts of each stage and arm of a decision; ReplayError if one is damaged."""
    places = stage_places(folder)
    facts = [read_facts(place) for place in places]
    return [read_cells(place) for place in places], facts


def read_stage(place: Path, plan: Mapping[str, Any]) -> dict[str, Any]:
    """Return what a stage says of itself; ReplayError if it is damaged or of another plan."""
    facts = read_facts(place)
    named = {*plan, *facts["plan"]} - {"commit"}  # kernel, programs and player are named by themselves
    other = sorted(name for name in named if facts["plan"].get(name) != plan.get(name))
    if other:
        raise ReplayError(
            f"{place} was loaded with another {' and '.join(other)}: go on with what made it, or remove "
            f"{place.parent} to begin again"
        )
    return facts


def stage_facts(plan: Plan) -> dict[str, Any]:
    """Return a stage as JSON; of one that loads `everyone` in every draw no share, as older ones have it."""
    windows = {name: [str(window) for window in getattr(plan, name)] for name in ("windows", "everyone")}
    facts = dataclasses.asdict(plan) | windows
    if plan.everyone_share == 1:
        del facts["everyone_share"]
    return facts


def children_s() -> float:
    """Return the CPU seconds of all guests that have ended so far."""
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
