"""How long a browser's cache may reuse a response without asking, by its recorded header (RFC 9111)."""

from __future__ import annotations

import re
from email.utils import parsedate_to_datetime
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import datetime
    from collections.abc import Mapping

    from reports.recordings.exchange import Exchange

HEURISTIC_STATUSES = frozenset({200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501})
"""Those that may be reused though nobody said for how long (RFC 9110 §15.1), less 206, which is a part."""

HEURISTIC_SHARE = 0.1
"""Of the age that its content had (RFC 9111 §4.2.2)."""

DIRECTIVE = re.compile(r'([a-z-]+)(?:="?([^",]*)"?)?')


def fresh_s(exchange: Exchange) -> int:
    """Seconds from its arrival; 0: not at all, or nothing was recorded that allows it."""
    headers = exchange.headers
    directives = dict(DIRECTIVE.findall(headers.get("cache-control", "").lower()))
    if exchange.method != "GET" or exchange.status == 206 or headers.get("vary", "").strip() == "*":
        return 0
    if {"no-store", "no-cache"} & set(directives):
        return 0
    return max(0, lifetime_s(exchange.status, headers, directives) - seconds(headers.get("age")))


def lifetime_s(status: int, headers: Mapping[str, str], directives: Mapping[str, str]) -> int:
    """Since the origin made it: as it says, else as it may be guessed (RFC 9111 §4.2.1). A private cache: no s-maxage."""
    if "max-age" in directives:
        return seconds(directives["max-age"])
    made = date(headers.get("date"))
    if "expires" in headers:
        ends = date(headers["expires"])
        return round((ends - made).total_seconds()) if ends and made else 0
    changed = date(headers.get("last-modified"))
    if status in HEURISTIC_STATUSES and made and changed:
        return round(HEURISTIC_SHARE * (made - changed).total_seconds())
    return 0


def seconds(text: str | None) -> int:
    """Of a header; 0 where it is none."""
    word = (text or "").strip()
    return int(word) if word.isascii() and word.isdecimal() else 0


def date(text: str | None) -> datetime.datetime | None:
    """Of a header; None where it is none, which for Expires means the past."""
    try:
        found = parsedate_to_datetime(text or "")
    except ValueError:
        return None
    return found if found.tzinfo else None
