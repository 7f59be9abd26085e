"""Folders of recorded pages with made-up requests."""

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from recordings.pages.recording import PAGES, REQUESTS, SOURCE
from recordings.pages.request import COLUMNS, PageRequest, request_of

Row = dict[str, Any]

ARROW = {int: pa.int64(), float: pa.float64(), str: pa.string(), bool: pa.bool_()}

STANDARD: Row = {
    "page": 1,
    "is_main_document": False,
    "started_ms": 0.0,
    "origin": 0,
    "site": 0,
    "address": 0,
    "scheme": "https",
    "protocol": "h2",
    "method": "GET",
    "destination": "script",
    "status": 200,
    "mime_type": "text/javascript",
    "transfer_bytes": 1000,
    "request_body_bytes": 0,
    "tls": "TLS 1.3",
    "wait_ms": 100.0,
    "receive_ms": 10.0,
    "has_validator": False,
}


def row(entry: int, **values: Any) -> Row:
    """A row of requests.parquet; values that are not given are as of a small script over HTTP/2, or null."""
    assert not set(values) - set(COLUMNS)
    return {**dict.fromkeys(COLUMNS), **STANDARD, "entry": entry, **values}


def document(**values: Any) -> Row:
    """The row of a main document that opened its connection: 40 ms of TCP, 60 ms of TLS."""
    given = {"is_main_document": True, "destination": "document", "mime_type": "text/html"}
    return row(0, **{**given, "dns_ms": 5.0, "connect_ms": 100.0, "ssl_ms": 60.0, **values})


def requests(*rows: Row) -> list[PageRequest]:
    """The requests of rows."""
    return [request_of(row) for row in rows]


def write_folder(folder: Path, rows: Sequence[Row], **source: Any) -> Path:
    """A folder with these requests, and a load event of each page after a second."""
    folder.mkdir(parents=True, exist_ok=True)
    schema = pa.schema([pa.field(name, ARROW[kind]) for name, kind in COLUMNS.items()])
    pq.write_table(pa.Table.from_pylist(list(rows), schema=schema), folder / REQUESTS)
    pages = [
        {"page": page, "on_load_ms": 1000, "browser": "139.0"}
        for page in sorted({row["page"] for row in rows})
    ]
    pq.write_table(pa.Table.from_pylist(pages), folder / PAGES)
    stated = {
        "id": "pages-2026-02",
        "month": "2026-02",
        "device": "desktop",
        "vantage": "lab",
        "magnitude": None,
        "recorded": "1 February 2026",
        "source": "made up",
        "commit": "0123abc",
        "tool": "none",
        "licence": "none",
        "limits": ["made up"],
    }
    (folder / SOURCE).write_text(json.dumps(stated | source), encoding="utf-8")
    return folder
