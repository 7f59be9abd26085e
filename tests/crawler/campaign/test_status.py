"""The status of a large crawl is cheap: it estimates large counts, and says so."""

import dataclasses
import datetime

import pytest
from sqlalchemy import Engine, text

from crawler.campaign import status as status_module
from crawler.campaign.status import count_status
from firstflight.commands.crawl.status import describe_status
from schema.tables import Crawl
from storage.packet_audit import PacketAudit
from storage.partitions import DETACHABLE, detach_partitions
from tests.crawler.worker.stored_rows import ask_to_wait, claim, store
from tests.factories.made_up_visits import BEGAN, observation, plan_crawl


def crawled(engine: Engine, responses: int) -> Crawl:
    crawl = plan_crawl(engine, sites=2)
    store(engine, crawl, observation(responses=responses))
    return crawl


def counted(engine: Engine, crawl: Crawl) -> tuple[int | None, bool]:
    with engine.connect() as connection:
        counted = count_status(connection, crawl)
    return counted.responses, counted.responses_exact


def test_many_responses_are_estimated_as_they_grow(database: Engine, monkeypatch: pytest.MonkeyPatch) -> None:
    crawl = crawled(database, 2000)
    assert counted(database, crawl) == (2000, True)
    monkeypatch.setattr(status_module, "COUNTED_BYTES", 0)
    assert counted(database, crawl) == (None, False)
    with database.begin() as connection:
        connection.execute(text("ANALYZE response"))
    assert counted(database, crawl) == (2000, False)
    store(database, crawl, observation(responses=1000))
    estimate, exact = counted(database, crawl)
    assert estimate == pytest.approx(3000, rel=0.1)
    assert not exact
    with database.connect() as connection:
        (line,) = [
            status_line
            for status_line in describe_status("x", count_status(connection, crawl))
            if "responses" in status_line
        ]
    assert line.split()[1:3] == ["about", f"{estimate:,},"]


def test_responses_of_a_detached_crawl_are_counted_until_they_are_dropped(database_18: Engine) -> None:
    crawl = crawled(database_18, 3)
    with database_18.begin() as connection:
        detached = detach_partitions(connection, crawl.id)
        assert len(detached) == len(DETACHABLE)
    assert counted(database_18, crawl) == (3, True)
    with database_18.begin() as connection:
        connection.execute(text(f"DROP TABLE {', '.join(detached)}"))
    assert counted(database_18, crawl) == (None, False)


def test_the_status_counts_what_is_there(database: Engine) -> None:
    crawl = plan_crawl(database, sites=4)
    with database.connect() as connection:
        empty = count_status(connection, crawl)
    assert (empty.planned, empty.final, empty.visits, empty.outcomes) == (4, 0, 0, {})
    assert (empty.coverage_min, empty.coverage_median, empty.visits_per_hour) == (None, None, None)
    began, ended = (BEGAN + datetime.timedelta(seconds=seconds) for seconds in (8, 10))
    later = observation(coverage=1.0, started_at=began, ended_at=ended)
    store(database, crawl, observation(coverage=0.9), observation("dns", coverage=None), later)
    claim(database, crawl)
    with database.connect() as connection:
        counted = count_status(connection, crawl)
    assert (counted.planned, counted.final, counted.visits, counted.outcomes) == (4, 2, 3, {"ok": 2})
    assert (counted.claimed, counted.expired) == (1, 0)
    assert (counted.responses, counted.received_bytes) == (6, 3000)
    assert (counted.coverage_min, counted.coverage_median) == (0.9, 0.95)
    assert counted.visits_per_hour == 3 * 3600 / 10
    assert (counted.uncovered, counted.log_lines_lost, counted.postponed) == (1, None, 0)


def test_the_status_counts_walls_loads_and_what_was_lost(database: Engine) -> None:
    crawl = plan_crawl(database, sites=4, attempts=2)
    inner = dataclasses.replace(observation(log_lines_lost=2), page_kind="inner")
    again = dataclasses.replace(observation(wall="akamai", consent="didomi"), load=2)
    first = dataclasses.replace(
        observation(consent="didomi", log_lines_lost=1, unfiltered_egress=True), more=[inner, again]
    )
    walled = observation("http_error", wall="cloudflare")
    store(database, crawl, first, walled, ask_to_wait(600), observation("network_down"))
    with database.connect() as connection:
        counted = count_status(connection, crawl)
    assert (counted.visits, counted.final, counted.repeat_loads, counted.inner_pages) == (6, 2, 1, 1)
    assert (counted.walls, counted.consents) == ({"cloudflare": 1}, {"didomi": 1})
    assert (counted.log_lines_lost, counted.unfiltered, counted.postponed) == (3, 1, 1)
    assert counted.network_down == 1


def test_the_status_audits_connections_by_their_packets(
    database: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = plan_crawl(database, sites=3)
    with database.connect() as connection:
        assert count_status(connection, crawl).packets.connection_share is None
    for packet_bytes in (1000, 1024, None):
        seen = observation()
        rows = [{**connection, "packet_bytes": packet_bytes} for connection in seen.connections]
        store(database, crawl, dataclasses.replace(seen, connections=rows))
    with database.connect() as connection:
        counted = count_status(connection, crawl)
        assert counted.packets == PacketAudit(
            connections=2, agreeing_connections=1, received_bytes=2000, agreeing_bytes=1000
        )
        assert (counted.packets.connection_share, counted.packets.byte_share) == (0.5, 0.5)
        assert "50.00% of 2 captured connections" in "\n".join(describe_status("x", counted))
        monkeypatch.setattr("crawler.campaign.status.COUNTED_BYTES", 1)
        assert count_status(connection, crawl).packets.connections <= 2
