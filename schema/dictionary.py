"""The data dictionary: the definition of every table and column, generated from their declarations."""

from typing import TypedDict

import pyarrow as pa

from schema import computed_tables
from schema.recorded import PAGES, Notes, released_schema
from schema.released_tables import ColumnFacts, columns, released_tables

COMPUTED: dict[str, tuple[pa.Schema, str]] = {
    "distribution": (
        computed_tables.DISTRIBUTION,
        "Exact empirical distributions of sizes in one crawl, one row per step.",
    ),
    "item": (
        computed_tables.ITEM,
        "One item that a distribution counts, with its site and its strata, "
        "from which any distribution and its interval follow.",
    ),
    "cell": (computed_tables.CELL, "One page load in the replay lab."),
    "replayed_response": (
        computed_tables.REPLAYED_RESPONSE,
        "One response of a page load in the replay lab.",
    ),
}


class TableFacts(TypedDict):
    """A table in the data dictionary."""

    description: str
    columns: list[ColumnFacts]


def dictionary(kind: str = "web", notes: Notes = PAGES) -> dict[str, TableFacts]:
    """Return every released and every computed table by name, as releases of this kind hold them."""
    observed: dict[str, TableFacts] = {
        name: {
            "description": table.description,
            "columns": columns(released_schema(name, kind, notes)),
        }
        for name, table in released_tables().items()
    }
    computed: dict[str, TableFacts] = {
        name: {"description": text, "columns": columns(schema)} for name, (schema, text) in COMPUTED.items()
    }
    return observed | computed
