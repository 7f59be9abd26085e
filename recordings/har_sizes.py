"""Interprets the sizes of a HAR's entries as their producer means them.

The format leaves open whether a body's size includes its header, and how a producer says that a size is
unknown: docs/recorded-files.md lists what was seen of each producer.
"""

from typing import Any

from recordings.exchange import BODILESS, FRAMED, RecordedExchange

HEADER_AT_MOST = 4096
"""Maximum plausible size of a header block; a larger difference between two sizes has another cause."""

FIREFOX_WITH_HEADER = 62
"""First version of Firefox that was seen to include the header in `bodySize`; 43 does not."""

Entry = dict[str, Any]


def measure(found: RecordedExchange, entry: Entry, creator: dict[str, Any]) -> None:
    """Set the sizes of an exchange: what the producer counted,
    less what it is known to have counted wrongly."""
    response = entry["response"]
    producer = creator["name"].lower()
    found.decoded_bytes = not_negative(response["content"].get("size")) or None
    found.header_bytes = not_negative(response.get("headersSize")) or None
    total = total_bytes(response, found, producer)
    is_framed = found.protocol in FRAMED
    found.header_is_text = is_framed and found.header_bytes is not None and total is None
    if producer == "hdrgrab":
        found.body_bytes = not_negative(response.get("bodySize"))
    elif is_bodiless(found):
        found.body_bytes = 0
        found.header_bytes = total or found.header_bytes
    elif total is not None and found.header_bytes is None:
        split(total, response, found)
    else:
        found.body_bytes = body_bytes(response, found, producer)
        if producer == "firefox" and major(creator) >= FIREFOX_WITH_HEADER:
            without_header_text(found)
    if found.header_bytes is None and found.headers and not is_framed:
        found.header_bytes = header_text_bytes(response)
        found.repairs.add("header_from_text")


def total_bytes(response: dict[str, Any], found: RecordedExchange, producer: str) -> int | None:
    """Size of header and body together, which recorders over Chrome's DevTools know; None if not recorded.

    Playwright before `_transferSize` wrote it as the size of the body, with a header of 0 bytes.
    """
    total = not_negative(response.get("_transferSize"))
    if (
        total is None
        and producer == "playwright"
        and found.protocol in FRAMED
        and response.get("headersSize") == 0
    ):
        total = not_negative(response.get("bodySize"))
    return total or None


def is_from_playwrights_cache(response: dict[str, Any], creator: dict[str, Any]) -> bool:
    """Whether a response came from the cache: Playwright then writes a body of minus the header's size."""
    header = response.get("headersSize") or 0
    return creator["name"].lower() == "playwright" and header > 0 and response.get("bodySize") == -header


def split(total: int, response: dict[str, Any], found: RecordedExchange) -> None:
    """Split the total of a response into header and body.

    The body's size is taken from Content-Length, or from the decoded size of an uncompressed body; otherwise
    the total alone is known. Of a redirect Chrome's DevTools count the header alone.
    """
    stated = content_length(found)
    if found.is_redirect and (response.get("bodySize") or 0) <= 0:
        found.body_bytes = stated
        found.header_bytes = total if total <= HEADER_AT_MOST else None
        return
    candidates = [] if stated is None else [stated]
    if "content-encoding" not in found.headers:
        candidates.append(response["content"].get("size", -1))
    for size in candidates:
        if 0 <= size <= total <= size + HEADER_AT_MOST:
            found.body_bytes, found.header_bytes = size, total - size
            found.repairs.add("header_taken_off_size")
            return
    found.body_bytes, found.header_bytes, found.total_bytes = total, 0, total
    found.repairs.add("size_includes_header")


def body_bytes(response: dict[str, Any], found: RecordedExchange, producer: str) -> int | None:
    """Size of the encoded body; None if unknown, for which producers write negative values,
    or 0 beside a content.

    Browsertime 1 writes the size after decompression.
    """
    size: int | None = response.get("bodySize")
    stated = content_length(found)
    if producer == "browsertime" and "content-encoding" in found.headers and size == found.decoded_bytes:
        found.repairs.add("size_after_decompression")
        return stated
    if size is None or size < 0:
        if stated is not None:
            found.repairs.add("size_from_content_length")
        return stated
    if size == 0 and (found.decoded_bytes or content_length(found)):
        found.repairs.add("zero_is_unknown")
        return None
    return size


def without_header_text(found: RecordedExchange) -> None:
    """Take the size of the header's text off that of the body."""
    body, header = found.body_bytes, found.header_bytes
    if body is not None and header is not None and body >= header:
        found.body_bytes = body - header
        found.repairs.add("header_taken_off_size")


def mend_cumulative_sizes(entries: list[Entry], exchanges: list[RecordedExchange]) -> None:
    """Turn hdrgrab's sizes, which accumulate over each connection, into sizes of single responses."""
    so_far: dict[str, int] = {}
    for entry, found in zip(entries, exchanges, strict=True):
        if found.body_bytes is None:
            continue
        connection, total = entry.get("connection", ""), found.body_bytes
        before = so_far.get(connection, 0)
        if before and total >= before:  # a smaller total means that a new connection uses the port
            found.body_bytes = total - before
            found.repairs.add("cumulative_size")
        so_far[connection] = total


def content_length(found: RecordedExchange) -> int | None:
    """Content-Length of the response; None if it has none that is a number."""
    stated = found.headers.get("content-length", "").split(",")[0].strip()
    return int(stated) if stated.isascii() and stated.isdigit() else None


def is_bodiless(found: RecordedExchange) -> bool:
    """Whether the response has no body whatever its Content-Length says."""
    return found.method == "HEAD" or found.status in BODILESS


def header_text_bytes(response: dict[str, Any]) -> int:
    """Size of an HTTP/1.1 header by the text of its status line and fields."""
    status_line = len(f"HTTP/1.1 {response['status']} {response.get('statusText') or ''}\r\n")
    return (
        status_line + sum(len(field["name"]) + len(field["value"]) + 4 for field in response["headers"]) + 2
    )


def major(creator: dict[str, Any]) -> int:
    """Major version of a producer; 0 if it states none."""
    digits = str(creator.get("version", "")).partition(".")[0]
    return int(digits) if digits.isascii() and digits.isdigit() else 0


def not_negative(size: int | None) -> int | None:
    """A size; None for those that producers write for an unknown size."""
    return None if size is None or size < 0 else size
