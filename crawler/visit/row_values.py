"""Rows, and values from the network as the database can store them: valid text, cut to length, and numbers
that make sense."""

import dataclasses
import hashlib
import re
from collections.abc import Mapping
from typing import Any, TypeAlias
from urllib.parse import SplitResult, urlsplit

Row: TypeAlias = "Mapping[str, Any]"
"""Column name to value; the names and types are those of schema.tables."""

PATH_LIMIT = 2048
"""Characters of a path that are stored."""

TEXT_LIMIT = 255
"""Characters of any other text from the network that are stored."""

_UNSTORABLE = re.compile("[\x00\ud800-\udfff]")

_LENGTH = re.compile("[0-9]{1,15}")


@dataclasses.dataclass(frozen=True, slots=True)
class VisitClock:
    """Converts the log's milliseconds to microseconds since the visit began."""

    start_ms: int

    def us(self, time_ms: int | None) -> int | None:
        """Return microseconds since the visit began; None for None."""
        return None if time_ms is None else (time_ms - self.start_ms) * 1000


def valid(value: str) -> str:
    """Replace what PostgreSQL's text cannot hold: NUL and halves of surrogate pairs.

    >>> valid("a\\x00b\\ud800c")
    'a\\ufffdb\\ufffdc'
    """
    return _UNSTORABLE.sub("\ufffd", value)


def text(value: str | None) -> str | None:
    """Cut text to TEXT_LIMIT and make it valid; None for None."""
    return None if value is None else valid(value[:TEXT_LIMIT])


def path(url: SplitResult) -> str:
    """Cut the path of a URL to PATH_LIMIT and make it valid."""
    return valid(url.path)[:PATH_LIMIT]


def media_type(content_type: str | None) -> str | None:
    """Return the media type of a Content-Type: `text/html` for `Text/HTML; charset=utf-8`."""
    return text((content_type or "").partition(";")[0].strip().lower()) or None


def query_hash(query: str, salt: bytes) -> str | None:
    """Return a salted hash of a query; None for an empty query."""
    if not query:
        return None
    return hashlib.sha256(salt + query.encode("utf-8", "surrogatepass")).hexdigest()[:16]


def status(value: int | None) -> int | None:
    """Return a status of three digits, as HTTP's are; None for any other."""
    return value if value is not None and 100 <= value <= 999 else None


def length(value: str) -> int | None:
    """Return the bytes that a Content-Length states; None if it states no possible number."""
    return int(value) if _LENGTH.fullmatch(value) else None


def split_url(url: str) -> SplitResult:
    """Split a URL; one that urlsplit refuses is cut at its slashes,
    since nothing that a page made may stop the crawl."""
    try:
        return urlsplit(url)
    except ValueError:
        scheme, _, rest = url.partition("://")
        return SplitResult(scheme, rest.partition("/")[0], "/", "", "")


def host(url: SplitResult) -> str | None:
    """Return the host of a URL in lower case."""
    return text((url.hostname or "").lower())
