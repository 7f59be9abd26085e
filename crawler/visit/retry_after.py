"""Retry-After: the time for which a site asks not to be visited (RFC 9110 §10.2.3)."""

from __future__ import annotations

import datetime
import email.utils

STATUSES = frozenset({429, 503})
"""Statuses with which Retry-After asks for that; with a redirect it means something else."""

LONGEST_S = 2**31 - 1
"""Largest value that is stored, for a date in the far future."""


def retry_after_s(status: int | None, value: str | None, *, now: datetime.datetime) -> int | None:
    """Return the seconds from `now`; None without a valid Retry-After.

    >>> retry_after_s(429, "120", now=datetime.datetime.now(datetime.UTC))
    120
    """
    if status not in STATUSES or not value:
        return None
    if value.isascii() and value.isdigit():
        return min(int(value[:12]), LONGEST_S)
    try:
        until = email.utils.parsedate_to_datetime(value)
    except ValueError:
        return None
    until = until if until.tzinfo else until.replace(tzinfo=datetime.UTC)
    return min(max(0, round((until - now).total_seconds())), LONGEST_S)
