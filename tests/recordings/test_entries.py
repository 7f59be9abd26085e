"""Sizes of single entries of HAR files: what producers write, and what it means.

entries.csv holds entries of real files, of which numbers alone are kept (docs/sources.md), and made-up ones
with the quirks of producers (docs/recorded-files.md).
"""

from __future__ import annotations

import csv
import datetime
from pathlib import Path
from typing import Any

import pytest

from recordings import har
from recordings.exchange import RecordedExchange

NOW = datetime.datetime.now(datetime.UTC)

Row = dict[str, str]

SIZES = ("wire_bytes", "size_basis", "wire_bytes_unknown", "header_bytes", "body_bytes", "decoded_bytes")
"""Columns of entries.csv with the sizes of an entry; the others decide them."""

with Path(__file__).with_name("entries.csv").open(encoding="utf-8", newline="") as file:
    ENTRIES: list[Row] = list(csv.DictReader(file))


def number(word: str) -> int | None:
    return int(word) if word else None


def entry_of(row: Row) -> dict[str, Any]:
    """An entry with the numbers of a row, and no names."""
    fields = {
        "Content-Type": row["mime_type"],
        "Content-Length": row["content_length"],
        "Content-Encoding": row["content_encoding"],
        "Transfer-Encoding": row["transfer_encoding"],
        "Location": "https://b.example/" if row["location"] == "1" else "",
    }
    marks: dict[str, Any] = {}
    for mark in filter(None, row["marks"].split(" _")):
        name, _, value = mark.removeprefix("_").partition("=")
        marks[f"_{name}"] = True if value == "True" else value
    response = {
        "status": int(row["status"]),
        "statusText": "OK",
        "headers": [{"name": name, "value": value} for name, value in fields.items() if value],
        "content": {"size": number(row["content_size"]), "mimeType": row["mime_type"]},
        "headersSize": number(row["headers_size"]),
        "bodySize": number(row["body_size"]),
        **marks,
    }
    if row["transfer_size"]:
        response["_transferSize"] = int(row["transfer_size"])
    return {
        "startedDateTime": "2020-02-02T02:02:02Z",
        "_protocol": row["protocol"],
        "request": {"method": row["method"], "url": "https://a.example/"},
        "response": response,
        "_objectSizeUncompressed": number(row["uncompressed_size"]),
        **marks,
    }


def exchange_of(row: Row) -> RecordedExchange:
    log = {"creator": {"name": row["producer"], "version": row["version"]}, "entries": [entry_of(row)]}
    (exchange,) = har.read(log, now=NOW).exchanges
    return exchange


@pytest.mark.parametrize(
    "row", ENTRIES, ids=lambda row: f"{row['producer']} {row['protocol']} {row['origin']}"
)
def test_a_size_is_what_its_producer_counted_stated_or_leaves_to_be_derived(row: Row) -> None:
    sizes = exchange_of(row).sizes
    columns = {name: getattr(sizes, name) for name in SIZES}
    assert {name: "" if value is None else str(value) for name, value in columns.items()} == {
        name: row[name] for name in SIZES
    }


def test_a_size_has_a_basis_or_a_reason_and_its_parts_make_the_whole() -> None:
    for row in ENTRIES:
        sizes = exchange_of(row).sizes
        assert (
            (sizes.wire_bytes is None) == (sizes.wire_bytes_unknown is not None) == (sizes.size_basis is None)
        )
        assert sizes.wire_bytes != 0
        if sizes.header_bytes is not None and sizes.body_bytes is not None:
            assert sizes.header_bytes + sizes.body_bytes == sizes.wire_bytes
            assert sizes.header_bytes > 0


def test_the_entries_hold_every_basis_and_every_reason() -> None:
    assert {row["size_basis"] for row in ENTRIES} == {"counted", "stated", "derived", ""}
    assert {row["wire_bytes_unknown"] for row in ENTRIES} == {
        "not_recorded",
        "from_cache",
        "contradictory",
        "",
    }
