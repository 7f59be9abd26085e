"""datapackage.json: a release as a Data Package of Frictionless, version 2."""

from collections.abc import Sequence
from typing import Any

import pyarrow as pa

from releases.citation.licences import licence_page
from releases.citation.work import PUBLISHER, Work
from releases.descriptions.tables import Table
from schema.authors import MAINTAINERS, Author
from schema.released_tables import definition

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"


def data_package(work: Work, name: str, tables: Sequence[Table], sample: Table) -> dict[str, Any]:
    """Return the descriptor; `sample` is a CSV file with the columns of a table."""
    return {
        "$schema": PROFILE,
        "name": name,
        "title": work.title,
        "description": work.abstract,
        "version": f"{work.version}.0.0",
        **({"created": f"{work.date}T00:00:00Z"} if work.date else {}),
        "licenses": [{"name": work.licence, "path": licence_page(work.licence)}],
        "contributors": _contributors(work.authors),
        "resources": [
            *(_resource(table, "parquet", "application/vnd.apache.parquet") for table in tables),
            {**_resource(sample, "csv", "text/csv"), "encoding": "utf-8"},
        ],
    }


def _contributors(authors: Sequence[Author]) -> list[dict[str, Any]]:
    if list(authors) == [MAINTAINERS]:
        return [{"title": MAINTAINERS.name, "roles": ["author", "publisher"]}]
    named = [{"title": author.inverted, "roles": ["author"]} for author in authors]
    return [*named, {"title": PUBLISHER, "roles": ["publisher"]}]


def _resource(table: Table, form: str, media_type: str) -> dict[str, Any]:
    fields = [
        {"name": field.name, "type": type_of(field.type), "description": definition(field)}
        | ({} if field.nullable else {"constraints": {"required": True}})
        for field in table.schema
    ]
    return {
        "name": table.name.replace("_", "-"),
        "path": table.file,
        "format": form,
        "mediatype": media_type,
        "bytes": table.bytes,
        "hash": f"sha256:{table.sha256}",
        "schema": {"fields": fields, **({"primaryKey": table.key} if table.key else {})},
    }


def type_of(kind: pa.DataType) -> str:
    """Return the name of a type in Frictionless.

    >>> type_of(pa.int16()), type_of(pa.float64()), type_of(pa.list_(pa.int32()))
    ('integer', 'number', 'array')
    """
    if pa.types.is_list(kind):
        return "array"
    if pa.types.is_boolean(kind):
        return "boolean"
    if pa.types.is_integer(kind):
        return "integer"
    if pa.types.is_floating(kind):
        return "number"
    return "datetime" if pa.types.is_timestamp(kind) else "string"
