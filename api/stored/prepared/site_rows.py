"""A release's rows by site: each page load with its connections and the responses of its
main document's, found by host."""

from __future__ import annotations

import dataclasses
import zlib
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

from releases.first_flights import Connection, Response
from schema.recorded import released_schema

if TYPE_CHECKING:
    from numpy.typing import NDArray

VISITS_AT_ONCE = 1_024
"""Page loads whose rows are in memory when the files are written."""

VISITS_TOGETHER = 32
"""Page loads of a batch of the file, which is read whole to find one of them."""

BATCH_ROWS = 65_536

ROWS, HOSTS = "site-rows.arrow", "site-hosts.npy"
HOST_TYPE = np.dtype([("checksum", "<u4"), ("place", "<u4")])
"""Checksum of a host, and number of its page load's batch, times VISITS_TOGETHER,
plus the page load's number in that batch."""

SITE = "site"
"""Column of the site's host, beside those of the visit."""

LISTS = ("connections", "responses")
"""Columns of lists of rows."""

ONE_THREAD = pa.ipc.IpcReadOptions(use_threads=False)
"""A batch is too small to be shared out."""

NONE = -1
"""Number of no connection and no response."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Columns:
    """The columns that are wanted of each table."""

    visit: Sequence[str]
    """With `id`, `is_final` and `main_response_id`."""
    connection: Sequence[str]
    response: Sequence[str]
    """With `id` and `connection_id`."""


DOCUMENT = (
    *("host", "protocol", "first_flight_bytes"),
    *("initial_window_segments", "initial_window_most_segments", "initial_window_unknown"),
)
"""Columns of the connection of a main document."""

SITE_COLUMNS = Columns(
    visit=(
        *("id", "rank", "page_kind", "load", "attempt", "is_final", "outcome", "status", "final_scheme"),
        *("final_host", "started_at", "load_us", "largest_contentful_paint_us", "received_bytes"),
        "main_response_id",
    ),
    connection=tuple(dict.fromkeys((*Connection._fields, *DOCUMENT, "response_count"))),
    response=(*Response._fields, "connection_id"),
)


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SiteRows:
    """The rows of a site in one release, in the order of their keys."""

    visits: list[dict[str, Any]]
    connections: Mapping[int, list[dict[str, Any]]]
    """Connections by visit, of final visits alone."""
    responses: Mapping[int, list[dict[str, Any]]]
    """Responses by visit, of final visits alone: those on the connection on which the main document came."""


def write_site_rows(folder: Path, into: Path, wanted: Columns) -> None:
    """Write the rows of every site of a release's folder to files in the folder `into`;
    OSError or ArrowException."""
    checksums: list[int] = []
    places: list[int] = []
    batches, writer = 0, None
    options = pa.ipc.IpcWriteOptions(compression="lz4")
    with pa.OSFile(str(into / ROWS), "wb") as file:
        for piece in _pieces(folder, wanted):
            writer = writer or pa.ipc.new_file(file, piece.schema, options=options)
            checksums += map(_checksum, piece[SITE].to_pylist())
            for begin in range(0, piece.num_rows, VISITS_TOGETHER):
                batch = piece.slice(begin, VISITS_TOGETHER)
                writer.write_batch(batch)
                places += range(batches * VISITS_TOGETHER, batches * VISITS_TOGETHER + batch.num_rows)
                batches += 1
        if writer is not None:
            writer.close()
    found = np.empty(len(places), HOST_TYPE)
    found["checksum"], found["place"] = checksums, places
    found.sort(order=["checksum", "place"])
    np.save(into / HOSTS, found, allow_pickle=False)


def read_site_rows(folder: Path, host: str) -> SiteRows:
    """The rows of a site from the files in a folder; OSError,
    ValueError or ArrowException if they cannot be read."""
    known = np.load(folder / HOSTS, mmap_mode="r").view(np.ndarray)
    begin, end = (
        int(np.searchsorted(known["checksum"], np.uint32(_checksum(host)), side))
        for side in ("left", "right")
    )
    places = known["place"][begin:end].tolist()
    rows: list[dict[str, Any]] = []
    if places:
        with pa.memory_map(str(folder / ROWS)) as file, pa.ipc.open_file(file, options=ONE_THREAD) as reader:
            for place in places:
                batch = reader.get_batch(place // VISITS_TOGETHER)
                rows += batch.slice(place % VISITS_TOGETHER, 1).to_pylist()
    # Hosts may have the same checksum.
    rows = [row for row in rows if row[SITE] == host]
    return SiteRows(
        visits=[{name: value for name, value in row.items() if name not in (SITE, *LISTS)} for row in rows],
        connections={row["id"]: row["connections"] for row in rows if row["is_final"]},
        responses={row["id"]: row["responses"] for row in rows if row["is_final"]},
    )


def _checksum(host: str) -> int:
    return zlib.crc32(host.encode())


def _pieces(folder: Path, wanted: Columns) -> Iterator[pa.RecordBatch]:
    """Page loads in the order of the file, with their lists of rows."""
    connections = _Following(folder / "connection.parquet", ["visit_id", *wanted.connection])
    responses = _Following(folder / "response.parquet", ["visit_id", *wanted.response])
    with pq.ParquetFile(folder / "visit.parquet") as file:
        columns = list({"host": None, **dict.fromkeys(wanted.visit)})
        for batch in file.iter_batches(VISITS_AT_ONCE, columns=columns):
            visits = _completed(batch, "visit", wanted.visit)
            ids = visits["id"].to_numpy()
            of_connections, of_responses = (one.until(int(ids[-1])) for one in (connections, responses))
            # The other visits of a site are told by their own row alone.
            final = ids[visits["is_final"].to_numpy(zero_copy_only=False)]
            of_connections = _only(of_connections, np.isin(_whole(of_connections, "visit_id"), final))
            of_responses = _only(of_responses, _is_of_document(of_responses, visits, final))
            lists = (
                _lists(ids, _completed(rows, table, ["visit_id", *own]))
                for rows, table, own in (
                    (of_connections, "connection", wanted.connection),
                    (of_responses, "response", wanted.response),
                )
            )
            names = [*wanted.visit, SITE, *LISTS]
            yield pa.RecordBatch.from_arrays([*visits.columns, batch["host"], *lists], names=names)


class _Following:
    """Reads a table, sorted by visit, on from where it was read to."""

    def __init__(self, path: Path, columns: Sequence[str]) -> None:
        file = pq.ParquetFile(path)
        self._batches = file.iter_batches(BATCH_ROWS, columns=columns)
        fields = [file.schema_arrow.field(name).remove_metadata() for name in columns]
        self._waiting = pa.schema(fields).empty_table()

    def until(self, visit: int) -> pa.RecordBatch:
        """The rows up to and of a visit that were not read before."""
        pieces = [self._waiting]
        while not len(pieces[-1]) or pieces[-1]["visit_id"][-1].as_py() <= visit:
            batch = next(self._batches, None)
            if batch is None:
                break
            pieces.append(pa.Table.from_batches([batch]).replace_schema_metadata())
        found = pa.concat_tables([piece.cast(self._waiting.schema) for piece in pieces]).combine_chunks()
        count = int(np.searchsorted(found["visit_id"].to_numpy(), visit, "right"))
        self._waiting = found.slice(count)
        read = found.slice(0, count).combine_chunks().to_batches()
        return read[0] if read else pa.RecordBatch.from_pylist([], schema=self._waiting.schema)


def _completed(rows: pa.RecordBatch, table: str, names: Sequence[str]) -> pa.RecordBatch:
    """The columns `names` with the types of the dictionary."""
    declared = released_schema(table, "web")
    fields = [declared.field(name).with_nullable(True).remove_metadata() for name in names]
    columns = [rows[field.name].cast(field.type) for field in fields]
    return pa.RecordBatch.from_arrays(columns, schema=pa.schema(fields))


def _whole(rows: pa.RecordBatch, name: str) -> NDArray[np.int64]:
    """A column of numbers with NONE for null."""
    return rows[name].cast(pa.int64()).fill_null(NONE).to_numpy()  # type: ignore[no-any-return]


def _only(rows: pa.RecordBatch, is_kept: NDArray[np.bool_]) -> pa.RecordBatch:
    return rows.filter(pa.array(is_kept))


def _is_of_document(
    responses: pa.RecordBatch, visits: pa.RecordBatch, final: NDArray[np.int64]
) -> NDArray[np.bool_]:
    """Whether each response came on the connection of its visit's main document.

    False for visits that are not final.
    """
    ids = _whole(visits, "id")
    visit_of = _whole(responses, "visit_id")
    place = np.minimum(np.searchsorted(ids, visit_of), len(ids) - 1)
    connection_of = _whole(responses, "connection_id")
    is_main = _whole(responses, "id") == _whole(visits, "main_response_id")[place]
    documents = np.full(len(ids), NONE)
    documents[place[is_main]] = connection_of[is_main]
    is_on_it = (connection_of == documents[place]) & (connection_of != NONE)
    return np.isin(visit_of, final) & is_on_it  # type: ignore[no-any-return]


def _lists(visits: NDArray[np.int64], rows: pa.RecordBatch) -> pa.ListArray:
    """The rows of each visit as a list of structures, without their visit_id;
    all rows are of one of the visits."""
    ends = np.searchsorted(rows["visit_id"].to_numpy(), visits, "right")
    names = rows.schema.names[1:]
    offsets = pa.array(np.concatenate([[0], ends]), pa.int32())
    return pa.ListArray.from_arrays(offsets, pa.StructArray.from_arrays(rows.columns[1:], names=names))
