"""Invariants of the database that no constraint can state: between partitions, and over several rows.

Partitioned tables have no foreign keys to each other; the crawler's transactions keep them consistent. A
release is verified separately (`firstflight verify release`).
"""

import dataclasses
import tomllib
from collections.abc import Iterator
from pathlib import Path

from sqlalchemy import Connection, text

from schema.tables import OBSERVATIONS, Crawl
from storage.partitions import DETACHABLE, attached_partitions

QUERIES: dict[str, dict[str, str]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)

RELATIONS = QUERIES["relations"]
"""Queries without their SELECT that must find no row, in the database and in a release:
PostgreSQL and DuckDB read them."""

INVARIANTS = RELATIONS | QUERIES["database"]
"""Queries without their SELECT that must find no row of a crawl in the database."""

UNGUARDED = """
    SELECT count(*) FROM unnest(CAST(:partitions AS text[])) AS name
    WHERE NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = to_regclass(name) AND tgname = 'sealed')
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Invariant:
    """An invariant of a crawl, and the rows that violate it."""

    name: str
    offenders: int


def check(connection: Connection, crawl: Crawl) -> Iterator[Invariant]:
    partitions = attached_partitions(connection, crawl.id)
    lacking = {model.__tablename__ for model in OBSERVATIONS} - partitions.keys() - set(DETACHABLE)
    yield Invariant("its partitions are attached", len(lacking))
    if crawl.sealed_at is not None:
        guard = connection.scalar(text(UNGUARDED), {"partitions": list(partitions.values())})
        yield Invariant("what is sealed refuses to be written", guard or 0)
    gone = [name for name in DETACHABLE if name not in partitions]
    for name, query in INVARIANTS.items():
        if not lacking and not any(f"FROM {table}" in query or f"JOIN {table}" in query for table in gone):
            counted = connection.scalar(text(f"SELECT count(*) {query}"), {"crawl_id": crawl.id})  # our own
            yield Invariant(name, counted or 0)
