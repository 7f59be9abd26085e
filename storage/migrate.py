"""Upgrades a database to the current schema by the Alembic migrations in schema/migrations."""

from pathlib import Path

from sqlalchemy import Connection, Engine, text
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.schema import SetColumnComment

from schema import migrations
from schema.tables import Base, Outcome
from schema.vocabulary import OUTCOMES
from storage.engine import DatabaseNewer
from storage.partitions import is_partition

MIGRATIONS = Path(migrations.__file__).parent

LOCK = 0x66697273
"""Key of the advisory lock that serialises upgrades of a database: "firs" in ASCII."""


def upgrade(engine: Engine) -> None:
    """Upgrade tables, comments and outcomes in one transaction; simultaneous calls are safe."""
    with engine.begin() as connection:
        connection.execute(text("SELECT pg_advisory_xact_lock(:key)"), {"key": LOCK})
        if not _is_current(connection):
            _upgrade_tables(connection)
        _write_comments(connection)
        _write_outcomes(connection)


def _is_current(connection: Connection) -> bool:
    if connection.scalar(text("SELECT to_regclass('alembic_version')")) is None:
        return False
    head = max(path.name for path in MIGRATIONS.glob("versions/*.py")).partition("_")[0]
    return list(connection.scalars(text("SELECT version_num FROM alembic_version"))) == [head]


def _upgrade_tables(connection: Connection) -> None:
    # Imported where tables are not current: each command that opens a database would start a fifth later.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()  # built in code: there is no alembic.ini
    config.set_main_option("script_location", str(MIGRATIONS).replace("%", "%%"))
    config.attributes["connection"] = connection
    config.attributes["include_name"] = include_name
    try:
        command.upgrade(config, "head")
    except CommandError as exc:
        raise DatabaseNewer(
            "the database was upgraded by a newer firstflight: use that version, or another database"
        ) from exc


def _write_comments(connection: Connection) -> None:
    """Write each column comment that differs from the declared one."""
    stored = connection.execute(
        text(
            "SELECT attrelid::regclass::text, attname, col_description(attrelid, attnum) FROM pg_attribute "
            "WHERE attrelid IN (SELECT to_regclass(name) FROM unnest(CAST(:tables AS text[])) AS name) "
            "AND attnum > 0"
        ),
        {"tables": list(Base.metadata.tables)},
    )
    comments = {(table, column): comment for table, column, comment in stored}
    for table in Base.metadata.tables.values():
        for column in table.columns:
            if comments.get((table.name, column.name), column.comment) != column.comment:
                connection.execute(SetColumnComment(column))


def _write_outcomes(connection: Connection) -> None:
    """Write every outcome of this version; those no longer in the code stay,
    for visits that refer to them."""
    rows = [{"id": name, "description": description} for name, description in OUTCOMES.items()]
    statement = insert(Outcome).values(rows)
    changed = statement.excluded.description
    connection.execute(
        statement.on_conflict_do_update(
            index_elements=["id"],
            set_={"description": changed},
            where=Outcome.description.is_distinct_from(changed),
        )
    )


def include_name(name: str | None, kind: str, _parents: object) -> bool:
    """Return true for what Alembic compares with the declaration, which partitions, as data, are not."""
    return not (kind == "table" and name is not None and is_partition(name))
