"""Checks that what a recording states can be true, before anything is made of it."""

from __future__ import annotations

from collections.abc import Sequence
from urllib.parse import urlsplit

from recordings.exchange import RecordedExchange

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
