"""The folder `loads` of a report, and the replays that are put together from it again.

loads/stages.parquet    the loads of a replay in stages
loads/full.parquet      the loads of the full replay that decides, or stands beside the stages
loads/facts.parquet     what each stage, the full replay and the back-cast say of themselves, as JSON
"""

import contextlib
import dataclasses
import json
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from releases.catalogue import Release
from replay.runs.replay_folder import write_cells, write_facts
from reports.backcast.stored import FILE as BACKCAST_FILE
from reports.decision.stored_problem import StagedReplay
from reports.decision.stored_stages import stage_place
from reports.inputs.report_inputs import ReportInputs
from reports.loads.columns import DECIDING, LEVEL, MEASURED, STAGE, read_loads, write_loads
from schema.computed_tables import CELL
from storage.sums import seal

FOLDER = "loads"
"""Name of the folder beside the page."""

Which = Literal["all", "stages", "none"]
"""Which loads a report carries: of all its replays, of the stages alone, or none."""

STAGES, FULL, FACTS = "stages.parquet", "full.parquet", "facts.parquet"

OF_THE_REPLAY, OF_THE_BACKCAST = "full replay", "back-cast"
"""Names in facts.parquet; a stage has its number as its name."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Unpacked:
    """Folders of what was put together again; each is missing if the report does not carry it."""

    replays: Path
    backcast: Path
    has_full: bool
    """True if the full replay is there."""


def carry_loads(folder: Path, inputs: ReportInputs, which: Which) -> None:
    """Write the loads of a report's replays into its new folder; nothing without a replay."""
    staged, replay = inputs.staged, inputs.replay if which == "all" else None
    if which == "none" or (staged is None and replay is None):
        return
    place = folder / FOLDER
    place.mkdir()
    facts: dict[str, Mapping[str, Any]] = {}
    if staged is not None:
        write_loads(place / STAGES, _cells_of(staged), DECIDING)
        facts |= {str(number): one for number, one in enumerate(staged.facts, start=1)}
    if replay is not None:
        write_loads(place / FULL, replay.cells, DECIDING if staged else MEASURED)
        facts[OF_THE_REPLAY] = replay.provenance
    if inputs.instrument.content is not None:
        facts[OF_THE_BACKCAST] = inputs.instrument.content
    said = [json.dumps(_without_guests(one), sort_keys=True) for one in facts.values()]
    pq.write_table(
        pa.table({"of": [*facts], "json": said}),
        place / FACTS,
        compression="zstd",
        compression_level=LEVEL,
        use_dictionary=False,
        write_statistics=False,
        store_schema=False,
    )


@contextlib.contextmanager
def unpacked(folder: Path, release: Release, *, plan: str | None) -> Iterator[Unpacked | None]:
    """The replays that the report in `folder` carries, of stages by a plan if it has stages,
    until the block ends; None without any.

    They name `release`, which may be another build of the one that they were made from.
    """
    place = folder / FOLDER
    if not (place / FACTS).is_file():
        yield None
        return
    said = pq.ParquetFile(place / FACTS).read().to_pylist()
    facts = {one["of"]: _of_release(json.loads(one["json"]), release.checksum) for one in said}
    crawl = str(release.crawl)
    with tempfile.TemporaryDirectory() as made:
        found = Unpacked(
            replays=Path(made) / "replays",
            backcast=Path(made) / "backcast",
            has_full=OF_THE_REPLAY in facts,
        )
        if plan is not None:
            cells = read_loads(place / STAGES)
            for number in sorted(int(name) for name in facts if name.isdecimal()):
                of_stage = cells.filter(pc.field(STAGE) == number).select(CELL.names)
                there = stage_place(found.replays / f"{crawl}.{plan}.stages", number)
                _write(there, "stage.json", facts[str(number)], of_stage)
        if found.has_full:
            _write(found.replays / crawl, "replay.json", facts[OF_THE_REPLAY], read_loads(place / FULL))
        if OF_THE_BACKCAST in facts:
            _write(found.backcast, BACKCAST_FILE, facts[OF_THE_BACKCAST], None)
        yield found


def _cells_of(staged: StagedReplay) -> pa.Table:
    """The loads of all stages, each with the number of its stage."""
    tables = [pa.Table.from_pylist(list(stage.rows), schema=CELL) for stage in staged.stages]
    numbers = [number for number, table in enumerate(tables, start=1) for _ in range(table.num_rows)]
    return pa.concat_tables(tables).append_column(STAGE, pa.array(numbers, pa.int32()))


def _without_guests(facts: Mapping[str, Any]) -> dict[str, Any]:
    """The facts without the calibration checks that passed and without the times of guests,
    of which no number is made."""
    kept = {name: value for name, value in facts.items() if name != "guests"}
    if "gates" in kept:
        kept["gates"] = [one for one in kept["gates"] if not one["passed"]]
    return kept


def _of_release(facts: dict[str, Any], checksum: str) -> dict[str, Any]:
    """The facts of a replay or of a stage with another checksum of the release."""
    if "plan" in facts:
        return facts | {"plan": _of_release(facts["plan"], checksum)}
    return facts | {"release": facts["release"] | {"checksum": checksum}} if "release" in facts else facts


def _write(folder: Path, name: str, facts: Mapping[str, Any], cells: pa.Table | None) -> None:
    folder.mkdir(parents=True)
    if cells is not None:
        write_cells(folder, cells)
    write_facts(folder / name, facts)
    seal(folder, {"kind": FOLDER})
