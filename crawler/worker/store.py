"""
Claims and what comes of them: the only place where the crawler writes observations.

A claim is a short transaction. Rows, outcome and the claim's release are one other transaction, and only
while the claim is still ours: so any number of crawlers share a crawl, and a killed one loses nothing and
doubles nothing. Each of these may be called twice with the same claim: the answer to a commit may be lost.

* StoreError
  + LeaseLost       another crawler took the site over; nothing of this visit was written
  + CrawlSealed     it is never written again
  + BrowserDiffers  a crawl has one browser build
"""

from __future__ import annotations

import dataclasses
import platform
from typing import TYPE_CHECKING, Any

from sqlalchemy import and_, func, or_, select, update

from crawler.errors import CrawlerError
from schema.tables import Connection as ConnectionRow
from schema.tables import Crawl, Response, Site, Visit
from schema.vocabulary import NEVER_FINAL, RETRIED, is_covered
from storage.bulk_copy import copy_rows

if TYPE_CHECKING:
    import datetime
    from collections.abc import Iterable, Iterator, Mapping

    from sqlalchemy import ColumnElement, Connection, Engine

    from crawler.browser.browser import Identity
    from crawler.visit.observation import Observation, Row

LEASE_S = 15.0
"""How long a claim lasts beyond the last sign of life of its crawler (crawler.worker.leases)."""

MARGIN_S = 60.0
"""Beyond the visit's budget: for a browser's slow end and the writing."""

ATTEMPT_LIMIT = 1000
"""Of one site, lost claims included: its visits' ids must not run into those of the next."""

OURS_LIMIT = 800
"""Attempts at one site from which on a visit that ended by a fault of ours leaves no row: the site needs the ids for its own."""

PATIENCE_LIMIT_S = 900
"""A site that asks for more by Retry-After keeps the answer that it gave: the crawl's end would wait for it."""

SURROUNDINGS = ("--host-resolver-rules=", "--ignore-certificate-errors-spki-list=", "--net-log-capture-mode=")
"""Flags that say where the local web is, and whether the log or a capture has the bytes, not what is measured: they may
differ between runs."""


class StoreError(CrawlerError):
    """Anything above."""


class LeaseLost(StoreError):
    """The claim was taken over by another crawler after it had expired."""


class CrawlSealed(StoreError):
    """The crawl was sealed."""


class BrowserDiffers(StoreError):
    """This browser is not the one that the crawl began with."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Claim:
    """A site that is ours until the lease expires."""

    crawl_id: int
    rank: int
    host: str
    attempt: int
    """From 1; a visit that was lost with its crawler counts."""
    owner: str

    @property
    def visit_id(self) -> int:
        """Unique within the crawl, and allotted without asking anybody."""
        return self.rank * ATTEMPT_LIMIT + self.attempt


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Stored:
    """What became of a visit."""

    outcome: str
    is_final: bool


def longest_s(crawl: Crawl) -> float:
    """Seconds after which a claim is renewed no more: its crawler hangs, though its process lives."""
    return crawl.budget_s * (crawl.loads + crawl.inner_pages) + MARGIN_S


def claim(engine: Engine, crawl: Crawl, *, owner: str) -> Claim | None:
    """The next free site, or None if there is none now; sites that had an attempt come last, and not before they said."""
    free = (
        select(Site.rank)
        .where(
            Site.crawl_id == crawl.id,
            Site.final_visit_id.is_(None),
            or_(Site.owner.is_(None), Site.lease_expires_at < func.now()),
            or_(Site.not_before.is_(None), Site.not_before <= func.now()),
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
        .values(owner=owner, lease_expires_at=_lease(), attempts=Site.attempts + 1)
        .returning(Site.rank, Site.host, Site.attempts)
    )
    with engine.begin() as connection:
        row = connection.execute(statement).one_or_none()
    if row is None:
        return None
    return Claim(crawl_id=crawl.id, rank=row.rank, host=row.host, attempt=row.attempts, owner=owner)


def renew(engine: Engine, claims: Iterable[Claim]) -> None:
    """Extend the leases of claims that are still ours."""
    ours = [and_(*_still(claim)) for claim in claims]
    if not ours:
        return
    # A row that is locked is being written by us, and cannot be claimed: waiting for it would let others expire.
    free = select(Site.crawl_id, Site.rank).where(or_(*ours)).with_for_update(skip_locked=True).cte("held")
    with engine.begin() as connection:
        connection.execute(
            update(Site)
            .where(Site.crawl_id == free.c.crawl_id, Site.rank == free.c.rank)
            .values(lease_expires_at=_lease())
        )


def release(engine: Engine, ours: Claim, *, counts: bool = False) -> None:
    """Give a claim back without a visit: as if it had never been made, or as an attempt that counts."""
    with engine.begin() as connection:
        connection.execute(
            update(Site)
            .where(*_still(ours))
            .values(owner=None, lease_expires_at=None, attempts=Site.attempts - (0 if counts else 1))
        )


def store(engine: Engine, crawl: Crawl, ours: Claim, observation: Observation) -> Stored:
    """Write a visit with all it saw and give up the claim, or write nothing (LeaseLost, CrawlSealed).

    A visit that ended by a fault of ours is never final, and counts for none of the attempts that the site has.
    """
    outcome: str = observation.visit["outcome"]
    if outcome in NEVER_FINAL and ours.attempt > OURS_LIMIT:
        release(engine, ours)
        return Stored(outcome=outcome, is_final=False)
    patience_s = _patience_s(observation)
    with engine.begin() as connection:
        _check_open(connection, ours.crawl_id)
        is_final = outcome not in NEVER_FINAL and (
            (outcome not in RETRIED and patience_s is None)
            or ours.attempt - _faults_of_ours(connection, ours) >= crawl.attempts
        )
        if not _give_up(
            connection,
            ours,
            is_final=is_final,
            more=len(observation.more),
            patience_s=None if is_final else patience_s,
        ):
            _check_stored(connection, ours)
            return Stored(outcome=outcome, is_final=is_final)
        _write(connection, ours, observation, is_final=is_final)
        for number, one in enumerate(observation.more, ours.attempt + 1):
            _write(connection, dataclasses.replace(ours, attempt=number), one, is_final=False)
    return Stored(outcome=outcome, is_final=is_final)


def _faults_of_ours(connection: Connection, ours: Claim) -> int:
    """Earlier visits to the site that say nothing of it."""
    counted = select(func.count()).where(
        Visit.crawl_id == ours.crawl_id,
        Visit.rank == ours.rank,
        Visit.attempt < ours.attempt,
        Visit.outcome.in_(NEVER_FINAL),
    )
    return connection.scalar(counted) or 0


def _write(connection: Connection, ours: Claim, observation: Observation, *, is_final: bool) -> None:
    """The rows of one page load."""
    visit = {
        **observation.visit,
        "crawl_id": ours.crawl_id,
        "id": ours.visit_id,
        "rank": ours.rank,
        "host": ours.host,
        "attempt": ours.attempt,
        "is_final": is_final,
        "owner": ours.owner,
        "page_kind": observation.page_kind,
        "load": observation.load,
        "is_covered": is_covered(observation.visit["coverage"], observation.visit["decrypted_coverage"]),
        "crawler_host": platform.node(),
    }
    copy_rows(connection, Visit, [visit])
    copy_rows(connection, ConnectionRow, _keyed(ours, observation.connections))
    copy_rows(connection, Response, _keyed(ours, observation.responses))


def _keyed(ours: Claim, rows: Iterable[Row]) -> Iterator[Mapping[str, Any]]:
    for row in rows:
        yield {**row, "crawl_id": ours.crawl_id, "visit_id": ours.visit_id}


def _still(ours: Claim) -> tuple[ColumnElement[bool], ...]:
    """That the claim is ours: one who took it over wrote his own name and the next attempt."""
    return (
        Site.crawl_id == ours.crawl_id,
        Site.rank == ours.rank,
        Site.owner == ours.owner,
        Site.attempts == ours.attempt,
    )


def _check_open(connection: Connection, crawl_id: int) -> None:
    """Whoever seals waits for us, and we for him."""
    sealed_at = connection.scalar(
        select(Crawl.sealed_at).where(Crawl.id == crawl_id).with_for_update(read=True)
    )
    if sealed_at is not None:
        raise CrawlSealed(f"the crawl was sealed at {sealed_at:%Y-%m-%d %H:%M}: nothing is written any more")


def _patience_s(observation: Observation) -> int | None:
    """Seconds that the site asked to be left alone, if they can be waited for within a crawl."""
    asked: int | None = observation.visit["retry_after_s"]
    return asked if asked is not None and asked <= PATIENCE_LIMIT_S else None


def _give_up(
    connection: Connection, ours: Claim, *, is_final: bool, more: int, patience_s: int | None
) -> bool:
    """Whether the claim was ours to give up."""
    done = connection.execute(
        update(Site)
        .where(*_still(ours))
        .values(
            owner=None,
            lease_expires_at=None,
            attempts=ours.attempt + more,
            final_visit_id=ours.visit_id if is_final else None,
            not_before=None if patience_s is None else _from_now(patience_s),
        )
    )
    return done.rowcount == 1


def _check_stored(connection: Connection, ours: Claim) -> None:
    """A claim is gone when another took it over, or when we have stored the visit and were not told so."""
    there = connection.scalar(
        select(Visit.owner).where(Visit.crawl_id == ours.crawl_id, Visit.id == ours.visit_id)
    )
    if there != ours.owner:
        raise LeaseLost(
            f"{ours.host}: the claim expired and another crawler took it over; nothing of this visit was stored"
        )


def _lease() -> ColumnElement[datetime.datetime]:
    return _from_now(LEASE_S)


def _from_now(seconds: float) -> ColumnElement[datetime.datetime]:
    return func.now() + func.make_interval(0, 0, 0, 0, 0, 0, seconds)


def open_sites(engine: Engine, crawl: Crawl) -> int:
    """Sites without a final visit, whoever holds them."""
    with engine.connect() as connection:
        counted = connection.scalar(
            select(func.count()).where(Site.crawl_id == crawl.id, Site.final_visit_id.is_(None))
        )
    return int(counted or 0)


def record_browser(engine: Engine, crawl: Crawl, identity: Identity) -> None:
    """Write the browser on the crawl, once; BrowserDiffers if it began with another."""
    ours = {
        "browser": identity.product,
        "browser_built_on": identity.built_on,
        "browser_flags": "\n".join(identity.flags),
        "user_agent": identity.user_agent,
        "client_hints": identity.client_hints,
    }
    with engine.begin() as connection:
        connection.execute(update(Crawl).where(Crawl.id == crawl.id, Crawl.browser.is_(None)).values(ours))
        there = connection.execute(
            select(Crawl.browser, Crawl.user_agent, Crawl.client_hints, Crawl.browser_flags).where(
                Crawl.id == crawl.id
            )
        ).one()
    for what, theirs, mine in (
        ("browser", there.browser, identity.product),
        ("User-Agent", there.user_agent, identity.user_agent),
        ("client hints", there.client_hints, identity.client_hints),
        ("flags", _measuring(there.browser_flags.split("\n")), _measuring(identity.flags)),
    ):
        if theirs != mine:
            raise BrowserDiffers(
                f"this crawl began with {what} {theirs!r}, and this machine's is {mine!r}: "
                "install that build, or plan another crawl"
            )


def _measuring(flags: Iterable[str]) -> str:
    """The flags that change what is measured."""
    return " ".join(sorted(flag for flag in flags if not flag.startswith(SURROUNDINGS)))
