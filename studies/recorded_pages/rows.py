"""Recorded pages of which facts alone are kept, as the content of a release."""

import collections
import dataclasses
from collections.abc import Sequence

from recordings.connections import (
    COALESCED,
    CONNECTION_RULES,
    OPENED,
    REUSED,
    UNSEEN,
    RebuiltConnection,
    RebuiltTraffic,
    RequestTimes,
    open_connection,
    rebuild,
)
from recordings.pages.sets import AUGUST_2025
from recordings.release import Content, Rules, make_content
from recordings.rows import (
    CONNECTIONS,
    CRAWL_ID,
    NAMED,
    PageRows,
    Row,
    ShownDocument,
    add_delays,
    alpn,
    site_row,
    visit_row,
)
from schema import http_caching
from schema.recorded import notes_of
from schema.server_delay import fastest
from schema.vocabulary import SELECTED
from studies.recorded_pages.assignment import PROTOCOL_RULES, assign, assigned_traffic, protocols_of
from studies.recorded_pages.facts import PageFacts, RecordingFacts
from studies.recorded_pages.initiators import INFERRED, NONE, REDIRECT, RULES, Initiator, find_initiators
from studies.recorded_pages.request import RequestFacts, microseconds, sizes_of

METHOD = "recorded-2"
"""Version of the method by which a recording becomes a release;
a change of any value needs the next number."""

PRIORITIES: dict[str, tuple[int, bool]] = {
    "document": (0, True),
    "iframe": (0, True),
    "style": (0, False),
    "font": (0, False),
    "fetch": (1, True),
    "media": (3, True),
}
"""Urgency and whether incremental (RFC 9218) that Chromium gives a type, where nothing but the type decides.

Those of scripts and images hang on attributes and places in the page, which were not recorded.
"""

INITIATOR = "initiator"
"""Rule of requests whose initiator the recording names."""

NAMED_INITIATORS = {
    REDIRECT: RULES[REDIRECT],
    INITIATOR: "recorded: the URL of the initiator",
    NONE: "none: not recorded, the navigation, and what came before the main document",
}

ASSIGNED_CONNECTIONS = {
    OPENED: "assigned: opened for the first request of its origin, or over HTTP/1.1 as through the proxy",
    REUSED: "assigned: the connection of its origin",
    COALESCED: "assigned: another origin's connection to the same address, without handshakes of its own",
    UNSEEN: "assigned: a connection opened before it was needed, at unknown times",
}
"""Rules by which a request through a proxy has its connection."""

BROWSERS = {
    "tranco-2023-11": "Chrome/119",
    "tranco-2023-11b": "Chrome",
    "tranco-2024-11": "HeadlessChrome/126",
}
"""Browsers of recordings that name no build."""

UNKNOWN = Initiator(None, NONE)

TLS_ROUND_TRIPS = {"TLS 1.2": 2}
"""Round trips of a full handshake (RFC 5246 §7.3);
one for every other version (RFC 8446 §2, RFC 9001 §4.1)."""


def content_of(recording: RecordingFacts) -> Content:
    """Return the content of a release of all pages."""
    pages = [page_rows(recording, page) for page in recording.pages]
    names_initiators = any(INITIATOR in page.initiators for page in pages)
    names_connections = any(NAMED in page.connection_rules for page in pages)
    return make_content(
        pages,
        recording.source,
        recording.files,
        browser=browser_of(recording),
        method=METHOD,
        initiators=Rules(NAMED_INITIATORS if names_initiators else RULES, INFERRED),
        connections=Rules(ASSIGNED_CONNECTIONS, frozenset(ASSIGNED_CONNECTIONS))
        if recording.is_proxied
        else Rules(
            CONNECTIONS if names_connections else CONNECTION_RULES, frozenset(CONNECTION_RULES) - {OPENED}
        ),
        protocols=Rules(PROTOCOL_RULES, frozenset(PROTOCOL_RULES)) if recording.is_proxied else None,
        notes=notes_of(form_of(recording)),
    )


def form_of(recording: RecordingFacts) -> str:
    """Return the form of a recording, by which `schema/recorded.toml` says what its columns mean."""
    if recording.is_proxied:
        return "proxied"
    return "pages" if recording.source.id == AUGUST_2025 else "other_years"


def page_rows(recording: RecordingFacts, page: PageFacts) -> PageRows:
    """Return the rows of a page."""
    assigned = assign(page.requests) if recording.is_proxied and page.is_whole else page.requests
    if recording.is_proxied:
        traffic = assigned_traffic(page.requests, assigned if page.is_whole else [])
    else:
        traffic = traffic_of(page.requests)
    initiators = initiators_of(assigned, traffic) if page.is_whole else [UNKNOWN] * len(page.requests)
    connections, responses = traffic_rows(dataclasses.replace(page, requests=assigned), traffic, initiators)
    if recording.is_proxied:
        for row in responses:
            row["protocol"] = None
    main = next((request for request in page.requests if request.is_main_document), None)
    if recording.source.types:
        for row in responses:
            row["size_basis"] = None if row["wire_bytes"] is None else SELECTED
    return PageRows(
        site=site_row(page.number, page_host(page.number), magnitude=recording.source.magnitude),
        visit=visit_row(
            page.number,
            host=page_host(page.number),
            scheme=page.requests[0].scheme,
            document=None
            if main is None
            else ShownDocument(
                main.entry + 1, main.status, main.scheme, origin_host(page.number, main.origin)
            ),
            load_us=page.load_us,
        ),
        connections=connections,
        responses=responses,
        initiators=collections.Counter(initiator.rule for initiator in initiators),
        connection_rules=collections.Counter(traffic.rules.values()),
        protocol_rules=collections.Counter(
            rules[request.origin][1] for request in page.requests if request.entry in traffic.rules
        )
        if recording.is_proxied and (rules := protocols_of(page.requests))
        else collections.Counter(),
    )


def traffic_of(requests: Sequence[RequestFacts]) -> RebuiltTraffic:
    """Return the connections of a page: as recorded, else rebuilt; none where no times were recorded."""
    crossed = [request for request in requests if request.crossed_network]
    if all(request.connection is None for request in crossed):
        timed = any(request.wait_ms is not None for request in crossed)
        return (
            rebuild([request.network_request for request in crossed]) if timed else RebuiltTraffic([], {}, {})
        )
    connections: dict[int, RebuiltConnection] = {}
    times, used = {}, {}
    for request in sorted(crossed, key=lambda request: (sent_us(request), request.entry)):
        each, sent = request.network_request, sent_us(request)
        first = None if each.wait_us is None else sent + each.wait_us
        last = None if first is None or each.receive_us is None else first + each.receive_us
        times[request.entry] = RequestTimes(sent_us=sent, first_us=first, last_us=last)
        if request.connection is None:
            continue
        used[request.entry] = NAMED
        if request.connection not in connections:
            connections[request.connection] = open_connection(each, opener=None)
        own = connections[request.connection]
        own.requests.append(each)
        own.protocol = own.protocol or each.protocol
        if own.opener is None and each.connect_us is not None:
            own.opener = each
    return RebuiltTraffic(
        sorted(connections.values(), key=lambda connection: connection.begins_us), times, used
    )


def sent_us(request: RequestFacts) -> int:
    return request.began_us if request.sent_ms is None else microseconds(request.sent_ms)


def initiators_of(requests: Sequence[RequestFacts], traffic: RebuiltTraffic) -> list[Initiator]:
    """Return the initiator of each request: as recorded, else inferred; none where no times were recorded."""
    if all(request.initiator_entry is None and request.connection is None for request in requests):
        return find_initiators(requests, traffic.times) if traffic.times else [UNKNOWN] * len(requests)
    return [
        Initiator(request.redirected_from, REDIRECT)
        if request.redirected_from is not None and request.redirected_from < request.entry
        else UNKNOWN
        if request.initiator_entry is None or request.initiator_entry >= request.entry
        else Initiator(request.initiator_entry, INITIATOR)
        for request in requests
    ]


def traffic_rows(
    page: PageFacts, traffic: RebuiltTraffic, initiators: Sequence[Initiator]
) -> tuple[list[Row], list[Row]]:
    places = {
        request.entry: (number, position)
        for number, connection in enumerate(traffic.connections, start=1)
        for position, request in enumerate(connection.requests, start=1)
    }
    connections = connection_rows(page, traffic)
    responses = [
        response_row(
            page, request, traffic, places.get(request.entry, (None, None)), initiators[request.entry]
        )
        for request in page.requests
    ]
    trips = find_round_trips(connections, traffic)
    add_delays(connections, responses, trips, [request.began_us for request in page.requests])
    return connections, responses


def browser_of(recording: RecordingFacts) -> str:
    builds = sorted({page.browser for page in recording.pages})
    return ", ".join(f"Chromium/{build}" if build else BROWSERS[recording.source.id] for build in builds)


def page_host(page: int) -> str:
    return f"page-{page}.invalid"


def origin_host(page: int, origin: object) -> str:
    """Return the made-up host of an origin of a page; `.invalid` is reserved (RFC 2606)."""
    return f"page-{page}-origin-{origin}.invalid"


def connection_rows(page: PageFacts, traffic: RebuiltTraffic) -> list[Row]:
    """Return rows of a page's connections, in the order of opening."""
    rows = []
    for number, connection in enumerate(traffic.connections, start=1):
        ends = [traffic.times[each.entry].last_us for each in connection.requests]
        known = [end for end in ends if end is not None]
        rows.append(
            {
                "crawl_id": CRAWL_ID,
                "visit_id": page.number,
                "id": number,
                "host": origin_host(page.number, connection.origin),
                "remote_address": None
                if connection.address is None
                else f"page-{page.number}-address-{connection.address}",
                "protocol": connection.protocol,
                "tls_version": tls_version(connection.tls, connection.protocol)
                if connection.is_secure
                else None,
                "response_count": len(connection.requests),
                "opened_us": connection.opened_us,
                "connected_us": connection.connected_us,
                "secured_us": connection.ready_us if connection.is_secure else None,
                "last_byte_us": max(known, default=None),
                "initial_window_unknown": "quic" if connection.protocol == "h3" else "not_captured",
                "round_trip_us": handshake_round_trip(connection),
            }
        )
    return rows


def tls_version(recorded: str | None, protocol: str | None) -> str:
    """Return the TLS version; QUIC has no other than TLS 1.3 (RFC 9001 §4.2)."""
    return "TLS 1.3" if protocol == "h3" else recorded or "unknown"


def response_row(
    page: PageFacts,
    request: RequestFacts,
    traffic: RebuiltTraffic,
    place: tuple[int | None, int | None],
    initiator: Initiator,
) -> Row:
    """Return the row of a response, without its delays."""
    times = traffic.times.get(request.entry)
    leading = None if initiator.entry is None else initiator.entry + 1
    redirected = initiator.rule == "redirect"
    urgency, is_incremental = priority_of(request)
    return {
        "crawl_id": CRAWL_ID,
        "visit_id": page.number,
        "id": request.entry + 1,
        "connection_id": place[0],
        "position": place[1],
        "initiator_id": None if redirected else leading,
        "redirected_from_id": leading if redirected else None,
        "method": request.method,
        "scheme": request.scheme,
        "host": origin_host(page.number, request.origin),
        "protocol": alpn(request.protocol) if request.crossed_network else None,
        "resource_type": request.kind,
        "status": request.status,
        "mime_type": None if request.mime_type == "x-unknown" else request.mime_type,
        "content_encoding": request.content_encoding,
        "from_cache": request.from_cache,
        **dataclasses.asdict(sizes_of(request)),
        "request_sent_us": times.sent_us if times else None,
        "first_byte_us": times.first_us if times else None,
        "last_byte_us": times.last_us if times else None,
        **read_freshness(request),
        "request_body_bytes": request.request_body_bytes or None,
        "urgency": urgency,
        "is_incremental": is_incremental,
    }


def priority_of(request: RequestFacts) -> tuple[int | None, bool | None]:
    """Return the urgency and whether incremental; None over HTTP/1.1, and where the type alone does not
    decide."""
    priority = PRIORITIES.get(request.kind) if request.is_multiplexed and request.crossed_network else None
    return priority or (None, None)


def handshake_round_trip(connection: RebuiltConnection) -> int | None:
    """Round trip that a connection's handshakes show, in µs.

    None if it was opened unseen or without a round trip. A proxy on the way may answer a TCP handshake
    itself, as the VPN of the bundled pages did: the TLS handshake is what went to the server and back, and
    the longer of both is nearer to the truth. It includes the server's cryptography. A resumed TLS 1.2
    handshake takes one round trip, and is taken for half of it.
    """
    opener = connection.opener
    if opener is None or connection.connected_us is None or connection.opened_us is None:
        return None
    tcp = connection.connected_us - connection.opened_us
    secure = (opener.ssl_us or 0) if connection.is_secure else 0
    return max(tcp, secure // TLS_ROUND_TRIPS.get(connection.tls or "", 1)) or None


def find_round_trips(connections: list[Row], traffic: RebuiltTraffic) -> dict[int, int]:
    """Return the path's round trip in µs by connection id: the shortest handshake with its address,
    and no longer than a wait.

    No response can come sooner than a round trip after its request,
    so the shortest wait at an address bounds it.
    """
    shown = {row["id"]: row["round_trip_us"] for row in connections}
    waits = {
        row["id"]: min(
            (
                request.wait_us
                for request in connection.requests
                if request.wait_us is not None and request.has_size
            ),
            default=None,
        )
        for row, connection in zip(connections, traffic.connections, strict=True)
    }
    named = [row for row in connections if row["remote_address"] is not None]
    trips, bounds = fastest(named, shown), fastest(named, waits)
    return {number: min(trip, bounds.get(number, trip)) for number, trip in trips.items()}


def read_freshness(request: RequestFacts) -> Row:
    """Return what the header says of reuse by a cache; Expires, Last-Modified, Date and Vary were not
    kept."""
    if request.has_validator is None or not request.crossed_network:
        return dict.fromkeys(http_caching.COLUMNS)
    headers = {"cache-control": request.cache_control or "", "age": request.age or ""}
    columns = dataclasses.asdict(http_caching.read(request.status, headers)) | {
        "has_validator": request.has_validator
    }
    if columns["lifetime_by"] == "none":
        columns["lifetime_by"] = http_caching.NOT_RECORDED
    return columns
