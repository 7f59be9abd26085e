"""A recorded page load as the rows of a release's tables."""

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any, NamedTuple
from urllib.parse import urlsplit

from recordings.errors import RecordingError
from recordings.exchange import RecordedExchange
from recordings.files.reading import RecordedFile
from recordings.files.traffic import connections_of, port_of, protocol_of
from recordings.order import find_parents, first_load, kind_of
from recordings.pages.delays import browser_delays
from recordings.pages.rows import CRAWL_ID, Row
from recordings.pages.sizes import Sizes
from schema import http_caching
from schema.server_delay import fastest, server_delays

HTTP = ("http", "https")


class PageRows(NamedTuple):
    """The rows of a page, and counts of what was inferred, repaired and left out."""

    site: Row
    visit: Row
    connections: list[Row]
    responses: list[Row]
    initiators: collections.Counter[str]
    connection_rules: collections.Counter[str]
    repairs: collections.Counter[str]
    """Exchanges by repair, and by the reason for which they were left out."""


def page_rows(file: RecordedFile, number: int) -> PageRows:
    """The rows of a file's page, which becomes visit `number`.

    RecordingError if it asks for nothing by HTTP.
    """
    kept, repairs = first_load(file.exchanges, by_silence=file.splits_by_silence)
    asked = [one for one in file.exchanges if urlsplit(one.url).scheme in HTTP and one.host]
    if not asked:
        raise RecordingError(f"{file.name}: no request by HTTP in it")
    main = next((place for place, one in enumerate(kept) if not one.is_redirect), None)
    repairs.update(repair for one in kept for repair in one.repairs)
    if file.later_pages:
        repairs["later_page_dropped"] = file.later_pages
    base_us = first_moment_us(kept or asked)
    groups, rules = connections_of(kept)
    parents = find_parents(kept)
    connections = [
        connection_row(number, place, [kept[one] for one in group], base_us)
        for place, group in enumerate(groups, start=1)
    ]
    responses = response_rows(number, kept, groups, parents, base_us)
    add_delays(connections, responses, kept, base_us)
    return PageRows(
        site=site_row(number, (asked[0] if main is None else kept[main]).host),
        visit=visit_row(file, number, asked[0], None if main is None else kept[main], main),
        connections=connections,
        responses=responses,
        initiators=collections.Counter(how for _, how in parents),
        connection_rules=rules,
        repairs=repairs,
    )


def first_moment_us(exchanges: Sequence[RecordedExchange]) -> int:
    """Beginning of a page load on the recording's clock;
    DevTools tell of a navigation after its connection was opened."""
    opened = (one.times.opened for one in exchanges)
    sent = (one.times.sent for one in exchanges)
    began = (round(1e6 * one.started_s) for one in exchanges)
    return min(moment for moment in (*began, *opened, *sent) if moment is not None)


def site_row(number: int, host: str) -> Row:
    """A site, whose rank is not known: the file's number takes its place."""
    return {
        "crawl_id": CRAWL_ID,
        "rank": number,
        "host": host,
        "attempts": 1,
        "final_visit_id": number,
    }


def visit_row(
    file: RecordedFile,
    number: int,
    first: RecordedExchange,
    document: RecordedExchange | None,
    main: int | None,
) -> Row:
    """A page load, from its first request and its main document.

    Without a document nobody waited for its answer.
    """
    failed = "aborted" if document is None else "http_error"
    return {
        "crawl_id": CRAWL_ID,
        "id": number,
        "rank": number,
        "host": (document or first).host,
        "attempt": 1,
        "is_final": True,
        "outcome": "ok" if document and document.status < 400 else failed,
        "stop_reason": None if file.load_us is None else "load",
        "scheme": urlsplit(first.url).scheme,
        "status": document and document.status,
        "main_response_id": None if main is None else main + 1,
        "final_scheme": document and urlsplit(document.url).scheme,
        "final_host": document and document.host,
        "started_at": file.started_at,
        "load_us": file.load_us,
        "page_kind": "home",
        "load": 1,
    }


def connection_row(visit: int, number: int, own: Sequence[RecordedExchange], base_us: int) -> Row:
    """A connection, from its exchanges in the order of the requests."""
    first = own[0]
    opener = next((one.times for one in own if one.times.opened is not None), first.times)
    protocol = protocol_of(first)
    ends = [one.times.last_byte for one in own if one.times.last_byte is not None]
    trip = None
    if protocol != "h3" and opener.opened is not None and opener.connected is not None:
        trip = opener.connected - opener.opened
    return {
        "crawl_id": CRAWL_ID,
        "visit_id": visit,
        "id": number,
        "host": first.host,
        "port": port_of(first),
        "remote_address": next((one.address for one in own if one.address), None),
        "protocol": protocol,
        "tls_version": "unknown" if urlsplit(first.url).scheme == "https" else None,
        "response_count": len(own),
        "opened_us": since(base_us, opener.opened),
        "connected_us": since(base_us, opener.connected),
        "last_byte_us": since(base_us, max(ends, default=None)),
        "initial_window_unknown": "quic" if protocol == "h3" else "not_captured",
        "round_trip_us": trip or None,
    }


def response_rows(
    visit: int,
    kept: Sequence[RecordedExchange],
    groups: Sequence[Sequence[int]],
    parents: Sequence[tuple[int | None, str]],
    base_us: int,
) -> list[Row]:
    """Rows of the exchanges, without delays."""
    places = {
        place: {"connection_id": connection, "position": position}
        for connection, group in enumerate(groups, start=1)
        for position, place in enumerate(group, start=1)
    }
    rows = []
    for place, (one, (above, how)) in enumerate(zip(kept, parents, strict=True)):
        leading = None if above is None else above + 1
        rows.append(
            {
                "crawl_id": CRAWL_ID,
                "visit_id": visit,
                "id": place + 1,
                **places[place],
                "initiator_id": None if how == "redirect" else leading,
                "redirected_from_id": leading if how == "redirect" else None,
                "method": one.method,
                "scheme": urlsplit(one.url).scheme,
                "host": one.host,
                "protocol": protocol_of(one),
                "resource_type": kind_of(one),
                "status": one.status,
                "mime_type": one.mime_type or None,
                "content_encoding": one.headers.get("content-encoding"),
                "from_cache": False,
                **dataclasses.asdict(sizes_of(one)),
                "decoded_bytes": one.decoded_bytes,
                "request_sent_us": since(base_us, one.times.sent),
                "first_byte_us": since(base_us, one.times.first_byte),
                "last_byte_us": since(base_us, one.times.last_byte),
                **freshness(one),
                "request_body_bytes": one.request_body_bytes or None,
            }
        )
    return rows


def add_delays(
    connections: Sequence[Row], responses: Sequence[Row], kept: Sequence[RecordedExchange], base_us: int
) -> None:
    """Add the delays of servers and of the browser to the rows of a page's responses."""
    addressed = [row for row in connections if row["remote_address"] is not None]
    trips = fastest(addressed, {row["id"]: row["round_trip_us"] for row in addressed})
    delays = server_delays(connections, responses, trips)
    for row, one in zip(responses, kept, strict=True):
        leading = row["redirected_from_id"] or row["initiator_id"]
        row["server_delay_us"] = delays[row["id"]]
        row["round_trip_us"] = None if delays[row["id"]] is None else trips[row["connection_id"]]
        row["browser_delay_us"], row["browser_delay_first_byte_us"] = browser_delays(
            row, responses[leading - 1] if leading else None, round(1e6 * one.started_s) - base_us
        )


def freshness(one: RecordedExchange) -> dict[str, Any]:
    """What the header says of reuse by a cache; null if no header was recorded."""
    if not one.headers:
        return dict.fromkeys(http_caching.COLUMNS)
    return dataclasses.asdict(http_caching.read(one.status, one.headers))


def since(base_us: int, moment_us: int | None) -> int | None:
    """A moment in µs since the page's first request."""
    return None if moment_us is None else moment_us - base_us


def sizes_of(one: RecordedExchange) -> Sizes:
    """Sizes of a response: header and body if both are known, apart or together; else unknown.

    What Chrome's DevTools count of HTTP/2 and HTTP/3 includes the headers of frames.
    """
    wire = wire_bytes(one)
    body = None if one.total_bytes is not None else one.body_bytes
    return Sizes(
        wire_bytes=wire,
        wire_bytes_unknown=None if wire is not None else reason(one),
        header_bytes=None if wire is None or body is None else wire - body,
        body_bytes=body,
        is_complete=None if wire is None else one.is_complete,
    )


def wire_bytes(one: RecordedExchange) -> int | None:
    """Header, framing and encoded body; None where either the header's or the body's size is unknown."""
    if one.is_cached or not one.status:
        return None
    if one.total_bytes is not None:
        return one.total_bytes
    if one.body_bytes is None or one.header_bytes is None or one.header_is_text:
        return None
    return one.header_bytes + one.body_bytes


def reason(one: RecordedExchange) -> str:
    """Why a size is unknown: a value of response.wire_bytes_unknown."""
    return "from_cache" if one.is_cached else "not_recorded" if one.status else "no_response"
