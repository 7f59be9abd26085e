"""Reads HAR files, and interprets sizes as each producer means them."""

from __future__ import annotations

import datetime
import json
from typing import Any
from urllib.parse import urljoin

from recordings.exchange import RecordedExchange, Times, connection_name, protocol_name

HEADER_AT_MOST = 4096
"""Maximum plausible size of a header block; a larger difference between two sizes has another cause."""

Entry = dict[str, Any]


def read(log: dict[str, Any]) -> list[RecordedExchange]:
    """The exchanges of a HAR's first page in the order of the requests, with repaired sizes."""
    creator = log["creator"]["name"]
    entries: list[Entry] = log["entries"]
    first = entries[0].get("pageref")
    entries = [entry for entry in entries if entry.get("pageref") == first]
    if creator == "hdrgrab":
        # hdrgrab records no pages and writes entries in the order of responses.
        entries = sorted(entries, key=started)
    exchanges = [exchange(entry) for entry in entries]
    if creator == "hdrgrab":
        mend_cumulative_sizes(entries, exchanges)
    return exchanges


def exchange(entry: Entry) -> RecordedExchange:
    """The exchange of an entry; hdrgrab's sizes are repaired later."""
    request, response = entry["request"], entry["response"]
    location = header(response, "location") or response.get("redirectURL") or None
    found = RecordedExchange(
        url=request["url"],
        method=request["method"],
        status=max(0, response["status"]),
        mime_type=media_type(response["content"].get("mimeType")),
        resource_type=(entry.get("_resourceType") or "").lower(),
        protocol=protocol_name(entry.get("_protocol") or response.get("httpVersion")),
        initiator=initiator(entry),
        referer=header(request, "referer"),
        request_body_bytes=sent_bytes(request),
        location=urljoin(request["url"], location) if location else None,
        started_s=started(entry),
        is_cached=bool(entry.get("_fromCache")) or entry.get("_cached") == 1,
        is_internal=header(response, "non-authoritative-reason") is not None,
        headers=headers(response),
        connection=connection_name(entry.get("connection")),
        address=entry.get("serverIPAddress") or "",
        times=times(entry),
    )
    stated = response.get("headersSize")
    found.header_bytes = stated if stated is not None and stated > 0 else None
    found.body_bytes = body_bytes(response, found)
    return found


def body_bytes(response: dict[str, Any], found: RecordedExchange) -> int | None:
    """Size of the encoded body; None if unknown, for which producers write negative values."""
    size: int | None = response.get("bodySize")
    if size is None or size < 0:
        stated = header(response, "content-length")
        if stated is None or not stated.isdigit():
            return None
        found.repairs.add("size_from_content_length")
        return int(stated)
    if "_transferSize" in response and response.get("headersSize") == -1 and size:
        return without_header(size, response, found)
    return size


def sent_bytes(request: dict[str, Any]) -> int | None:
    """Size of the request's body from its header, or else as recorded; None if neither is known."""
    stated = header(request, "content-length") or ""
    size: int | None = int(stated) if stated.isdecimal() else request.get("bodySize")
    return None if size is None or size < 0 else size


def without_header(total: int, response: dict[str, Any], found: RecordedExchange) -> int:
    """Size of the body of an H2 response whose recorded size, by chrome-har, includes the header block.

    The body's size is taken from Content-Length, or from the decoded size of an uncompressed body; otherwise the total
    is used.
    """
    stated = header(response, "content-length") or ""
    candidates = [int(stated)] if stated.isdigit() else []
    if header(response, "content-encoding") is None:
        candidates.append(response["content"].get("size", -1))
    for size in candidates:
        if 0 <= size <= total <= size + HEADER_AT_MOST:
            found.header_bytes = total - size
            found.repairs.add("header_taken_off_size")
            return size
    found.header_bytes = 0
    found.repairs.add("size_includes_header")
    return total


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


def initiator(entry: Entry) -> str | None:
    """URL of the initiator, recorded by name or on top of a call stack; None if not recorded."""
    if entry.get("_initiator"):
        return str(entry["_initiator"])
    detail = entry.get("_initiator_detail")
    if isinstance(detail, str):
        detail = json.loads(detail)
    return stack_url(detail or {})


def stack_url(detail: dict[str, Any]) -> str | None:
    """URL of a CDP initiator: its own, or that of the topmost script on its stack."""
    if detail.get("url"):
        return str(detail["url"])
    stack = detail.get("stack")
    while stack:
        for frame in stack.get("callFrames", []):
            if frame.get("url"):
                return str(frame["url"])
        stack = stack.get("parent")
    return None


def header(message: dict[str, Any], name: str) -> str | None:
    """Value of the first header with this name."""
    found = (field["value"] for field in message["headers"] if field["name"].lower() == name)
    return next(found, None)


def headers(message: dict[str, Any]) -> dict[str, str]:
    """All headers with names in lower case; repeated ones are joined by commas."""
    found: dict[str, str] = {}
    for field in message["headers"]:
        name = field["name"].lower()
        found[name] = f"{found[name]}, {field['value']}" if name in found else str(field["value"])
    return found


def times(entry: Entry) -> Times:
    """Times from an entry's consecutive phases (HAR 1.2: `connect` includes `ssl`); -1 means that a phase did not occur."""
    phases = entry.get("timings") or {}

    def lasted(phase: str) -> float:
        return max(0.0, float(phases.get(phase) or 0))

    if phases.get("wait", -1) < 0 or phases.get("receive", -1) < 0:
        return Times()
    begun_ms = started(entry) * 1e3
    opened_ms = begun_ms + lasted("blocked") + lasted("dns")
    sent_ms = opened_ms + lasted("connect") + lasted("send")
    first_ms = sent_ms + lasted("wait")
    is_secure = entry["request"]["url"].startswith("https:")
    opens = lasted("connect") > 0 and (not is_secure or lasted("ssl") > 0)
    return Times(
        sent=round(1e3 * sent_ms),
        first_byte=round(1e3 * first_ms),
        last_byte=round(1e3 * (first_ms + lasted("receive"))),
        opened=round(1e3 * opened_ms) if opens else None,
        connected=round(1e3 * (opened_ms + lasted("connect") - lasted("ssl"))) if opens else None,
    )


def media_type(value: str | None) -> str:
    """A media type without parameters, in lower case."""
    return (value or "").split(";")[0].strip().lower()


def started(entry: Entry) -> float:
    """Time of the request, in seconds since the epoch."""
    return datetime.datetime.fromisoformat(entry["startedDateTime"]).timestamp()
