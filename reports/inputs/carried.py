"""The loads that a report carries, so that its numbers can be computed again without a replay.

loads/loads.parquet     every load, with the number of its stage; times in whole microseconds if exact so
loads/facts.parquet     what each stage says of itself, and the back-cast, as JSON

Stages are numbered through all lists of pages, of which the first decides.
"""

import itertools
import json
import operator
from dataclasses import replace
from pathlib import Path

import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from releases.catalogue import Release
from replay.runs.facts import StageFacts
from replay.runs.replay_folder import as_cells
from reports.inputs.replays import Replay, ReportError
from schema.computed_tables import CELL_KEY
from storage.signatures import find_faults
from storage.sums import MANIFEST, manifest_of
from verdict.calibration import BackCast, BackCastFinding, finding_of
from verdict.evidence import COLUMNS
from verdict.rule import VERSION as RULE_VERSION

FOLDER = "loads"

LOADS, FACTS = "loads.parquet", "facts.parquet"

STAGE = "stage"

BACKCAST = "back-cast"

KEPT = (*(name for name in CELL_KEY if name != "queue_bytes"), "state", *COLUMNS)


SPLIT = (
    *("page_ms", "response_latency_ms", "short_flow_ms", "handshake_max_ms"),
    *("bytes_retransmitted", "bytes_dropped", "bytes_spurious"),
)
"""Columns whose bytes are stored apart, as the high ones are alike."""

PLAIN = ("document_ms", "first_byte_ms", "payload_bytes")
"""Columns whose numbers repeat from window to window, and are smallest as they are."""


def carry_loads(folder: Path, replay: Replay | None, backcast: BackCast | None) -> None:
    """Write the loads of a report's replay, and of those that are to confirm it."""
    if replay is None:
        return
    place = folder / FOLDER
    place.mkdir()
    every = (replay, *replay.confirming)
    tables = [
        table.select(list(KEPT)).append_column(STAGE, pa.array([number] * len(table), pa.int32()))
        for number, table in enumerate((table for each in every for table in each.loads), start=1)
    ]
    order = [(name, "ascending") for name in (STAGE, "visit_id", "profile", "seed", "iw", "policy")]
    whole = pa.concat_tables(tables).sort_by(order)
    whole = pa.table({name: _in_microseconds(name, whole[name]) for name in whole.column_names})
    split = [name for name in SPLIT if pa.types.is_integer(whole[name].type)]
    coded = [name for name in whole.column_names if name not in (*split, *PLAIN)]
    pq.write_table(
        whole,
        place / LOADS,
        compression="zstd",
        compression_level=22,
        store_schema=False,
        write_statistics=False,
        use_byte_stream_split=split,
        use_dictionary=coded,
    )
    stages = (stage for each in every for stage in each.facts)
    facts = [(str(number), _condense(stage)) for number, stage in enumerate(stages, start=1)]
    if backcast is not None:
        facts.append((BACKCAST, dict(backcast)))
    written = {
        "of": [name for name, _ in facts],
        "json": [json.dumps(content, sort_keys=True) for _, content in facts],
    }
    pq.write_table(
        pa.table(written),
        place / FACTS,
        compression="zstd",
        compression_level=22,
        store_schema=False,
        write_statistics=False,
    )


def _condense(facts: StageFacts) -> dict[str, object]:
    """Return what a stage says of itself; of a passed check only that it passed."""
    gates = [{"passed": True} if check["passed"] else check for check in facts.get("gates", ())]
    kept = {name: value for name, value in facts.items() if name != "guests"}
    return kept | {"gates": gates} if gates else kept


def _is_in_microseconds(name: str, values: pa.ChunkedArray) -> bool:
    return name.endswith("_ms") and pa.types.is_integer(values.type)


def _in_microseconds(name: str, values: pa.ChunkedArray) -> pa.ChunkedArray:
    """Return exact milliseconds as whole microseconds, in a third less room."""
    if not name.endswith("_ms") or not pa.types.is_floating(values.type):
        return values
    whole = pc.cast(pc.round(pc.multiply(values, 1e3)), pa.int64())
    return whole if _in_milliseconds(whole).equals(values) else values


def _in_milliseconds(whole: pa.ChunkedArray) -> pa.ChunkedArray:
    return pc.divide(pc.cast(whole, pa.float64()), 1e3)


def read_carried(folder: Path) -> tuple[Replay, BackCast | None] | None:
    """Return the replay with those that are to confirm it, and the back-cast; None if none is carried."""
    place = folder / FOLDER
    if not (place / FACTS).is_file():
        return None
    facts = {row["of"]: json.loads(row["json"]) for row in pq.ParquetFile(place / FACTS).read().to_pylist()}
    stored = pq.ParquetFile(place / LOADS).read()
    for at, column in enumerate(stored.column_names):
        if _is_in_microseconds(column, stored[column]):
            stored = stored.set_column(at, column, _in_milliseconds(stored[column]))
    back_cast = facts.pop(BACKCAST, None)
    stages = sorted(((int(number), stage) for number, stage in facts.items()), key=operator.itemgetter(0))
    by_crawl = itertools.groupby(stages, key=lambda stage: stage[1]["plan"]["release"]["crawl"])
    stated = manifest_of(folder)
    first, *others = (
        Replay(
            loads=tuple(as_cells(stored.filter(pc.field(STAGE) == number)) for number, _ in of_crawl),
            facts=tuple(stage for _, stage in of_crawl),
            checksum=named["checksum"],
            name=named["name"],
        )
        for named, of_crawl in zip(
            (stated["replay"], *stated.get("confirming", ())),
            (list(of_crawl) for _, of_crawl in by_crawl),
            strict=True,
        )
    )
    return replace(first, confirming=tuple(others)), back_cast


def carried_by(folder: Path) -> tuple[Replay, BackCastFinding] | None:
    carried = read_carried(folder)
    if carried is None:
        return None
    replay, back_cast = carried
    return replay, finding_of(back_cast, manifest_of(folder)["backcast"], of=replay.provenance)


def read_loads_of(folder: Path, release: Release, allowed_signers: Path) -> tuple[Replay, BackCastFinding]:
    """Return the carried replay and back-cast of this code's rule, over a release's pages; ReportError."""
    if not (folder / MANIFEST).is_file():
        raise ReportError(f"{folder} is no report: it has no {MANIFEST}")
    if broken := find_faults(folder, allowed_signers):
        raise ReportError(f"the report {folder} is damaged ({', '.join(broken)}); restore it from a copy")
    manifest = manifest_of(folder)
    if manifest["rule_version"] != RULE_VERSION:
        raise ReportError(
            f"the loads of {folder} are of version {manifest['rule_version']} of the rule, this code has "
            f"{RULE_VERSION}: take firstflight of commit {manifest['commit']}"
        )
    named = manifest["release"]
    if (named["crawl"], named["version"]) != (str(release.crawl), release.version):
        raise ReportError(
            f"the loads of {folder} are of pages of {named['crawl']}, version {named['version']}, not of "
            f"{release.crawl}, version {release.version}: choose that release with --crawl"
        )
    carried = carried_by(folder)
    if carried is None:
        raise ReportError(f"the report {folder} carries no loads")
    return carried
