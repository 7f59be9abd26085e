"""A release's rows by visit, in files of which little is read to find those of a site."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from releases.first_flights import Connection, Response
from schema.recorded import released_schema

BATCH_ROWS = 4_096
"""Rows of a batch of the files, which is read whole to find one of them."""

HOSTS = "hosts.arrow"

DOCUMENT = (
    *("host", "protocol", "first_flight_bytes"),
    *("initial_window_segments", "initial_window_most_segments", "initial_window_unknown"),
)
"""Columns of the connection of a main document."""

SITE_COLUMNS = {
    "visit": (
        *("id", "rank", "page_kind", "load", "attempt", "is_final", "outcome", "status", "final_scheme"),
        *("final_host", "started_at", "load_us", "largest_contentful_paint_us", "received_bytes"),
        "main_response_id",
    ),
    "connection": tuple(dict.fromkeys((*Connection._fields, *DOCUMENT, "response_count"))),
    "response": (*Response._fields, "connection_id"),
}
"""Columns that the history of a site takes of each table."""

KEYS = {"visit": "id", "connection": "visit_id", "response": "visit_id"}
"""Column of the visit, by which each table is sorted."""


def write_site_rows(folder: Path, into: Path) -> None:
    """Write the rows of a release's folder to files in the folder `into`; OSError or ArrowException."""
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    for table, key in KEYS.items():
        declared = released_schema(table, "web")
        names = dict.fromkeys((key, *SITE_COLUMNS[table]))
        schema = pa.schema([declared.field(name).with_nullable(True).remove_metadata() for name in names])
        first_visits = []
        with (
            pq.ParquetFile(folder / f"{table}.parquet") as source,
            pa.ipc.new_file(into / f"{table}.arrow", schema, options=options) as writer,
        ):
            for batch in source.iter_batches(BATCH_ROWS, columns=list(names)):
                columns = [batch[field.name].cast(field.type) for field in schema]
                writer.write_batch(pa.RecordBatch.from_arrays(columns, schema=schema))
                first_visits.append(batch[key][0].as_py())
        np.save(into / f"{table}.npy", np.array(first_visits, np.int64), allow_pickle=False)
    with pq.ParquetFile(folder / "visit.parquet") as source:
        hosts = source.read(columns=["host", "id"]).replace_schema_metadata()
    with pa.ipc.new_file(into / HOSTS, hosts.schema) as writer:
        writer.write_table(hosts)


def visits_of(folder: Path, host: str) -> list[int]:
    """Numbers of the visits to a site; OSError or ArrowException."""
    with pa.memory_map(str(folder / HOSTS)) as file, pa.ipc.open_file(file) as reader:
        hosts = reader.read_all()
        return hosts.filter(pc.equal(hosts["host"], host))["id"].to_pylist()  # type: ignore[no-any-return]


def rows_of(folder: Path, table: str, visit: int) -> list[dict[str, Any]]:
    """SITE_COLUMNS of the rows of a visit; OSError, ValueError or ArrowException."""
    first_visits = np.load(folder / f"{table}.npy", mmap_mode="r")
    # A visit's rows may begin within the batch before the first that begins with it.
    begin = max(0, int(np.searchsorted(first_visits, visit, "left")) - 1)
    end = int(np.searchsorted(first_visits, visit, "right"))
    columns: Sequence[str] = SITE_COLUMNS[table]
    with pa.memory_map(str(folder / f"{table}.arrow")) as file, pa.ipc.open_file(file) as reader:
        batches = map(reader.get_batch, range(begin, end))
        matching = [batch.filter(pc.equal(batch[KEYS[table]], visit)).select(columns) for batch in batches]
        return [row for batch in matching for row in batch.to_pylist()]
