"""Rows, and values from the network as the database can store them: valid text, cut to length, and numbers
that make sense."""

import dataclasses
import hashlib
import re
from collections.abc import Mapping
from typing import Any, TypeAlias
from urllib.parse import SplitResult, urlsplit

Row: TypeAlias = "Mapping[str, Any]"
"""Column name to value, as in schema.tables."""

PATH_LIMIT = 2048

TEXT_LIMIT = 255

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_LENGTH = re.compile("[0-9]{1,15}")


@dataclasses.dataclass(frozen=True, slots=True)
class VisitClock:
    """Converts the log's milliseconds to microseconds since the visit began."""

    start_ms: int

    def us(self, time_ms: int | None) -> int | None:
        return None if time_ms is None else (time_ms - self.start_ms) * 1000


def valid(value: str) -> str:
    """Replace what PostgreSQL's text cannot hold: NUL and halves of surrogate pairs.

    >>> valid("a\\x00b\\ud800c")
    'a\\ufffdb\\ufffdc'
    """
    return _UNSTORABLE.sub("\ufffd", value)


def text(value: str | None) -> str | None:
    return None if value is None else valid(value[:TEXT_LIMIT])


def path(url: SplitResult) -> str:
    return valid(url.path)[:PATH_LIMIT]


def media_type(content_type: str | None) -> str | None:
    """Return the media type of a Content-Type: `text/html` for `Text/HTML; charset=utf-8`."""
    return text((content_type or "").partition(";")[0].strip().lower()) or None


def query_hash(query: str, salt: bytes) -> str | None:
    if not query:
        return None
    return hashlib.sha256(salt + query.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def status(value: int | None) -> int | None:
    """Return a status of three digits; None for any other."""
    return value if value is not None and 100 <= value <= 999 else None


def length(value: str) -> int | None:
    """Return a possible Content-Length."""
    return int(value) if _LENGTH.fullmatch(value) else None


def split_url(url: str) -> SplitResult:
    """Split a URL; what urlsplit refuses is cut at its slashes: nothing that a page made may stop the
    crawl."""
    try:
        return urlsplit(url)
    except ValueError:
        scheme, _, rest = url.partition("://")
        return SplitResult(scheme, rest.partition("/")[0], "/", "", "")


def host(url: SplitResult) -> str | None:
    return text((url.hostname or "").lower())
