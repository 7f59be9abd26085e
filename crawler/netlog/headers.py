"""HTTP header sections in events of the log."""

import re
from collections.abc import Iterator
from urllib.parse import unquote, unquote_to_bytes

from crawler.netlog.event import Event
from crawler.netlog.params import Headers

VALUE_LIMIT = 8192

ESCAPED = "%ESCAPED:\u200b "

_FINAL = re.compile("[2-9][0-9]{2}")
_STATUS = frozenset({":status"})
_CONTENT_LENGTH = frozenset({"content-length"})
_LENGTH_DIGITS = 18


def read_lines(event: Event[Headers]) -> list[str]:
    return [_unescape(line) if line.startswith(ESCAPED) else line for line in event.params["headers"]]


def _unescape(line: str) -> str:
    """Decode a string that is not ASCII, which the log percent-encodes and marks (NetLogStringValue).

    >>> _unescape("%ESCAPED:\u200b Location: /caf%C3%A9%25")
    'Location: /caf\xe9%'
    """
    return unquote(line.removeprefix(ESCAPED), errors="replace")


def count_section_bytes(event: Event[Headers]) -> int:
    """Return the bytes of an HTTP/1.1 header section, without the request line."""
    lines = [line for line in event.params["headers"] if isinstance(line, str)]
    return sum(_line_bytes(line) + 2 for line in lines) + 2


def _line_bytes(line: str) -> int:
    return len(unquote_to_bytes(line.removeprefix(ESCAPED))) if line.startswith(ESCAPED) else len(line)


def read_final_status(event: Event[Headers]) -> int | None:
    """Return the status of an HTTP/2 or HTTP/3 header section.

    None for interim responses (RFC 9110 §15.2) and trailers. Chromium logs the section of a cancelled
    request, but does not report its response headers.
    """
    status = read_headers(event, _STATUS).get(":status", "")
    return int(status) if _FINAL.fullmatch(status) else None


def read_content_length(event: Event[Headers]) -> int | None:
    length = read_headers(event, _CONTENT_LENGTH).get("content-length", "")
    return int(length[:_LENGTH_DIGITS]) if length.isascii() and length.isdecimal() else None


def read_headers(event: Event[Headers], wanted: frozenset[str]) -> dict[str, str]:
    """Return the wanted headers by lower-case name; of a repeated one the first."""
    headers: dict[str, str] = {}
    for name, value in _fields(event, wanted):
        headers.setdefault(name, value)
    return headers


def join_headers(event: Event[Headers], wanted: frozenset[str]) -> dict[str, str]:
    """Return the wanted headers by lower-case name; repeated ones joined by commas (RFC 9110 §5.3)."""
    headers: dict[str, str] = {}
    for name, value in _fields(event, wanted):
        headers[name] = f"{headers[name]}, {value}"[:VALUE_LIMIT] if name in headers else value
    return headers


def _fields(event: Event[Headers], wanted: frozenset[str]) -> Iterator[tuple[str, str]]:
    for line in read_lines(event):
        end = line.find(":", 1)  # a pseudo-header's name begins with a colon
        if end > 0 and (name := line[:end].lower()) in wanted:
            yield name, line[end + 1 :].strip()[:VALUE_LIMIT]
