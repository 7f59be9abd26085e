import pytest
from sqlalchemy import Engine, text
from sqlalchemy.exc import DBAPIError

from storage import erasing, integrity
from storage.crawls import crawls
from storage.erased_site import ErasedSite
from storage.partitions import detach_partitions, seal_partitions
from tests.factories import stored_crawl
from tests.factories.withdrawn import HOST, visits

SITE = ErasedSite(host=HOST, key="ab" * 32)


def stored_files(engine: Engine, crawl_id: int) -> bytes:
    """The bytes of PostgreSQL's files of the tables that name a crawl's hosts."""
    with engine.connect() as connection:
        connection.execute(text("CHECKPOINT"))
        read = text("SELECT pg_read_binary_file(pg_relation_filepath(:table))")
        tables = ("site", *(f"{name}_{crawl_id}" for name in ("visit", "connection", "response")))
        return b"".join(bytes(connection.scalar(read, {"table": table}) or b"") for table in tables)


def test_a_site_is_erased_from_a_sealed_crawl_which_stays_sealed_and_sound(database: Engine) -> None:
    made_up = visits()
    stored_crawl.store(database, made_up)
    with database.begin() as connection:
        seal_partitions(connection, made_up.crawl_id)
        (crawl,) = crawls(connection)
        detach_partitions(connection, crawl.id)  # they are still there, and still sealed
        holding = erasing.find(connection, crawl, SITE)
    own = {visit["id"] for visit in made_up.visit if HOST in visit["host"]}
    assert (holding.sites, holding.visits) == (1, len(own)) == (1, 2)
    erasing.erase(database, crawl, SITE)
    assert HOST.encode() in stored_files(database, crawl.id)  # of rows that are deleted
    erasing.rewrite(database, crawl.id)
    assert HOST.encode() not in stored_files(database, crawl.id)
    with database.connect() as connection:
        assert not erasing.find(connection, crawl, SITE).anything
        assert [invariant for invariant in integrity.check(connection, crawl) if invariant.offenders] == []
        left = connection.execute(
            text(f"SELECT visit_id, sum(received_bytes) FROM connection_{crawl.id} GROUP BY 1")
        )
        assert dict(left.all()) == {
            visit["id"]: visit["received_bytes"] for visit in made_up.visit if visit["id"] not in own
        }
        with pytest.raises(DBAPIError, match="never written again"):
            connection.execute(text(f"UPDATE response_{crawl.id} SET path = ''"))


def test_an_open_crawl_loses_the_site_from_its_queue(database_18: Engine) -> None:
    made_up = visits()
    stored_crawl.store(database_18, made_up, sealed=False)
    with database_18.connect() as connection:
        (crawl,) = crawls(connection)
    erasing.erase(database_18, crawl, SITE)
    with database_18.connect() as connection:
        hosts = connection.scalars(text("SELECT host FROM site")).all()
    assert len(hosts) == len(made_up.site) - 1
    assert not any(HOST in host for host in hosts)
