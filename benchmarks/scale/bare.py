"""The least that each step of a release could cost: raw COPY, a bare scan by DuckDB, sha256sum."""

import os
import resource
import subprocess
import time
from pathlib import Path
from typing import Any

import duckdb
from psycopg import sql
from sqlalchemy import Connection, Engine, text

from releases.catalogue import Release, find_release
from schema.tables import OBSERVATIONS
from storage.crawls import find_crawl
from storage.engine import driver_connection
from storage.partitions import partition_name

COPIED_ROWS = 1_000_000
"""Most rows of a table that are copied; the cost of more is in proportion."""


def processor_s(pid: int) -> float:
    """Return the processor time of a process's main thread, in seconds (sched-stats in the kernel's
    documentation): a server process of PostgreSQL has no other."""
    return int(Path(f"/proc/{pid}/schedstat").read_text(encoding="ascii").split()[0]) / 1e9


def measure(engine: Engine, folder: Path, name: str) -> dict[str, Any]:
    """Return the processor seconds of each bare limit over a crawl and its release."""
    release = find_release(folder / "releases", name)
    facts = {
        "scan_s": scan_s(release),
        "sha256sum_s": sha256sum_s(release),
        "copy_in_s": 0.0,
        "copy_out_s": 0.0,
    }
    with engine.connect() as connection:
        crawl = find_crawl(connection, name)
        server = connection.scalar(text("SELECT pg_backend_pid()"))
        for model in OBSERVATIONS:
            table = partition_name(model.__tablename__, crawl.id)
            rows = release.manifest.rows[model.__tablename__]
            for direction, spent in _copy(connection, server, table).items():
                facts[direction] += spent * max(1.0, rows / COPIED_ROWS)
        connection.rollback()
    return {key: round(value, 3) for key, value in facts.items()}


def scan_s(release: Release) -> float:
    began = time.process_time()
    with duckdb.connect(":memory:") as database:
        for table in release.manifest.rows:
            rows = database.read_parquet(str(release.file(table)), hive_partitioning=False)
            rows.aggregate("count(COLUMNS(*))").fetchall()
    return time.process_time() - began


def sha256sum_s(release: Release) -> float:
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    files = sorted(os.fspath(path) for path in release.path.iterdir())
    subprocess.run(["sha256sum", "--", *files], stdout=subprocess.DEVNULL, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def _copy(connection: Connection, server: int, table: str) -> dict[str, float]:
    """Copy rows of a table out, and into an empty one like it that the transaction's end removes; processor
    seconds of both, here and in PostgreSQL."""
    names = {"whole": sql.Identifier(table), "empty": sql.Identifier(f"bare_{table}")}
    connection.execute(text(f"CREATE TABLE bare_{table} (LIKE {table} INCLUDING ALL)"))
    out = sql.SQL("COPY (SELECT * FROM {whole} LIMIT {rows}) TO STDOUT (FORMAT BINARY)")
    into = sql.SQL("COPY {empty} FROM STDIN (FORMAT BINARY)").format(**names)
    spent = {}
    with driver_connection(connection).cursor() as cursor:
        began = time.process_time() + processor_s(server)
        with cursor.copy(out.format(rows=sql.Literal(COPIED_ROWS), **names)) as copy:
            blocks = list(copy)
        spent["copy_out_s"] = time.process_time() + processor_s(server) - began
        joined = _joined(blocks)
        began = time.process_time() + processor_s(server)
        with cursor.copy(into) as copy:
            for block in joined:
                copy.write(block)
        spent["copy_in_s"] = time.process_time() + processor_s(server) - began
    connection.execute(text(f"DROP TABLE bare_{table}"))
    return spent


def _joined(blocks: list[bytes | bytearray | memoryview], block_bytes: int = 128 * 1024) -> list[bytes]:
    whole = b"".join(blocks)
    return [whole[at : at + block_bytes] for at in range(0, len(whole), block_bytes)]
