"""The items of each measure: every size that a distribution counts, and the visit it belongs to.

DuckDB over Parquet.
"""

import contextlib
import itertools
import operator
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any, TypeVar

import duckdb
import pyarrow as pa
import pyarrow.parquet as pq

from releases.first_flights import FlightConnection, FlightResponse, first_flight, iw_limited
from releases.slow_start import MSS_TIMESTAMPS
from schema.vocabulary import IN_PART

T = TypeVar("T")

MODEL_IW = 10
"""Initial window by which responses count as IW-limited: RFC 6928, and Linux's default."""

MODEL_MSS = MSS_TIMESTAMPS
"""Payload of a segment of that window: Linux's senders use timestamps."""

ITEM = pa.schema(
    [
        pa.field("measure", pa.string(), nullable=False),
        pa.field("visit_id", pa.int64(), nullable=False),
        pa.field("size_bytes", pa.int64()),
        pa.field("connection_id", pa.int32()),
        pa.field("response_id", pa.int32()),
    ]
)

BATCH_ROWS = 65_536

MEMORY = "1GB"

STUDIED = "SELECT id AS visit_id FROM visit WHERE is_final AND outcome = 'ok'"

# Responses that crossed the network: neither answered by a cache nor without any byte.
# Their size is known, derived or lost.
ARRIVED = f"""
SELECT visit_id, id, connection_id, position, CASE WHEN (size_basis IN {IN_PART}) IS NOT TRUE THEN wire_bytes END AS wire_bytes,
       CASE WHEN size_basis IN {IN_PART} THEN wire_bytes END AS derived_bytes, CASE WHEN size_basis IN {IN_PART} THEN body_bytes END AS body_bytes, is_complete IS NOT FALSE AS is_whole
FROM response SEMI JOIN studied USING (visit_id)
WHERE wire_bytes IS NOT NULL OR wire_bytes_unknown NOT IN ('no_response', 'from_cache')
"""  # noqa: E501, S608

ITEMS = """
SELECT if(is_whole, 'responses', 'responses_incomplete') AS measure, visit_id, wire_bytes AS size_bytes,
       NULL::INTEGER AS connection_id, id AS response_id, NULL::VARCHAR AS host FROM arrived
UNION ALL
SELECT 'responses_first', visit_id, wire_bytes, NULL, id, NULL FROM arrived WHERE connection_id IS NOT NULL
QUALIFY is_whole AND row_number() OVER (PARTITION BY visit_id, connection_id ORDER BY position, id) = 1
UNION ALL
SELECT 'responses_derived', visit_id, derived_bytes, NULL, id, NULL FROM arrived WHERE is_whole AND derived_bytes IS NOT NULL
UNION ALL
SELECT 'responses_derived_bodies', visit_id, body_bytes, NULL, id, NULL FROM arrived WHERE is_whole AND body_bytes IS NOT NULL
UNION ALL
SELECT 'tls_flights', visit_id, tls_handshake_bytes, id, NULL, NULL FROM connection SEMI JOIN studied USING (visit_id)
WHERE tls_version IS NOT NULL AND secured_us IS NOT NULL
UNION ALL
SELECT 'connections', visit_id, received_bytes, id, NULL, NULL FROM connection SEMI JOIN studied USING (visit_id)
WHERE response_count > 0
UNION ALL
SELECT 'hosts', visit_id, sum(received_bytes)::BIGINT, NULL, NULL, coalesce(host, remote_address)
FROM connection SEMI JOIN studied USING (visit_id) GROUP BY visit_id, coalesce(host, remote_address)
UNION ALL
SELECT 'pages', id, received_bytes, NULL, NULL, NULL FROM visit WHERE id IN (FROM studied)
UNION ALL
SELECT measure, visit_id, size_bytes, connection_id, response_id, NULL FROM flight_item
"""  # noqa: E501


@contextlib.contextmanager
def open_tables(folder: Path, *, studied: str = STUDIED) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB with the views `visit`, `connection`, `response` and `studied` (visit_id) of a
    release.

    `studied` is the query of the visits to study.
    """
    with open_database() as database:
        view_tables(database, folder, studied=studied)
        yield database


@contextlib.contextmanager
def open_database() -> Iterator[duckdb.DuckDBPyConnection]:
    with (
        # DuckDB would spill into the working directory otherwise.
        tempfile.TemporaryDirectory(prefix="firstflight-") as spill,
        duckdb.connect(":memory:", config={"temp_directory": spill, "memory_limit": MEMORY}) as database,
    ):
        # A file's footer would be read for the view, and again by each query.
        database.execute("SET parquet_metadata_cache = true")
        yield database


def view_tables(database: duckdb.DuckDBPyConnection, folder: Path, *, studied: str = STUDIED) -> None:
    """Put the views of `open_tables` in the place of another release's."""
    for table in ("visit", "connection", "response"):
        # The path of a release looks like Hive's partitions, and would add its parts as columns.
        rows = database.read_parquet(str(folder / f"{table}.parquet"), hive_partitioning=False)
        rows.create_view(table, replace=True)
    database.execute(f"CREATE OR REPLACE VIEW studied AS {studied}")


@contextlib.contextmanager
def open_measures(folder: Path, *, studied: str = STUDIED) -> Iterator[duckdb.DuckDBPyConnection]:
    """Open a DuckDB with the views of `open_tables` and the view `item` (measure, visit_id, size_bytes).

    An item also has the connection_id or response_id that it is of, or the host in the measure `hosts`.
    First flights and IW-limited responses are derived once. The views read files and one table, so that
    memory does not grow with the crawl.
    """
    with open_tables(folder, studied=studied) as database:
        database.execute(f"CREATE VIEW arrived AS {ARRIVED}")
        visits = {visit_id for (visit_id,) in database.execute("FROM studied").fetchall()}
        database.register("batches", pa.RecordBatchReader.from_batches(ITEM, _batches(folder, visits)))
        database.execute("CREATE TABLE flight_item AS FROM batches")
        database.unregister("batches")
        database.execute(f"CREATE VIEW item AS {ITEMS}")
        yield database


def _batches(folder: Path, studied: set[int]) -> Iterator[pa.RecordBatch]:
    rows = _flight_items(folder, studied)
    while batch := list(itertools.islice(rows, BATCH_ROWS)):
        columns = zip(*batch, strict=True)
        yield pa.RecordBatch.from_arrays(
            [pa.array(column, field.type) for column, field in zip(columns, ITEM, strict=True)], schema=ITEM
        )


def _flight_items(
    folder: Path, studied: set[int]
) -> Iterator[tuple[str, int, int | None, int | None, int | None]]:
    """Yield items that depend on the order of events on a connection, in one pass over files sorted by
    visit.
    """
    by_visit = _by_visit(folder / "response.parquet", ("connection_id", *FlightResponse._fields))
    responses_of = _Merge(by_visit)
    for visit_id, rows in _by_visit(folder / "connection.parquet", FlightConnection._fields):
        if visit_id not in studied:
            continue
        responses: dict[int | None, list[FlightResponse]] = {}
        for connection_id, *values in responses_of(visit_id):
            responses.setdefault(connection_id, []).append(FlightResponse(*values))
        for connection in itertools.starmap(FlightConnection, rows):
            if connection.protocol == "h3":
                continue  # QUIC's window is not Linux TCP's
            own = responses.get(connection.id, [])
            flight = first_flight(connection, own)
            if flight is not None:
                yield "first_flights", visit_id, flight.size_bytes, connection.id, None
                yield "first_flights_after_tls", visit_id, flight.answer_bytes, connection.id, None
            sizes = {
                response.id: response.full_bytes for response in own if response.is_complete is not False
            }
            for response_id, limited in iw_limited(connection, own, iw=MODEL_IW, mss=MODEL_MSS).items():
                if limited is not False and response_id in sizes:
                    size = sizes[response_id] if limited else None
                    yield "responses_iw_limited", visit_id, size, None, response_id


def _by_visit(path: Path, columns: tuple[str, ...]) -> Iterator[tuple[int, list[tuple[Any, ...]]]]:
    names = ["visit_id", *columns]
    with pq.ParquetFile(path) as file:
        rows = (
            row
            for batch in file.iter_batches(BATCH_ROWS, columns=names)
            for row in zip(*(batch.column(name).to_pylist() for name in names), strict=True)
        )
        for visit_id, group in itertools.groupby(rows, key=operator.itemgetter(0)):
            yield visit_id, [row[1:] for row in group]


class _Merge:
    """Looks up the rows of visits in ascending order of visit."""

    def __init__(self, groups: Iterator[tuple[int, list[tuple[Any, ...]]]]) -> None:
        self._groups = groups
        self._next = next(groups, None)

    def __call__(self, visit_id: int) -> list[tuple[Any, ...]]:
        while self._next is not None and self._next[0] < visit_id:
            self._next = next(self._groups, None)
        return self._next[1] if self._next is not None and self._next[0] == visit_id else []
