"""What a response's header says of its reuse by a private cache (RFC 9111), and what follows from that.

Of the header nothing is kept but this. What cannot be read counts as RFC 9111 asks: a lifetime as over (§4.2.1), an
age as not told (§5.1).
"""

from __future__ import annotations

import dataclasses
import datetime
import re
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping

HEADERS = frozenset({"cache-control", "expires", "date", "age", "last-modified", "etag", "vary"})
"""What is looked at; where one stands several times, all of them, joined by commas (RFC 9110 §5.3)."""

LIFETIMES: dict[str, str] = {
    "max-age": "max-age in Cache-Control",
    "expires": "Expires, less Date",
    "heuristic": "nobody says it: a tenth of the time from Last-Modified to Date (§4.2.2)",
    "none": "nobody says it, and nothing may be guessed",
}
"""Values of response.lifetime_by: stable names, written into every release, so a rename breaks past data."""

HEURISTIC_STATUSES = frozenset({200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501})
"""Those that may be reused though nobody said for how long (RFC 9110 §15.1), less 206, which is a part."""

HEURISTIC_SHARE = 0.1
"""Of the age that its content had (RFC 9111 §4.2.2)."""

CONFIRMED_STATUSES = frozenset({200, 203})
"""Of responses with a body in whose place a 304 can come (RFC 9110 §13.2.1)."""

LONGEST_S = 2**31 - 1
"""Stands for whatever is longer, as §1.2.2 allows."""

DIRECTIVE = re.compile(r"""([!#$%&'*+.^_`|~0-9a-z-]+)(?:=(?:"((?:[^"\\]|\\.)*)"|([^,]*)))?""")

DATES = ("%a, %d %b %Y %H:%M:%S GMT", "%A, %d-%b-%y %H:%M:%S GMT", "%a %b %d %H:%M:%S %Y")
"""The three of RFC 9110 §5.6.7. A zone other than GMT makes a date invalid (RFC 9111 §4.2)."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Freshness:
    """Of one response: fields are columns of `response`."""

    no_store: bool
    no_cache: bool
    lifetime_by: str
    lifetime_s: int | None
    age_s: int | None
    has_validator: bool


COLUMNS = tuple(field.name for field in dataclasses.fields(Freshness))


def read(status: int | None, headers: Mapping[str, str]) -> Freshness:
    """By header, names in lower case."""
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
    """Names in lower case and their arguments; of a repeated one the first (§4.2.1).

    >>> read_directives('Max-Age="60", ext="a, no-store", max-age=5')
    {'max-age': '60', 'ext': 'a, no-store'}
    """
    found: dict[str, str] = {}
    for name, quoted, plain in DIRECTIVE.findall(text.lower()):
        found.setdefault(name, quoted or plain)
    return found


def read_lifetime(
    status: int | None, headers: Mapping[str, str], directives: Mapping[str, str]
) -> tuple[str, int | None]:
    """Who says it, and seconds since the origin made it (§4.2.1); s-maxage is for shared caches.

    None beside `expires`: counted from a Date that is missing.
    """
    if "max-age" in directives:
        return "max-age", read_seconds(directives["max-age"]) or 0
    made = read_date(headers.get("date"))
    if "expires" in headers:
        ends = read_date(headers["expires"])
        return "expires", 0 if ends is None else None if made is None else seconds_between(made, ends)
    changed = read_date(headers.get("last-modified"))
    if status in HEURISTIC_STATUSES and made and changed:
        return "heuristic", int(HEURISTIC_SHARE * seconds_between(changed, made))
    return "none", None


def read_seconds(text: str) -> int | None:
    """Delta-seconds (§1.2.2); None where it is none.

    >>> read_seconds("600"), read_seconds("-1"), read_seconds("9" * 5000) == LONGEST_S
    (600, None, True)
    """
    word = text.strip()
    if not (word.isascii() and word.isdecimal()):
        return None
    digits = word.lstrip("0") or "0"
    return min(int(digits), LONGEST_S) if len(digits) <= len(str(LONGEST_S)) else LONGEST_S


def seconds_between(start: datetime.datetime, stop: datetime.datetime) -> int:
    """None less than 0."""
    return min(max(0, int((stop - start).total_seconds())), LONGEST_S)


def read_date(text: str | None) -> datetime.datetime | None:
    """Of a header; None where it is none, which for Expires means the past (§5.3).

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
    """Seconds from its arrival for which a response may be reused without asking; None where its header is unknown."""
    if row.get("no_store") is None:
        return None
    if row["method"] != "GET" or row["status"] == 206 or row["no_store"] or row["no_cache"]:
        return 0
    return max(0, (row["lifetime_s"] or 0) - (row["age_s"] or 0))


def can_be_confirmed(row: Mapping[str, Any]) -> bool:
    """Whether a private cache that holds it may ask whether it has changed, and be answered by 304 (§4.3)."""
    return bool(
        row.get("has_validator")
        and not row["no_store"]
        and row["method"] == "GET"
        and row["status"] in CONFIRMED_STATUSES
    )
