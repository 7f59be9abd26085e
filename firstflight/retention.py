"""Retention: detaches the large partitions of crawls whose releases verify."""

import dataclasses
from pathlib import Path

from sqlalchemy import Connection, Engine, text

from releases.catalogue import ReleaseError, find_release
from releases.verify import verify
from schema.crawls import name_of
from schema.tables import Crawl
from storage.crawls import crawls, find_crawl
from storage.partitions import DETACHABLE, attached_partitions, detach_partitions


class RetentionError(Exception):
    """A crawl must stay in PostgreSQL whole; the message says why."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class HeldPartitions:
    """A sealed crawl whose large partitions are attached."""

    crawl: str
    bytes: int
    """With their indexes, on the server's disk."""


def list_held(connection: Connection) -> list[HeldPartitions]:
    kept = []
    for crawl in crawls(connection):
        partitions = [
            name for table, name in attached_partitions(connection, crawl.id).items() if table in DETACHABLE
        ]
        if crawl.sealed_at is not None and partitions:
            size = connection.scalar(
                text(
                    "SELECT sum(pg_total_relation_size(to_regclass(name))) FROM "
                    "unnest(CAST(:names AS text[])) AS name"
                ),
                {"names": partitions},
            )
            kept.append(HeldPartitions(crawl=str(name_of(crawl)), bytes=int(size or 0)))
    return kept


def is_older(crawl: str, *, months: int, month: str) -> bool:
    """Return whether a crawl is over `months` months before `month`.

    >>> [is_older(crawl, months=2, month="2027-01") for crawl in ("2026-10.a.b.c.d", "2026-11.a.b.c.d")]
    [True, False]
    """

    def counted(name: str) -> int:
        return 12 * int(name[:4]) + int(name[5:7])

    return counted(month) - counted(crawl) > months


def detach(engine: Engine, releases: Path, name: str) -> list[str]:
    """Detach a crawl's large partitions; return their names. RetentionError unless its release verifies."""
    with engine.connect() as connection:
        crawl = find_crawl(connection, name)
        partitions = attached_partitions(connection, crawl.id)
    if not any(table in partitions for table in DETACHABLE):
        return []
    _check(engine, releases, crawl)
    with engine.begin() as connection:
        return detach_partitions(connection, crawl.id)


def _check(engine: Engine, releases: Path, crawl: Crawl) -> None:
    name = str(name_of(crawl))
    if crawl.sealed_at is None:
        raise RetentionError(f"{name} is still open: nothing is detached")
    try:
        release = find_release(releases, name)
    except ReleaseError as exc:
        raise RetentionError(f"nothing is detached: {exc}") from exc
    failed = [check for check in verify(release, engine) if not check.holds]
    if failed:
        reasons = "; ".join(f"{check.name}: {check.evidence}" for check in failed)
        raise RetentionError(f"the release of {name} does not verify, nothing is detached: {reasons}")
