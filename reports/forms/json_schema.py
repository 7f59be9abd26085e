"""The JSON Schema of report.json, made of the shapes that the code declares."""

import json
from typing import Any

from pydantic import TypeAdapter

from reports.answer import Answer
from reports.sections.shape import Section, Table

DIALECT = "https://json-schema.org/draft/2020-12/schema"

Schema = dict[str, Any]

TEXT: Schema = {"type": "string"}
COUNT: Schema = {"type": "integer", "minimum": 0}
WINDOW: Schema = {
    "anyOf": [{"type": "integer", "minimum": 1}, {"type": "string", "pattern": "^[0-9]+ paced$"}]
}
"""An initial window in segments; a text if its sender paces it."""
NUMBER: Schema = {"type": ["number", "null"]}
MAYBE_TEXT: Schema = {"type": ["string", "null"]}
SHA256: Schema = {"type": "string", "pattern": "^[0-9a-f]{64}$"}


def report_schema(format_version: int) -> Schema:
    """The schema of a report of this format; parts of replays that other formats
    define are objects without more."""
    shapes = {
        "answer": TypeAdapter(Answer).json_schema(mode="serialization"),
        "section": TypeAdapter(Section).json_schema(mode="serialization"),
        "table": TypeAdapter(Table).json_schema(mode="serialization"),
    }
    definitions: Schema = {}
    for name, shape in shapes.items():
        definitions |= shape.pop("$defs", {})
        definitions[name] = shape
    for shape in definitions.values():
        _closed(shape)
    definitions["answer"]["properties"]["iw"] = _maybe(WINDOW)
    return {
        "$schema": DIALECT,
        "title": "The annual report of firstflight",
        # Later editions may have further parts, which readers leave alone.
        **_object(_content(format_version), optional=("publication",)),
        "additionalProperties": True,
        "$defs": definitions,
    }


def schema_text(format_version: int) -> str:
    """The schema as a file."""
    return json.dumps(report_schema(format_version), indent=2, sort_keys=True) + "\n"


def _closed(shape: Schema) -> None:
    """Ask for every declared field, and allow no other."""
    if shape.get("type") == "object" and "properties" in shape:
        shape["required"] = sorted(shape["properties"])
        shape["additionalProperties"] = False


def _object(properties: Schema, optional: tuple[str, ...] = ()) -> Schema:
    made: Schema = {"type": "object", "properties": properties}
    return {**made, "required": sorted(properties.keys() - set(optional)), "additionalProperties": False}


def _maybe(schema: Schema) -> Schema:
    return {"anyOf": [schema, {"type": "null"}]}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


def _ref(name: str) -> Schema:
    return {"$ref": f"#/$defs/{name}"}


def _content(format_version: int) -> Schema:
    anything: Schema = {"type": "object"}
    return {
        "format_version": {"const": format_version},
        "year": {"type": "integer"},
        "is_illustrative": {"type": "boolean"},
        "illustrative_because": _list(TEXT),
        "recorded_pages": _maybe(anything),
        "answer": _ref("answer"),
        "verdict": _maybe(
            {**anything, "required": ["kind", "window", "headline", "candidates", "rule", "ledger"]}
        ),
        "citation": _object(
            dict.fromkeys(("author", "title", "data", "licence", "commit", "line", "bibtex"), TEXT)
            | {"year": {"type": "integer"}, "version": COUNT}
        ),
        "sections": _list(_ref("section")),
        "release": {**anything, "required": ["crawl", "version", "sha256"], "properties": {"sha256": SHA256}},
        "crawl": {**anything, "required": ["month", "sites", "outcomes"]},
        "sizes": _sizes(),
        "servers": _maybe(anything),
        "replay": _maybe({**anything, "required": ["pages", "networks", "loads", "sha256"]}),
        "limits": _list(TEXT),
        "redo": _list(TEXT),
        "glossary": {"type": "object", "additionalProperties": TEXT},
        "publication": anything,
    }


def _sizes() -> Schema:
    share = _object(
        {
            **dict.fromkeys(("iw", "window_bytes", "fitting"), COUNT),
            **dict.fromkeys(("percent", "lower_percent", "upper_percent"), NUMBER),
        }
    )
    measure = _object(
        {
            "id": TEXT,
            "definition": TEXT,
            "is_stated": {"type": "boolean"},
            "known": COUNT,
            "unknown": COUNT,
            "shares": _list(share),
            "quantiles_bytes": {"type": "object", "additionalProperties": COUNT},
        }
    )
    return _object(
        {
            "mss_bytes": COUNT,
            "windows": _list(COUNT),
            "headline": _list(TEXT),
            "incomplete_responses": _object({"count": _maybe(COUNT), "percent": NUMBER}),
            "measures": _list(measure),
        }
    )
