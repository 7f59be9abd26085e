"""Measures writing alone: rows of responses into the database, compared with a raw COPY of the same bytes."""

import functools
import itertools
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from psycopg import sql
from sqlalchemy import Connection, Engine, select, text

from benchmarks.crawl_figures import Copy
from schema.tables import Crawl, Response
from storage.bulk_copy import column_names, copy_rows
from storage.engine import driver_connection
from storage.partitions import partition_name

BLOCK_BYTES = 128 * 1024


def measure(engine: Engine, crawl: Crawl, *, like: int, count: int, runs: int) -> list[Copy]:
    """Measure `copy_rows` and the raw COPY in turn, each into the empty
    partition of `crawl` with its indexes.

    The rows are those of the crawl with the id `like`, repeated.
    """
    with engine.connect() as connection:
        of = select(*Response.__table__.columns).where(Response.crawl_id == like)
        rows = list(repeat([dict(row) for row in connection.execute(of).mappings()], crawl.id, count))
    copies = []
    for _ in range(runs):
        ours_s = _time(engine, crawl.id, functools.partial(copy_rows, model=Response, rows=rows))
        blocks = _encode(engine, crawl.id)
        raw_s = _time(engine, crawl.id, functools.partial(_raw, blocks=blocks))
        copies.append(Copy(rows=count, bytes=sum(map(len, blocks)), ours_s=ours_s, raw_s=raw_s))
    return copies


def repeat(rows: Sequence[Mapping[str, Any]], crawl_id: int, count: int) -> Iterator[dict[str, Any]]:
    """Repeat `rows` up to a number of distinct rows: each round has visits of its own.

    >>> [(row["visit_id"], row["id"]) for row in repeat([{"visit_id": 7, "id": 1}], 2, 3)]
    [(7, 1), (8, 1), (9, 1)]
    """
    step = max(row["visit_id"] for row in rows) - min(row["visit_id"] for row in rows) + 1
    for number, row in enumerate(itertools.islice(itertools.cycle(rows), count)):
        shift = number // len(rows) * step
        yield {**row, "crawl_id": crawl_id, "visit_id": row["visit_id"] + shift}


def _time(engine: Engine, crawl_id: int, write: Callable[[Connection], None]) -> float:
    with engine.begin() as connection:
        connection.execute(text(f"TRUNCATE {partition_name(Response.__tablename__, crawl_id)}"))
    began = time.monotonic()
    with engine.begin() as connection:
        write(connection)
    return round(time.monotonic() - began, 3)


NAMES = sql.SQL(", ").join(map(sql.Identifier, column_names(Response)))
TABLE = sql.Identifier(Response.__tablename__)


def _encode(engine: Engine, crawl_id: int) -> list[bytes]:
    """Return the partition's rows in the format of binary COPY, in blocks."""
    partition = sql.Identifier(partition_name(Response.__tablename__, crawl_id))
    statement = sql.SQL("COPY {} ({}) TO STDOUT (FORMAT BINARY)").format(partition, NAMES)
    with (
        engine.connect() as connection,
        driver_connection(connection).cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        whole = b"".join(copy)
    return [whole[at : at + BLOCK_BYTES] for at in range(0, len(whole), BLOCK_BYTES)]


def _raw(connection: Connection, blocks: Sequence[bytes]) -> None:
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(TABLE, NAMES)
    with driver_connection(connection).cursor() as cursor, cursor.copy(statement) as copy:
        for block in blocks:
            copy.write(block)
