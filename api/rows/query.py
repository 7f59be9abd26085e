"""Reads the rows of releases: by DuckDB over their Parquet, in the order of the table's key, with bound
values alone; and those of a site from prepared files where there are any.

Streams that read at the same time are bounded.
"""

from __future__ import annotations

import contextlib
import dataclasses
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from pathlib import Path
from typing import Any, Literal

import duckdb
import numpy as np
import pyarrow as pa

from api.computing import busy, current
from api.formats.encoding import LINE
from api.http.clients import Quota
from api.http.problems import Problem
from api.rows.cursors import Key
from api.rows.filters import Filters, filters, parameters
from api.stored.open_releases import OpenReleases, raise_damage
from api.stored.prepared import SITE_COLUMNS, SITES, Row, rows_of, visits_of
from api.stored.shelf import Version
from schema.recorded import released_schema
from schema.released_tables import released_tables

BATCH_ROWS = 8_192

MEMORY = "128MB"
"""DuckDB's memory for all queries; scans in order need little."""

READ_AHEAD = "1MB"
"""Rows that DuckDB reads ahead; its default is 10 MiB."""

ISO = "%Y-%m-%dT%H:%M:%S.%fZ"

STREAMS, STREAMS_EACH = 8, 4
"""Streams at a time, and a client's; each takes some 17 MB."""

RETRY_AFTER_S = 10

Rendering = Literal["arrow", "text", "json"]
"""With types; as text, for CSV; or one column `line` of JSON."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RowTable:
    """A table whose rows are served."""

    name: str
    key: tuple[str, ...]
    """Primary key within a crawl, the file's order."""

    def schema(self, kind: str = "web") -> pa.Schema:
        return released_schema(self.name, kind)


def _table(name: str) -> RowTable:
    key = tuple(column for column in released_tables()[name].key if column != "crawl_id")
    return RowTable(name=name, key=key)


TABLES = {f"{name}s": _table(name) for name in ("visit", "connection", "response")}


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """Which rows of a table are asked for, and what of them."""

    table: RowTable
    fields: tuple[str, ...]
    filters: Filters
    after: Key | None = None
    limit: int | None = None
    """One more row is read, to know of more."""
    sort: str | None = None
    """After a minus from the largest, unknown last; None for the key's order, which `after` needs."""

    def following(self, key: Key) -> Question:
        return dataclasses.replace(self, after=key)


def statement(question: Question, rendering: Rendering) -> tuple[str, list[Any]]:
    """SQL, and its values behind the path; the key's columns come last."""
    table = question.table
    kinds = {field.name: field.type for field in table.schema()}
    conditions: list[str] = []
    values: list[Any] = []
    for parameter, value in question.filters:
        condition, bound = parameter.bound(f'"{parameter.column}"', value)
        conditions.append(condition)
        values += bound
    if question.after is not None:
        quoted = [f'"{name}"' for name in table.key]
        # The first comparison follows from the second, and lets whole row groups be skipped.
        conditions.append(f"{quoted[0]} >= ? AND ({', '.join(quoted)}) > ({', '.join('?' * len(quoted))})")
        values += [question.after[0], *question.after]
    shown = {name: _shown(f'"{name}"', kinds[name], rendering) for name in question.fields}
    if rendering == "json":
        packed = ", ".join(f'"{name}" := {expression}' for name, expression in shown.items())
        selected = [f"CAST(to_json(struct_pack({packed})) AS VARCHAR) AS {LINE}"]
    else:
        selected = [f'{expression} AS "{name}"' for name, expression in shown.items()]
    selected += [f'"{name}" AS key_{place}' for place, name in enumerate(table.key)]
    where = f" WHERE {' AND '.join(conditions)}" if conditions else ""
    # The file is sorted by the key, and one thread reads it in its order:
    # nothing has to be sorted or counted.
    limit = "" if question.limit is None else f" LIMIT {question.limit + 1:d}"
    order = ""
    if question.sort is not None:
        column = table.schema().field(question.sort.removeprefix("-")).name
        direction = "DESC" if question.sort.startswith("-") else "ASC"
        key = ", ".join(f'"{name}"' for name in table.key)
        order = f' ORDER BY "{column}" {direction} NULLS LAST, {key}'
    return (
        f"SELECT {', '.join(selected)} FROM read_parquet(?, hive_partitioning = false){where}{order}{limit}",  # noqa: S608
        values,
    )


def _shown(expression: str, kind: pa.DataType, rendering: Rendering) -> str:
    if rendering == "arrow":
        return expression
    if pa.types.is_timestamp(kind):
        return f"strftime({expression} AT TIME ZONE 'UTC', '{ISO}')"
    if pa.types.is_list(kind) and rendering == "text":
        return f"CAST(to_json({expression}) AS VARCHAR)"
    return expression


def answer_schema(question: Question, rendering: Rendering, kind: str) -> pa.Schema:
    if rendering == "json":
        return pa.schema([pa.field(LINE, pa.string())])
    declared = question.table.schema(kind)
    fields = [declared.field(name).with_nullable(True) for name in question.fields]
    if rendering == "text":
        fields = [
            field.with_type(pa.string()) if _is_shown_as_text(field.type) else field for field in fields
        ]
    return pa.schema(fields, metadata=declared.metadata)


def _is_shown_as_text(kind: pa.DataType) -> bool:
    return bool(pa.types.is_timestamp(kind) or pa.types.is_list(kind))


class Rows:
    """Rows in batches, in the key's order, read on as they are taken."""

    def __init__(
        self,
        database: duckdb.DuckDBPyConnection,
        path: Path,
        question: Question,
        rendering: Rendering,
        kind: str,
    ) -> None:
        self.schema = answer_schema(question, rendering, kind)
        self._key_parts = len(question.table.key)
        self._path = path
        self._computation = current()
        with contextlib.ExitStack() as opened:
            cursor = opened.enter_context(contextlib.closing(database.cursor()))
            opened.enter_context(self._computation.interruptible(cursor.interrupt))
            # A setting of each cursor: DuckDB has none for the database.
            cursor.execute(f"SET streaming_buffer_size = '{READ_AHEAD}'")
            with raise_damage(path.name):
                sql, values = statement(question, rendering)
                self._reader = cursor.sql(sql, params=[str(path), *values]).to_arrow_reader(BATCH_ROWS)
            self._opened = opened.pop_all()

    def __iter__(self) -> Iterator[pa.RecordBatch]:
        return map(self._shown, self._batches())

    def page(self, limit: int) -> tuple[list[pa.RecordBatch], Key | None]:
        """The first `limit` rows, and the last one's key if there are more; Problem."""
        batches = list(self._batches())
        if not batches:
            return [], None
        rows = pa.Table.from_batches(batches)
        following = self._key(rows.columns, limit - 1) if rows.num_rows > limit else None
        return [self._shown(batch) for batch in rows.slice(0, limit).to_batches()], following

    def _batches(self) -> Iterator[pa.RecordBatch]:
        while True:
            # A stream is read on by threads that know nothing of its computation.
            with self._computation.going_on(), raise_damage(self._path.name):
                batch = next(self._reader, None)
            if batch is None:
                return
            if batch.num_rows:
                yield batch

    def _key(self, columns: Sequence[pa.ChunkedArray], row: int) -> Key:
        return tuple(column[row].as_py() for column in columns[-self._key_parts :])

    def _shown(self, batch: pa.RecordBatch) -> pa.RecordBatch:
        columns = zip(batch.columns[: -self._key_parts], self.schema, strict=True)
        return pa.RecordBatch.from_arrays(
            [_zeroed(column).cast(field.type) for column, field in columns], schema=self.schema
        )

    def close(self) -> None:
        self._reader.close()
        self._opened.close()


def _zeroed(column: pa.Array) -> pa.Array:
    """Zeros under nulls: DuckDB leaves there what was in memory."""
    return column.take(pa.array(np.arange(len(column)))) if column.null_count else column


def row_database() -> duckdb.DuckDBPyConnection:
    """The database of all queries' cursors; one thread reads a file in its order."""
    return duckdb.connect(
        config={
            "threads": 1,
            "memory_limit": MEMORY,
            "autoinstall_known_extensions": False,
            # The kernel keeps what was read of local files;
            # to pass it through another cache takes longer and more memory.
            "enable_external_file_cache": False,
            # A query that takes too much memory ends, rather than fill the disk.
            "temp_directory": "",
        }
    )


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class SiteRows:
    """The rows of a site in one release, in the order of their keys."""

    visits: list[Row]
    final: Row | None
    """None without a final visit; then there are no rows."""
    connections: list[Row]
    responses: list[Row]


class RowReader:
    """Reads rows of releases."""

    def __init__(self, releases: OpenReleases) -> None:
        self._releases = releases
        self._database = row_database()
        self.streams = Quota(STREAMS, STREAMS_EACH, _refuse_stream)

    def rows(self, version: Version, question: Question, rendering: Rendering) -> Rows:
        """The rows of a question; Problem unless the file is the published one."""
        version.readable  # noqa: B018  # raises the Problem that says why
        path, _ = self._releases.file(version, f"{question.table.name}.parquet")
        return Rows(self._database, path, question, rendering, version.crawl.kind)

    def where(
        self, version: Version, table: str, fields: Sequence[str], **equal: Sequence[int | str]
    ) -> list[Row]:
        """Columns of the few rows with any of the values in `equal`; Problem."""
        row_table = TABLES[table]
        known = parameters(row_table.schema())
        question = Question(table=row_table, fields=tuple(fields), filters=filters(known, equal))
        with contextlib.closing(self.rows(version, question, "arrow")) as rows:
            return [row for batch in rows for row in batch.to_pylist()]

    def first(
        self, version: Version, table: str, fields: Sequence[str], *, sort: str | None, limit: int
    ) -> list[Row]:
        """Columns of the first rows by a column; Problem."""
        question = Question(table=TABLES[table], fields=tuple(fields), filters=(), sort=sort, limit=limit)
        with contextlib.closing(self.rows(version, question, "arrow")) as rows:
            return [row for batch in rows.page(limit)[0] for row in batch.to_pylist()]

    def site(self, version: Version, host: str) -> SiteRows:
        version.readable  # noqa: B018  # raises the Problem that says why
        for table in SITE_COLUMNS:
            self._releases.file(version, f"{table}.parquet")

        def where(table: str, **equal: Sequence[int | str]) -> list[Row]:
            return self.where(version, f"{table}s", SITE_COLUMNS[table], **equal)

        prepared = self._releases.read_prepared(version, partial(_from_files, host=host))
        return prepared or _site_rows(
            where("visit", host=[host]), lambda table, visit: where(table, visit_id=[visit])
        )

    def check(self, version: Version) -> None:
        self._releases.shelf().version(str(version.crawl), version.version).readable  # noqa: B018


def _refuse_stream() -> Problem:
    return busy(
        f"{STREAMS} streams are being sent, or {STREAMS_EACH} to you",
        again_s=RETRY_AFTER_S,
        instead=", or download the file of the table",
    )


def _from_files(folder: Path, host: str) -> SiteRows:
    rows = partial(rows_of, folder / SITES)
    visits = [row for visit in visits_of(folder / SITES, host) for row in rows("visit", visit)]
    return _site_rows(visits, rows)


def _site_rows(visits: list[Row], rows: Callable[[str, int], list[Row]]) -> SiteRows:
    final = next((visit for visit in visits if visit["is_final"]), None)
    if final is None:
        return SiteRows(visits=visits, final=None, connections=[], responses=[])
    every = rows("response", final["id"])
    on = {row["connection_id"] for row in every if row["id"] == final["main_response_id"]} - {None}
    return SiteRows(
        visits=visits,
        final=final,
        connections=rows("connection", final["id"]),
        responses=[row for row in every if row["connection_id"] in on],
    )
