"""The folder of a replay: its stages, each whole or not at all.

replays/CRAWL.CHECKSUM/
    verdict.json, of a decision
    stage-01/ cells.parquet stage.json manifest.json SHA256SUMS
    arm-bbr/    the same files of loads under another input (verdict/arms.py)
    stage-02.parts/    parts of the stage in progress (replay/runs/parts.py)

A replay of every page over every network is one stage.
"""

import functools
import itertools
import json
import resource
from collections.abc import Sequence
from pathlib import Path

import pyarrow as pa

from replay.errors import ReplayError
from replay.lab.guest_process import Lab
from replay.runs.cells import Cell
from replay.runs.facts import LoadsPlan, PlannedStage, StageFacts
from replay.runs.guests import GuestProgress
from replay.runs.parts import count_parts, join_parts, parts_folder, plan_of, replay_part, replay_parts
from replay.runs.replay_folder import FORMAT_VERSION, read_cells
from replay.runs.run import ReplayResult
from storage.signatures import Signer
from storage.staging import put_file_in_place
from storage.sums import broken_sums
from verdict.arms import LOADED
from verdict.deciding import Loaded
from verdict.evidence import read_evidence
from verdict.question import ReplayQuestion, network_of
from verdict.sampling import Prices, StagePlan

NETWORK_LOADS = 3
"""In loads: the calibration of a network's topology."""


class Stages:
    """Replays the stages of a question into a folder, or reads those that are stored there."""

    def __init__(
        self,
        folder: Path,
        question: ReplayQuestion,
        lab: Lab,
        facts: LoadsPlan,
        *,
        guests: int,
        signer: Signer | None = None,
    ) -> None:
        """Read nothing yet. `facts` are what the loads depend on besides the question."""
        self.folder, self.question, self.lab, self.guests, self.signer = folder, question, lab, guests, signer
        self.facts: LoadsPlan = {
            **facts,
            "format_version": FORMAT_VERSION,
            "programs": dict(lab.sums()),
        }
        self.progress: GuestProgress | None = None
        self._tables: list[pa.Table] = []
        self._core_s = 0.0

    def __call__(self, plans: Sequence[StagePlan]) -> Loaded:
        """Load the last stage, and return all loads so far; ReplayError."""
        place = self.folder / stage_name(len(plans))
        facts: LoadsPlan = {**self.facts, "stage": stage_facts(plans[-1])}
        self._core_s += self._load(place, self.question.cells(plans), facts)["core_s"]
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
            evidence=read(conditions=self.question.conditions),
            everyone=read(conditions=self.question.everyone)
            if any(plan.everyone for plan in plans)
            else None,
            seconds=self._core_s,
            prices=Prices(network=NETWORK_LOADS * load_s, load=load_s),
        )

    def arm(self, name: str) -> None:
        """Load an arm, unless it is stored; ReplayError."""
        arm, place = LOADED[name], self.folder / f"arm-{name}"
        facts: LoadsPlan = {**self.facts, "stage": stage_facts(arm.plan), "arm": name}
        self._load(place, arm.question(self.question).cells([arm.plan]), facts)

    def _load(self, place: Path, cells: list[Cell], facts: LoadsPlan) -> StageFacts:
        plan = plan_of(facts, cells, responses=False)
        return load_stage(
            place, cells, plan, self.lab, guests=self.guests, progress=self.progress, signer=self.signer
        )


def load_stage(
    place: Path,
    cells: Sequence[Cell],
    plan: LoadsPlan,
    lab: Lab,
    *,
    guests: int,
    progress: GuestProgress | None = None,
    signer: Signer | None = None,
) -> StageFacts:
    """Load a stage, unless it is stored, in parts; return its facts. ReplayError."""
    if not place.exists():
        total, spent = count_parts(cells, guests=guests), CoreSeconds(parts_folder(place) / "core_s")

        def one_part(share: Sequence[Cell], number: int) -> ReplayResult:
            result = replay_part(lab, share, number, progress=progress, responses=plan["responses"])
            spent.store()
            return result

        replay_parts(cells, place, plan, total, guests=guests, replayer=one_part)
        # Of stages, what they cost decides what is loaded next; all else made again has the same checksums.
        join_parts(place, plan, total, core_s=spent.seconds if "stage" in plan else None, signer=signer)
    return read_stage(place, plan)


def stage_name(number: int) -> str:
    return f"stage-{number:02}"


def stage_places(folder: Path) -> list[Path]:
    """Return whole stages in order, then arms."""
    stages = itertools.takewhile(Path.exists, (folder / stage_name(at) for at in itertools.count(1)))
    return [
        *stages,
        *(place for place in (folder / f"arm-{name}" for name in LOADED) if place.exists()),
    ]


def sites_in(plan: LoadsPlan) -> dict[int, int] | None:
    """Return each page's site by visit; None where a page is its own."""
    sites = plan.get("sites")
    return None if sites is None else {int(visit): site for visit, site in sites.items()}


def read_facts(place: Path) -> StageFacts:
    """Return the facts of a stage or arm; ReplayError if it is damaged."""
    if broken := broken_sums(place):
        raise ReplayError(f"{place} is damaged ({', '.join(broken)}): remove it and all later stages")
    facts: StageFacts = json.loads((place / "stage.json").read_text(encoding="utf-8"))
    return facts


def read_stages(folder: Path) -> tuple[list[pa.Table], list[StageFacts]]:
    """Return loads and facts of each stage and arm; ReplayError if one is damaged."""
    places = stage_places(folder)
    facts = [read_facts(place) for place in places]
    return [read_cells(place) for place in places], facts


def read_stage(place: Path, plan: LoadsPlan) -> StageFacts:
    """Return a stage's facts; ReplayError if it is damaged or of another plan."""
    facts = read_facts(place)
    named = {*plan, *facts["plan"]} - {"commit"}  # kernel, programs and player are named by themselves
    other = sorted(name for name in named if facts["plan"].get(name) != plan.get(name))
    if other:
        raise ReplayError(
            f"{place} was loaded with another {' and '.join(other)}: go on with what made it, or remove "
            f"{place.parent} to begin again"
        )
    return facts


def stage_facts(plan: StagePlan) -> PlannedStage:
    """Return a stage as JSON; older ones are stored without an `everyone_share` of 1."""
    facts: PlannedStage = {
        "networks": {str(stratum): count for stratum, count in plan.networks.items()},
        "pages": plan.pages,
        "windows": [str(window) for window in plan.windows],
        "again": plan.again,
        "everyone": [str(window) for window in plan.everyone],
    }
    if plan.everyone_share != 1:
        facts["everyone_share"] = plan.everyone_share
    return facts


class CoreSeconds:
    """CPU seconds of the guests of a stage, also of those that ran before it was stopped."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._before = (float(path.read_text(encoding="utf-8")) if path.exists() else 0.0) - _children_s()

    @property
    def seconds(self) -> float:
        return self._before + _children_s()

    def store(self) -> None:
        self._path.parent.mkdir(parents=True, exist_ok=True)
        with put_file_in_place(self._path) as half:
            half.write_text(str(self.seconds), encoding="utf-8")


def _children_s() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime
