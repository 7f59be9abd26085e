import pytest
from sqlalchemy import Engine, exc, text

from crawler.campaign.seal import SealError, seal
from crawler.worker import claims
from crawler.worker.claims import Claim
from schema.tables import Crawl
from tests.crawler.worker.stored_rows import claim, counts
from tests.factories.made_up_visits import observation, plan_crawl


def finished(engine: Engine) -> Crawl:
    crawl = plan_crawl(engine, sites=1)
    claims.store_visit(engine, crawl, claim(engine, crawl), observation())
    return crawl


def test_a_crawl_with_open_sites_is_not_sealed(database: Engine) -> None:
    crawl = plan_crawl(database)
    with pytest.raises(SealError, match="3 of 3 sites have no final visit"):
        seal(database, crawl)


def test_a_sealed_crawl_is_never_written_again(database: Engine) -> None:
    crawl = finished(database)
    assert seal(database, crawl) is True
    assert seal(database, crawl) is False
    late = Claim(crawl_id=crawl.id, rank=1, host="s1.test", attempt=1, owner="me")
    with pytest.raises(claims.CrawlSealed):
        claims.store_visit(database, crawl, late, observation())
    for statement in (
        "INSERT INTO visit SELECT crawl_id, id + 1, rank, host, 2, is_final, outcome, stop_reason, error, "
        "scheme, status, main_response_id, final_scheme, final_host, hsts_upgrades, started_at, ended_at, "
        "load_us, received_bytes, coverage, decrypted_coverage, owner FROM visit",
        "UPDATE response SET wire_bytes = 1",
        "DELETE FROM connection",
        f"TRUNCATE response_{crawl.id}",
    ):
        with pytest.raises(exc.DBAPIError, match="belongs to a sealed crawl"), database.begin() as connection:
            connection.execute(text(statement))
    assert counts(database) == (1, 1, 2)


def test_another_crawl_is_written_while_one_is_sealed(database: Engine) -> None:
    seal(database, finished(database))
    other = plan_crawl(database, sites=1, kind="web")
    assert claims.store_visit(database, other, claim(database, other), observation()).is_final
