"""Tables computed from observations, as `computed_tables.toml` has them: distributions, items, replay cells.

They exist as Parquet only and can be recomputed. Each is an Arrow schema whose fields carry their
definitions, like the columns of the observation tables.
"""

import tomllib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal

import pyarrow as pa

DECLARED: dict[str, dict[str, Any]] = tomllib.loads(
    Path(__file__).with_suffix(".toml").read_text(encoding="utf-8")
)

_SIZES, _COUNTS = (DECLARED["measures"][kind] for kind in ("sizes", "counts"))

SIZES: dict[str, str] = {name: declared["definition"] for name, declared in _SIZES.items()}
"""Definitions of the measures of size, by their stable names."""

COUNTS: dict[str, str] = {name: declared["definition"] for name, declared in _COUNTS.items()}
"""The same of measures that are numbers, for which no window has a meaning."""

MEASURES = SIZES | COUNTS

LABELS: dict[str, str] = {name: declared["label"] for name, declared in (_SIZES | _COUNTS).items()}
"""What each measure is called in figures, tables and lists."""

NOUNS: dict[str, str] = LABELS | {
    name: declared["noun"] for name, declared in (_SIZES | _COUNTS).items() if "noun" in declared
}
"""What each measure is called in a sentence, as in "62 % of responses"."""

Unit = Literal["bytes", "requests"]
UNITS: dict[str, Unit] = {**dict.fromkeys(SIZES, "bytes"), **dict.fromkeys(COUNTS, "requests")}
"""Unit of the values of each measure."""


def arrow_fields(columns: dict[str, str]) -> list[pa.Field]:
    """Return Arrow fields from definitions by "name type", where a question mark after the type allows null.

    >>> arrow_fields({"size_bytes int64?": "size in bytes"})
    [pyarrow.Field<size_bytes: int64>]
    """
    declared = []
    for column, comment in columns.items():
        name, kind = column.split()
        arrow = pa.type_for_alias(kind.rstrip("?"))
        declared.append(pa.field(name, arrow, nullable=kind.endswith("?"), metadata={"comment": comment}))
    return declared


def _schema(table: str, key: Sequence[pa.Field] = ()) -> pa.Schema:
    return pa.schema([*key, *arrow_fields(DECLARED[table])], metadata={"table": table})


DISTRIBUTION = _schema("distribution")
"""Exact empirical CDFs over the final visits of one crawl with outcome ok; one row per step."""

ITEM = _schema("item")
"""One item that a distribution counts, with its site and its strata; smallest first within a measure."""

CELL = _schema("cell")
"""One page load in the replay lab."""

CELL_KEY: tuple[str, ...] = tuple(CELL.names[: CELL.names.index("state")])
"""Columns that identify a cell."""

REPLAYED_RESPONSE = _schema("replayed_response", [CELL.field(name) for name in CELL_KEY])
"""One response of a replayed page; only for loads that are done."""
