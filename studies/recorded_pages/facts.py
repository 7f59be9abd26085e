"""Reads the facts of recorded pages: pages.parquet, a row a page, and requests.parquet, a row a request."""

import dataclasses
import hashlib
import itertools
import json
import math
import operator
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from recordings.release import Source
from studies.recorded_pages.request import COLUMNS, NEVER_NULL, RequestFacts, request_of

SOURCES = Path(__file__).parent / "sources"
"""Whence each set is: a file named after its id."""

PROXIED = frozenset({"tranco-2023-11", "tranco-2023-11b", "tranco-2024-11"})
"""Sets that were recorded through a proxy, which speaks HTTP/1.1 alone."""

PAGES, REQUESTS = "pages.parquet", "requests.parquet"

PAGE_COLUMNS: dict[str, type] = {
    "page": int,
    "on_load_ms": int,
    "browser": str,
    "requests": int,
    "unanswered": int,
    "has_headers": bool,
}
"""Columns of pages.parquet that are read; any but `page` may be left out. `on_load_ms` is the time of the
load event since the page's first request, negative if there was none; `browser` is the build of Chromium; the
others are the number of requests, that of requests without an answer, and whether headers were recorded."""

MOST_UNANSWERED = 0.1
"""Greatest share of requests without an answer of a page that is replayed."""

MOST_ROWS = 5_000_000
"""Most requests that an import reads: its memory grows with them."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class PageFacts:
    """One recorded page load."""

    number: int
    load_us: int | None
    """Time of the load event in µs since the first request; None if it was not recorded."""
    browser: str
    requests: list[RequestFacts]
    is_whole: bool = True
    """False if more than MOST_UNANSWERED of the requests got no answer, or no header was recorded: not for
    replays."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RecordingFacts:
    """The pages of a folder."""

    source: Source
    files: dict[str, str]
    """SHA-256 by file name, in the order of the names."""
    pages: list[PageFacts]
    is_proxied: bool = False
    """True if a proxy stood between browser and servers, so that protocols and connections are assigned."""


def read_recording(folder: Path) -> RecordingFacts:
    """Read a folder of facts, which has the name of its set; ValueError if a column is missing or of another
    type."""
    source = Source(**json.loads((SOURCES / f"{folder.name}.json").read_text(encoding="utf-8")))
    return RecordingFacts(
        source=source,
        files=files_of(folder),
        pages=list(read_pages(folder)),
        is_proxied=source.id in PROXIED,
    )


def files_of(folder: Path) -> dict[str, str]:
    """Compute the SHA-256 of a folder's tables, by file name."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in (PAGES, REQUESTS)}


def read_pages(folder: Path) -> Iterator[PageFacts]:
    known = {row["page"]: row for row in read_rows(folder / PAGES, PAGE_COLUMNS, required=("page",))}
    requests = read_rows(folder / REQUESTS, COLUMNS, required=("page", *NEVER_NULL))
    ordered = sorted(requests, key=operator.itemgetter("page", "entry"))
    seen = set()
    for number, group in itertools.groupby(ordered, key=operator.itemgetter("page")):
        page = known[number]
        load_ms = page["on_load_ms"]
        seen.add(number)
        yield PageFacts(
            number=number,
            load_us=None if load_ms is None or load_ms < 0 else load_ms * 1000,
            browser=page["browser"] or "",
            requests=check_requests(number, list(map(request_of, group))),
            is_whole=page["has_headers"] is not False
            and (page["unanswered"] or 0) <= MOST_UNANSWERED * (page["requests"] or 0),
        )
    if lacking := known.keys() - seen:
        raise ValueError(f"pages without requests: {sorted(lacking)[:5]}")


def check_requests(page: int, requests: list[RequestFacts]) -> list[RequestFacts]:
    """Return the requests of a page if they are consistent: numbered from 0, at most one main document,
    references to earlier ones."""
    if [request.entry for request in requests] != list(range(len(requests))):
        raise ValueError(f"page {page}: its requests are not numbered from 0")
    if sum(request.is_main_document for request in requests) > 1:
        raise ValueError(f"page {page}: more than one main document")
    for request in requests:
        named = (request.referer_entry, request.redirected_from, request.initiator_entry)
        if any(other is not None and not 0 <= other < len(requests) for other in named):
            raise ValueError(f"page {page}, request {request.entry}: it names a request that is not there")
    return requests


def read_rows(
    path: Path, columns: dict[str, type], *, required: Sequence[str] | None = None
) -> list[dict[str, Any]]:
    """Return rows of a table with these columns, null where a column is not required and missing.

    ValueError if a required one (by default any) is missing, or a value is of another type.
    """
    table = pq.ParquetFile(path).read()
    present = [name for name in columns if name in table.column_names]
    if lacking := set(columns if required is None else required) - set(present):
        raise ValueError(f"{path} lacks the columns {', '.join(sorted(lacking))}")
    if table.num_rows > MOST_ROWS:
        raise ValueError(f"{path} has more than {MOST_ROWS:,} rows")
    for name in present:
        if not is_of(table.schema.field(name).type, columns[name]):
            raise ValueError(f"{path}: {name} is {table.schema.field(name).type}")
    nothing = dict.fromkeys(columns)
    records: list[dict[str, Any]] = [nothing | row for row in table.select(present).to_pylist()]
    for row in records:
        if any(isinstance(value, float) and not math.isfinite(value) for value in row.values()):
            raise ValueError(f"{path} has a number that is not finite")
    return records


def is_of(arrow_type: pa.DataType, kind: type) -> bool:
    """Return whether an Arrow type holds values of a Python type."""
    tests = {
        int: pa.types.is_integer,
        float: pa.types.is_floating,
        bool: pa.types.is_boolean,
        str: pa.types.is_string,
    }
    return bool(tests[kind](arrow_type))
