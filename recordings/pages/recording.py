"""Reads a folder of recorded pages: pages.parquet, requests.parquet, and source.json,
which says whence they are.

The columns are defined in docs/recorded-pages.md. Files from outside are hostile:
types and references are checked.
"""

import dataclasses
import hashlib
import itertools
import json
import math
import operator
import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

import pyarrow as pa
import pyarrow.parquet as pq

from recordings.errors import RecordingError
from recordings.pages.request import COLUMNS, NEVER_NULL, PageRequest, request_of
from recordings.release import Source
from releases.catalogue import Manifest

BUNDLED = Path(__file__).parent / "bundled"
"""The folder of the pages of August 2025, which come with the code."""

YEARS = Path(__file__).parent / "years"
"""The folder of the sets of other years, which come with the code, each with its id as its name."""

AUGUST_2025 = "pages-2025-08"

SETS = {AUGUST_2025: BUNDLED} | {place.parent.name: place.parent for place in YEARS.glob("*/source.json")}
"""Folders of the sets that come with the code, by id."""

PAGES, REQUESTS, SOURCE = "pages.parquet", "requests.parquet", "source.json"

PAGE_COLUMNS: dict[str, type] = {"page": int, "on_load_ms": int, "browser": str}
"""Columns of pages.parquet that are read; none may be null."""

MOST_ROWS = 5_000_000
"""Most requests that an import reads: its memory grows with them."""

WORD = re.compile(r"[a-z0-9][a-z0-9-]{0,39}")
MONTH = re.compile(r"\d{4}-(0[1-9]|1[0-2])")


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RecordedPage:
    """One recorded page load."""

    number: int
    load_us: int | None
    """Time of the load event in µs since the first request; None if it was not recorded."""
    browser: str
    requests: list[PageRequest]


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Recording:
    """The pages of a folder."""

    source: Source
    files: dict[str, str]
    """SHA-256 by file name, in the order of the names."""
    pages: list[RecordedPage]


def read_recording(folder: Path = BUNDLED) -> Recording:
    """Read a folder; RecordingError if a file is missing, or is not as docs/recorded-pages.md says."""
    try:
        files = files_of(folder)
        source = read_source(folder, files)
        pages = list(read_pages(folder))
    except (OSError, pa.ArrowException, ValueError, TypeError, KeyError) as exc:
        problem = (
            f"{folder / exc.filename} cannot be read" if isinstance(exc, OSError) and exc.filename else exc
        )
        raise RecordingError(f"{folder} holds no recorded pages: {problem}") from exc
    return Recording(source=source, files=files, pages=pages)


def read_source(folder: Path, files: dict[str, str]) -> Source:
    """Return the source of a folder's pages: its source.json, or for a copy of the bundled tables theirs."""
    place = folder / SOURCE
    if not place.exists() and files == files_of(BUNDLED):
        place = BUNDLED / SOURCE
    if not place.exists():
        raise RecordingError(
            f"{place} is missing: copy {BUNDLED / SOURCE} and say in it whence the pages are"
        )
    source = Source(**json.loads(place.read_text(encoding="utf-8")))
    words = {"id": source.id, "device": source.device, "vantage": source.vantage}
    if wrong := [name for name, word in words.items() if not WORD.fullmatch(word)]:
        raise ValueError(f"{place}: {', '.join(wrong)} must be of a-z, 0-9 and -")
    if not MONTH.fullmatch(source.month) or not source.limits:
        raise ValueError(f"{place}: no month YYYY-MM, or no limits")
    return source


def files_of(folder: Path) -> dict[str, str]:
    """Compute the SHA-256 of a folder's tables, by file name."""
    return {name: hashlib.sha256((folder / name).read_bytes()).hexdigest() for name in (PAGES, REQUESTS)}


def read_pages(folder: Path) -> Iterator[RecordedPage]:
    """Yield every page with its requests, by number."""
    known = {row["page"]: row for row in read_rows(folder / PAGES, PAGE_COLUMNS)}
    requests = read_rows(folder / REQUESTS, COLUMNS, required=("page", *NEVER_NULL))
    ordered = sorted(requests, key=operator.itemgetter("page", "entry"))
    seen = set()
    for number, group in itertools.groupby(ordered, key=operator.itemgetter("page")):
        page = known[number]
        seen.add(number)
        yield RecordedPage(
            number=number,
            load_us=page["on_load_ms"] * 1000 if page["on_load_ms"] >= 0 else None,
            browser=page["browser"],
            requests=check_requests(number, list(map(request_of, group))),
        )
    if lacking := known.keys() - seen:
        raise ValueError(f"pages without requests: {sorted(lacking)[:5]}")


def check_requests(page: int, requests: list[PageRequest]) -> list[PageRequest]:
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


def recorder_of(manifest: Manifest) -> str:
    """Return who recorded a release's pages; empty if we did, or nobody is named.

    A release that does not name them itself is of a set that comes with the code, which does.
    """
    if manifest.recorded_by or manifest.list_id not in SETS:
        return "; ".join(author.inverted for author in manifest.recorded_by)
    return read_source(SETS[manifest.list_id], {}).recorder
