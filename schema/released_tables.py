"""The observation tables that a release holds, as `released_tables.json` describes them.

The file is derived from `schema/tables.py`. Who reads releases takes the tables from here and so needs no
SQLAlchemy, which would take 20 MB of the service's memory. After a change of the declaration write the file
anew:

    python -m schema.arrow
"""

import dataclasses
import functools
import json
from collections.abc import Mapping
from pathlib import Path
from typing import TypedDict

import pyarrow as pa

FILE = Path(__file__).with_suffix(".json")

TYPES: Mapping[str, pa.DataType] = {
    str(kind): kind
    for kind in (
        pa.int16(),
        pa.int32(),
        pa.int64(),
        pa.bool_(),
        pa.float64(),
        pa.string(),
        pa.timestamp("us", tz="UTC"),
        pa.list_(pa.field("element", pa.int32())),  # the name that Parquet gives back
    )
}


RETIRED: Mapping[str, Mapping[str, int]] = {
    "site": {"owner": 2, "lease_expires_at": 2, "not_before": 2},
}
"""Columns that stay in the database, by table, with the schema version since which no release has them."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class ReleasedTable:
    """An observation table that a release holds as a Parquet file."""

    name: str
    description: str
    key: tuple[str, ...]
    schema: pa.Schema
    """Columns with their definitions, as in a crawl of ours."""


class ColumnFacts(TypedDict):
    """A column in the data dictionary."""

    name: str
    type: str
    nullable: bool
    comment: str


def definition(field: pa.Field) -> str:
    metadata: dict[bytes, bytes] = field.metadata or {}
    return metadata.get(b"comment", b"").decode()


def columns(schema: pa.Schema) -> list[ColumnFacts]:
    return [
        {
            "name": field.name,
            "type": str(field.type),
            "nullable": field.nullable,
            "comment": definition(field),
        }
        for field in schema
    ]


@functools.cache
def released_tables() -> Mapping[str, ReleasedTable]:
    return {
        name: ReleasedTable(
            name=name,
            description=facts["description"],
            key=tuple(facts["key"]),
            schema=pa.schema([_field(**column) for column in facts["columns"]], metadata={"table": name}),
        )
        for name, facts in json.loads(FILE.read_text(encoding="utf-8")).items()
    }


def _field(*, name: str, type: str, nullable: bool, comment: str) -> pa.Field:  # noqa: A002  # as in the file
    return pa.field(name, TYPES[type], nullable=nullable, metadata={"comment": comment})


def to_text(tables: Mapping[str, ReleasedTable]) -> str:
    return "{\n" + ",\n".join(f'"{name}": {_object(table)}' for name, table in tables.items()) + "\n}\n"


def _object(table: ReleasedTable) -> str:
    head = f'{{"description": {_json(table.description)}, "key": {_json(table.key)}, "columns": [\n'
    return head + ",\n".join(map(_json, columns(table.schema))) + "\n]}"


def _json(value: object) -> str:
    return json.dumps(value, ensure_ascii=False)
