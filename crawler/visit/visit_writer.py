"""Writes the rows of a visit: one of `visit`, and those of its connections and responses."""

import dataclasses
import platform
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from sqlalchemy import Connection, func, select

from crawler.visit.claim import Claim
from crawler.visit.observation import Observation, Row
from schema.tables import Connection as ConnectionRow
from schema.tables import Response, Visit
from schema.vocabulary import NEVER_FINAL, is_covered
from storage.bulk_copy import copy_rows


def write_visit(connection: Connection, claim: Claim, observation: Observation, *, is_final: bool) -> None:
    """Write a visit and, as visits of their own that are never final, its repeat loads and inner pages."""
    _write_load(connection, claim, observation, is_final=is_final)
    for attempt, load in enumerate(observation.more, claim.attempt + 1):
        _write_load(connection, dataclasses.replace(claim, attempt=attempt), load, is_final=False)


def is_written(connection: Connection, claim: Claim) -> bool:
    """Return whether the visit of this claim is in the database."""
    written = select(Visit.owner).where(Visit.crawl_id == claim.crawl_id, Visit.id == claim.visit_id)
    return connection.scalar(written) == claim.owner


def count_our_faults(connection: Connection, claim: Claim) -> int:
    """Count earlier visits to the site that ended by a fault of ours,
    so that they say nothing of the site."""
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
