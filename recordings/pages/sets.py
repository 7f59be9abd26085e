"""Reads recorded sets: the rows of a release's tables as Parquet, and set.json, which names their source.

`studies/recorded_pages` derives the sets that come with the code; an import takes their rows as they are. A
folder of somebody else is hostile: types, keys and references are checked.
"""

import itertools
import json
import re
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import msgspec
import pyarrow as pa
import pyarrow.compute as pc
import pyarrow.parquet as pq

from recordings.exchange import RecordingError
from recordings.release import Content, Source, checksum
from releases.catalogue import Manifest
from schema.recorded import RECORDED, notes_of, released_schema
from schema.released_tables import released_tables

YEARS = Path(__file__).parent / "years"

SET = "set.json"

SETS = {place.parent.name: place.parent for place in YEARS.glob(f"*/{SET}")}

AUGUST_2025 = "pages-2025-08"

KEPT = ("site", "visit", "connection", "response")
"""Tables that a folder holds; the row of the table crawl stands in set.json."""

REFERENCES: Mapping[str, Mapping[str, tuple[str, tuple[str, ...]]]] = {
    "visit": {"rank": ("site", ("rank",))},
    "connection": {"visit_id": ("visit", ("id",))},
    "response": {"visit_id": ("visit", ("id",)), "connection_id": ("connection", ("visit_id", "id"))},
}
"""Columns that refer to another table, with that and its columns."""

FORMS = ("pages", "other_years", "proxied")
"""Forms of recordings that a set may have (`schema/recorded.toml`)."""

MOST_ROWS = 5_000_000

WORD = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")
NAMED = ("device", "vantage", "arm")


def read_set(folder: Path) -> Content:
    """Read a set; RecordingError if a file is missing or not in this form."""
    try:
        described = read_description(folder)
        tables = {name: read_table(folder, name) for name in KEPT}
        for name, columns in REFERENCES.items():
            for column, (other, key) in columns.items():
                check_reference(tables, name, column, other, key)
        return Content(
            tables={"crawl": [described["crawl"]]}
            | {name: table.to_pylist() for name, table in tables.items()},
            recording=described["recording"],
            checksum=checksum(described["recording"]["files"]),
            notes=notes_of(described["form"]),
        )
    except (OSError, pa.ArrowException, ValueError, TypeError, KeyError) as exc:
        problem = f"{type(exc).__name__}: {exc}"
        if isinstance(exc, OSError) and exc.filename:
            problem = f"{exc.filename} cannot be read"
        raise RecordingError(f"{folder} holds no recorded set: {problem}") from exc


def read_description(folder: Path) -> dict[str, Any]:
    described: dict[str, Any] = json.loads((folder / SET).read_text(encoding="utf-8"))
    crawl, recording = described["crawl"], described["recording"]
    msgspec.convert(recording, Source)
    if described["form"] not in FORMS:
        raise ValueError(f"form is none of {', '.join(FORMS)}")
    if wrong := [name for name in ("list_id", *NAMED) if not WORD.fullmatch(crawl[name])]:
        raise ValueError(f"{', '.join(wrong)} must be of a-z, 0-9 and -")
    if not MONTH.fullmatch(crawl["month"]) or crawl["kind"] != RECORDED or not recording["limits"]:
        raise ValueError("no month YYYY-MM, not of the kind recorded, or without limits")
    if (crawl["list_id"], crawl["month"]) != (recording["id"], recording["month"]):
        raise ValueError("crawl and recording are not of one set")
    return described


def read_source(folder: Path) -> Source:
    """Return the source of a folder's pages; RecordingError if it holds no set."""
    try:
        return msgspec.convert(read_description(folder)["recording"], Source)
    except (OSError, ValueError, TypeError, KeyError) as exc:
        raise RecordingError(f"{folder} holds no recorded set: {exc}") from exc


def read_table(folder: Path, name: str) -> pa.Table:
    """Return a table, null in columns that the folder lacks.

    ValueError for an unknown column, another type, a forbidden null, and rows out of order or twice.
    """
    with (folder / f"{name}.parquet").open("rb") as content:
        file = pq.ParquetFile(content)
        if file.metadata.num_rows > MOST_ROWS:
            raise ValueError(f"{name} has more than {MOST_ROWS:,} rows")
        table = file.read()
    schema = released_schema(name, RECORDED).remove_metadata()
    if unknown := set(table.column_names) - set(schema.names):
        raise ValueError(f"{name} has the unknown columns {', '.join(sorted(unknown))}")
    columns = [
        table[field.name].cast(field.type)
        if field.name in table.column_names
        else pa.nulls(table.num_rows, field.type)
        for field in schema
    ]
    for field, column in zip(schema, columns, strict=True):
        if column.null_count and not field.nullable:
            raise ValueError(f"{name}.{field.name} is null")
    whole = pa.table(columns, names=schema.names)
    keys = rows_of(whole, released_tables()[name].key)
    if any(before >= after for before, after in itertools.pairwise(keys)):
        raise ValueError(f"rows of {name} are not in the order of {', '.join(released_tables()[name].key)}")
    return whole


def rows_of(table: pa.Table, columns: Sequence[str]) -> list[tuple[Any, ...]]:
    return list(zip(*(table[column].to_pylist() for column in columns), strict=True))


def check_reference(
    tables: Mapping[str, pa.Table], name: str, column: str, other: str, key: Sequence[str]
) -> None:
    table = tables[name].filter(pc.is_valid(tables[name][column]))
    own = rows_of(table, [*key[:-1], column])
    if lacking := set(own) - set(rows_of(tables[other], key)):
        raise ValueError(f"{name}.{column} names rows of {other} that are not there, as {min(lacking)}")


def recorder_of(manifest: Manifest) -> str:
    """Return who recorded a release's pages; empty if we did, or nobody is named."""
    if manifest.recorded_by or manifest.list_id not in SETS:
        return "; ".join(author.inverted for author in manifest.recorded_by)
    return read_source(SETS[manifest.list_id]).recorder
