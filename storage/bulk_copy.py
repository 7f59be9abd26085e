"""Writes rows by binary COPY, within the caller's transaction."""

from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from psycopg import sql
from sqlalchemy import ARRAY, BigInteger, Boolean, Connection, DateTime, Double, Integer, SmallInteger, Text

from schema.tables import Base
from storage.engine import driver_connection, psycopg_errors

POSTGRESQL_TYPES: list[tuple[type, str]] = [
    # Subclasses before their bases: SmallInteger and BigInteger are Integers. Arrays are of Integer.
    (SmallInteger, "int2"),
    (BigInteger, "int8"),
    (Integer, "int4"),
    (Boolean, "bool"),
    (Double, "float8"),
    (DateTime, "timestamptz"),
    (Text, "text"),
    (ARRAY, "int4[]"),
]
"""Types that binary COPY, which converts nothing, sends, by column type."""


def column_names(model: type[Base]) -> tuple[str, ...]:
    return tuple(column.name for column in Base.metadata.tables[model.__tablename__].columns)


def copy_rows(
    connection: Connection,
    model: type[Base],
    rows: Iterable[Mapping[str, Any]],
    *,
    columns: Sequence[str] | None = None,
) -> None:
    """Write `rows`, each with a value for every column in `columns`, by default all columns of the table.

    KeyError if a row lacks a column; ValueError if it has an unknown one.
    """
    names = column_names(model) if columns is None else tuple(columns)
    table = Base.metadata.tables[model.__tablename__]
    types = [
        next(name for declared, name in POSTGRESQL_TYPES if isinstance(table.columns[column].type, declared))
        for column in names
    ]
    statement = sql.SQL("COPY {} ({}) FROM STDIN (FORMAT BINARY)").format(
        sql.Identifier(table.name), sql.SQL(", ").join(map(sql.Identifier, names))
    )
    with (
        psycopg_errors(connection.engine),
        driver_connection(connection).cursor() as cursor,
        cursor.copy(statement) as copy,
    ):
        copy.set_types(types)
        for row in rows:
            if len(row) != len(names):
                raise ValueError(f"{table.name} has no columns {sorted(set(row) - set(names))}")
            copy.write_row([row[name] for name in names])
