from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

import pytest
from alembic import command
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import exc, select, text

from schema.http_caching import COLUMNS
from schema.tables import Base, Outcome
from schema.vocabulary import OUTCOMES
from storage import migrate
from storage.engine import DatabaseNewer, connect
from storage.partitions import create_partitions, seal_partitions

if TYPE_CHECKING:
    from sqlalchemy import Engine


def differences(engine: Engine) -> list[object]:
    with engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"include_name": migrate.include_name})
        return list(compare_metadata(context, Base.metadata))


def test_the_migrations_create_exactly_the_declared_tables(database: Engine) -> None:
    assert differences(database) == []


def test_partitions_are_no_difference(database: Engine) -> None:
    with database.begin() as connection:
        create_partitions(connection, 7)
    assert differences(database) == []


def test_a_table_that_is_not_declared_is_a_difference(database_18: Engine) -> None:
    with database_18.begin() as connection:
        connection.execute(text("CREATE TABLE stray (id int)"))
    assert len(differences(database_18)) == 1


def test_a_comment_that_was_changed_is_a_difference(database_18: Engine) -> None:
    with database_18.begin() as connection:
        connection.execute(text("COMMENT ON COLUMN visit.outcome IS 'something else'"))
    assert len(differences(database_18)) == 1


def test_upgrading_again_changes_nothing(database: Engine) -> None:
    before = written(database)
    migrate.upgrade(database)
    assert written(database) == before


def written(engine: Engine) -> list[tuple[object, ...]]:
    """The outcome rows with the transactions that wrote them."""
    with engine.connect() as connection:
        return [tuple(row) for row in connection.execute(text("SELECT xmin::text, * FROM outcome"))]


def test_simultaneous_upgrades_of_an_empty_database_succeed(empty_database: str) -> None:
    engine = connect(empty_database)
    with ThreadPoolExecutor(4) as pool:
        list(pool.map(migrate.upgrade, [engine] * 4))
    assert differences(engine) == []
    engine.dispose()


def test_the_outcomes_are_updated_and_none_is_dropped(database_18: Engine) -> None:
    with database_18.begin() as connection:
        connection.execute(text("INSERT INTO outcome VALUES ('of_old', 'no longer given')"))
        connection.execute(text("UPDATE outcome SET description = 'was' WHERE id = 'ok'"))
    migrate.upgrade(database_18)
    with database_18.connect() as connection:
        rows = {row.id: row.description for row in connection.execute(select(Outcome))}
    assert rows == OUTCOMES | {"of_old": "no longer given"}


def test_a_database_of_a_newer_version_is_left_alone(database_18: Engine) -> None:
    with database_18.begin() as connection:
        connection.execute(text("UPDATE alembic_version SET version_num = '9999'"))
    with pytest.raises(DatabaseNewer, match="newer firstflight"):
        migrate.upgrade(database_18)


CRAWL = (
    "month, device, vantage, arm, kind, list_id, top, attempts, budget_s, method_version, commit, planned_at"
)
VISIT = (
    "crawl_id, id, rank, host, attempt, is_final, outcome, stop_reason, scheme, status, hsts_upgrades, "
    "started_at, ended_at, received_bytes, coverage, owner"
)


def first_edition(engine: Engine) -> None:
    """The tables of schema version 1 with an open crawl (1) and a sealed one (2), a visit each."""
    with engine.begin() as connection:
        command.upgrade(migrate.config(connection), "0001")

        def run(statement: str) -> None:
            connection.execute(text(statement))

        run("INSERT INTO outcome VALUES ('ok', 'fine')")
        run("INSERT INTO site_list VALUES ('l:1', 'l', 'aa', 3, now())")
        for crawl, month in ((1, "2026-09"), (2, "2026-10")):
            run(
                f"INSERT INTO crawl ({CRAWL}) VALUES ('{month}', 'desktop', 'local', 'tcp', 'web', 'l:1', 2, 2, "
                "30, '1', 'abc', now())"
            )
            run(
                f"INSERT INTO site (crawl_id, rank, host) VALUES ({crawl}, 1, 'a.test'), ({crawl}, 2, 'b.test')"
            )
            for table in ("visit", "connection", "response"):
                run(f"CREATE TABLE {table}_{crawl} PARTITION OF {table} FOR VALUES IN ({crawl})")
            run(
                f"INSERT INTO visit ({VISIT}) VALUES ({crawl}, 1001, 1, 'a.test', 1, true, 'ok', 'quiet', 'https', "
                "200, 0, now(), now(), 5, 0.5, 'me')"
            )
            run(
                "INSERT INTO response (crawl_id, visit_id, id, method, scheme, host, path, resource_type, "
                f"from_cache, wire_bytes) VALUES ({crawl}, 1001, 1, 'GET', 'https', 'a.test', '/', 'document', "
                "false, 5)"
            )
        seal_partitions(connection, 2)


def test_a_database_of_schema_version_1_keeps_its_rows_and_stays_usable(empty_database: str) -> None:
    engine = connect(empty_database)
    first_edition(engine)
    old = "SELECT crawl_id, id, rank, host, attempt, is_final, outcome, coverage, owner FROM visit ORDER BY 1"
    with engine.connect() as connection:
        before = connection.execute(text(old)).all()
    migrate.upgrade(engine)
    assert differences(engine) == []
    with engine.connect() as connection:
        assert connection.execute(text(old)).all() == before
        new = connection.execute(
            text("SELECT DISTINCT page_kind, load, wall, is_covered, unfiltered_egress FROM visit")
        )
        assert [tuple(row) for row in new] == [("home", 1, None, None, None)]
        planned = connection.execute(text("SELECT DISTINCT loads, inner_pages, contact_url FROM crawl"))
        assert [tuple(row) for row in planned] == [(1, 0, None)]
        later = [
            "request_body_bytes",
            "is_complete",
            "server_delay_us",
            "urgency",
            "render_blocking",
            *COLUMNS,
        ]
        said = f"SELECT wire_bytes, {', '.join(later)} FROM response"
        assert [tuple(row) for row in connection.execute(text(said))] == [(5, *[None] * len(later))] * 2
    goes_on = f"INSERT INTO visit ({VISIT}, wall) SELECT crawl_id, 2001, 2, {VISIT.split(', ', 3)[3]}, 'x' FROM visit "
    with engine.begin() as connection:
        connection.execute(text(goes_on + "WHERE crawl_id = 1"))
    with pytest.raises(exc.DBAPIError, match="belongs to a sealed crawl"), engine.begin() as connection:
        connection.execute(text(goes_on + "WHERE crawl_id = 2"))
    engine.dispose()
