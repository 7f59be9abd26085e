"""Invariants without a constraint: each kind of damage is found, and a regular crawl has none."""

import pytest
from sqlalchemy import Engine, text

from crawler.campaign.seal import seal
from crawler.worker import claims
from schema.tables import Crawl
from storage.crawls import find_crawl
from storage.integrity import INVARIANTS, check
from storage.partitions import DETACHABLE, attached_partitions, detach_partitions
from tests.factories.made_up_visits import observation, plan_crawl


def crawled(engine: Engine) -> Crawl:
    """Three sites, one of them visited twice, all done."""
    crawl = plan_crawl(engine, sites=3)
    for outcome in ("ok", "dns", "http_error", "ok"):
        claim = claims.claim_site(engine, crawl, owner="me")
        assert claim is not None
        claims.store_visit(engine, crawl, claim, observation(outcome))
    return crawl


def offended(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        crawl = find_crawl(connection, "2026-11")
        return {invariant.name for invariant in check(connection, crawl) if invariant.offenders}


def asked(engine: Engine) -> set[str]:
    with engine.connect() as connection:
        return {invariant.name for invariant in check(connection, find_crawl(connection, "2026-11"))}


DAMAGE = {
    "every site's final visit exists": "UPDATE site SET final_visit_id = 99 WHERE rank = 1",
    "a site has one final visit at most": "UPDATE visit SET is_final = true WHERE rank = 2",
    "every final visit stands for its site": "UPDATE site SET final_visit_id = NULL WHERE rank = 1",
    "no visit that was given back is final": "UPDATE visit SET outcome = 'network_down' WHERE rank = 1",
    "every visit's site exists": "DELETE FROM site WHERE rank = 1",
    "every site of a sealed crawl has its final visit": "UPDATE site SET final_visit_id = NULL WHERE rank = "
    "1;UPDATE crawl SET sealed_at = now()",
    "no site of a sealed crawl is claimed": "UPDATE site SET owner = 'x', lease_expires_at = now() WHERE "
    "rank = 1;UPDATE crawl SET sealed_at = now()",
    "every connection's visit exists": "UPDATE connection SET visit_id = visit_id + 99",
    "received_bytes of a visit is the sum of its connections'": "UPDATE visit SET received_bytes = 1 WHERE rank = 1",  # noqa: E501
    "every response's visit exists": "UPDATE response SET visit_id = visit_id + 99",
    "every response's connection exists": "UPDATE response SET connection_id = 9",
    "every visit's main document exists": "UPDATE visit SET main_response_id = 9 WHERE rank = 1",
    "what is sealed refuses to be written": "UPDATE crawl SET sealed_at = now()",
    "its partitions are attached": "DO $$ BEGIN EXECUTE 'ALTER TABLE visit DETACH PARTITION visit_' || "
    "(SELECT id FROM crawl); END $$",
}


def test_a_regular_crawl_violates_no_invariant_before_and_after_sealing(database: Engine) -> None:
    crawl = crawled(database)
    assert offended(database) == set()
    seal(database, crawl)
    assert offended(database) == set()
    assert asked(database) == {
        *INVARIANTS,
        "its partitions are attached",
        "what is sealed refuses to be written",
    }


def test_each_damage_is_found(database_18: Engine) -> None:
    crawled(database_18)
    assert set(DAMAGE) >= set(INVARIANTS)
    for name, statement in DAMAGE.items():
        with database_18.connect() as connection:
            for sql in [statement] if statement.startswith("DO") else statement.split(";"):
                connection.execute(text(sql))
            crawl = find_crawl(connection, "2026-11")
            assert name in {
                invariant.name for invariant in check(connection, crawl) if invariant.offenders
            }, name
            connection.rollback()
    assert offended(database_18) == set()


def test_detached_partitions_are_not_checked_and_stay_sealed(database: Engine) -> None:
    crawl = crawled(database)
    seal(database, crawl)
    with database.begin() as connection:
        assert detach_partitions(connection, crawl.id) == [f"{name}_{crawl.id}" for name in DETACHABLE]
        assert set(attached_partitions(connection, crawl.id)) == {"visit"}
        assert detach_partitions(connection, crawl.id) == []
    assert offended(database) == set()
    assert "every visit's site exists" in asked(database)
    assert "every response's visit exists" not in asked(database)
    with pytest.raises(Exception, match="belongs to a sealed crawl"), database.begin() as connection:
        connection.execute(text(f"DELETE FROM response_{crawl.id}"))
