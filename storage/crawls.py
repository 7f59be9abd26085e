"""Finds crawls in the database by name, and the age of their lists."""

import datetime

from sqlalchemy import Connection, select
from sqlalchemy.orm import Session

from schema.crawls import name_of
from schema.tables import Crawl, SiteList


class CrawlNotFound(Exception):
    """The name matches no crawl or several crawls."""


def crawls(connection: Connection) -> list[Crawl]:
    """Return every crawl, sorted by name, detached from the session."""
    with Session(connection, expire_on_commit=False) as session:
        rows = list(session.scalars(select(Crawl)))
        session.expunge_all()
    return sorted(rows, key=lambda crawl: str(name_of(crawl)).encode())


def find_crawl(connection: Connection, name: str) -> Crawl:
    """Return the crawl that `name` names, in full or by its first parts if they are unique."""
    matching = [crawl for crawl in crawls(connection) if name_of(crawl).is_named(name)]
    if not matching:
        raise CrawlNotFound(f"there is no crawl {name!r}; `firstflight crawl list` shows what there is")
    if len(matching) > 1:
        names = ", ".join(str(name_of(crawl)) for crawl in matching)
        raise CrawlNotFound(f"{name!r} names {len(matching)} crawls: {names}")
    return matching[0]


def find_old_list_month(connection: Connection, crawl: Crawl) -> str | None:
    """Return the month, UTC, in which a crawl's list was read; None unless it is before the month of the
    plan.
    """
    read_at, planned_at = (
        moment.astimezone(datetime.UTC)
        for moment in (
            connection.execute(select(SiteList.fetched_at).where(SiteList.id == crawl.list_id)).scalar_one(),
            crawl.planned_at,
        )
    )
    return f"{read_at:%Y-%m}" if f"{read_at:%Y-%m}" < f"{planned_at:%Y-%m}" else None
