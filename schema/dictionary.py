"""The data dictionary: the definition of every table and column, generated from their declarations."""

from __future__ import annotations

import inspect
from typing import TYPE_CHECKING, Any

from schema import computed_tables
from schema.recorded import PAGES, Notes, released_schema
from schema.tables import RELEASED, Base

if TYPE_CHECKING:
    import pyarrow as pa

COMPUTED: dict[str, tuple[pa.Schema, str]] = {
    "distribution": (
        computed_tables.DISTRIBUTION,
        "Exact empirical distributions of sizes in one crawl, one row per step.",
    ),
    "item": (
        computed_tables.ITEM,
        "One item that a distribution counts, with its site and its strata, from which any distribution and its interval follow.",
    ),
    "cell": (computed_tables.CELL, "One page load in the replay lab."),
    "replayed_response": (
        computed_tables.REPLAYED_RESPONSE,
        "One response of a page load in the replay lab.",
    ),
}
"""Schema and description of each computed table."""


def columns(schema: pa.Schema) -> list[dict[str, Any]]:
    """Name, type, nullability and definition of each column, in order."""
    return [
        {
            "name": field.name,
            "type": str(field.type),
            "nullable": field.nullable,
            "comment": (field.metadata or {}).get(b"comment", b"").decode(),
        }
        for field in schema
    ]


def description(model: type[Base]) -> str:
    """Description of a row of an observation table: the first line of its docstring."""
    return (inspect.getdoc(model) or "").split("\n", 1)[0]


def dictionary(kind: str = "web", notes: Notes = PAGES) -> dict[str, dict[str, Any]]:
    """Every released and every computed table by name: `description` and `columns`, as releases of this kind hold them."""
    observed = {
        model.__tablename__: {
            "description": description(model),
            "columns": columns(released_schema(Base.metadata.tables[model.__tablename__], kind, notes)),
        }
        for model in RELEASED
    }
    computed = {
        name: {"description": text, "columns": columns(schema)} for name, (schema, text) in COMPUTED.items()
    }
    return observed | computed
