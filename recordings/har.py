"""Reads HAR files."""

import datetime
import json
from typing import Any
from urllib.parse import urljoin

from recordings.exchange import RecordedExchange, Times, connection_name, protocol_name
from recordings.har_sizes import Entry, is_from_playwrights_cache, measure, mend_cumulative_sizes


def read(log: dict[str, Any]) -> list[RecordedExchange]:
    """The exchanges of a HAR's first page in the order of the requests, with repaired sizes."""
    creator = log["creator"]
    entries = first_page(log)
    exchanges = [exchange(entry, creator) for entry in entries]
    if creator["name"] == "hdrgrab":
        mend_cumulative_sizes(entries, exchanges)
    return exchanges


def first_page(log: dict[str, Any]) -> list[Entry]:
    """The entries of a HAR's first page in the order of the requests;
    hdrgrab writes them in that of responses."""
    entries: list[Entry] = log["entries"]
    first = entries[0].get("pageref")
    entries = [entry for entry in entries if entry.get("pageref") == first]
    return sorted(entries, key=started) if log["creator"]["name"] == "hdrgrab" else entries


def exchange(entry: Entry, creator: dict[str, Any]) -> RecordedExchange:
    """The exchange of an entry; sizes that hdrgrab accumulates are mended later."""
    request, response = entry["request"], entry["response"]
    location = header(response, "location") or response.get("redirectURL") or None
    found = RecordedExchange(
        url=request["url"],
        method=request["method"] or "GET",
        status=max(0, response["status"]),
        mime_type=media_type(response["content"].get("mimeType")),
        resource_type=(entry.get("_resourceType") or "").lower(),
        protocol=protocol_name(entry.get("_protocol") or response.get("httpVersion")),
        initiator=initiator(entry),
        referer=header(request, "referer"),
        request_body_bytes=sent_bytes(request),
        location=urljoin(request["url"], location) if location else None,
        started_s=started(entry),
        is_cached=bool(entry.get("_fromCache"))
        or entry.get("_cached") == 1
        or is_from_playwrights_cache(response, creator),
        is_internal=header(response, "non-authoritative-reason") is not None,
        headers=headers(response),
        connection=connection_name(entry.get("connection")),
        address=entry.get("serverIPAddress") or "",
        times=times(entry),
    )
    measure(found, entry, creator)
    return found


def sent_bytes(request: dict[str, Any]) -> int | None:
    """Size of the request's body from its header, or else as recorded; None if neither is known."""
    stated = header(request, "content-length") or ""
    size: int | None = int(stated) if stated.isdecimal() else request.get("bodySize")
    return None if size is None or size < 0 else size


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
    """Times from an entry's consecutive phases; -1 means that a phase did not occur.

    In HAR 1.2 `connect` includes `ssl`; Firefox counts them apart.
    """
    phases = entry.get("timings") or {}

    def lasted(phase: str) -> float:
        return max(0.0, float(phases.get(phase) or 0))

    if phases.get("wait", -1) < 0 or phases.get("receive", -1) < 0:
        return Times()
    begun_ms = started(entry) * 1e3
    opened_ms = begun_ms + lasted("blocked") + lasted("dns")
    connect_ms = lasted("connect") + (lasted("ssl") if lasted("ssl") > lasted("connect") else 0.0)
    sent_ms = opened_ms + connect_ms + lasted("send")
    first_ms = sent_ms + lasted("wait")
    is_secure = entry["request"]["url"].startswith("https:")
    opens = lasted("connect") > 0 and (not is_secure or lasted("ssl") > 0)
    return Times(
        sent=round(1e3 * sent_ms),
        first_byte=round(1e3 * first_ms),
        last_byte=round(1e3 * (first_ms + lasted("receive"))),
        opened=round(1e3 * opened_ms) if opens else None,
        connected=round(1e3 * (opened_ms + connect_ms - lasted("ssl"))) if opens else None,
    )


def media_type(value: str | None) -> str:
    """A media type without parameters, in lower case."""
    return (value or "").split(";")[0].strip().lower()


def started(entry: Entry) -> float:
    """Time of the request, in seconds since the epoch."""
    return datetime.datetime.fromisoformat(entry["startedDateTime"]).timestamp()
