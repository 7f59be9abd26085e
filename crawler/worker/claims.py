"""
Claims of sites: taken, renewed, given back, and released in the transaction that writes the visit's rows.

A claim is a short transaction. A visit's rows, its outcome and the end of its claim are one other
transaction, which happens only while the claim is still ours. So any number of crawlers share a crawl, and
one that is killed loses nothing and doubles nothing. Each function may be called twice with the same claim:
the answer to a commit may be lost.

* ClaimError
  + LeaseLost       another crawler took the site over; nothing of this visit was written
  + CrawlSealed     a sealed crawl is never written again
"""

import concurrent.futures
import contextlib
import dataclasses
import datetime
import platform
import threading
import time
from collections.abc import Iterable, Iterator, Mapping
from types import TracebackType
from typing import Any, Self

from sqlalchemy import ColumnElement, Connection, Engine, and_, func, not_, or_, select, update
from sqlalchemy.orm import InstrumentedAttribute

from crawler.campaign import seal
from crawler.errors import CrawlerError
from crawler.visit.attempt import Observation
from crawler.visit.row_values import Row
from schema.tables import Connection as ConnectionRow
from schema.tables import Crawl, Response, Site, Visit
from schema.vocabulary import NEVER_FINAL, RETRIED, UNCONFIRMED, is_covered
from storage.bulk_copy import copy_rows
from storage.engine import DatabaseError

ATTEMPT_LIMIT = 1000
"""Attempts at one site, lost claims included: its visits' ids end before the next site's begin."""

LEASE_S = 15.0
"""Lease of a claim, in seconds; a running crawler renews it (Leases)."""

RENEW_S = LEASE_S / 3
"""Interval of renewals, in seconds: two may be late before a lease ends."""

MARGIN_S = 60.0
"""Time for a browser's slow end and for writing, in seconds, beyond the visit's budget."""

OURS_LIMIT = 800
"""Attempts after which a fault of ours leaves no row: the ids left are for the site's own visits."""

RETRY_AFTER_LIMIT_S = 900
"""Longest Retry-After that is waited for, in seconds; of a longer one the answer is kept."""


class ClaimError(CrawlerError):
    """A claim does not allow a visit to be written."""


class LeaseLost(ClaimError):
    """The claim was taken over by another crawler after it had expired."""


class CrawlSealed(ClaimError):
    """The crawl was sealed."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A site that one browser may visit until the lease expires."""

    crawl_id: int
    rank: int
    host: str
    attempt: int
    owner: str

    @property
    def visit_id(self) -> int:
        """Unique within the crawl without asking the database."""
        return self.rank * ATTEMPT_LIMIT + self.attempt


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class StoredVisit:
    """A written visit's outcome, and whether it is the final one of its site."""

    outcome: str
    is_final: bool


def lease_limit_s(crawl: Crawl) -> float:
    """Return the seconds after which a claim is not renewed: its visit hangs."""
    return crawl.budget_s * (crawl.loads + crawl.inner_pages) + MARGIN_S


def claim_site(engine: Engine, crawl: Crawl, *, owner: str) -> Claim | None:
    """Claim the next free site; None if there is none.

    Sites with an attempt come last, after the Retry-After that they asked for.
    """
    free = (
        select(Site.rank)
        .where(
            Site.crawl_id == crawl.id,
            Site.final_visit_id.is_(None),
            or_(Site.owner.is_(None), _has_passed(Site.lease_expires_at, LEASE_S)),
            or_(Site.not_before.is_(None), _has_passed(Site.not_before, RETRY_AFTER_LIMIT_S)),
            Site.attempts < ATTEMPT_LIMIT - 1,
        )
        .order_by(Site.attempts, Site.rank)
        .limit(1)
        .with_for_update(skip_locked=True)
        .cte("free")
        .prefix_with("MATERIALIZED")
    )
    statement = (
        update(Site)
        .where(Site.crawl_id == crawl.id, Site.rank == free.c.rank)
        .values(owner=owner, lease_expires_at=_from_now(LEASE_S), attempts=Site.attempts + 1)
        .returning(Site.rank, Site.host, Site.attempts)
    )
    with engine.begin() as connection:
        row = connection.execute(statement).one_or_none()
    if row is None:
        return None
    return Claim(crawl_id=crawl.id, rank=row.rank, host=row.host, attempt=row.attempts, owner=owner)


def renew_claims(engine: Engine, claims: Iterable[Claim]) -> None:
    ours = [and_(*_is_ours(claim)) for claim in claims]
    if not ours:
        return
    # A row that is locked is being written by us, and cannot be claimed:
    # waiting for it would let others expire.
    held = select(Site.crawl_id, Site.rank).where(or_(*ours)).with_for_update(skip_locked=True).cte("held")
    with engine.begin() as connection:
        connection.execute(
            update(Site)
            .where(Site.crawl_id == held.c.crawl_id, Site.rank == held.c.rank)
            .values(lease_expires_at=_from_now(LEASE_S))
        )


def release_claim(engine: Engine, ours: Claim, *, counts: bool = False) -> None:
    """Give a claim back as if it had never been made or, if it `counts`, as an attempt."""
    with engine.begin() as connection:
        connection.execute(
            update(Site)
            .where(*_is_ours(ours))
            .values(owner=None, lease_expires_at=None, attempts=Site.attempts - (0 if counts else 1))
        )


def store_visit(engine: Engine, crawl: Crawl, ours: Claim, observation: Observation) -> StoredVisit:
    """Write a visit and give up the claim, or write nothing (LeaseLost, CrawlSealed).

    A fault of ours is never final, and none of the site's attempts. A name that did not resolve, and of which
    no other resolver told, costs one attempt more.
    """
    outcome: str = observation.visit["outcome"]
    if outcome in NEVER_FINAL and ours.attempt > OURS_LIMIT:
        release_claim(engine, ours)
        return StoredVisit(outcome=outcome, is_final=False)
    retry_after_s = _retry_after_s(observation)
    most = crawl.attempts + is_unconfirmed(observation)
    with engine.begin() as connection:
        _check_open(connection, ours.crawl_id)
        is_final = outcome not in NEVER_FINAL and (
            (outcome not in RETRIED and retry_after_s is None)
            or ours.attempt - _count_our_faults(connection, ours) >= most
        )
        gave_up = connection.execute(
            update(Site)
            .where(*_is_ours(ours))
            .values(
                owner=None,
                lease_expires_at=None,
                attempts=ours.attempt + len(observation.more),
                final_visit_id=ours.visit_id if is_final else None,
                not_before=None if is_final or retry_after_s is None else _from_now(retry_after_s),
            )
        )
        if gave_up.rowcount == 1:
            _write_visit(connection, ours, observation, is_final=is_final)
        elif not _is_written(connection, ours):  # else the answer to our commit was lost
            raise LeaseLost(
                f"{ours.host}: the claim expired and another crawler took it over; "
                "nothing of this visit was stored"
            )
    return StoredVisit(outcome=outcome, is_final=is_final)


def is_unconfirmed(observation: Observation) -> bool:
    return (observation.visit["error"] or "").endswith(UNCONFIRMED)


def count_open_sites(engine: Engine, crawl: Crawl) -> int:
    with engine.connect() as connection:
        return seal.count_open_sites(connection, crawl)


def _is_ours(claim: Claim) -> tuple[ColumnElement[bool], ...]:
    """Return what holds while a claim is ours: whoever takes it over writes its name and the next attempt."""
    return (
        Site.crawl_id == claim.crawl_id,
        Site.rank == claim.rank,
        Site.owner == claim.owner,
        Site.attempts == claim.attempt,
    )


def _check_open(connection: Connection, crawl_id: int) -> None:
    """Raise CrawlSealed for a sealed crawl; by the lock, sealing and we wait for each other."""
    sealed_at = connection.scalar(
        select(Crawl.sealed_at).where(Crawl.id == crawl_id).with_for_update(read=True)
    )
    if sealed_at is not None:
        raise CrawlSealed(f"the crawl was sealed at {sealed_at:%Y-%m-%d %H:%M}: nothing is written any more")


def _retry_after_s(observation: Observation) -> int | None:
    """Return the site's Retry-After; None if there is none, or one too long for a crawl."""
    asked: int | None = observation.visit["retry_after_s"]
    return asked if asked is not None and asked <= RETRY_AFTER_LIMIT_S else None


def _has_passed(time: InstrumentedAttribute[datetime.datetime | None], most_s: float) -> ColumnElement[bool]:
    """Return the condition that a time has passed, which was at most `most_s` ahead when written.

    One twice as far ahead was written before the server's clock was set back. Twice, since `now()` is the
    begin of a transaction, which may wait for the one that writes the time.
    """
    return not_(time.between(func.now(), _from_now(2 * most_s)))


def _from_now(seconds: float) -> ColumnElement[datetime.datetime]:
    return func.now() + func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def _write_visit(connection: Connection, claim: Claim, observation: Observation, *, is_final: bool) -> None:
    """Write a visit, and its repeat loads and inner pages as others that are never final."""
    _write_load(connection, claim, observation, is_final=is_final)
    for attempt, load in enumerate(observation.more, claim.attempt + 1):
        _write_load(connection, dataclasses.replace(claim, attempt=attempt), load, is_final=False)


def _is_written(connection: Connection, claim: Claim) -> bool:
    written = select(Visit.owner).where(Visit.crawl_id == claim.crawl_id, Visit.id == claim.visit_id)
    return connection.scalar(written) == claim.owner


def _count_our_faults(connection: Connection, claim: Claim) -> int:
    """Count earlier visits that ended by a fault of ours."""
    counted = select(func.count()).where(
        Visit.crawl_id == claim.crawl_id,
        Visit.rank == claim.rank,
        Visit.attempt < claim.attempt,
        Visit.outcome.in_(NEVER_FINAL),
    )
    return connection.scalar(counted) or 0


def _write_load(connection: Connection, claim: Claim, observation: Observation, *, is_final: bool) -> None:
    visit = {
        **observation.visit,
        "crawl_id": claim.crawl_id,
        "id": claim.visit_id,
        "rank": claim.rank,
        "host": claim.host,
        "attempt": claim.attempt,
        "is_final": is_final,
        "owner": claim.owner,
        "page_kind": observation.page_kind,
        "load": observation.load,
        "is_covered": is_covered(observation.visit["coverage"], observation.visit["decrypted_coverage"]),
        "crawler_host": platform.node(),
    }
    copy_rows(connection, Visit, [visit])
    copy_rows(connection, ConnectionRow, _add_keys(claim, observation.connections))
    copy_rows(connection, Response, _add_keys(claim, observation.responses))


def _add_keys(claim: Claim, rows: Iterable[Row]) -> Iterator[Mapping[str, Any]]:
    for row in rows:
        yield {**row, "crawl_id": claim.crawl_id, "visit_id": claim.visit_id}


class Leases:
    """Renews leases in a thread of its own: assembling a large page keeps the event loop busy for seconds."""

    def __init__(self, engine: Engine, crawl: Crawl) -> None:
        self._engine = engine
        self._crawl = crawl
        self._held: dict[object, tuple[Claim, float]] = {}
        """Claim of each hold, and its end on the clock of time.monotonic.

        A claim may be held twice: once its visit is stored, the site may be claimed again as the same
        attempt.
        """
        self._changing = threading.Lock()
        self._ended = threading.Event()
        self._thread = concurrent.futures.ThreadPoolExecutor(1, "leases")
        self._beating: concurrent.futures.Future[None] = concurrent.futures.Future()

    def __enter__(self) -> Self:
        self._beating = self._thread.submit(self._beat)
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, traceback: TracebackType | None
    ) -> None:
        self._ended.set()
        self._thread.shutdown()

    @contextlib.contextmanager
    def hold(self, claim: Claim) -> Iterator[None]:
        """Renew a claim's lease for the block; an error of the thread is raised here."""
        if self._beating.done():
            self._beating.result()
        hold = object()
        with self._changing:
            self._held[hold] = claim, time.monotonic() + lease_limit_s(self._crawl)
        try:
            yield
        finally:
            with self._changing:
                del self._held[hold]

    def _beat(self) -> None:
        while not self._ended.wait(RENEW_S):
            self._renew()

    def _renew(self) -> None:
        now = time.monotonic()
        with self._changing:
            held = list({claim for claim, until in self._held.values() if now < until})
        # While the database is away nobody can claim; when it is back, the first to ask has the site.
        with contextlib.suppress(DatabaseError):
            renew_claims(self._engine, held)
