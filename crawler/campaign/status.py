"""The status of a crawl, counted in the database."""

import dataclasses
import datetime
import re

from sqlalchemy import Connection, text

from schema.tables import Crawl
from schema.vocabulary import ANSWERED, DISPUTED, NETWORK_DOWN, UNCONFIRMED
from storage.crawls import find_old_list_month
from storage.packet_audit import QUERY, PacketAudit
from storage.partitions import partition_name
from storage.progress import Failure, Hour, Lane

RATE_WINDOW = "15 minutes"

COUNTED_BYTES = 64 << 20
"""Size of a table of a crawl up to which its rows are counted, within 0.1 s;
counting 100 million would take minutes."""

FAILURES = 10

BROWSERS_ERROR = re.compile(r"net::\w+")
"""The part of an error that names no host."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Status:
    """The counts of one crawl."""

    planned: int
    final: int
    claimed: int
    expired: int
    """Sites whose lease ended with their crawler, for another to take over."""
    visits: int
    """Visits, earlier attempts included."""
    repeat_loads: int
    inner_pages: int
    walls: dict[str, int]
    consents: dict[str, int]
    packets: PacketAudit
    """Received bytes beside captured packets; of many connections a sample."""
    uncovered: int
    """Visits below schema.vocabulary.COVERAGE_FLOOR."""
    log_lines_lost: int | None
    """Unreadable lines of network logs; None if no visit has counted them."""
    unfiltered: int
    network_down: int
    postponed: int
    outcomes: dict[str, int]
    responses: int | None
    """Responses, if many estimated by PostgreSQL's statistics; None before there are any."""
    responses_exact: bool
    received_bytes: int
    coverage_min: float | None
    coverage_median: float | None
    visits_per_hour: float | None
    """Rate over the 15 minutes before the last visit's end."""
    sealed_at: datetime.datetime | None
    old_list_month: str | None = None
    """Month in which the list was read, if that is before the month of the plan."""


def count_status(connection: Connection, crawl: Crawl) -> Status:
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
    responses, responses_exact = _count_responses(connection, crawl)
    return Status(
        **sites._mapping,
        **visits._mapping,
        packets=_audit_packets(connection, crawl),
        outcomes=_count_final_by(connection, crawl, "outcome"),
        walls=_count_final_by(connection, crawl, "wall"),
        consents=_count_final_by(connection, crawl, "consent"),
        responses=responses,
        responses_exact=responses_exact,
        visits_per_hour=_rate(connection, crawl),
        sealed_at=crawl.sealed_at,
        old_list_month=find_old_list_month(connection, crawl),
    )


def estimate_minutes_left(counted: Status) -> int | None:
    """Estimate by the recent rate and the visits per site; None if unknown."""
    if not (counted.claimed and counted.visits_per_hour and counted.final):
        return None
    visits = (counted.planned - counted.final) * counted.visits / counted.final
    return round(60 * visits / counted.visits_per_hour)


def _count_responses(connection: Connection, crawl: Crawl) -> tuple[int | None, bool]:
    """Return the number of responses, and whether it was counted.

    The estimate is rows per page at the last ANALYZE times the present pages, as in PostgreSQL's planner.
    """
    partition = partition_name("response", crawl.id)
    known = connection.execute(
        text(
            "SELECT reltuples AS rows, relpages AS pages, pg_relation_size(oid) AS bytes, "
            "current_setting('block_size')::int AS page_bytes FROM pg_class WHERE oid = to_regclass(:name)"
        ),
        {"name": partition},
    ).one_or_none()
    if known is None:  # the partition was detached and dropped
        return None, False
    if known.bytes <= COUNTED_BYTES:
        return connection.scalar(text(f"SELECT count(*) FROM {partition}")), True  # noqa: S608  # our own name
    if known.rows <= 0 or not known.pages:
        return None, False
    return round(known.rows / known.pages * known.bytes / known.page_bytes), False


def _audit_packets(connection: Connection, crawl: Crawl) -> PacketAudit:
    """Compare connections with captured packets; of a large table, a random sample of pages."""
    partition = partition_name("connection", crawl.id)
    size = connection.scalar(
        text("SELECT pg_relation_size(oid) FROM pg_class WHERE oid = to_regclass(:name)"), {"name": partition}
    )
    if size is None:  # the partition was detached and dropped
        return PacketAudit()
    percent = 100.0 if size <= COUNTED_BYTES else 100.0 * COUNTED_BYTES / size
    source = f"{partition} TABLESAMPLE SYSTEM ({percent:f})"
    return PacketAudit(**connection.execute(text(QUERY.format(source=source))).one()._mapping)


def _count_final_by(connection: Connection, crawl: Crawl, column: str) -> dict[str, int]:
    counted = connection.execute(
        text(
            f"SELECT {column}, count(*) FROM visit WHERE crawl_id "  # noqa: S608
            "= :crawl_id AND is_final "
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


def count_hours(connection: Connection, crawl: Crawl) -> tuple[Hour, ...]:
    counted: dict[datetime.datetime, dict[str, int]] = {}
    for at, outcome, number in connection.execute(
        text(
            "SELECT date_trunc('hour', ended_at, 'UTC') AS at, outcome, count(*) FROM visit "
            "WHERE crawl_id = :crawl_id GROUP BY at, outcome ORDER BY at, count(*) DESC, outcome"
        ),
        {"crawl_id": crawl.id},
    ):
        counted.setdefault(at, {})[outcome] = number
    return tuple(Hour(at=at, outcomes=outcomes) for at, outcomes in counted.items())


def list_lanes(connection: Connection, crawl: Crawl) -> tuple[Lane, ...]:
    """List crawler processes that hold sites, or made a visit in the hour before the last."""
    rows = connection.execute(
        text(
            r"""
            WITH claim AS (
                SELECT regexp_replace(owner, '/[^/]*$', '') AS process, count(*) AS claimed
                FROM site WHERE crawl_id = :crawl_id AND lease_expires_at >= now() GROUP BY process
            ), recent AS (
                SELECT regexp_replace(owner, '/[^/]*$', '') AS process, count(*) AS visits,
                       count(*) FILTER (WHERE outcome <> ALL(:answered)) AS failed, max(ended_at) AS last_at
                FROM visit WHERE crawl_id = :crawl_id AND ended_at >
                    (SELECT max(ended_at) FROM visit WHERE crawl_id = :crawl_id) - interval '1 hour'
                GROUP BY process
            )
            SELECT process, coalesce(claimed, 0) AS claimed, coalesce(visits, 0) AS visits,
                   coalesce(failed, 0) AS failed, last_at
            FROM claim FULL JOIN recent USING (process)
            ORDER BY claimed IS NULL, last_at DESC NULLS LAST, process
            """
        ),
        {"crawl_id": crawl.id, "answered": sorted(ANSWERED)},
    )
    return tuple(
        Lane(
            name=lane_name(row.process),
            claimed=row.claimed,
            visits=row.visits,
            failed=row.failed,
            last_at=row.last_at,
        )
        for row in rows
    )


def list_failures(connection: Connection, crawl: Crawl) -> tuple[Failure, ...]:
    rows = connection.execute(
        text(
            "SELECT ended_at, rank, attempt, outcome, error, owner FROM visit WHERE crawl_id = :crawl_id "
            "AND outcome <> ALL(:answered) ORDER BY ended_at DESC, id DESC LIMIT :most"
        ),
        {"crawl_id": crawl.id, "answered": sorted(ANSWERED), "most": FAILURES},
    )
    return tuple(
        Failure(
            at=row.ended_at,
            rank=row.rank,
            attempt=row.attempt,
            outcome=row.outcome,
            error=error_without_hosts(row.error),
            lane=lane_name(row.owner.rpartition("/")[0]),
        )
        for row in rows
    )


def error_without_hosts(error: str | None) -> str | None:
    """Reduce a visit's error to what names no host.

    >>> error_without_hosts("net::ERR_NAME_NOT_RESOLVED at https://a.test/ (another resolver knows the name)")
    'net::ERR_NAME_NOT_RESOLVED (another resolver knows the name)'
    >>> error_without_hosts("Download is starting: https://a.test/")
    """
    match = BROWSERS_ERROR.search(error or "")
    mark = next((mark for mark in (DISPUTED, UNCONFIRMED) if (error or "").endswith(mark)), "")
    return match and match[0] + mark


def lane_name(process: str) -> str:
    """Return host and number of a crawler process.

    >>> lane_name("crawler1/4711/8d2e11f0")
    'crawler1/4711'
    """
    return process.rpartition("/")[0] or process
