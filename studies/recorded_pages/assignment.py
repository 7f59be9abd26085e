"""Assigns protocols and connections to pages that were recorded through a proxy.

A proxy speaks HTTP/1.1 whatever the server would have spoken to a browser. So three things are assumed:
protocols, by the rules below; connections, one for each origin over HTTP/2 and HTTP/3; and the size of
headers, half of their text over both (`replay/recipes/page_recipe.py`). What made the browser ask is inferred
as for other recordings, by Referer, type and order.
"""

import dataclasses
from collections.abc import Mapping, Sequence

from recordings.connections import RebuiltTraffic, RequestTimes, rebuild
from studies.recorded_pages.request import RequestFacts, microseconds

ELSEWHERE = "elsewhere"
OFFERED = "offered"
SECURE = "secure"
CLEAR = "clear"

PROTOCOL_RULES: Mapping[str, str] = {
    ELSEWHERE: "recorded elsewhere: what the same host spoke to the pages of August 2025",
    OFFERED: "assumed: HTTP/3, since a response of the origin offers it by Alt-Svc",
    SECURE: "assumed: HTTP/2 over https",
    CLEAR: "assumed: HTTP/1.1 over http",
}
"""Rules by which an origin has its protocol, the first that holds."""


def protocols_of(requests: Sequence[RequestFacts]) -> dict[int, tuple[str, str]]:
    """Return the protocol of each origin of a page, and the rule that it is assigned by."""
    protocols = {}
    for origin in {request.origin for request in requests}:
        own = [request for request in requests if request.origin == origin]
        spoken = next((request.protocol_elsewhere for request in own if request.protocol_elsewhere), None)
        if own[0].scheme != "https":
            protocols[origin] = ("http/1.1", CLEAR)
        elif spoken is not None:
            protocols[origin] = (spoken, ELSEWHERE)
        elif any(request.offers_h3 for request in own):
            protocols[origin] = ("h3", OFFERED)
        else:
            protocols[origin] = ("h2", SECURE)
    return protocols


def assign(requests: Sequence[RequestFacts]) -> list[RequestFacts]:
    """Return the requests of a page over their assigned protocols.

    Over HTTP/2 and HTTP/3 the first answered request of an origin opens its connection; the handshakes of
    others are left out, which a browser would not have made.
    """
    protocols = protocols_of(requests)
    opened: set[int] = set()
    assigned = []
    for request in requests:
        over = dataclasses.replace(request, protocol=protocols[request.origin][0])
        if over.is_multiplexed and over.crossed_network:
            if over.origin in opened:
                over = dataclasses.replace(over, dns_ms=None, connect_ms=None, ssl_ms=None)
            opened.add(over.origin)
        assigned.append(over)
    return assigned


def assigned_traffic(recorded: Sequence[RequestFacts], assigned: Sequence[RequestFacts]) -> RebuiltTraffic:
    """Return the connections of assigned requests, with the times that were recorded: what a response led to
    began after its arrival through the proxy."""
    traffic = rebuild([request.network_request for request in assigned if request.crossed_network])
    times = {request.entry: times_of(request) for request in recorded if request.crossed_network}
    return RebuiltTraffic(traffic.connections, times, traffic.rules)


def times_of(request: RequestFacts) -> RequestTimes:
    """Return the times of a request by its own phases: handshakes, wait, receipt."""
    if request.wait_ms is None:
        return RequestTimes()
    sent_ms = request.started_ms + (request.dns_ms or 0) + (request.connect_ms or 0)
    first_ms = sent_ms + request.wait_ms
    last_ms = None if request.receive_ms is None else first_ms + request.receive_ms
    return RequestTimes(
        sent_us=microseconds(sent_ms),
        first_us=microseconds(first_ms),
        last_us=None if last_ms is None else microseconds(last_ms),
    )
