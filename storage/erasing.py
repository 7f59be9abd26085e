"""Erases a site from the database, which is the only write to a sealed crawl."""

import dataclasses

from sqlalchemy import Connection, Engine, text

from schema.tables import Crawl, Site
from storage.erased_site import ErasedSite
from storage.partitions import existing_partitions

MATCHES = "regexp_like"
"""PostgreSQL's function of regular expressions."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """Numbers of rows of a crawl that concern a site."""

    sites: int
    visits: int
    named: int
    """Rows of visits to other sites that name the site."""

    @property
    def anything(self) -> bool:
        return self.sites + self.visits + self.named > 0


def find(connection: Connection, crawl: Crawl, site: ErasedSite) -> Found:
    """Count the rows, those in detached partitions that still exist included."""
    partitions = existing_partitions(connection, crawl.id)
    own = _own_sites(site)
    named = 0
    for table, partition in partitions.items():
        touched = site.is_touched(table, matches=MATCHES)
        named += _count(
            connection, f"{partition} WHERE {touched} AND NOT {_is_own_visit(table, site)}", crawl
        )
    visits = partitions.get("visit")
    return Found(
        sites=_count(connection, f"{Site.__tablename__} WHERE {own}", crawl),
        visits=_count(connection, f"{visits} WHERE {_is_own_visit('visit', site)}", crawl) if visits else 0,
        named=named,
    )


def erase(engine: Engine, crawl: Crawl, site: ErasedSite) -> None:
    """Erase the site from a crawl, sealed or not, in one transaction."""
    with engine.begin() as connection:
        partitions = existing_partitions(connection, crawl.id)
        for partition in partitions.values():
            connection.execute(text(f"ALTER TABLE {partition} DISABLE TRIGGER USER"))
        # Visits last: the other tables' rows are found by them.
        for table, partition in reversed(partitions.items()):
            _run(connection, f"DELETE FROM {partition} WHERE {_is_own_visit(table, site)}", crawl)  # noqa: S608
            changes = site.changes(table, matches=MATCHES)
            assigned = ", ".join(f"{column} = {value}" for column, value in changes.items())
            touched = site.is_touched(table, matches=MATCHES)
            _run(connection, f"UPDATE {partition} SET {assigned} WHERE {touched}", crawl)  # noqa: S608
        _run(connection, f"DELETE FROM {Site.__tablename__} WHERE {_own_sites(site)}", crawl)  # noqa: S608
        for partition in partitions.values():
            connection.execute(text(f"ALTER TABLE {partition} ENABLE TRIGGER USER"))


def rewrite(engine: Engine, crawl_id: int) -> None:
    """Rewrite a crawl's tables and statistics, so that PostgreSQL's files hold no deleted row."""
    with engine.connect().execution_options(isolation_level="AUTOCOMMIT") as connection:
        for partition in [Site.__tablename__, *existing_partitions(connection, crawl_id).values()]:
            connection.execute(text(f"VACUUM (FULL, ANALYZE) {partition}"))


def _own_sites(site: ErasedSite) -> str:
    return f"crawl_id = :crawl_id AND {site.is_own('host')}"


def _is_own_visit(table: str, site: ErasedSite) -> str:
    if table == "visit":
        return site.is_own("host")
    return f"visit_id IN (SELECT id FROM visit WHERE crawl_id = :crawl_id AND {site.is_own('host')})"  # noqa: S608


def _count(connection: Connection, rest: str, crawl: Crawl) -> int:
    count = connection.scalar(text(f"SELECT count(*) FROM {rest}"), _bound(rest, crawl))  # noqa: S608  # our own SQL
    return int(count or 0)


def _run(connection: Connection, statement: str, crawl: Crawl) -> None:
    connection.execute(text(statement), _bound(statement, crawl))


def _bound(statement: str, crawl: Crawl) -> dict[str, int]:
    return {"crawl_id": crawl.id} if ":crawl_id" in statement else {}
