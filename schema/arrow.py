"""Derives the Arrow schema of each table from its columns and their comments.

`python -m schema.arrow` writes `released_tables.json` anew, from which readers of releases take the schemas.
"""

import inspect
from collections.abc import Mapping

import pyarrow as pa
from sqlalchemy import (
    ARRAY,
    BigInteger,
    Boolean,
    Column,
    DateTime,
    Double,
    Integer,
    SmallInteger,
    Table,
    Text,
)

from schema.released_tables import FILE, RETIRED, ReleasedTable, to_text
from schema.tables import RELEASED, Base

ARROW_TYPES: list[tuple[type, pa.DataType]] = [
    # Subclasses before their bases: SmallInteger and BigInteger are Integers. Arrays are of Integer.
    (SmallInteger, pa.int16()),
    (BigInteger, pa.int64()),
    (Integer, pa.int32()),
    (Boolean, pa.bool_()),
    (Double, pa.float64()),
    (DateTime, pa.timestamp("us", tz="UTC")),
    (Text, pa.string()),
    (ARRAY, pa.list_(pa.field("element", pa.int32()))),  # the name that Parquet gives back
]


def arrow_field(column: Column[object]) -> pa.Field:
    """Return a column as an Arrow field, with its comment as metadata."""
    kind = next(arrow for declared, arrow in ARROW_TYPES if isinstance(column.type, declared))
    return pa.field(
        column.name, kind, nullable=bool(column.nullable), metadata={"comment": column.comment or ""}
    )


def arrow_schema(table: Table) -> pa.Schema:
    """Return the Arrow schema of what a release holds of `table`, with the table's name as metadata."""
    retired = RETIRED.get(table.name, {})
    fields = [arrow_field(column) for column in table.columns if column.name not in retired]
    return pa.schema(fields, metadata={"table": table.name})


def declared_tables() -> Mapping[str, ReleasedTable]:
    return {model.__tablename__: _declared(model) for model in RELEASED}


def _declared(model: type[Base]) -> ReleasedTable:
    table = Base.metadata.tables[model.__tablename__]
    return ReleasedTable(
        name=table.name,
        description=(inspect.getdoc(model) or "").split("\n", 1)[0],
        key=tuple(column.name for column in table.primary_key),
        schema=arrow_schema(table),
    )


if __name__ == "__main__":
    FILE.write_text(to_text(declared_tables()), encoding="utf-8")
