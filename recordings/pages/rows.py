"""Recorded pages as the rows of a release's tables."""

import collections
import dataclasses
from collections.abc import Sequence
from typing import Any

from recordings.pages.connections import Traffic, rebuild
from recordings.pages.delays import browser_delays, handshake_round_trip, round_trips
from recordings.pages.initiators import Initiator, find_initiators
from recordings.pages.kinds import kind_of, priority_of
from recordings.pages.recording import RecordedPage, Recording, Source
from recordings.pages.request import PageRequest, alpn
from recordings.pages.sizes import sizes_of
from schema import http_caching
from schema.recorded import RECORDED
from schema.server_delay import server_delays

CRAWL_ID = 1
"""Number of the crawl within its release; recorded crawls are in no database."""

METHOD = "recorded-2"
"""Version of the method by which a recording becomes a release;
a change of any value needs the next number."""

Row = dict[str, Any]


@dataclasses.dataclass(slots=True)
class Observations:
    """The rows of a recorded release by table, and counts of what was inferred."""

    tables: dict[str, list[Row]]
    initiators: collections.Counter[str]
    """Number of requests by the rule of their initiator."""
    connections: collections.Counter[str]
    """Number of requests by the rule of their connection."""


def observe(recording: Recording) -> Observations:
    """The rows of all pages, in the order of their keys."""
    found = Observations(
        tables={
            "crawl": [
                crawl_row(
                    recording.source,
                    browser=browser_of(recording),
                    method=METHOD,
                    has_quic=any(one.protocol == "h3" for page in recording.pages for one in page.requests),
                )
            ],
            "site": [site_row(recording, page) for page in recording.pages],
            "visit": [visit_row(page) for page in recording.pages],
            "connection": [],
            "response": [],
        },
        initiators=collections.Counter(),
        connections=collections.Counter(),
    )
    for page in recording.pages:
        traffic = rebuild(page.requests)
        initiators = find_initiators(page.requests, traffic.times)
        connections, responses = traffic_rows(page, traffic, initiators)
        found.tables["connection"] += connections
        found.tables["response"] += responses
        found.initiators.update(one.rule for one in initiators)
        found.connections.update(traffic.rules.values())
    return found


def crawl_row(source: Source, *, browser: str, method: str, has_quic: bool) -> Row:
    """The crawl: where and when the recording was made, by which browser, and how it became a release."""
    return {
        "id": CRAWL_ID,
        "month": source.month,
        "device": source.device,
        "vantage": source.vantage,
        "arm": "quic" if has_quic else "tcp",
        "kind": RECORDED,
        "list_id": source.id,
        "method_version": method,
        "commit": source.commit,
        "browser": browser,
        "loads": 1,
        "inner_pages": 0,
    }


def browser_of(recording: Recording) -> str:
    """Product and builds of the browsers that made the recording."""
    return ", ".join(f"Chromium/{build}" for build in sorted({page.browser for page in recording.pages}))


def site_row(recording: Recording, page: RecordedPage) -> Row:
    """A site, whose rank is not known: the page's number takes its place."""
    return {
        "crawl_id": CRAWL_ID,
        "rank": page.number,
        "host": page_host(page.number),
        "magnitude": recording.source.magnitude,
        "attempts": 1,
        "final_visit_id": page.number,
    }


def page_host(page: int) -> str:
    """Made-up host of a page's site."""
    return f"page-{page}.invalid"


def origin_host(page: int, origin: int) -> str:
    """Made-up host of an origin of a page; `.invalid` is reserved (RFC 2606)."""
    return f"page-{page}-origin-{origin}.invalid"


def visit_row(page: RecordedPage) -> Row:
    """A page load."""
    main = next(one for one in page.requests if one.is_main_document)
    return {
        "crawl_id": CRAWL_ID,
        "id": page.number,
        "rank": page.number,
        "host": page_host(page.number),
        "attempt": 1,
        "is_final": True,
        "outcome": "ok" if main.status is not None and main.status < 400 else "http_error",
        "stop_reason": None if page.load_us is None else "load",
        "scheme": page.requests[0].scheme,
        "status": main.status,
        "main_response_id": main.entry + 1,
        "final_scheme": main.scheme,
        "final_host": origin_host(page.number, main.origin),
        "load_us": page.load_us,
        "page_kind": "home",
        "load": 1,
    }


def traffic_rows(
    page: RecordedPage, traffic: Traffic, initiators: Sequence[Initiator]
) -> tuple[list[Row], list[Row]]:
    """Rows of a page's connections and of its responses."""
    connections = connection_rows(page, traffic)
    places: dict[int, tuple[int, int]] = {}
    for number, connection in enumerate(traffic.connections, start=1):
        for position, one in enumerate(connection.requests, start=1):
            places[one.entry] = (number, position)
    responses = [
        response_row(page, one, traffic, places.get(one.entry, (None, None)), initiators[one.entry])
        for one in page.requests
    ]
    trips = round_trips(connections, traffic)
    delays = server_delays(connections, responses, trips)
    for row, one in zip(responses, page.requests, strict=True):
        leading = row["redirected_from_id"] or row["initiator_id"]
        after_last, after_first = browser_delays(
            row, responses[leading - 1] if leading else None, one.began_us
        )
        row["server_delay_us"] = delays[row["id"]]
        row["round_trip_us"] = None if delays[row["id"]] is None else trips[row["connection_id"]]
        row["browser_delay_us"], row["browser_delay_first_byte_us"] = after_last, after_first
    return connections, responses


def connection_rows(page: RecordedPage, traffic: Traffic) -> list[Row]:
    """Rows of a page's connections, in the order of opening."""
    rows = []
    for number, one in enumerate(traffic.connections, start=1):
        ends = [traffic.times[each.entry].last_us for each in one.requests]
        known = [end for end in ends if end is not None]
        rows.append(
            {
                "crawl_id": CRAWL_ID,
                "visit_id": page.number,
                "id": number,
                "host": origin_host(page.number, one.origin),
                "remote_address": None
                if one.address is None
                else f"page-{page.number}-address-{one.address}",
                "protocol": one.protocol,
                "tls_version": tls_version(one.tls, one.protocol) if one.is_secure else None,
                "response_count": len(one.requests),
                "opened_us": one.opened_us,
                "connected_us": one.connected_us,
                "secured_us": one.ready_us if one.is_secure else None,
                "last_byte_us": max(known, default=None),
                "initial_window_unknown": "quic" if one.protocol == "h3" else "not_captured",
                "round_trip_us": handshake_round_trip(one),
            }
        )
    return rows


def tls_version(recorded: str | None, protocol: str) -> str:
    """The TLS version; QUIC has no other than TLS 1.3 (RFC 9001 §4.2)."""
    return "TLS 1.3" if protocol == "h3" else recorded or "unknown"


def response_row(
    page: RecordedPage,
    one: PageRequest,
    traffic: Traffic,
    place: tuple[int | None, int | None],
    initiator: Initiator,
) -> Row:
    """Row of a response, without its delays."""
    times = traffic.times.get(one.entry)
    leading = None if initiator.entry is None else initiator.entry + 1
    redirected = initiator.rule == "redirect"
    urgency, is_incremental = priority_of(one)
    return {
        "crawl_id": CRAWL_ID,
        "visit_id": page.number,
        "id": one.entry + 1,
        "connection_id": place[0],
        "position": place[1],
        "initiator_id": None if redirected else leading,
        "redirected_from_id": leading if redirected else None,
        "method": one.method,
        "scheme": one.scheme,
        "host": origin_host(page.number, one.origin),
        "protocol": alpn(one.protocol) if one.crossed_network else None,
        "resource_type": kind_of(one),
        "status": one.status,
        "mime_type": None if one.mime_type == "x-unknown" else one.mime_type,
        "content_encoding": one.content_encoding,
        "from_cache": one.from_cache,
        **dataclasses.asdict(sizes_of(one)),
        "request_sent_us": times.sent_us if times else None,
        "first_byte_us": times.first_us if times else None,
        "last_byte_us": times.last_us if times else None,
        **freshness(one),
        "request_body_bytes": one.request_body_bytes or None,
        "urgency": urgency,
        "is_incremental": is_incremental,
    }


def freshness(one: PageRequest) -> Row:
    """What the header says of reuse by a cache; Expires, Last-Modified, Date and Vary were not kept."""
    if one.has_validator is None or not one.crossed_network:
        return dict.fromkeys(http_caching.COLUMNS)
    headers = {"cache-control": one.cache_control or "", "age": one.age or ""}
    found = dataclasses.asdict(http_caching.read(one.status, headers)) | {"has_validator": one.has_validator}
    if found["lifetime_by"] == "none":
        found["lifetime_by"] = http_caching.NOT_RECORDED
    return found
