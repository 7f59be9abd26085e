import dataclasses
import platform
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Engine, text

from crawler.worker import claims
from schema.vocabulary import OUTCOMES, RETRIED
from storage.engine import DatabaseFull
from tests.crawler.worker.stored_rows import ask_to_wait, claim, counts, select_row
from tests.factories.made_up_visits import observation, plan_crawl


def expire(engine: Engine) -> None:
    with engine.begin() as connection:
        connection.execute(text("UPDATE site SET lease_expires_at = now() - interval '1 second'"))


def test_a_claim_sets_owner_lease_and_attempt_and_allots_the_visit(database: Engine) -> None:
    crawl = plan_crawl(database, budget_s=30)
    ours = claim(database, crawl)
    assert (ours.rank, ours.host, ours.attempt, ours.visit_id) == (1, "s1.test", 1, 1001)
    site = select_row(
        database, "SELECT *, extract(epoch FROM lease_expires_at - now()) AS left FROM site WHERE rank = 1"
    )
    assert (site["owner"], site["attempts"], site["final_visit_id"]) == ("me", 1, None)
    assert 10 < float(site["left"]) <= claims.LEASE_S


def test_claims_of_four_crawlers_at_once_are_all_unique(database: Engine) -> None:
    crawl = plan_crawl(database, sites=100)

    def take(owner: int) -> list[int]:
        ranks = []
        while (ours := claims.claim_site(database, crawl, owner=str(owner))) is not None:
            ranks.append(ours.rank)
        return ranks

    with ThreadPoolExecutor(4) as pool:
        taken = [rank for ranks in pool.map(take, range(4)) for rank in ranks]
    assert sorted(taken) == list(range(1, 101))


def test_a_visit_is_stored_to_the_last_column(database: Engine) -> None:
    crawl = plan_crawl(database)
    ours = claim(database, crawl)
    seen = observation(responses=3, path="/ü\ufffd漢'\"\\")
    assert claims.store_visit(database, crawl, ours, seen) == claims.StoredVisit(outcome="ok", is_final=True)
    assert select_row(database, "SELECT * FROM visit") == {
        **seen.visit, "crawl_id": crawl.id, "id": 1001, "rank": 1, "host": "s1.test", "attempt": 1,
        "is_final": True, "owner": "me", "page_kind": "home", "load": 1, "is_covered": True,
        "crawler_host": platform.node(),
    }  # fmt: skip
    keys = {"crawl_id": crawl.id, "visit_id": 1001}
    assert select_row(database, "SELECT * FROM connection") == {**seen.connections[0], **keys}
    with database.connect() as connection:
        rows = connection.execute(text("SELECT * FROM response ORDER BY id")).all()
    assert [dict(row._mapping) for row in rows] == [{**response, **keys} for response in seen.responses]
    site = select_row(database, "SELECT owner, lease_expires_at, final_visit_id FROM site WHERE rank = 1")
    assert site == {"owner": None, "lease_expires_at": None, "final_visit_id": 1001}


@pytest.mark.parametrize("outcome", OUTCOMES)
def test_an_outcome_ends_a_site_unless_it_is_one_that_is_tried_again(
    database_18: Engine, outcome: str
) -> None:
    crawl = plan_crawl(database_18, sites=1)
    result = claims.store_visit(database_18, crawl, claim(database_18, crawl), observation(outcome))
    assert result.is_final is (outcome not in RETRIED)
    assert claims.count_open_sites(database_18, crawl) == (outcome in RETRIED)


def test_a_retry_is_a_new_attempt_after_the_other_sites_and_the_last_one_is_final(database: Engine) -> None:
    crawl = plan_crawl(database, sites=2, attempts=2)
    first = claim(database, crawl)
    assert claims.store_visit(database, crawl, first, observation("dns")).is_final is False
    assert claim(database, crawl).rank == 2
    again = claim(database, crawl)
    assert (again.rank, again.attempt, again.visit_id) == (1, 2, 1002)
    assert claims.store_visit(database, crawl, again, observation("timeout")).is_final is True
    with database.connect() as connection:
        kept = connection.execute(text("SELECT id, outcome, is_final FROM visit ORDER BY id")).all()
    assert [tuple(row) for row in kept] == [(1001, "dns", False), (1002, "timeout", True)]


def test_a_site_with_retry_after_is_visited_again_no_sooner(database: Engine) -> None:
    crawl = plan_crawl(database, sites=1, attempts=2)
    assert claims.store_visit(database, crawl, claim(database, crawl), ask_to_wait(600)).is_final is False
    assert claims.claim_site(database, crawl, owner="me") is None
    site = select_row(database, "SELECT extract(epoch FROM not_before - now()) AS left FROM site")
    assert 590 < float(site["left"]) <= 600
    with database.begin() as connection:  # as time would
        connection.execute(text("UPDATE site SET not_before = now()"))
    again = claim(database, crawl)
    assert again.attempt == 2
    assert claims.store_visit(database, crawl, again, ask_to_wait(600)).is_final
    assert select_row(database, "SELECT not_before, final_visit_id FROM site") == {
        "not_before": None,
        "final_visit_id": 1002,
    }


def test_a_clock_that_is_set_back_keeps_no_site_from_being_visited(database: Engine) -> None:
    """Neither that of a crawler that was killed before, nor one that asked to be left alone."""
    crawl = plan_crawl(database, sites=2, attempts=2)
    claim(database, crawl)
    claims.store_visit(database, crawl, claim(database, crawl), ask_to_wait(600))
    assert claims.claim_site(database, crawl, owner="another") is None
    with database.begin() as connection:
        connection.execute(
            text(
                "UPDATE site SET lease_expires_at = lease_expires_at + interval '1 hour', "
                "not_before = not_before + interval '1 hour'"
            )
        )
    again = [claims.claim_site(database, crawl, owner="another") for _ in range(2)]
    assert sorted(ours.rank for ours in again if ours) == [1, 2]
    assert claims.claim_site(database, crawl, owner="another") is None


def test_a_site_with_a_retry_after_beyond_the_limit_keeps_its_answer(database_18: Engine) -> None:
    crawl = plan_crawl(database_18, sites=1, attempts=2)
    longer = ask_to_wait(claims.RETRY_AFTER_LIMIT_S + 1)
    assert claims.store_visit(database_18, crawl, claim(database_18, crawl), longer).is_final


def test_repeat_loads_and_inner_pages_are_visits_of_their_own_and_never_the_final_one(
    database: Engine,
) -> None:
    crawl = plan_crawl(database, sites=1, attempts=2)
    claims.store_visit(database, crawl, claim(database, crawl), observation("dns"))
    more = [
        dataclasses.replace(observation(), page_kind="inner"),
        dataclasses.replace(observation("timeout"), load=2),
    ]
    seen = dataclasses.replace(observation(), more=more)
    assert claims.store_visit(database, crawl, claim(database, crawl), seen).is_final
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
    assert select_row(database, "SELECT attempts, final_visit_id FROM site") == {
        "attempts": 4,
        "final_visit_id": 1002,
    }


def test_an_expired_lease_is_taken_over_and_the_late_one_writes_nothing(database: Engine) -> None:
    crawl = plan_crawl(database, sites=1)
    late = claim(database, crawl, "late")
    assert claims.claim_site(database, crawl, owner="other") is None
    expire(database)
    other = claim(database, crawl, "other")
    with pytest.raises(claims.LeaseLost, match=r"s1\.test: the claim expired"):
        claims.store_visit(database, crawl, late, observation())
    assert counts(database) == (0, 0, 0)
    claims.release_claim(database, late)  # nor does it take the claim from the other
    assert claims.store_visit(database, crawl, other, observation()).is_final
    with pytest.raises(claims.LeaseLost):
        claims.store_visit(database, crawl, late, observation())
    assert select_row(database, "SELECT id, owner FROM visit") == {"id": 1002, "owner": "other"}


def test_a_crawler_that_takes_its_own_expired_claim_again_writes_by_the_new_one_alone(
    database_18: Engine,
) -> None:
    crawl = plan_crawl(database_18, sites=1)
    late = claim(database_18, crawl)
    expire(database_18)
    again = claim(database_18, crawl)
    with pytest.raises(claims.LeaseLost):
        claims.store_visit(database_18, crawl, late, observation())
    assert claims.store_visit(database_18, crawl, again, observation()).is_final


def test_an_expired_lease_that_nobody_took_is_still_ours(database: Engine) -> None:
    crawl = plan_crawl(database, sites=1)
    ours = claim(database, crawl)
    expire(database)
    assert claims.store_visit(database, crawl, ours, observation()).is_final


def test_a_lease_is_renewed_while_the_claim_is_ours_and_never_after(database: Engine) -> None:
    crawl = plan_crawl(database, sites=3)
    ours, lost, written = (claim(database, crawl) for _ in range(3))
    expire(database)
    claims.store_visit(database, crawl, written, observation())
    assert claim(database, crawl, "other").rank == 1
    with pytest.raises(claims.LeaseLost):
        claims.store_visit(database, crawl, ours, observation())
    claims.renew_claims(database, [ours, lost, written])
    with database.connect() as connection:
        left = connection.execute(text("SELECT owner, lease_expires_at > now() FROM site ORDER BY rank"))
        assert [tuple(row) for row in left] == [("other", True), ("me", True), (None, None)]


def test_a_renewal_does_not_wait_for_the_visit_that_is_being_written(database: Engine) -> None:
    crawl = plan_crawl(database, sites=2)
    writing, ours = claim(database, crawl), claim(database, crawl)
    expire(database)
    with database.begin() as connection:
        connection.execute(text("UPDATE site SET owner = NULL, lease_expires_at = NULL WHERE rank = 1"))
        with ThreadPoolExecutor(1) as pool:
            pool.submit(claims.renew_claims, database, [writing, ours]).result(timeout=60)
    left = select_row(
        database, "SELECT count(*) FILTER (WHERE lease_expires_at > now()) AS renewed FROM site"
    )
    assert left == {"renewed": 1}


def test_a_visit_whose_commit_was_not_answered_is_written_once(database: Engine) -> None:
    crawl = plan_crawl(database, sites=1)
    ours = claim(database, crawl)
    first = claims.store_visit(database, crawl, ours, observation())
    assert claims.store_visit(database, crawl, ours, observation()) == first
    assert counts(database) == (1, 1, 2)


def test_a_claim_given_back_as_an_attempt_counts(database: Engine) -> None:
    crawl = plan_crawl(database, sites=2)
    claims.release_claim(database, claim(database, crawl), counts=True)
    assert claim(database, crawl).rank == 2
    assert claim(database, crawl).attempt == 2


def test_a_claim_given_back_leaves_no_attempt(database: Engine) -> None:
    crawl = plan_crawl(database, sites=1)
    claims.release_claim(database, claim(database, crawl, "first"))
    again = claim(database, crawl, "second")
    assert (again.attempt, again.visit_id) == (1, 1001)


def test_a_visit_whose_rows_do_not_fit_is_not_half_written(database: Engine) -> None:
    crawl = plan_crawl(database, sites=1)
    ours = claim(database, crawl)
    seen = observation()
    double = dataclasses.replace(seen, responses=[*seen.responses, seen.responses[0]])
    with pytest.raises(Exception, match="duplicate key"):
        claims.store_visit(database, crawl, ours, double)
    missing = dataclasses.replace(
        seen, responses=[{key: value for key, value in seen.responses[0].items() if key != "path"}]
    )
    with pytest.raises(ValueError, match="response"):
        claims.store_visit(database, crawl, ours, missing)
    assert counts(database) == (0, 0, 0)
    assert claims.store_visit(database, crawl, ours, seen).is_final


def test_a_disk_that_fills_in_mid_copy_leaves_nothing_half_written(database: Engine) -> None:
    crawl = plan_crawl(database, sites=1)
    ours = claim(database, crawl)
    with database.begin() as connection:
        connection.execute(
            text(
                "CREATE FUNCTION full() RETURNS trigger LANGUAGE plpgsql AS $$ BEGIN IF NEW.id = 900 THEN "
                "RAISE EXCEPTION 'could not extend file: No space left on device' USING ERRCODE "
                "= 'disk_full'; END IF; RETURN NEW; END $$".replace("full()", "disk_full()")
            )
        )
        connection.execute(
            text(
                "CREATE TRIGGER disk_full BEFORE INSERT ON response FOR EACH ROW EXECUTE FUNCTION disk_full()"
            )
        )
    with pytest.raises(DatabaseFull, match="No space left on device"):
        claims.store_visit(database, crawl, ours, observation(responses=1000))
    assert counts(database) == (0, 0, 0)
    assert select_row(database, "SELECT owner FROM site") == {"owner": "me"}
