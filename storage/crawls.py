"""Looking up crawls in the database by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import select
from sqlalchemy.orm import Session

from schema.crawls import name_of
from schema.tables import Crawl

if TYPE_CHECKING:
    from sqlalchemy import Connection


class CrawlNotFound(Exception):
    """No crawl, or more than one, goes by that name."""


def crawls(connection: Connection) -> list[Crawl]:
    """Every crawl, in the order of their names; rows detached from any session."""
    with Session(connection, expire_on_commit=False) as session:
        found = list(session.scalars(select(Crawl)))
        session.expunge_all()
    return sorted(found, key=lambda crawl: str(name_of(crawl)).encode())


def find_crawl(connection: Connection, name: str) -> Crawl:
    """The one crawl whose name is `name` or begins with it: `2026-11` will do where it is unique."""
    found = [crawl for crawl in crawls(connection) if f"{name_of(crawl)}.".startswith(f"{name}.")]
    if not found:
        raise CrawlNotFound(f"there is no crawl {name!r}; `firstflight crawl list` shows what there is")
    if len(found) > 1:
        names = ", ".join(str(name_of(crawl)) for crawl in found)
        raise CrawlNotFound(f"{name!r} names {len(found)} crawls: {names}")
    return found[0]
