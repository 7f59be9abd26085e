"""Recorded pages with made-up requests."""

import itertools
import operator
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from recordings.release import Source
from studies.recorded_pages.__main__ import write_set
from studies.recorded_pages.facts import PageFacts, RecordingFacts
from studies.recorded_pages.request import COLUMNS, RequestFacts, request_of
from studies.recorded_pages.rows import content_of

Row = dict[str, Any]

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


def requests(*rows: Row) -> list[RequestFacts]:
    return [request_of(row) for row in rows]


def write_folder(folder: Path, rows: Sequence[Row]) -> Path:
    """Write the set of pages with these requests, and a load event of each after a second."""
    pages = [
        PageFacts(number=page, load_us=1_000_000, browser="139.0", requests=requests(*group))
        for page, group in itertools.groupby(rows, key=operator.itemgetter("page"))
    ]
    source = Source(
        id="pages-2026-02",
        month="2026-02",
        device="desktop",
        vantage="lab",
        magnitude=None,
        recorded="1 February 2026",
        source="made up",
        commit="0123abc",
        tool="none",
        licence="none",
        limits=["made up"],
    )
    recording = RecordingFacts(source=source, files={"requests.parquet": "0" * 64}, pages=pages)
    write_set(folder, content_of(recording), form="pages")
    return folder
