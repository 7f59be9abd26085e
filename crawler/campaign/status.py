"""How far a crawl is, counted in the database."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from sqlalchemy import text

from schema.vocabulary import NETWORK_DOWN
from storage.partitions import partition_name

if TYPE_CHECKING:
    import datetime

    from sqlalchemy import Connection

    from schema.tables import Crawl

RATE_WINDOW = "15 minutes"

COUNTED_BYTES = 64 << 20
"""Of a crawl's responses: fewer are counted, within a tenth of a second. A hundred million would take minutes."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """The counts of one crawl."""

    planned: int
    final: int
    """Sites that have their final visit."""
    claimed: int
    """Sites under a lease that has not expired."""
    expired: int
    """Sites whose lease expired: their crawler is gone, another takes them over."""
    visits: int
    """Of all kinds, attempts included."""
    repeat_loads: int
    inner_pages: int
    walls: dict[str, int]
    """Final visits by the bot wall that was recognised."""
    consents: dict[str, int]
    """Final visits by the consent platform that was recognised."""
    uncovered: int
    """Visits of whose bytes less than schema.vocabulary.COVERAGE_FLOOR is accounted for."""
    log_lines_lost: int | None
    """None where no visit has counted them."""
    unfiltered: int
    """Visits that were made without the address guard."""
    network_down: int
    """Visits that were given back, since our own network was down."""
    postponed: int
    """Sites that asked to be left alone for a while that is not over."""
    outcomes: dict[str, int]
    """Final visits by outcome."""
    responses: int | None
    """As PostgreSQL's statistics have it, where they are many; None where those are not there yet."""
    responses_exact: bool
    received_bytes: int
    coverage_min: float | None
    """Over all visits that received something; None if none did."""
    coverage_median: float | None
    visits_per_hour: float | None
    """Over the last 15 minutes before the last visit ended; None without visits."""
    sealed_at: datetime.datetime | None


def status(connection: Connection, crawl: Crawl, *, exact: bool = False) -> Status:
    """Count; of responses only few, or `exact`."""
    given = {"crawl_id": crawl.id}
    sites = connection.execute(
        text(
            """
            SELECT count(*) AS planned, count(final_visit_id) AS final,
                   count(*) FILTER (WHERE lease_expires_at >= now()) AS claimed,
                   count(*) FILTER (WHERE lease_expires_at < now()) AS expired,
                   count(*) FILTER (WHERE not_before > now() AND final_visit_id IS NULL) AS postponed
            FROM site WHERE crawl_id = :crawl_id
            """
        ),
        given,
    ).one()
    visits = connection.execute(
        text(
            """
            SELECT count(*) AS visits, coalesce(sum(received_bytes), 0)::bigint AS received_bytes,
                   min(coverage) AS coverage_min,
                   percentile_cont(0.5) WITHIN GROUP (ORDER BY coverage) AS coverage_median,
                   count(*) FILTER (WHERE load > 1) AS repeat_loads,
                   count(*) FILTER (WHERE page_kind = 'inner') AS inner_pages,
                   count(*) FILTER (WHERE is_covered IS FALSE) AS uncovered,
                   sum(log_lines_lost)::bigint AS log_lines_lost,
                   count(*) FILTER (WHERE unfiltered_egress) AS unfiltered,
                   count(*) FILTER (WHERE outcome = :network_down) AS network_down
            FROM visit WHERE crawl_id = :crawl_id
            """
        ),
        {**given, "network_down": NETWORK_DOWN},
    ).one()
    responses, responses_exact = _responses(connection, crawl, exact=exact)
    return Status(
        planned=sites.planned,
        final=sites.final,
        claimed=sites.claimed,
        expired=sites.expired,
        visits=visits.visits,
        repeat_loads=visits.repeat_loads,
        inner_pages=visits.inner_pages,
        uncovered=visits.uncovered,
        log_lines_lost=visits.log_lines_lost,
        unfiltered=visits.unfiltered,
        network_down=visits.network_down,
        postponed=sites.postponed,
        outcomes=_final_by(connection, crawl, "outcome"),
        walls=_final_by(connection, crawl, "wall"),
        consents=_final_by(connection, crawl, "consent"),
        responses=responses,
        responses_exact=responses_exact,
        received_bytes=visits.received_bytes,
        coverage_min=visits.coverage_min,
        coverage_median=visits.coverage_median,
        visits_per_hour=_rate(connection, crawl),
        sealed_at=crawl.sealed_at,
    )


def minutes_left(counted: Status) -> int | None:
    """Until the last site is done, at the rate of late and with as many visits a site as so far; None where nobody knows."""
    if not (counted.claimed and counted.visits_per_hour and counted.final):
        return None
    visits = (counted.planned - counted.final) * counted.visits / counted.final
    return round(60 * visits / counted.visits_per_hour)


def _responses(connection: Connection, crawl: Crawl, *, exact: bool) -> tuple[int | None, bool]:
    """How many, and whether they were counted; else rows a page when last analysed, times the pages of now, as the planner does."""
    partition = partition_name("response", crawl.id)
    known = connection.execute(
        text(
            "SELECT reltuples AS rows, relpages AS pages, pg_relation_size(oid) AS bytes, "
            "current_setting('block_size')::int AS page_bytes FROM pg_class WHERE oid = to_regclass(:name)"
        ),
        {"name": partition},
    ).one_or_none()
    if known is None:  # detached, and dropped
        return None, False
    if exact or known.bytes <= COUNTED_BYTES:
        return connection.scalar(text(f"SELECT count(*) FROM {partition}")), True  # noqa: S608  # our own name
    if known.rows <= 0 or not known.pages:
        return None, False
    return round(known.rows / known.pages * known.bytes / known.page_bytes), False


def _final_by(connection: Connection, crawl: Crawl, column: str) -> dict[str, int]:
    """Final visits by a column's values, the most frequent first; null is none of them."""
    counted = connection.execute(
        text(
            f"SELECT {column}, count(*) FROM visit WHERE crawl_id = :crawl_id AND is_final "  # noqa: S608  # our own
            f"AND {column} IS NOT NULL GROUP BY {column} ORDER BY count(*) DESC, {column}"
        ),
        {"crawl_id": crawl.id},
    )
    return {name: number for name, number in counted}  # noqa: C416  # rows, not pairs, to mypy


def _rate(connection: Connection, crawl: Crawl) -> float | None:
    rate: float | None = connection.scalar(
        text(
            f"""
            SELECT (count(*) * 3600 / nullif(extract(epoch FROM max(ended_at) - min(started_at)), 0))::float8
            FROM visit WHERE crawl_id = :crawl_id AND ended_at >
                (SELECT max(ended_at) FROM visit WHERE crawl_id = :crawl_id) - interval '{RATE_WINDOW}'
            """  # noqa: S608  # a constant
        ),
        {"crawl_id": crawl.id},
    )
    return rate
