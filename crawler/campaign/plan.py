"""Plans a crawl: its list, its row, its sites and its partitions, in one transaction."""

import dataclasses

from sqlalchemy import Connection, Engine, func, insert, select, text
from sqlalchemy.dialects.postgresql import insert as upsert

from crawler.errors import CrawlerError
from crawler.sites.lists import Entry, Sites
from crawler.sites.optout import OptOut
from schema.crawls import CrawlName, name_of
from schema.tables import Crawl, Site, SiteList
from storage.bulk_copy import copy_rows
from storage.crawls import crawls
from storage.partitions import create_partitions

METHOD_VERSION = "3"
"""Version of the measuring method; a change that moves numbers raises it, and every time series marks it."""

LOCK = 0x706C616E
"""Key of the advisory lock that planners take in turn: "plan" in ASCII."""

ATTEMPTS_LIMIT = 9
LOADS_LIMIT = 9
TOP_LIMIT = 10**9


class PlanError(CrawlerError):
    """The crawl cannot be planned with these settings."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class CrawlPlan:
    """The settings of a crawl."""

    name: CrawlName
    sites: Sites
    top: int | None
    """Sites from the head of the list; None for all."""
    attempts: int
    budget_s: float
    commit: str
    optout: OptOut | None = None
    loads: int = 1
    inner_pages: int = 0
    user_agent: str | None = None
    """User-Agent to send; None for that of plain Chrome."""
    contact_url: str | None = None

    def entries(self) -> tuple[Entry, ...]:
        head = self.sites.top(self.top)
        return self.optout.filter_entries(head) if self.optout else head

    def row(self) -> dict[str, object]:
        return dataclasses.asdict(self.name) | {
            "list_id": self.sites.id,
            "top": len(self.entries()),
            "attempts": self.attempts,
            "budget_s": self.budget_s,
            "method_version": METHOD_VERSION,
            "loads": self.loads,
            "inner_pages": self.inner_pages,
            "user_agent_planned": self.user_agent,
            "contact_url": self.contact_url,
            "optout_checksum": self.optout.checksum if self.optout else None,
            "optout_sites": len(self.sites.top(self.top)) - len(self.entries()) if self.optout else None,
        }


def plan(engine: Engine, wanted: CrawlPlan) -> tuple[Crawl, bool]:
    """Plan a crawl; return it, and whether it is new: the same plan again changes nothing."""
    with engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        existing = _same_name(connection, wanted.name)
        if existing is not None:
            _check_identical(existing, wanted)
            return existing, False
        _insert(connection, wanted)
        planned = _same_name(connection, wanted.name)
        assert planned is not None
        return planned, True


def find_list_of_month(connection: Connection, month: str, source: str) -> str | None:
    """Return the id of the list that a month's crawls have of a source; None before the first."""
    query = (
        select(SiteList.id)
        .join(Crawl, Crawl.list_id == SiteList.id)
        .where(Crawl.month == month, SiteList.source == source)
        .order_by(Crawl.planned_at)
    )
    return connection.scalars(query).first()


def check_method(crawl: Crawl) -> None:
    """Raise PlanError if another method than this code's was planned."""
    if crawl.method_version != METHOD_VERSION:
        raise PlanError(
            f"{name_of(crawl)} was planned for method {crawl.method_version}, and this code measures by "
            f"method {METHOD_VERSION}: run it with the code of {crawl.commit}, or plan another crawl"
        )


def _same_name(connection: Connection, name: CrawlName) -> Crawl | None:
    return next((crawl for crawl in crawls(connection) if name_of(crawl) == name), None)


def _check_identical(existing: Crawl, wanted: CrawlPlan) -> None:
    row = wanted.row()
    # A site that opts out during a crawl is left out of the next crawl: the existing plan stays.
    later = (
        {"top", "optout_checksum", "optout_sites"}
        if row["optout_checksum"] != existing.optout_checksum
        else ()
    )
    for column, value in row.items():
        if column not in later and getattr(existing, column) != value:
            raise PlanError(
                f"crawl {wanted.name} is planned already, with {column} {getattr(existing, column)!r}, "
                f"not {value!r}: plan another month, vantage or kind, or run the one that is there"
            )


def _insert(connection: Connection, wanted: CrawlPlan) -> None:
    sites = wanted.sites
    connection.execute(
        upsert(SiteList)
        .values(
            id=sites.id,
            source=sites.source,
            checksum=sites.checksum,
            entries=len(sites.entries),
            fetched_at=sites.fetched_at or func.now(),
        )
        .on_conflict_do_nothing()
    )
    known = connection.scalar(select(SiteList.checksum).where(SiteList.id == sites.id))
    if known != sites.checksum:
        raise PlanError(f"the list {sites.id} was another when it was first planned: fetch it by a new name")
    if not wanted.entries():
        raise PlanError(f"everybody in the list {sites.id} opted out: there is nobody to visit")
    crawl_id = connection.scalar(
        insert(Crawl).values(**wanted.row(), commit=wanted.commit, planned_at=func.now()).returning(Crawl.id)
    )
    assert crawl_id is not None
    copy_rows(
        connection,
        Site,
        ({"crawl_id": crawl_id, **dataclasses.asdict(entry)} for entry in wanted.entries()),
        columns=("crawl_id", "rank", "host", "magnitude"),
    )
    # Until autovacuum's next round PostgreSQL would take the queue for one of a few sites, and sort the whole
    # of it at each claim: half a second for 300,000 sites.
    connection.execute(text("ANALYZE site"))
    create_partitions(connection, crawl_id)  # last: it locks `outcome` until the transaction ends
