"""The folder of a replay in stages: each stage whole or not at all, what it decided,
and the stage in progress.

replays/NAME.PLAN.stages/
    decision.json
    stage-01/ cells.parquet stage.json manifest.json SHA256SUMS
    stage-02.begun.json
    stage-02.run.chunks/1-of-15/ cells.parquet chunk.json manifest.json SHA256SUMS

PLAN is the beginning of a hash of everything that the loads depend on: another version of the code, other
pages or another run have another folder. A stage in progress keeps its plan and its parts
(replay/runs/parts.py), so that a run that is stopped, however it is stopped, goes on with the very loads that
it had planned.
"""

import dataclasses
import glob
import hashlib
import itertools
import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa

from replay.errors import ReplayError
from replay.runs.initial_window import window_of
from replay.runs.parts import remove_parts
from replay.runs.replay_folder import is_same_plan, origin, read_cells, write_cells, write_facts
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


def all_stages_folders(replay: Path) -> dict[str, Path]:
    """The folders of every plan by the plan's name, for a replay in the folder `replay`,
    also those without a whole stage."""
    found = replay.parent.glob(f"{glob.escape(replay.name)}.{'[0-9a-f]' * HASH_LENGTH}.stages")
    return {path.name.split(".")[-2]: path for path in sorted(found)}


def stages_folders(replay: Path) -> dict[str, Path]:
    """The folders of every plan that has a whole stage."""
    return {name: path for name, path in all_stages_folders(replay).items() if stage_place(path, 1).exists()}


def read_stage_facts(folder: Path) -> list[dict[str, Any]]:
    """What each stage says of its plan, its guests and its cost, in order."""
    places = itertools.takewhile(Path.exists, (stage_place(folder, number) for number in itertools.count(1)))
    return [json.loads((place / "stage.json").read_text(encoding="utf-8")) for place in places]


def stages_checksum(folder: Path) -> str:
    """A checksum of all stages: of those of their SHA256SUMS, in order."""
    places = itertools.takewhile(Path.exists, (stage_place(folder, number) for number in itertools.count(1)))
    return hashlib.sha256("\n".join(checksum_of(place) for place in places).encode()).hexdigest()


def read_stages(folder: Path) -> list[Stage]:
    """The stages that are done, in order; StageError if one is damaged."""
    found: list[Stage] = []
    for number in itertools.count(1):
        place = stage_place(folder, number)
        if not place.exists():
            return found
        if broken := broken_sums(place):
            raise StageError(f"{place} is damaged ({', '.join(broken)}): remove it and all later stages")
        facts = json.loads((place / "stage.json").read_text(encoding="utf-8"))
        rows = read_cells(place).to_pylist()
        parts = tuple(_part(one) for one in facts["parts"])
        numbers = {name: facts[name] for name in ("fraction", "wall_s", "core_s", "planned_s")}
        times = {"starts": tuple(facts["starts"]), "ended": facts["ended"]}
        found.append(Stage(parts=parts, rows=rows, **numbers, **times))
    raise AssertionError


def write_stage(
    folder: Path, number: int, stage: Stage, plan: Mapping[str, Any], guests: Mapping[str, Any]
) -> None:
    """Write a stage, and remove what was kept of it while it was in progress.

    `guests` are the facts of its guests.
    """
    facts = {
        "plan": plan,
        "number": number,
        "parts": [_part_facts(part) for part in stage.parts],
        "fraction": stage.fraction,
        "core_s": stage.core_s,
        "planned_s": stage.planned_s,
        **guests,
        "wall_s": stage.wall_s,
        "starts": list(stage.starts),
        "ended": stage.ended,
    }
    with put_in_place(stage_place(folder, number)) as place:
        write_cells(place, pa.Table.from_pylist(list(stage.rows), schema=CELL))
        write_facts(place / "stage.json", facts)
        seal(place, {"kind": "stage", **origin({**plan, **facts})})
    _begun_path(folder, number).unlink(missing_ok=True)
    remove_parts(stage_place(folder, number))


def write_outcome(folder: Path, outcome: Outcome, ledger: Sequence[Mapping[str, Any]]) -> None:
    """Write the answer so far, and what each stage decided."""
    folder.mkdir(parents=True, exist_ok=True)
    with put_file_in_place(folder / "decision.json") as path:
        write_facts(path, to_dict(outcome) | {"ledger": list(ledger)})


@dataclasses.dataclass(frozen=True, slots=True, kw_only=True)
class Begun:
    """A stage in progress. The plan of its loads stands, whatever time its stops have taken."""

    plan: Mapping[str, Any]
    parts: tuple[Part, ...]
    pieces: int
    """Number of parts that its loads are stored in as they end (replay/runs/parts.py)."""
    programs: Mapping[str, str]
    """SHA-256 of the kernel's image and of the player."""
    starts: tuple[str, ...]
    """Times in UTC at which it was begun, and gone on with after a stop."""


def read_begun(folder: Path, number: int) -> Begun | None:
    """The stage in progress, if it is this one."""
    path = _begun_path(folder, number)
    if not path.exists():
        return None
    facts = json.loads(path.read_text(encoding="utf-8"))
    return Begun(
        plan=facts["plan"],
        parts=tuple(_part(one) for one in facts["parts"]),
        pieces=facts["pieces"],
        programs=facts["programs"],
        starts=tuple(facts["starts"]),
    )


def write_begun(folder: Path, number: int, begun: Begun) -> Path:
    """Write what a stage in progress is, and return the path that its parts are stored beside."""
    folder.mkdir(parents=True, exist_ok=True)
    facts = dataclasses.asdict(begun) | {"parts": [_part_facts(part) for part in begun.parts]}
    with put_file_in_place(_begun_path(folder, number)) as path:
        write_facts(path, facts)
    return stage_place(folder, number)


def check_programs(folder: Path, programs: Mapping[str, str]) -> None:
    """Raise StageError if a stage, or the parts of one in progress,
    are by another kernel or player than these `programs`."""
    facts = read_stage_facts(folder)
    begun = read_begun(folder, len(facts) + 1)
    found = [one for said in facts for one in said["programs"]] + ([begun.programs] if begun else [])
    other = sorted({name for one in found for name in programs if one.get(name) != programs[name]})
    if other:
        raise StageError(
            f"the loads in {folder} were made by another build of the {' and the '.join(other)}: go on with "
            "that build, or remove the folder to begin again"
        )


def check_unfinished(folder: Path, replay: Path, plan: Mapping[str, Any]) -> None:
    """Raise StageError if another plan of the same question was begun and not ended,
    and this one would begin it again.

    Such a plan differs by its code, its kernel or its release: its loads cannot be joined with new ones.
    """
    if folder.exists():
        return
    for other in all_stages_folders(replay).values():
        there = _plan_in(other)
        if there is None or _is_over(other) or _question(there) != _question(plan):
            continue
        names = sorted(name for name in {*plan, *there} if there.get(name) != plan.get(name))
        told = [f"{name} ({there[name]}, now {plan[name]})" if name == "commit" else name for name in names]
        raise StageError(
            f"{other} has an unfinished run that differs by its {', '.join(told)}: go on with what made it, "
            "or remove the folder to begin again"
        )


def decided_before(replay: Path, plan: Mapping[str, Any]) -> Path | None:
    """The folder of whole stages that are over and of this plan, whatever their commit.

    None if there is none.
    """
    for folder in stages_folders(replay).values():
        there = _plan_in(folder)
        if there is not None and _is_over(folder) and is_same_plan(there, plan):
            return folder
    return None


def _plan_in(folder: Path) -> Mapping[str, Any] | None:
    facts, begun = read_stage_facts(folder), read_begun(folder, 1)
    return facts[0]["plan"] if facts else begun.plan if begun else None


def _is_over(folder: Path) -> bool:
    path = folder / "decision.json"
    if not path.exists():
        return False
    said = json.loads(path.read_text(encoding="utf-8"))
    return bool(said["is_settled"] or said["part_of_budget"] >= 1 or said["is_sound"] is False)


def _question(plan: Mapping[str, Any]) -> tuple[Any, ...]:
    """What the user asks: the number of the run, candidates, conditions, networks and how many pages."""
    parameters = plan["parameters"]
    return (
        plan["run"],
        plan["candidates"],
        parameters["conditions"],
        [one["id"] for one in plan["profiles"]],
        [one["id"] for one in plan["populations"]],
        plan["recipes"]["pages"],
    )


def _begun_path(folder: Path, number: int) -> Path:
    return folder / f"stage-{number:02}.begun.json"


def stage_place(folder: Path, number: int) -> Path:
    """The folder of a stage among those of its plan."""
    return folder / f"stage-{number:02}"


def _part_facts(part: Part) -> dict[str, Any]:
    return dataclasses.asdict(part) | {"windows": list(map(repr, part.windows))}


def _part(facts: Mapping[str, Any]) -> Part:
    return Part(
        condition=facts["condition"],
        counts=tuple(facts["counts"]),
        first=facts["first"],
        windows=tuple(map(window_of, facts["windows"])),
        again=facts["again"],
    )
