"""Freshness of a response for a private cache (RFC 9111), from its header fields.

Nothing else of the header is stored. As RFC 9111 requires, a lifetime that cannot be parsed counts as expired
(§4.2.1), and an age that cannot be parsed as absent (§5.1).
"""

import dataclasses
import datetime
import re
from collections.abc import Mapping
from typing import Any

HEADERS = frozenset({"cache-control", "expires", "date", "age", "last-modified", "etag", "vary"})
"""Header fields that are read; repeated fields are joined by commas (RFC 9110 §5.3)."""

NOT_RECORDED = "not_recorded"
"""Source of a lifetime that other people's recordings lack."""

LIFETIMES: dict[str, str] = {
    "max-age": "max-age in Cache-Control",
    "expires": "Expires minus Date",
    "heuristic": "not stated: a tenth of the time from Last-Modified to Date (§4.2.2)",
    "none": "not stated, and no estimate is allowed",
    NOT_RECORDED: "not stated by max-age, and the recording holds no other field",
}
"""Values of response.lifetime_by: stable names, stored in every release; a rename would break past data."""

HEURISTIC_STATUSES = frozenset({200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501})
"""Statuses that are heuristically cacheable (RFC 9110 §15.1), without 206, which is partial."""

HEURISTIC_SHARE = 0.1
"""Heuristic lifetime as a share of the time since Last-Modified (RFC 9111 §4.2.2)."""

CONFIRMED_STATUSES = frozenset({200, 203})
"""Statuses of responses that a 304 can confirm (RFC 9110 §13.2.1)."""

LONGEST_S = 2**31 - 1
"""Maximum of a time in seconds; longer times are cut to it, as §1.2.2 allows."""

DIRECTIVE = re.compile(r"""([!#$%&'*+.^_`|~0-9a-z-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^,]*)))?""")

DATES = ("%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y")
"""The three date formats of RFC 9110 §5.6.7. A zone other than GMT makes a date invalid (RFC 9111 §4.2)."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Freshness:
    """Freshness of one response; the fields are columns of `response`."""

    no_store: bool
    no_cache: bool
    lifetime_by: str
    lifetime_s: int | None
    age_s: int | None
    has_validator: bool


COLUMNS = tuple(field.name for field in dataclasses.fields(Freshness))


def read(status: int | None, headers: Mapping[str, str]) -> Freshness:
    directives = read_directives(headers.get("cache-control", ""))
    by, lifetime = read_lifetime(status, headers, directives)
    return Freshness(
        no_store="no-store" in directives,
        no_cache="no-cache" in directives or "*" in map(str.strip, headers.get("vary", "").split(",")),
        lifetime_by=by,
        lifetime_s=lifetime,
        age_s=read_seconds(headers.get("age", "").partition(",")[0]),
        has_validator=bool(headers.get("etag")) or read_date(headers.get("last-modified")) is not None,
    )


def read_directives(text: str) -> dict[str, str]:
    """Return Cache-Control directives by lower-case name with their arguments;
    the first counts if one is repeated (§4.2.1).

    >>> read_directives('Max-Age="60", ext="a, no-store", max-age=5')
    {'max-age': '60', 'ext': 'a, no-store'}
    """
    directives: dict[str, str] = {}
    for name, quoted, plain in DIRECTIVE.findall(text.lower()):
        directives.setdefault(name, quoted or plain)
    return directives


def read_lifetime(
    status: int | None, headers: Mapping[str, str], directives: Mapping[str, str]
) -> tuple[str, int | None]:
    """Return the source of the lifetime (a key of LIFETIMES) and its seconds since generation (§4.2.1).

    s-maxage is ignored: it is for shared caches. Seconds are None for `expires` without a Date.
    """
    if "max-age" in directives:
        return "max-age", read_seconds(directives["max-age"]) or 0
    date = read_date(headers.get("date"))
    if "expires" in headers:
        ends = read_date(headers["expires"])
        return "expires", 0 if ends is None else None if date is None else seconds_between(date, ends)
    changed = read_date(headers.get("last-modified"))
    if status in HEURISTIC_STATUSES and date and changed:
        return "heuristic", int(HEURISTIC_SHARE * seconds_between(changed, date))
    return "none", None


def read_seconds(text: str) -> int | None:
    """Parse delta-seconds (§1.2.2); None if malformed.

    >>> read_seconds("600"), read_seconds("-1"), read_seconds("9" * 5000) == LONGEST_S
    (600, None, True)
    """
    word = text.strip()
    if not (word.isascii() and word.isdecimal()):
        return None
    digits = word.lstrip("0") or "0"
    return min(int(digits), LONGEST_S) if len(digits) <= len(str(LONGEST_S)) else LONGEST_S


def seconds_between(start: datetime.datetime, stop: datetime.datetime) -> int:
    return min(max(0, int((stop - start).total_seconds())), LONGEST_S)


def read_date(text: str | None) -> datetime.datetime | None:
    """Parse a date of a header field; None if it is invalid, which for Expires means the past (§5.3).

    >>> read_date("Sun, 06 Nov 1994 08:49:37 GMT") == read_date("Sunday, 06-Nov-94 08:49:37 GMT")
    True
    """
    if not text or not text.isascii():
        return None
    for form in DATES:
        try:
            return datetime.datetime.strptime(text.strip(), form).replace(tzinfo=datetime.UTC)
        except ValueError:
            continue
    return None


def fresh_s(row: Mapping[str, Any]) -> int | None:
    """Return the seconds from its arrival for which a response may be reused; None if its header is
    unknown."""
    if row.get("no_store") is None:
        return None
    if row["method"] != "GET" or row["status"] == 206 or row["no_store"] or row["no_cache"]:
        return 0
    if row["lifetime_by"] == NOT_RECORDED:
        return None
    return max(0, (row["lifetime_s"] or 0) - (row["age_s"] or 0))


def can_be_confirmed(row: Mapping[str, Any]) -> bool:
    """Return true if a private cache that holds the response may revalidate it and receive a 304 (§4.3)."""
    return bool(
        row.get("has_validator")
        and not row["no_store"]
        and row["method"] == "GET"
        and row["status"] in CONFIRMED_STATUSES
    )
