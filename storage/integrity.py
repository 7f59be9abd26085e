"""Invariants of the database that no constraint can state: between partitions, and over several rows.

Partitioned tables have no foreign keys to each other; the crawler's transactions keep them consistent. A
release is verified separately (`firstflight release verify`).
"""

import dataclasses
from collections.abc import Iterator

from sqlalchemy import Connection, text

from schema.tables import OBSERVATIONS, Crawl
from storage.partitions import DETACHABLE, attached_partitions

RELATIONS: dict[str, str] = {
    "every site's final visit exists": "FROM site LEFT JOIN visit ON visit.crawl_id = site.crawl_id "
    "AND visit.id = site.final_visit_id AND visit.rank = site.rank AND visit.is_final "
    "WHERE site.crawl_id = :crawl_id AND site.final_visit_id IS NOT NULL AND visit.id IS NULL",
    "no visit that was given back is final": "FROM visit WHERE crawl_id = :crawl_id AND is_final "
    "AND outcome = 'network_down'",
    "every visit's site exists": "FROM visit LEFT JOIN site ON site.crawl_id = visit.crawl_id AND site.rank "
    "= visit.rank WHERE visit.crawl_id = :crawl_id AND site.rank IS NULL",
    "every connection's visit exists": "FROM connection LEFT JOIN visit ON visit.crawl_id = "
    "connection.crawl_id AND visit.id = connection.visit_id WHERE connection.crawl_id = "
    ":crawl_id AND visit.id IS NULL",
    "received_bytes of a visit is the sum of its connections'": "FROM visit LEFT JOIN (SELECT visit_id, "
    "sum(received_bytes) AS total FROM connection WHERE crawl_id = :crawl_id GROUP BY visit_id) AS summed "
    "ON summed.visit_id = visit.id WHERE visit.crawl_id = :crawl_id AND "
    "visit.received_bytes <> coalesce(total, 0)",
    "every response's visit exists": "FROM response LEFT JOIN visit ON visit.crawl_id = response.crawl_id "
    "AND visit.id = response.visit_id WHERE response.crawl_id = :crawl_id AND visit.id IS NULL",
    "every response's connection exists": "FROM response LEFT JOIN connection ON connection.crawl_id = "
    "response.crawl_id AND connection.visit_id = response.visit_id AND connection.id = "
    "response.connection_id WHERE response.crawl_id = :crawl_id AND response.connection_id IS NOT NULL "
    "AND connection.id IS NULL",
}
"""Queries without their SELECT that must find no row, in the database and in a release:
PostgreSQL and DuckDB read them."""

INVARIANTS: dict[str, str] = RELATIONS | {
    "a site has one final visit at most": "FROM (SELECT rank FROM visit WHERE crawl_id = :crawl_id AND "
    "is_final GROUP BY rank HAVING count(*) > 1) AS doubled",
    "every final visit stands for its site": "FROM visit LEFT JOIN site ON site.crawl_id = visit.crawl_id "
    "AND site.final_visit_id = visit.id WHERE visit.crawl_id = :crawl_id AND "
    "visit.is_final AND site.rank IS NULL",
    "every site of a sealed crawl has its final visit": "FROM site JOIN crawl ON crawl.id = site.crawl_id "
    "WHERE crawl.id = :crawl_id AND crawl.sealed_at IS NOT NULL AND site.final_visit_id IS NULL",
    "no site of a sealed crawl is claimed": "FROM site JOIN crawl ON crawl.id = site.crawl_id "
    "WHERE crawl.id = :crawl_id AND crawl.sealed_at IS NOT NULL AND site.owner IS NOT NULL",
    "every visit's main document exists": "FROM visit LEFT JOIN response ON response.crawl_id = "
    "visit.crawl_id AND response.visit_id = visit.id AND response.id = visit.main_response_id WHERE "
    "visit.crawl_id = :crawl_id AND visit.main_response_id IS NOT NULL AND response.id IS NULL",
}
"""Queries without their SELECT that must find no row of a crawl in the database."""

UNGUARDED = """
    SELECT count(*) FROM unnest(CAST(:partitions AS text[])) AS name
    WHERE NOT EXISTS (SELECT FROM pg_trigger WHERE tgrelid = to_regclass(name) AND tgname = 'sealed')
"""


@dataclasses.dataclass(frozen=True, slots=True)
class Invariant:
    """An invariant of a crawl, and the number of rows that violate it."""

    name: str
    offenders: int


def check(connection: Connection, crawl: Crawl) -> Iterator[Invariant]:
    """Check every invariant of a crawl whose tables are attached."""
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
