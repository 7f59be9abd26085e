"""The status of a large crawl costs little; what it does not count it estimates, and says so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from crawler.campaign import status as status_module
from crawler.campaign.status import status
from crawler.worker import store
from firstflight.watching import status_lines
from storage.partitions import DETACHABLE, detach_partitions
from tests.factories.made_up_visits import observation, planned

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from schema.tables import Crawl


def crawled(engine: Engine, responses: int) -> Crawl:
    """One visit with so many responses."""
    crawl = planned(engine, sites=2)
    claim = store.claim(engine, crawl, owner="me")
    assert claim is not None
    store.store(engine, crawl, claim, observation(responses=responses))
    return crawl


def counted(engine: Engine, crawl: Crawl, *, exact: bool = False) -> tuple[int | None, bool]:
    with engine.connect() as connection:
        found = status(connection, crawl, exact=exact)
    return found.responses, found.responses_exact


def test_many_responses_are_estimated_as_they_grow_and_counted_when_asked(
    database: Engine, monkeypatch: pytest.MonkeyPatch
) -> None:
    crawl = crawled(database, 2000)
    assert counted(database, crawl) == (2000, True)
    monkeypatch.setattr(status_module, "COUNTED_BYTES", 0)
    assert counted(database, crawl) == (None, False)
    with database.begin() as connection:
        connection.execute(text("ANALYZE response"))
    assert counted(database, crawl) == (2000, False)
    claim = store.claim(database, crawl, owner="me")
    assert claim is not None
    store.store(database, crawl, claim, observation(responses=1000))
    estimate, exact = counted(database, crawl)
    assert estimate == pytest.approx(3000, rel=0.1)
    assert not exact
    assert counted(database, crawl, exact=True) == (3000, True)
    with database.connect() as connection:
        (line,) = [one for one in status_lines("x", status(connection, crawl)) if "responses" in one]
    assert line.split()[1:3] == ["about", f"{estimate:,},"]


def test_of_a_crawl_that_is_detached_the_responses_are_counted_until_they_are_dropped(
    database_18: Engine,
) -> None:
    crawl = crawled(database_18, 3)
    with database_18.begin() as connection:
        detached = detach_partitions(connection, crawl.id)
        assert len(detached) == len(DETACHABLE)
    assert counted(database_18, crawl) == (3, True)
    with database_18.begin() as connection:
        connection.execute(text(f"DROP TABLE {', '.join(detached)}"))
    assert counted(database_18, crawl) == (None, False)
