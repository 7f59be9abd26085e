"""Reads a recording from a file, gzipped or not.

Files from outside are hostile: size, form and numbers are checked.
"""

import dataclasses
import datetime
import gzip
import json
import math
import zlib
from collections.abc import Sequence
from pathlib import Path
from typing import Any, NoReturn
from urllib.parse import urlsplit

from recordings import cdp, har
from recordings.errors import RecordingError
from recordings.exchange import RecordedExchange
from storage.sums import sha256

MOST_BYTES = 128 * 1024 * 1024
"""Most bytes of a recording after decompression: its memory is some twenty times as much at worst."""

HAR, CDP = "har", "cdp"
"""Kinds of recordings."""

NOT_A_RECORDING = (
    *(ValueError, KeyError, TypeError, IndexError, AttributeError, OverflowError, RecursionError),
    *(EOFError, gzip.BadGzipFile, zlib.error),
)
"""Exceptions that content of another form raises."""

MOST_EXCHANGES = 20_000
"""Most requests of a page."""

MOST_SIZE_BYTES = 2**40
"""Largest size of a message that is believed: 1 TiB."""

MOST_TIME_S = 86_400
"""Longest time between a page's first request and any other moment of its load that is believed: a day."""

MOST_LETTERS = 255
"""Longest word that is kept: names of programs, methods, media types and hosts are shorter."""

MOST_URL = 2**21
"""Longest URL that is read; Chrome's limit."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RecordedFile:
    """The first page of a recording."""

    name: str
    """Name of the file without its folder."""
    sha256: str
    kind: str
    tool: str
    """Name and version of the program that wrote the recording."""
    browser: str
    """Name and version of the browser; empty if not stated."""
    day: str
    """Day of the first request, YYYY-MM-DD; empty if not recorded."""
    started_at: datetime.datetime | None
    """Time of the first request; None if not recorded."""
    load_us: int | None
    """Time of the load event in µs since the page's start; None if not recorded."""
    exchanges: list[RecordedExchange]
    splits_by_silence: bool
    """True if only a pause separates one page load from the next."""
    later_pages: int
    """Number of exchanges of later pages, which are left out: their cache was warm."""


def read_file(path: Path, kind: str) -> RecordedFile:
    """Read a HAR file or a log of DevTools events.

    RecordingError if it is not, or is too large or implausible.
    """
    content = content_of(path)
    try:
        found = read_content(content, kind)
    except NOT_A_RECORDING as exc:
        raise RecordingError(f"{path}: not a {kind.upper()} recording ({exc!r:.200})") from exc
    return RecordedFile(name=path.name, sha256=sha256(path), kind=kind, **found)


def read_content(content: bytes, kind: str) -> dict[str, Any]:
    """The fields of a RecordedFile that its content tells;
    one of NOT_A_RECORDING if it is of another form, or implausible."""
    document = json.loads(content, parse_constant=refuse)
    found = read_har(document) if kind == HAR else read_log(document)
    check_count(len(found["exchanges"]))
    check(found["exchanges"])
    return found


def content_of(path: Path) -> bytes:
    """The decompressed content of a file, of at most MOST_BYTES."""
    try:
        with gzip.open(path) if path.suffix == ".gz" else path.open("rb") as file:
            content = file.read(MOST_BYTES + 1)
    except (EOFError, zlib.error, OSError) as exc:
        raise RecordingError(f"{path} cannot be read: {exc}") from exc
    if len(content) > MOST_BYTES:
        raise RecordingError(
            f"{path} has more than {MOST_BYTES // 2**20} MiB: record it without the content of responses"
        )
    return content


def refuse(constant: str) -> NoReturn:
    """Refuse NaN and the infinities, which JSON has not (RFC 8259 §6)."""
    raise ValueError(f"{constant} is no number")


def read_har(document: dict[str, Any]) -> dict[str, Any]:
    """The fields of a RecordedFile that a HAR file tells."""
    log = document["log"]
    check_count(len(har.first_page(log)))
    exchanges = har.read(log)
    started = datetime.datetime.fromtimestamp(exchanges[0].started_s, datetime.UTC)
    return {
        "tool": named(log["creator"]),
        "browser": named(log.get("browser") or {}),
        "day": f"{started:%Y-%m-%d}",
        "started_at": started,
        "load_us": load_us(log),
        "exchanges": exchanges,
        "splits_by_silence": log["creator"]["name"] == "hdrgrab",
        "later_pages": len(log["entries"]) - len(exchanges),
    }


def read_log(document: list[Any]) -> dict[str, Any]:
    """The fields of a RecordedFile that a log of DevTools events tells; a navigation begins the next page."""
    log = cdp.read(document)
    if not log.exchanges:
        raise ValueError("no event Network.requestWillBeSent")
    return {
        "tool": "Chrome DevTools Protocol",
        "browser": "",
        "day": log.date,
        "started_at": None,
        "load_us": None,
        "exchanges": log.exchanges,
        "splits_by_silence": False,
        "later_pages": 0,
    }


def named(program: dict[str, Any]) -> str:
    """Name and version of a program."""
    return words(f"{program.get('name') or ''} {program.get('version') or ''}".strip())


def load_us(log: dict[str, Any]) -> int | None:
    """Time of the first page's load event; None if not recorded."""
    pages = log.get("pages") or [{}]
    shown = (pages[0].get("pageTimings") or {}).get("onLoad")
    return None if shown is None or not 0 < shown < math.inf else round(1000 * shown)


def check_count(requests: int) -> None:
    """Raise ValueError for more requests than a page has."""
    if requests > MOST_EXCHANGES:
        raise ValueError(f"more than {MOST_EXCHANGES:,} requests")


def check(exchanges: Sequence[RecordedExchange]) -> None:
    """Raise ValueError or TypeError if a value of an exchange is of another type, or cannot be true."""
    began_s = min(one.started_s for one in exchanges)
    for number, one in enumerate(exchanges):
        try:
            check_sizes(one)
            check_times(one, began_s)
            check_words(one)
        except (ValueError, TypeError) as exc:
            raise ValueError(f"request {number}: {exc}") from exc


def check_sizes(one: RecordedExchange) -> None:
    """Check the status, and that sizes are whole numbers that a message can have."""
    sizes = (one.body_bytes, one.header_bytes, one.total_bytes, one.decoded_bytes, one.request_body_bytes)
    for size in sizes:
        if size is not None and (type(size) is not int or not 0 <= size <= MOST_SIZE_BYTES):
            raise ValueError(f"a size of {str(size)[:30]} bytes")
    if type(one.status) is not int or not 0 <= one.status <= 999:
        raise ValueError(f"status {str(one.status)[:30]}")


def check_times(one: RecordedExchange, began_s: float) -> None:
    """Check that all times are within a day of the page's first request."""
    known = (one.times.sent, one.times.first_byte, one.times.last_byte, one.times.opened, one.times.connected)
    for moment_s in (one.started_s, *(moment / 1e6 for moment in known if moment is not None)):
        if not -MOST_TIME_S <= moment_s - began_s <= MOST_TIME_S:
            raise ValueError("a time that is more than a day from the page's first request")


def check_words(one: RecordedExchange) -> None:
    """Check URL, method and types; ValueError also for what is no Unicode text."""
    if len(one.url) > MOST_URL:
        raise ValueError("a URL of more than 2 MiB")
    url = urlsplit(one.url)
    _ = url.port  # ValueError if it is none
    for word in (url.scheme, url.hostname or "", one.method, one.mime_type, one.address, one.connection):
        words(word)
    words(one.headers.get("content-encoding", ""))


def words(text: str) -> str:
    """The text if it is short, printable Unicode; ValueError otherwise."""
    text.encode()
    if len(text) > MOST_LETTERS or not text.isprintable():
        raise ValueError(f"{text[:30]!r} is no name")
    return text
