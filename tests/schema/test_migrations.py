from concurrent.futures import ThreadPoolExecutor

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, select, text

from schema.tables import Base, Outcome
from schema.vocabulary import OUTCOMES
from storage import migrate
from storage.engine import DatabaseNewer, connect
from storage.partitions import create_partitions


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


def test_upgrading_restores_a_comment_that_is_not_the_declared_one(database_18: Engine) -> None:
    with database_18.begin() as connection:
        connection.execute(text("COMMENT ON COLUMN visit.outcome IS 'something else'"))
    assert len(differences(database_18)) == 1
    migrate.upgrade(database_18)
    assert differences(database_18) == []


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
