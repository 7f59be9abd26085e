"""The folder of a replay in stages: each stage whole or not at all, and the answer so far.

replays/NAME.PLAN.stages/
    decision.json
    stage-01/ cells.parquet stage.json manifest.json SHA256SUMS

PLAN is the beginning of a hash of everything that the loads depend on: another version of the code, other pages or another run
have another folder.
"""

from __future__ import annotations

import dataclasses
import glob
import hashlib
import itertools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pyarrow as pa

from replay.errors import ReplayError
from replay.runs.replay_folder import origin, read_cells, write_cells, write_facts
from reports.decision.problem import Part
from reports.decision.record import to_dict
from reports.decision.stage import Stage
from reports.decision.until_decided import Outcome
from schema.computed_tables import CELL
from storage.staging import put_file_in_place, put_in_place
from storage.sums import broken_sums, checksum_of, seal

HASH_LENGTH = 8


class StageError(ReplayError):
    """A stored stage is damaged."""


def stages_folder(replay: Path, plan: Mapping[str, Any]) -> Path:
    """The folder of the stages of a plan, for a replay in the folder `replay`."""
    said = hashlib.sha256(json.dumps(plan, sort_keys=True).encode()).hexdigest()
    return replay.with_name(f"{replay.name}.{said[:HASH_LENGTH]}.stages")


def stages_folders(replay: Path) -> dict[str, Path]:
    """The folders of stages of every plan by the plan's name, for a replay in the folder `replay`."""
    found = replay.parent.glob(f"{glob.escape(replay.name)}.{'[0-9a-f]' * HASH_LENGTH}.stages")
    return {path.name.split(".")[-2]: path for path in sorted(found)}


def read_stage_facts(folder: Path) -> list[dict[str, Any]]:
    """What each stage says of its plan, its guests and its cost, in order."""
    places = itertools.takewhile(Path.exists, (_place(folder, number) for number in itertools.count(1)))
    return [json.loads((place / "stage.json").read_text(encoding="utf-8")) for place in places]


def stages_checksum(folder: Path) -> str:
    """A checksum of all stages: of those of their SHA256SUMS, in order."""
    places = itertools.takewhile(Path.exists, (_place(folder, number) for number in itertools.count(1)))
    return hashlib.sha256("\n".join(checksum_of(place) for place in places).encode()).hexdigest()


def read_stages(folder: Path) -> list[Stage]:
    """The stages that are done, in order; StageError if one is damaged."""
    found: list[Stage] = []
    for number in itertools.count(1):
        place = _place(folder, number)
        if not place.exists():
            return found
        if broken := broken_sums(place):
            raise StageError(f"{place} is damaged ({', '.join(broken)}): remove it and all later stages")
        facts = json.loads((place / "stage.json").read_text(encoding="utf-8"))
        rows = read_cells(place).to_pylist()
        parts = tuple(_part(one) for one in facts["parts"])
        numbers = {name: facts[name] for name in ("fraction", "wall_s", "core_s", "planned_s")}
        found.append(Stage(parts=parts, rows=rows, **numbers))
    raise AssertionError


def write_stage(
    folder: Path, number: int, stage: Stage, plan: Mapping[str, Any], guests: Mapping[str, Any]
) -> None:
    """Write a stage; `guests` are the facts of its guests."""
    facts = {
        "plan": plan,
        "number": number,
        "parts": [dataclasses.asdict(part) for part in stage.parts],
        "fraction": stage.fraction,
        "core_s": stage.core_s,
        "planned_s": stage.planned_s,
        **guests,
        "wall_s": stage.wall_s,
    }
    with put_in_place(_place(folder, number)) as place:
        write_cells(place, pa.Table.from_pylist(list(stage.rows), schema=CELL))
        write_facts(place / "stage.json", facts)
        seal(place, {"kind": "stage", **origin({**plan, **facts})})


def write_outcome(folder: Path, outcome: Outcome) -> None:
    """Write the answer so far."""
    folder.mkdir(parents=True, exist_ok=True)
    with put_file_in_place(folder / "decision.json") as path:
        write_facts(path, to_dict(outcome))


def _place(folder: Path, number: int) -> Path:
    return folder / f"stage-{number:02}"


def _part(facts: Mapping[str, Any]) -> Part:
    return Part(
        condition=facts["condition"],
        counts=tuple(facts["counts"]),
        first=facts["first"],
        windows=tuple(facts["windows"]),
        again=facts["again"],
    )
