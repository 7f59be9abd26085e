"""Reads a crawl's observations from PostgreSQL as Arrow, by ADBC, with explicit columns, types and order."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from typing import TYPE_CHECKING

import pyarrow as pa
from sqlalchemy import Engine, Table, Text

from releases.catalogue import ReleaseError
from schema.arrow import arrow_schema
from schema.tables import Base

if TYPE_CHECKING:
    from adbc_driver_postgresql import dbapi


def table_of(model: type[Base]) -> Table:
    return Base.metadata.tables[model.__tablename__]


def crawl_column(table: Table) -> str:
    return "id" if table.name == "crawl" else "crawl_id"


def statement(table: Table, *, crawl_id: int) -> str:
    """Return SQL that selects a crawl's rows in bytewise order of their key, whatever the server's
    collation.
    """
    quote = '"{}"'.format
    columns = ", ".join(map(quote, arrow_schema(table).names))
    text = [column for column in table.primary_key.columns if isinstance(column.type, Text)]
    order = ", ".join(
        quote(column.name) + (' COLLATE "C"' if column in text else "")
        for column in table.primary_key.columns
    )
    return (
        f"SELECT {columns} FROM {quote(table.name)} "  # noqa: S608  # names from our own declaration
        f"WHERE {quote(crawl_column(table))} = {int(crawl_id)} ORDER BY {order}"
    )


@contextlib.contextmanager
def open_adbc(engine: Engine) -> Iterator[dbapi.Connection]:
    """Open an ADBC connection for all tables: it asks the server for its types as it connects."""
    # It takes as long as most commands take to start, of which few need it.
    from adbc_driver_postgresql import dbapi

    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    with _one_line("the crawl"):
        connection = dbapi.connect(url)
    with connection:
        yield connection


@contextlib.contextmanager
def read_rows(
    connection: dbapi.Connection, model: type[Base], *, crawl_id: int
) -> Iterator[Iterator[pa.Table]]:
    """Provide a crawl's rows, in batches as the server sends them, with the declared types."""
    table = table_of(model)
    schema = arrow_schema(table)
    with _one_line(table.name), connection.cursor() as cursor:
        cursor.execute(statement(table, crawl_id=crawl_id))
        reader = cursor.fetch_record_batch()
        yield (pa.Table.from_batches([batch]).cast(schema) for batch in reader)


@contextlib.contextmanager
def _one_line(what: str) -> Iterator[None]:
    import adbc_driver_manager

    try:
        yield
    except adbc_driver_manager.Error as exc:
        problem = " ".join(str(exc).split())
        raise ReleaseError(f"PostgreSQL stopped answering while {what} was read: {problem}") from exc
