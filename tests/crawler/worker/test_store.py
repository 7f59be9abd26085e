from __future__ import annotations

import dataclasses
import datetime
import platform
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import exc, text

from crawler.browser.browser import Identity
from crawler.campaign.seal import SealError, seal
from crawler.campaign.status import status
from crawler.worker import store
from schema.vocabulary import OUTCOMES, RETRIED
from storage.crawls import crawls
from storage.engine import DatabaseFull
from tests.factories.made_up_visits import BEGAN, observation, planned

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from crawler.visit.observation import Observation
    from schema.tables import Crawl

IDENTITY = Identity(
    product="Chromium 156.0",
    built_on=BEGAN,
    user_agent="UA",
    flags=("--disable-quic", "--host-resolver-rules=a"),
    client_hints="Sec-CH-UA-Mobile: ?0",
)


def one(engine: Engine, statement: str) -> dict[str, Any]:
    with engine.connect() as connection:
        return dict(connection.execute(text(statement)).one()._mapping)


def counts(engine: Engine) -> tuple[int, ...]:
    statement = ", ".join(
        f"(SELECT count(*) FROM {name}) AS {name}" for name in ("visit", "connection", "response")
    )
    return tuple(one(engine, f"SELECT {statement}").values())


def claim(engine: Engine, crawl: Crawl, owner: str = "me") -> store.Claim:
    ours = store.claim(engine, crawl, owner=owner)
    assert ours is not None
    return ours


def expire(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE site SET lease_expires_at = now() - interval '1 second'"))


def test_a_claim_sets_owner_lease_and_attempt_and_allots_the_visit(database: Engine) -> None:
    crawl = planned(database, budget_s=30)
    ours = claim(database, crawl)
    assert (ours.rank, ours.host, ours.attempt, ours.visit_id) == (1, "s1.test", 1, 1001)
    site = one(
        database, "SELECT *, extract(epoch FROM lease_expires_at - now()) AS left FROM site WHERE rank = 1"
    )
    assert (site["owner"], site["attempts"], site["final_visit_id"]) == ("me", 1, None)
    assert 10 < float(site["left"]) <= store.LEASE_S


def test_claims_of_four_crawlers_at_once_are_all_unique(database: Engine) -> None:
    crawl = planned(database, sites=100)

    def take(owner: int) -> list[int]:
        ranks = []
        while (ours := store.claim(database, crawl, owner=str(owner))) is not None:
            ranks.append(ours.rank)
        return ranks

    with ThreadPoolExecutor(4) as pool:
        taken = [rank for ranks in pool.map(take, range(4)) for rank in ranks]
    assert sorted(taken) == list(range(1, 101))


def test_a_visit_is_stored_to_the_last_column(database: Engine) -> None:
    crawl = planned(database)
    ours = claim(database, crawl)
    seen = observation(responses=3, path="/ü\ufffd漢'\"\\")
    assert store.store(database, crawl, ours, seen) == store.Stored(outcome="ok", is_final=True)
    assert one(database, "SELECT * FROM visit") == {
        **seen.visit, "crawl_id": crawl.id, "id": 1001, "rank": 1, "host": "s1.test", "attempt": 1,
        "is_final": True, "owner": "me", "page_kind": "home", "load": 1, "is_covered": True,
        "crawler_host": platform.node(),
    }  # fmt: skip
    keys = {"crawl_id": crawl.id, "visit_id": 1001}
    assert one(database, "SELECT * FROM connection") == {**seen.connections[0], **keys}
    with database.connect() as connection:
        rows = connection.execute(text("SELECT * FROM response ORDER BY id")).all()
    assert [dict(row._mapping) for row in rows] == [{**response, **keys} for response in seen.responses]
    site = one(database, "SELECT owner, lease_expires_at, final_visit_id FROM site WHERE rank = 1")
    assert site == {"owner": None, "lease_expires_at": None, "final_visit_id": 1001}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_an_outcome_ends_a_site_unless_it_is_one_that_is_tried_again(
    database_18: Engine, outcome: str
) -> None:
    crawl = planned(database_18, sites=1)
    result = store.store(database_18, crawl, claim(database_18, crawl), observation(outcome))
    assert result.is_final is (outcome not in RETRIED)
    assert store.open_sites(database_18, crawl) == (outcome in RETRIED)


def test_a_retry_is_a_new_attempt_after_the_other_sites_and_the_last_one_is_final(database: Engine) -> None:
    crawl = planned(database, sites=2, attempts=2)
    first = claim(database, crawl)
    assert store.store(database, crawl, first, observation("dns")).is_final is False
    assert claim(database, crawl).rank == 2
    again = claim(database, crawl)
    assert (again.rank, again.attempt, again.visit_id) == (1, 2, 1002)
    assert store.store(database, crawl, again, observation("timeout")).is_final is True
    with database.connect() as connection:
        kept = connection.execute(text("SELECT id, outcome, is_final FROM visit ORDER BY id")).all()
    assert [tuple(row) for row in kept] == [(1001, "dns", False), (1002, "timeout", True)]


def asking(seconds: int) -> Observation:
    seen = observation("http_error")
    return dataclasses.replace(seen, visit={**seen.visit, "status": 429, "retry_after_s": seconds})


def test_a_site_that_asks_to_be_left_alone_is_visited_again_no_sooner(database: Engine) -> None:
    crawl = planned(database, sites=1, attempts=2)
    assert store.store(database, crawl, claim(database, crawl), asking(600)).is_final is False
    assert store.claim(database, crawl, owner="me") is None
    site = one(database, "SELECT extract(epoch FROM not_before - now()) AS left FROM site")
    assert 590 < float(site["left"]) <= 600
    with database.begin() as connection:  # as time would
        connection.execute(text("UPDATE site SET not_before = now()"))
    again = claim(database, crawl)
    assert again.attempt == 2
    assert store.store(database, crawl, again, asking(600)).is_final
    assert one(database, "SELECT not_before, final_visit_id FROM site") == {
        "not_before": None,
        "final_visit_id": 1002,
    }


def test_a_site_that_asks_for_longer_than_a_crawl_can_wait_keeps_its_answer(database_18: Engine) -> None:
    crawl = planned(database_18, sites=1, attempts=2)
    longer = asking(store.PATIENCE_LIMIT_S + 1)
    assert store.store(database_18, crawl, claim(database_18, crawl), longer).is_final


def test_repeat_loads_and_inner_pages_are_visits_of_their_own_and_never_the_final_one(
    database: Engine,
) -> None:
    crawl = planned(database, sites=1, attempts=2)
    store.store(database, crawl, claim(database, crawl), observation("dns"))
    more = [
        dataclasses.replace(observation(), page_kind="inner"),
        dataclasses.replace(observation("timeout"), load=2),
    ]
    seen = dataclasses.replace(observation(), more=more)
    assert store.store(database, crawl, claim(database, crawl), seen).is_final
    with database.connect() as connection:
        kept = connection.execute(
            text("SELECT id, attempt, page_kind, load, is_final, outcome FROM visit ORDER BY id")
        ).all()
    assert [tuple(row) for row in kept] == [
        (1001, 1, "home", 1, False, "dns"),
        (1002, 2, "home", 1, True, "ok"),
        (1003, 3, "inner", 1, False, "ok"),
        (1004, 4, "home", 2, False, "timeout"),
    ]
    assert counts(database) == (4, 4, 8)
    assert one(database, "SELECT attempts, final_visit_id FROM site") == {
        "attempts": 4,
        "final_visit_id": 1002,
    }


def test_an_expired_lease_is_taken_over_and_the_late_one_writes_nothing(database: Engine) -> None:
    crawl = planned(database, sites=1)
    late = claim(database, crawl, "late")
    assert store.claim(database, crawl, owner="other") is None
    expire(database)
    other = claim(database, crawl, "other")
    with pytest.raises(store.LeaseLost, match=r"s1\.test: the claim expired"):
        store.store(database, crawl, late, observation())
    assert counts(database) == (0, 0, 0)
    store.release(database, late)  # nor does it take the claim from the other
    assert store.store(database, crawl, other, observation()).is_final
    with pytest.raises(store.LeaseLost):
        store.store(database, crawl, late, observation())
    assert one(database, "SELECT id, owner FROM visit") == {"id": 1002, "owner": "other"}


def test_an_expired_lease_that_nobody_took_is_still_ours(database: Engine) -> None:
    crawl = planned(database, sites=1)
    ours = claim(database, crawl)
    expire(database)
    assert store.store(database, crawl, ours, observation()).is_final


def test_a_lease_is_renewed_while_the_claim_is_ours_and_never_after(database: Engine) -> None:
    crawl = planned(database, sites=3)
    ours, lost, written = (claim(database, crawl) for _ in range(3))
    expire(database)
    store.store(database, crawl, written, observation())
    assert claim(database, crawl, "other").rank == 1
    with pytest.raises(store.LeaseLost):
        store.store(database, crawl, ours, observation())
    store.renew(database, [ours, lost, written])
    with database.connect() as connection:
        left = connection.execute(text("SELECT owner, lease_expires_at > now() FROM site ORDER BY rank"))
        assert [tuple(row) for row in left] == [("other", True), ("me", True), (None, None)]


def test_a_renewal_does_not_wait_for_the_visit_that_is_being_written(database: Engine) -> None:
    crawl = planned(database, sites=2)
    writing, ours = claim(database, crawl), claim(database, crawl)
    expire(database)
    with database.begin() as connection:
        connection.execute(text("UPDATE site SET owner = NULL, lease_expires_at = NULL WHERE rank = 1"))
        with ThreadPoolExecutor(1) as pool:
            pool.submit(store.renew, database, [writing, ours]).result(timeout=10)
    left = one(database, "SELECT count(*) FILTER (WHERE lease_expires_at > now()) AS renewed FROM site")
    assert left == {"renewed": 1}


def test_a_visit_whose_commit_was_not_answered_is_written_once(database: Engine) -> None:
    crawl = planned(database, sites=1)
    ours = claim(database, crawl)
    first = store.store(database, crawl, ours, observation())
    assert store.store(database, crawl, ours, observation()) == first
    assert counts(database) == (1, 1, 2)


def test_a_claim_given_back_as_an_attempt_counts(database: Engine) -> None:
    crawl = planned(database, sites=2)
    store.release(database, claim(database, crawl), counts=True)
    assert claim(database, crawl).rank == 2
    assert claim(database, crawl).attempt == 2


def test_a_claim_given_back_is_as_if_it_had_never_been(database: Engine) -> None:
    crawl = planned(database, sites=1)
    store.release(database, claim(database, crawl, "first"))
    again = claim(database, crawl, "second")
    assert (again.attempt, again.visit_id) == (1, 1001)


def test_a_visit_whose_rows_do_not_fit_is_not_half_written(database: Engine) -> None:
    crawl = planned(database, sites=1)
    ours = claim(database, crawl)
    seen = observation()
    double = dataclasses.replace(seen, responses=[*seen.responses, seen.responses[0]])
    with pytest.raises(Exception, match="duplicate key"):
        store.store(database, crawl, ours, double)
    missing = dataclasses.replace(
        seen, responses=[{key: value for key, value in seen.responses[0].items() if key != "path"}]
    )
    with pytest.raises(ValueError, match="response"):
        store.store(database, crawl, ours, missing)
    assert counts(database) == (0, 0, 0)
    assert store.store(database, crawl, ours, seen).is_final


def test_a_disk_that_fills_in_mid_copy_leaves_nothing_half_written(database: Engine) -> None:
    crawl = planned(database, sites=1)
    ours = claim(database, crawl)
    with database.begin() as connection:
        connection.execute(
            text(
                "CREATE FUNCTION full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id = 900 THEN "
                "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE = 'disk_full'; "
                "END IF; RETURN NEW; END $$".replace("full()", "disk_full()")
            )
        )
        connection.execute(
            text(
                "CREATE TRIGGER disk_full BEFORE INSERT ON response FOR EACH ROW EXECUTE FUNCTION disk_full()"
            )
        )
    with pytest.raises(DatabaseFull, match="No space left on device"):
        store.store(database, crawl, ours, observation(responses=1000))
    assert counts(database) == (0, 0, 0)
    assert one(database, "SELECT owner FROM site") == {"owner": "me"}


def test_a_browser_is_recorded_once_and_another_build_is_refused(database: Engine) -> None:
    crawl = planned(database)
    store.record_browser(database, crawl, IDENTITY)
    elsewhere = dataclasses.replace(IDENTITY, flags=("--host-resolver-rules=b", "--disable-quic"))
    store.record_browser(database, crawl, elsewhere)
    for other in (
        dataclasses.replace(IDENTITY, product="Chromium 157.0"),
        dataclasses.replace(IDENTITY, user_agent="another"),
        dataclasses.replace(IDENTITY, client_hints="another"),
        dataclasses.replace(IDENTITY, flags=("--host-resolver-rules=a",)),
    ):
        with pytest.raises(store.BrowserDiffers, match="this crawl began with"):
            store.record_browser(database, crawl, other)
    with database.connect() as connection:
        (stored,) = crawls(connection)
    assert (stored.browser, stored.browser_built_on, stored.user_agent) == ("Chromium 156.0", BEGAN, "UA")
    assert stored.client_hints == "Sec-CH-UA-Mobile: ?0"
    assert stored.browser_flags == "--disable-quic\n--host-resolver-rules=a"


def finished(engine: Engine) -> Crawl:
    crawl = planned(engine, sites=1)
    store.store(engine, crawl, claim(engine, crawl), observation())
    return crawl


def test_a_crawl_with_open_sites_is_not_sealed(database: Engine) -> None:
    crawl = planned(database)
    with pytest.raises(SealError, match="3 of 3 sites have no final visit"):
        seal(database, crawl)


def test_a_sealed_crawl_is_never_written_again(database: Engine) -> None:
    crawl = finished(database)
    assert seal(database, crawl) is True
    assert seal(database, crawl) is False
    late = store.Claim(crawl_id=crawl.id, rank=1, host="s1.test", attempt=1, owner="me")
    with pytest.raises(store.CrawlSealed):
        store.store(database, crawl, late, observation())
    for statement in (
        "INSERT INTO visit SELECT crawl_id, id + 1, rank, host, 2, is_final, outcome, stop_reason, error, scheme, "
        "status, main_response_id, final_scheme, final_host, hsts_upgrades, started_at, ended_at, load_us, "
        "received_bytes, coverage, decrypted_coverage, owner FROM visit",
        "UPDATE response SET wire_bytes = 1",
        "DELETE FROM connection",
        f"TRUNCATE response_{crawl.id}",
    ):
        with pytest.raises(exc.DBAPIError, match="belongs to a sealed crawl"), database.begin() as connection:
            connection.execute(text(statement))
    assert counts(database) == (1, 1, 2)


def test_another_crawl_is_written_while_one_is_sealed(database: Engine) -> None:
    seal(database, finished(database))
    other = planned(database, sites=1, kind="web")
    assert store.store(database, other, claim(database, other), observation()).is_final


def test_the_status_counts_what_is_there(database: Engine) -> None:
    crawl = planned(database, sites=4)
    with database.connect() as connection:
        empty = status(connection, crawl)
    assert (empty.planned, empty.final, empty.visits, empty.outcomes) == (4, 0, 0, {})
    assert (empty.coverage_min, empty.coverage_median, empty.visits_per_hour) == (None, None, None)
    later = observation()
    for seen, coverage in ((observation(), 0.9), (observation("dns"), None), (later, 1.0)):
        visit = {**seen.visit, "coverage": coverage}
        if seen is later:
            visit["started_at"] = BEGAN + datetime.timedelta(seconds=8)
            visit["ended_at"] = BEGAN + datetime.timedelta(seconds=10)
        store.store(database, crawl, claim(database, crawl), dataclasses.replace(seen, visit=visit))
    claim(database, crawl)
    with database.connect() as connection:
        counted = status(connection, crawl)
    assert (counted.planned, counted.final, counted.visits, counted.outcomes) == (4, 2, 3, {"ok": 2})
    assert (counted.claimed, counted.expired) == (1, 0)
    assert (counted.responses, counted.received_bytes) == (6, 3000)
    assert (counted.coverage_min, counted.coverage_median) == (0.9, 0.95)
    assert counted.visits_per_hour == 3 * 3600 / 10
    assert (counted.uncovered, counted.log_lines_lost, counted.postponed) == (1, None, 0)


def test_the_status_counts_walls_loads_and_what_was_lost(database: Engine) -> None:
    crawl = planned(database, sites=4, attempts=2)

    def seen(outcome: str = "ok", **facts: Any) -> Observation:
        one = observation(outcome)
        return dataclasses.replace(one, visit={**one.visit, **facts})

    inner = dataclasses.replace(seen(log_lines_lost=2), page_kind="inner")
    again = dataclasses.replace(seen(wall="akamai", consent="didomi"), load=2)
    first = dataclasses.replace(
        seen(consent="didomi", log_lines_lost=1, unfiltered_egress=True), more=[inner, again]
    )
    for one_visit in (first, seen("http_error", wall="cloudflare"), asking(600), seen("network_down")):
        store.store(database, crawl, claim(database, crawl), one_visit)
    with database.connect() as connection:
        counted = status(connection, crawl)
    assert (counted.visits, counted.final, counted.repeat_loads, counted.inner_pages) == (6, 2, 1, 1)
    assert (counted.walls, counted.consents) == ({"cloudflare": 1}, {"didomi": 1})
    assert (counted.log_lines_lost, counted.unfiltered, counted.postponed) == (3, 1, 1)
    assert counted.network_down == 1
