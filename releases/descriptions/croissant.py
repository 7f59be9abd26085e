"""croissant.json: a release as MLCommons' Croissant 1.1 describes data sets, in JSON-LD."""

from collections.abc import Callable, Sequence
from typing import Any

import pyarrow as pa

from releases.citation.licences import licence_page
from releases.citation.work import PUBLISHER, Work
from releases.descriptions.tables import DescribedTable
from schema.authors import Author
from schema.released_tables import definition

CROISSANT = "croissant.json"
"""Name of the file."""

VERSION = "http://mlcommons.org/croissant/1.1"

ENCODING = "application/x-parquet"
"""Media type of Parquet in Croissant; mlcroissant reads no other one."""

TERMS = (
    "arrayShape", "citeAs", "column", "containedIn", "equivalentProperty", "extract", "field", "fileProperty", "fileObject",  # noqa: E501
    "fileSet", "format", "includes", "isArray", "isLiveDataset", "jsonPath", "key", "md5", "parentField", "path", "recordSet",  # noqa: E501
    "references", "regex", "repeated", "replace", "samplingRate", "separator", "source", "subField", "transform",  # noqa: E501
)  # fmt: skip

CONTEXT: dict[str, Any] = {
    "@language": "en",
    "@vocab": "https://schema.org/",
    "cr": "http://mlcommons.org/croissant/",
    "rai": "http://mlcommons.org/croissant/RAI/",
    "dct": "http://purl.org/dc/terms/",
    "sc": "https://schema.org/",
    "conformsTo": "dct:conformsTo",
    "data": {"@id": "cr:data", "@type": "@json"},
    "dataType": {"@id": "cr:dataType", "@type": "@vocab"},
    "description": {"@container": "@language"},
    "examples": {"@id": "cr:examples", "@type": "@json"},
    "name": {"@container": "@language"},
    **{term: f"cr:{term}" for term in TERMS},
}


def croissant(work: Work, tables: Sequence[DescribedTable]) -> dict[str, Any]:
    creators = [_creator(author) for author in work.authors]
    return {
        "@context": CONTEXT,
        "@type": "sc:Dataset",
        "conformsTo": VERSION,
        "name": work.title,
        "description": work.abstract,
        "license": licence_page(work.licence),
        "version": f"{work.version}.0.0",
        "citeAs": work.line,
        "creator": creators[0] if len(creators) == 1 else creators,
        "publisher": {"@type": "sc:Organization", "name": PUBLISHER},
        **({"datePublished": work.date} if work.date else {}),
        "isLiveDataset": False,
        "distribution": [
            {
                "@type": "cr:FileObject",
                "@id": table.file,
                "name": table.file,
                "contentUrl": table.file,
                "contentSize": f"{table.bytes} B",
                "encodingFormat": ENCODING,
                "sha256": table.sha256,
            }
            for table in tables
        ],
        "recordSet": [_record_set(table) for table in tables],
    }


def with_addresses(document: dict[str, Any], address_of: Callable[[str], str]) -> dict[str, Any]:
    """Return a release's document with addresses in place of file names, for readers by URL.

    It may be of an earlier version, whose media type mlcroissant does not read.
    """
    files = [
        {**file, "contentUrl": address_of(file["contentUrl"]), "encodingFormat": ENCODING}
        for file in document["distribution"]
    ]
    return {**document, "distribution": files}


def _creator(author: Author) -> dict[str, Any]:
    if not author.given:
        return {"@type": "sc:Organization", "name": author.name}
    facts = {"name": f"{author.given} {author.family} {author.suffix}".strip(), "identifier": author.orcid}
    return {"@type": "sc:Person", **{name: value for name, value in facts.items() if value}}


def _record_set(table: DescribedTable) -> dict[str, Any]:
    return {
        "@type": "cr:RecordSet",
        "@id": table.name,
        "name": table.name,
        **({"key": [{"@id": f"{table.name}/{column}"} for column in table.key]} if table.key else {}),
        "field": [_field(table, field) for field in table.schema],
    }


def _field(table: DescribedTable, field: pa.Field) -> dict[str, Any]:
    is_array = pa.types.is_list(field.type)
    return {
        "@type": "cr:Field",
        "@id": f"{table.name}/{field.name}",
        "name": f"{table.name}/{field.name}",
        "description": definition(field),
        "dataType": type_of(field.type.value_type if is_array else field.type),
        "source": {"fileObject": {"@id": table.file}, "extract": {"column": field.name}},
        **({"isArray": True, "arrayShape": "-1"} if is_array else {}),
    }


def type_of(kind: pa.DataType) -> str:
    """Return the name of a type in Croissant.

    >>> type_of(pa.int16()), type_of(pa.float64()), type_of(pa.string())
    ('sc:Integer', 'sc:Float', 'sc:Text')
    """
    if pa.types.is_boolean(kind):
        return "sc:Boolean"
    if pa.types.is_integer(kind):
        return "sc:Integer"
    if pa.types.is_floating(kind):
        return "sc:Float"
    return "sc:DateTime" if pa.types.is_timestamp(kind) else "sc:Text"
