"""What a recorded release says of itself: whence its pages are, what was inferred, what is unknown,
and its limits."""

import collections
import dataclasses
from collections.abc import Mapping, Sequence
from typing import Any

from recordings.pages import connections
from recordings.pages.initiators import INFERRED, RULES
from recordings.pages.recording import Recording, Source
from recordings.pages.rows import Observations
from schema.recorded import PAGES, RECORDED, Notes, null_reasons

CONNECTION_RULES: dict[str, str] = {
    connections.OPENED: "recorded: the request has a connect time",
    connections.REUSED: "inferred: a connection of its origin and protocol",
    connections.COALESCED: "inferred: over HTTP/2 or HTTP/3, another origin's connection to the same address",
    connections.UNSEEN: "inferred: a connection opened before it was needed, at unknown times",
}
"""Rules by which a request has its connection, with the evidence."""


def provenance(recording: Recording, found: Observations) -> dict[str, Any]:
    """The content of recording.json."""
    inferred = {
        "initiators": rules(found.initiators, RULES, inferred=INFERRED),
        "connections": rules(
            found.connections, CONNECTION_RULES, inferred=CONNECTION_RULES.keys() - {connections.OPENED}
        ),
    }
    return stated(recording.source, recording.files, found, inferred=inferred, notes=PAGES)


def stated(
    source: Source,
    files: Mapping[str, str],
    found: Observations,
    *,
    inferred: Mapping[str, Any],
    notes: Notes,
) -> dict[str, Any]:
    """What recording.json says of every recorded release."""
    responses = found.tables["response"]
    unknown = collections.Counter(
        row["wire_bytes_unknown"] for row in responses if row["wire_bytes_unknown"] is not None
    )
    return {
        "quality": RECORDED,
        **dataclasses.asdict(source),
        "files": dict(files),
        "pages": len(found.tables["visit"]),
        "requests": len(responses),
        "responses_of_known_size": sum(row["wire_bytes"] is not None for row in responses),
        "responses_of_unknown_size": dict(sorted(unknown.items())),
        "inferred": dict(inferred),
        "null_columns": null_columns(found.tables, notes),
    }


def rules(
    counted: Mapping[str, int], meanings: Mapping[str, str], *, inferred: frozenset[str] | set[str]
) -> dict[str, Any]:
    """Requests by rule with the rule's meaning, and the share that an inferring rule decided."""
    total = sum(counted.values())
    return {
        "share": round(sum(counted.get(rule, 0) for rule in inferred) / total, 4) if total else None,
        "requests": {rule: counted.get(rule, 0) for rule in meanings},
        "rules": dict(meanings),
    }


def null_columns(tables: Mapping[str, Sequence[Mapping[str, Any]]], notes: Notes) -> dict[str, str]:
    """Columns that no row knows, with the reason, by table.column."""
    return {
        column: reason
        for column, reason in sorted(null_reasons(notes).items())
        if all(row.get(column.partition(".")[2]) is None for row in tables[column.partition(".")[0]])
    }
