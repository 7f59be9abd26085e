"""A recorded page load as the rows of a release's tables."""

from __future__ import annotations

import collections
import dataclasses
import datetime
import types
from collections.abc import Hashable, Mapping, Sequence
from typing import Any, NamedTuple, TypeAlias
from urllib.parse import urlsplit

from recordings.connections import CONNECTION_RULES, MULTIPLEXED, NetworkRequest, RebuiltTraffic, rebuild
from recordings.exchange import RecordedExchange, port_of
from recordings.page import PageLoad, find_parents, kind_of, resource_types
from recordings.sizes import TEXTUAL
from schema import http_caching
from schema.server_delay import fastest, server_delays

CRAWL_ID = 1
"""Number of the crawl within its release; recorded crawls are in no database."""

NAMED = "named"

CONNECTIONS: dict[str, str] = {NAMED: "recorded: the connection's name"} | CONNECTION_RULES

INITIATORS: dict[str, str] = {
    "initiator": "recorded: the URL of the initiator",
    "redirect": "recorded: the response that redirected here",
    "referer": "inferred: the response whose URL Referer is",
    "guess": "inferred: the main document, since nothing tells the initiator",
    "start": "none: the navigation, and what came before the main document",
}
"""Rules by which a request has its initiator, with the evidence."""

Row: TypeAlias = "dict[str, Any]"


class PageRows(NamedTuple):
    """The rows of a page, and counts of what was inferred."""

    site: Row
    visit: Row
    connections: list[Row]
    responses: list[Row]
    initiators: collections.Counter[str]
    connection_rules: collections.Counter[str]
    protocol_rules: Mapping[str, int] = types.MappingProxyType({})


def page_rows(load: PageLoad, number: int, *, started_at: datetime.datetime | None = None) -> PageRows:
    """Return the rows of a page load as visit `number`, which began at `started_at`."""
    kept = load.exchanges
    base_us = first_moment_us(kept)
    groups, rules = connections_of(kept)
    parents = find_parents(kept, load.main)
    connections = [
        connection_row(number, place, [kept[entry] for entry in group], base_us)
        for place, group in enumerate(groups, start=1)
    ]
    responses = response_rows(number, load, groups, parents, base_us)
    addressed = [row for row in connections if row["remote_address"] is not None]
    trips = fastest(addressed, {row["id"]: row["round_trip_us"] for row in addressed})
    add_delays(
        connections, responses, trips, [round(1e6 * exchange.started_s) - base_us for exchange in kept]
    )
    document, main = load.document, load.main
    visit = visit_row(
        number,
        host=load.host,
        scheme=urlsplit(load.first.url).scheme,
        document=None
        if document is None
        else ShownDocument(
            None if main is None else main + 1, document.status, urlsplit(document.url).scheme, document.host
        ),
        load_us=load.load_us,
        started_at=started_at,
    )
    if document is None:
        visit["outcome"] = "aborted"  # nobody waited for its answer
    return PageRows(
        site=site_row(number, load.host),
        visit=visit,
        connections=connections,
        responses=responses,
        initiators=collections.Counter(how for _, how in parents),
        connection_rules=rules,
    )


def first_moment_us(exchanges: Sequence[RecordedExchange]) -> int:
    """Return the load's beginning on the recording's clock; DevTools tell of a navigation after its
    connection was opened.
    """
    moments = [
        moment
        for exchange in exchanges
        for moment in (round(1e6 * exchange.started_s), exchange.times.opened, exchange.times.sent)
        if moment is not None
    ]
    return min(moments, default=0)


def site_row(number: int, host: str, *, magnitude: int | None = None) -> Row:
    """Return a site, with its number for an unknown rank."""
    return {
        "crawl_id": CRAWL_ID,
        "rank": number,
        "host": host,
        "magnitude": magnitude,
        "attempts": 1,
        "final_visit_id": number,
    }


class ShownDocument(NamedTuple):
    """The response that a page load shows."""

    response_id: int | None
    """Id of the response; None if it did not cross the network."""
    status: int | None
    scheme: str
    host: str


def visit_row(
    number: int,
    *,
    host: str,
    scheme: str,
    document: ShownDocument | None,
    load_us: int | None = None,
    started_at: datetime.datetime | None = None,
) -> Row:
    status = None if document is None else document.status
    return {
        "crawl_id": CRAWL_ID,
        "id": number,
        "rank": number,
        "host": host,
        "attempt": 1,
        "is_final": True,
        "outcome": "ok" if status is None or status < 400 else "http_error",
        "stop_reason": None if load_us is None else "load",
        "scheme": scheme,
        "status": status,
        "main_response_id": None if document is None else document.response_id,
        "final_scheme": None if document is None else document.scheme,
        "final_host": None if document is None else document.host,
        "started_at": started_at,
        "load_us": load_us,
        "page_kind": "home",
        "load": 1,
    }


def connection_row(visit: int, number: int, own: Sequence[RecordedExchange], base_us: int) -> Row:
    first = own[0]
    opener = next((exchange.times for exchange in own if exchange.times.opened is not None), first.times)
    protocol = protocol_of(first)
    ends = [exchange.times.last_byte for exchange in own if exchange.times.last_byte is not None]
    trip = None
    if protocol != "h3" and opener.opened is not None and opener.connected is not None:
        trip = opener.connected - opener.opened
    return {
        "crawl_id": CRAWL_ID,
        "visit_id": visit,
        "id": number,
        "host": first.host,
        "port": port_of(first),
        "remote_address": next((exchange.address for exchange in own if exchange.address), None),
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
    load: PageLoad,
    groups: Sequence[Sequence[int]],
    parents: Sequence[tuple[int | None, str]],
    base_us: int,
) -> list[Row]:
    places = {
        place: {"connection_id": connection, "position": position}
        for connection, group in enumerate(groups, start=1)
        for position, place in enumerate(group, start=1)
    }
    rows = []
    of_page = zip(load.exchanges, resource_types(load), parents, strict=True)
    for place, (exchange, kind, (above, how)) in enumerate(of_page):
        leading = None if above is None else above + 1
        rows.append(
            {
                "crawl_id": CRAWL_ID,
                "visit_id": visit,
                "id": place + 1,
                **places[place],
                "initiator_id": None if how == "redirect" else leading,
                "redirected_from_id": leading if how == "redirect" else None,
                "method": exchange.method,
                "scheme": urlsplit(exchange.url).scheme,
                "host": exchange.host,
                "protocol": protocol_of(exchange),
                "resource_type": kind,
                "status": exchange.status,
                "mime_type": exchange.mime_type or None,
                "content_encoding": exchange.headers.get("content-encoding"),
                "from_cache": False,
                **dataclasses.asdict(exchange.sizes),
                "request_sent_us": since(base_us, exchange.times.sent),
                "first_byte_us": since(base_us, exchange.times.first_byte),
                "last_byte_us": since(base_us, exchange.times.last_byte),
                **read_freshness(exchange),
                "request_body_bytes": exchange.request_body_bytes or None,
            }
        )
    return rows


def add_delays(
    connections: Sequence[Row], responses: Sequence[Row], trips: Mapping[int, int], began: Sequence[int]
) -> None:
    """Add the delays of servers and of the browser.

    `trips` has each connection's round trip, `began` each request's beginning in the browser, both in µs.
    """
    delays = server_delays(connections, responses, trips)
    for row, began_us in zip(responses, began, strict=True):
        leading = row["redirected_from_id"] or row["initiator_id"]
        row["server_delay_us"] = delays[row["id"]]
        row["round_trip_us"] = None if delays[row["id"]] is None else trips[row["connection_id"]]
        row["browser_delay_us"], row["browser_delay_first_byte_us"] = browser_delays(
            row, responses[leading - 1] if leading else None, began_us
        )


def browser_delays(
    row: Mapping[str, Any], leading: Mapping[str, Any] | None, began_us: int
) -> tuple[int | None, int | None]:
    """Return the time from the leading response's last and first byte to a request, in µs; None if
    negative."""
    if leading is None or row["request_sent_us"] is None:
        return None, None
    after_last, after_first = (
        None if leading[name] is None or began_us < leading[name] else began_us - leading[name]
        for name in ("last_byte_us", "first_byte_us")
    )
    return after_last, after_first


def read_freshness(exchange: RecordedExchange) -> Row:
    if not exchange.headers:
        return dict.fromkeys(http_caching.COLUMNS)
    return dataclasses.asdict(http_caching.read(exchange.status, exchange.headers))


def connections_of(kept: Sequence[RecordedExchange]) -> tuple[list[list[int]], collections.Counter[str]]:
    """Return places in `kept` by connection, in the order of first use, and exchanges by rule."""
    groups: dict[tuple[Hashable, ...], list[int]] = collections.defaultdict(list)
    rules: collections.Counter[str] = collections.Counter()
    unnamed = [place for place, exchange in enumerate(kept) if not exchange.connection]
    for place, exchange in enumerate(kept):
        if exchange.connection:
            groups[NAMED, exchange.connection, protocol_of(exchange)].append(place)
            rules[NAMED] += 1
    traffic = rebuild(network_requests(kept, unnamed)) if unnamed else RebuiltTraffic([], {}, {})
    for number, connection in enumerate(traffic.connections):
        groups["rebuilt", number] = sorted(request.entry for request in connection.requests)
    rules.update(traffic.rules.values())
    return sorted(groups.values()), rules


def network_requests(kept: Sequence[RecordedExchange], places: Sequence[int]) -> list[NetworkRequest]:
    base_us = round(1e6 * min(exchange.started_s for exchange in kept))
    requests = []
    for place in places:
        exchange = kept[place]
        began, times = round(1e6 * exchange.started_s), exchange.times
        opened = None if times.connected is None or times.sent is None else times.opened
        requests.append(
            NetworkRequest(
                entry=place,
                began_us=max(0, began - base_us),
                origin=(urlsplit(exchange.url).scheme, exchange.host, port_of(exchange)),
                address=exchange.address or None,
                protocol=protocol_of(exchange),
                is_secure=urlsplit(exchange.url).scheme == "https",
                is_anonymous=kind_of(exchange) == "font",
                dns_us=between(began, opened),
                connect_us=between(opened, times.sent),
                ssl_us=None if opened is None else between(times.connected, times.sent),
                wait_us=between(times.sent, times.first_byte),
                receive_us=between(times.first_byte, times.last_byte),
            )
        )
    return requests


def protocol_of(exchange: RecordedExchange) -> str | None:
    """Return the ALPN name; SPDY, from which HTTP/2 was made, counts as HTTP/2."""
    return alpn("h2" if exchange.protocol == "spdy" else exchange.protocol)


def alpn(protocol: str | None) -> str | None:
    """Return the ALPN name; HTTP/1.0, which has none, counts as HTTP/1.1.

    >>> alpn("h2"), alpn("http/1.0"), alpn("")
    ('h2', 'http/1.1', None)
    """
    return protocol if protocol in MULTIPLEXED else "http/1.1" if protocol in TEXTUAL else None


def between(start_us: int | None, end_us: int | None) -> int | None:
    """Return the time between two moments, at least 0; None if either is unknown."""
    return None if start_us is None or end_us is None else max(0, end_us - start_us)


def since(base_us: int, moment_us: int | None) -> int | None:
    return None if moment_us is None else moment_us - base_us
