"""Seals a crawl: from then on it is never written again."""

from sqlalchemy import Connection, Engine, func, select, update

from crawler.errors import CrawlerError
from schema.tables import Crawl, Site
from storage.partitions import seal_partitions


class SealError(CrawlerError):
    """The crawl is not done."""


def count_open_sites(connection: Connection, crawl: Crawl) -> int:
    left = select(func.count()).where(Site.crawl_id == crawl.id, Site.final_visit_id.is_(None))
    return connection.scalar(left) or 0


def seal(engine: Engine, crawl: Crawl) -> bool:
    """Seal a crawl whose sites are all done; False if it was sealed already."""
    with engine.begin() as connection:
        # The lock excludes writers, which lock the row for reading.
        sealed_at = connection.scalar(select(Crawl.sealed_at).where(Crawl.id == crawl.id).with_for_update())
        if sealed_at is not None:
            return False
        left = count_open_sites(connection, crawl)
        if left:
            raise SealError(
                f"{left} of {crawl.top} sites have no final visit yet: run `firstflight crawl run` first"
            )
        seal_partitions(connection, crawl.id)
        connection.execute(update(Crawl).where(Crawl.id == crawl.id).values(sealed_at=func.now()))
    return True
