import dataclasses
from concurrent.futures import ThreadPoolExecutor

import pytest
from sqlalchemy import Connection, Engine, event, select, text

from crawler.campaign.plan import METHOD_VERSION, CrawlPlan, PlanError, plan
from crawler.sites.lists import Entry, Sites
from crawler.sites.optout import OptOut
from crawler.worker import claims
from schema.crawls import CrawlName, name_of
from schema.tables import Site, SiteList
from storage.crawls import CrawlNotFound, find_crawl
from storage.partitions import create_partitions
from tests.factories.made_up_visits import observation, plan_crawl

SITES = Sites(
    id="l:1",
    source="l",
    checksum="a" * 64,
    entries=(Entry(1, "a.test"), Entry(5, "b.test"), Entry(9, "c.test")),
)
WANTED = CrawlPlan(
    name=CrawlName(month="2026-11"), sites=SITES, top=2, attempts=2, budget_s=30.0, commit="abc-dirty"
)


def counts(engine: Engine) -> tuple[int | None, ...]:
    tables = ("site_list", "crawl", "site")
    with engine.connect() as connection:
        return tuple(connection.scalar(text(f"SELECT count(*) FROM {table}")) for table in tables)


def test_a_plan_is_a_list_a_crawl_its_sites_and_its_partitions(database: Engine) -> None:
    crawl, new = plan(database, WANTED)
    assert new
    assert (crawl.top, crawl.commit, crawl.method_version) == (2, "abc-dirty", METHOD_VERSION)
    assert (crawl.browser, crawl.sealed_at) == (None, None)
    with database.connect() as connection:
        sites = connection.execute(select(Site.rank, Site.host, Site.attempts).order_by(Site.rank)).all()
        assert [tuple(site) for site in sites] == [(1, "a.test", 0), (5, "b.test", 0)]
        stored = connection.execute(select(SiteList.id, SiteList.checksum, SiteList.entries)).one()
        assert tuple(stored) == ("l:1", "a" * 64, 3)
        partitions = connection.scalars(
            text("SELECT relname FROM pg_class WHERE relispartition AND relkind = 'r' ORDER BY relname")
        ).all()
        assert partitions == [f"{name}_{crawl.id}" for name in ("connection", "response", "visit")]


def test_the_database_knows_the_length_of_a_queue_as_soon_as_it_is_planned(database_18: Engine) -> None:
    entries = tuple(Entry(rank, f"{rank}.test") for rank in range(1, 2001))
    sites = dataclasses.replace(SITES, entries=entries)
    plan(database_18, dataclasses.replace(WANTED, sites=sites, top=2000))
    with database_18.connect() as connection:
        queue = text("EXPLAIN (FORMAT JSON) SELECT rank FROM site WHERE final_visit_id IS NULL")
        (estimate,) = connection.scalar(queue)
    assert estimate["Plan"]["Plan Rows"] == 2000


def test_sites_that_opted_out_are_not_planned_and_the_others_keep_rank_and_magnitude(
    database: Engine,
) -> None:
    entries = (Entry(1, "a.test", 1000), Entry(2, "www.b.test", 1000), Entry(3, "c.test", 5000))
    out = OptOut(checksum="f" * 64, hosts=frozenset({"b.test"}))
    wanted = dataclasses.replace(WANTED, sites=dataclasses.replace(SITES, entries=entries), top=3, optout=out)
    crawl, _ = plan(database, wanted)
    assert (crawl.top, crawl.optout_checksum, crawl.optout_sites) == (2, "f" * 64, 1)
    with database.connect() as connection:
        sites = connection.execute(select(Site.rank, Site.host, Site.magnitude).order_by(Site.rank)).all()
    assert [tuple(site) for site in sites] == [(1, "a.test", 1000), (3, "c.test", 5000)]


def test_an_opt_out_file_that_changed_since_leaves_the_crawl_as_planned(database_18: Engine) -> None:
    out = OptOut(checksum="f" * 64, hosts=frozenset({"a.test"}))
    first, _ = plan(database_18, dataclasses.replace(WANTED, optout=out))
    for later in (None, OptOut(checksum="e" * 64, hosts=frozenset())):
        again, new = plan(database_18, dataclasses.replace(WANTED, optout=later))
        assert (again.id, again.top, again.optout_sites, new) == (first.id, 1, 1, False)


def test_a_list_that_opted_out_whole_is_refused(database_18: Engine) -> None:
    out = OptOut(checksum="f" * 64, hosts=frozenset({"a.test", "b.test"}))
    with pytest.raises(PlanError, match="everybody in the list l:1 opted out"):
        plan(database_18, dataclasses.replace(WANTED, optout=out))
    assert counts(database_18) == (0, 0, 0)


def test_the_same_plan_twice_is_one_crawl(database: Engine) -> None:
    first, _ = plan(database, WANTED)
    again, new = plan(database, dataclasses.replace(WANTED, commit="another"))
    assert (again.id, again.commit, new) == (first.id, "abc-dirty", False)
    assert counts(database) == (1, 1, 2)


@pytest.mark.parametrize(
    ("change", "column"),
    [
        ({"top": 1}, "top 2, not 1"),
        ({"attempts": 3}, "attempts 2, not 3"),
        ({"budget_s": 10.0}, "budget_s 30.0, not 10.0"),
        ({"sites": dataclasses.replace(SITES, id="l:2")}, "list_id 'l:1', not 'l:2'"),
    ],
)
def test_another_plan_of_that_name_is_an_error(
    database_18: Engine, change: dict[str, object], column: str
) -> None:
    plan(database_18, WANTED)
    with pytest.raises(PlanError, match=column):
        plan(database_18, dataclasses.replace(WANTED, **change))  # type: ignore[arg-type]
    assert counts(database_18) == (1, 1, 2)


def test_planners_at_once_make_one_crawl(database: Engine) -> None:
    with ThreadPoolExecutor(4) as pool:
        done = list(pool.map(lambda _: plan(database, WANTED), range(4)))
    assert sorted(new for _, new in done) == [False, False, False, True]
    assert counts(database) == (1, 1, 2)


def test_a_plan_that_fails_leaves_nothing(database_18: Engine) -> None:
    broken = dataclasses.replace(SITES, entries=(*SITES.entries, Entry(9, "d.test")))
    with pytest.raises(Exception, match="duplicate key"):
        plan(database_18, dataclasses.replace(WANTED, sites=broken, top=None))
    assert counts(database_18) == (0, 0, 0)


def test_a_crawl_is_found_by_a_unique_beginning_of_its_name(database_18: Engine) -> None:
    for kind in ("web", "localweb"):
        plan(database_18, dataclasses.replace(WANTED, name=CrawlName(month="2026-11", kind=kind)))
    plan(database_18, dataclasses.replace(WANTED, name=CrawlName(month="2026-12")))
    with database_18.connect() as connection:
        assert name_of(find_crawl(connection, "2026-12")) == CrawlName(month="2026-12")
        whole = "2026-11.desktop.local.tcp.localweb"
        assert str(name_of(find_crawl(connection, whole))) == whole
        with pytest.raises(CrawlNotFound, match=r"names 2 crawls: 2026-11\.desktop"):
            find_crawl(connection, "2026-11")
        for unknown in ("2026-1", "2027-01", ""):
            with pytest.raises(CrawlNotFound, match="there is no crawl"):
                find_crawl(connection, unknown)


def test_a_crawl_is_planned_while_another_is_read_and_written(database: Engine) -> None:
    crawl, _ = plan(database, WANTED)
    december = dataclasses.replace(WANTED, name=CrawlName(month="2026-12"))
    with database.connect() as reader, database.connect() as writer:
        reader.execute(text("SELECT count(*) FROM visit, connection, response, outcome"))
        for table in ("visit", "connection", "response"):  # what INSERT takes
            writer.execute(text(f"LOCK TABLE {table} IN ROW EXCLUSIVE MODE"))
        writer.execute(text("SELECT id FROM outcome FOR KEY SHARE"))  # what the foreign key of a visit takes
        held = event.listens_for(database, "begin")(_patient_for_a_second)
        planned, new = plan(database, december)
        event.remove(database, "begin", held)
    assert new
    assert planned.id != crawl.id


def test_a_crawl_goes_on_while_another_is_planned(database: Engine) -> None:
    crawl = plan_crawl(database, sites=1)
    with database.connect() as planner:
        create_partitions(planner, crawl.id + 1)  # and does not commit yet
        held = event.listens_for(database, "begin")(_patient_for_a_second)
        ours = claims.claim_site(database, crawl, owner="me")
        assert ours is not None
        assert claims.store_visit(database, crawl, ours, observation()).is_final
        with database.connect() as reader:
            assert reader.scalar(text("SELECT count(*) FROM visit")) == 1
        event.remove(database, "begin", held)


def _patient_for_a_second(connection: Connection) -> None:
    connection.exec_driver_sql("SET LOCAL lock_timeout = '1s'")
