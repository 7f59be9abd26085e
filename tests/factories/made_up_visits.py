"""Complete made-up observations, and crawls to store them in."""

import datetime
from typing import Any

from sqlalchemy import Engine

from crawler.campaign.plan import CrawlPlan, plan
from crawler.sites.lists import Entry, Sites
from crawler.visit.attempt import WRITER_COLUMNS, Observation
from schema.crawls import CrawlName
from schema.tables import Base, Connection, Crawl, Response, Visit
from storage.bulk_copy import column_names

BEGAN = datetime.datetime(2026, 11, 20, 12, tzinfo=datetime.UTC)


def row(model: type[Base], **values: Any) -> dict[str, Any]:
    """A row of a table without the columns that storing fills in; null except for `values`."""
    own = WRITER_COLUMNS if model is Visit else {"crawl_id", "visit_id"}
    row = dict.fromkeys(name for name in column_names(model) if name not in own)
    assert set(values) <= set(row)
    return row | values


def connection(number: int, *, received_bytes: int = 1000) -> dict[str, Any]:
    return row(
        Connection,
        id=number,
        host="a.test",
        port=443,
        remote_address="127.1.2.3",
        local_port=40_000 + number,
        protocol="h2",
        tls_version="TLS 1.3",
        tls_resumed=False,
        received_bytes=received_bytes,
        decrypted_bytes=received_bytes - 100,
        frame_bytes=30,
        response_count=1,
        opened_us=0,
        connected_us=10,
        last_byte_us=2**40,
    )


def response(number: int, *, wire_bytes: int | None = 700, path: str = "/") -> dict[str, Any]:
    return row(
        Response,
        id=number,
        connection_id=1,
        method="GET",
        scheme="https",
        host="a.test",
        path=path,
        resource_type="document",
        from_cache=False,
        wire_bytes=wire_bytes,
        wire_bytes_unknown=None if wire_bytes is not None else "no_response",
        size_basis=None if wire_bytes is None else "counted",
    )


def observation(outcome: str = "ok", *, responses: int = 2, path: str = "/", **columns: Any) -> Observation:
    """A visit with other values of `columns` than these."""
    values = {
        "outcome": outcome,
        "stop_reason": "quiet",
        "scheme": "https",
        "status": 200,
        "hsts_upgrades": 0,
        "started_at": BEGAN,
        "ended_at": BEGAN + datetime.timedelta(seconds=2),
        "received_bytes": 1000,
        "coverage": 0.999,
    }
    return Observation(
        visit=row(Visit, **values | columns),
        connections=[connection(1)],
        responses=[response(number, path=path) for number in range(1, responses + 1)],
    )


def plan_crawl(
    engine: Engine,
    *,
    sites: int = 3,
    attempts: int = 2,
    budget_s: float = 30.0,
    kind: str = "localweb",
    month: str = "2026-11",
) -> Crawl:
    """A crawl of s1.test, s2.test, ..."""
    entries = tuple(Entry(rank, f"s{rank}.test") for rank in range(1, sites + 1))
    site_list = Sites(id="made:1", source="made", checksum="0" * 64, entries=entries)
    wanted = CrawlPlan(
        name=CrawlName(month=month, kind=kind),
        sites=site_list,
        top=None,
        attempts=attempts,
        budget_s=budget_s,
        commit="test",
    )
    return plan(engine, wanted)[0]
