"""What a release of other people's recordings holds: the tables of a crawl,
with null for what no recording tells."""

import tomllib
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa

from schema.released_tables import definition, released_tables

RECORDED = "recorded"
"""Kind of a crawl of other people's recordings, and its quality."""


class Notes(msgspec.Struct, frozen=True, kw_only=True):
    """Meanings of the columns of a recorded release, by the form of its recording (`recorded.toml`)."""

    rarely_null: Mapping[str, Mapping[str, str]]
    """Reasons why columns that a crawl always fills may be null, by table."""
    always_null: Mapping[str, tuple[str, ...]]
    """Columns, as table.column, that are null throughout, or may be, by the reason."""
    otherwise: Mapping[str, Mapping[str, str]]
    """Meaning of columns beyond their definition, by table."""


DECLARED: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)


def notes_of(form: str) -> Notes:
    return msgspec.convert(_declared(form), Notes)


def _declared(form: str) -> dict[str, Any]:
    own = DECLARED[form]
    return merge(_declared(own["like"]), own) if "like" in own else own


def merge(base: Mapping[str, Any], own: Mapping[str, Any]) -> dict[str, Any]:
    """Return `base` with the values of `own` added, or in place of its own, at any depth.

    >>> merge({"a": {"b": 1, "c": 2}}, {"a": {"c": 3}})
    {'a': {'b': 1, 'c': 3}}
    """
    return {
        **base,
        **{
            name: merge(base.get(name, {}), value) if isinstance(value, Mapping) else value
            for name, value in own.items()
        },
    }


PAGES = notes_of("pages")
OTHER_YEARS = notes_of("other_years")
FILES = notes_of("files")
NETLOGS = notes_of("netlogs")


def null_reasons(notes: Notes) -> dict[str, str]:
    """Return why a column may be null throughout, by table.column."""
    rare = {
        f"{table}.{name}": reason
        for table, columns in notes.rarely_null.items()
        for name, reason in columns.items()
    }
    return rare | {column: reason for reason, columns in notes.always_null.items() for column in columns}


def is_recorded(kind: str) -> bool:
    return kind == RECORDED


def released_schema(table: str, kind: str, notes: Notes = PAGES) -> pa.Schema:
    """Return a table's Arrow schema in a release of this kind, whose comments say what is null."""
    schema = released_tables()[table].schema
    if not is_recorded(kind):
        return schema
    for name, meaning in notes.otherwise.get(table, {}).items():
        schema = add_note(schema, name, f"in a recorded release: {meaning}")
    for name, reason in notes.rarely_null.get(table, {}).items():
        schema = add_note(schema, name, f"null in a recorded release: {reason}", nullable=True)
    return schema


def add_note(schema: pa.Schema, name: str, note: str, *, nullable: bool = False) -> pa.Schema:
    place = schema.get_field_index(name)
    field = schema.field(place)
    comment = f"{definition(field)}; {note}"
    return schema.set(
        place, field.with_nullable(nullable or field.nullable).with_metadata({"comment": comment})
    )
