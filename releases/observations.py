"""Reads a crawl's observations from PostgreSQL as Arrow, by ADBC, with explicit columns, types and order."""

import contextlib
from collections.abc import Iterator

import pyarrow as pa
from sqlalchemy import Engine, Table, Text

from releases.catalogue import ReleaseError
from schema.arrow import arrow_schema
from schema.tables import Base


def table_of(model: type[Base]) -> Table:
    """The declared table of a model."""
    return Base.metadata.tables[model.__tablename__]


def crawl_column(table: Table) -> str:
    """Name of the column with the id of a row's crawl."""
    return "id" if table.name == "crawl" else "crawl_id"


def statement(table: Table, *, crawl_id: int) -> str:
    """SQL that selects a crawl's rows in bytewise order of their key,
    independent of the server's collation."""
    quote = '"{}"'.format
    columns = ", ".join(quote(column.name) for column in table.columns)
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
def reading(engine: Engine, model: type[Base], *, crawl_id: int) -> Iterator[Iterator[pa.Table]]:
    """The rows of `model` that belong to a crawl, in batches as the server sends them,
    with the declared types."""
    import adbc_driver_manager  # It takes as long as most commands take to start, of which few need it.
    import adbc_driver_postgresql.dbapi

    table = table_of(model)
    schema = arrow_schema(table)
    url = engine.url.set(drivername="postgresql").render_as_string(hide_password=False)
    try:
        with adbc_driver_postgresql.dbapi.connect(url) as connection, connection.cursor() as cursor:
            cursor.execute(statement(table, crawl_id=crawl_id))
            reader = cursor.fetch_record_batch()
            yield (pa.Table.from_batches([batch]).cast(schema) for batch in reader)
    except adbc_driver_manager.Error as exc:
        said = " ".join(str(exc).split())
        raise ReleaseError(f"PostgreSQL stopped answering while {table.name} was read: {said}") from exc
