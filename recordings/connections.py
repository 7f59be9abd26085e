"""Rebuilds the connections of a recorded page from origins, addresses and connect times.

A request with a connect time opened a connection. Any other used one that was there: over HTTP/2 and HTTP/3
that of its origin, or of another origin at the same address over the same protocol (coalescing,
RFC 9113 §9.1.1); over HTTP/1.1 an idle one of its origin. If there is none, a connection was opened before it
was needed (preconnect), and its times are unknown.
"""

import dataclasses
from collections.abc import Hashable, Sequence

MOST_HTTP1 = 6
"""Connections that Chromium opens to one host over HTTP/1.1."""

CONNECT_US = 355_000
"""Time that a new connection takes where its origin shows none: the median of the bundled pages."""

MULTIPLEXED = ("h2", "h3")

OPENED, REUSED, COALESCED, UNSEEN = "opened", "same_origin", "coalesced", "opened_unseen"

CONNECTION_RULES: dict[str, str] = {
    OPENED: "recorded: the request has a connect time",
    REUSED: "inferred: a connection of its origin and protocol",
    COALESCED: "inferred: over HTTP/2 or HTTP/3, another origin's connection to the same address",
    UNSEEN: "inferred: a connection opened before it was needed, at unknown times",
}
"""The rules with the evidence."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class NetworkRequest:
    """A request that crossed the network, as far as its connection depends on it; phases in µs."""

    entry: int
    began_us: int
    """Beginning in the browser, in µs since the page's first."""
    origin: Hashable
    address: Hashable
    protocol: str | None
    is_secure: bool
    is_anonymous: bool
    """True without credentials, as Chromium's for fonts, which have a connection of their own."""
    tls: str | None = None
    dns_us: int | None = None
    connect_us: int | None = None
    ssl_us: int | None = None
    wait_us: int | None = None
    receive_us: int | None = None
    has_size: bool = True

    @property
    def is_multiplexed(self) -> bool:
        return self.protocol in MULTIPLEXED


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class RequestTimes:
    """Times of an exchange in µs since the page's first request; None if unknown."""

    sent_us: int | None = None
    """Time of sending: after the connection was there, and over HTTP/1.1 after the response before it."""
    first_us: int | None = None
    last_us: int | None = None


@dataclasses.dataclass(kw_only=True, slots=True, eq=False)
class RebuiltConnection:
    """A connection, and the requests on it in the order of sending."""

    origin: Hashable
    address: Hashable
    protocol: str | None
    is_secure: bool
    tls: str | None
    """TLS version; None if no response on the connection names it."""
    opener: NetworkRequest | None
    requests: list[NetworkRequest] = dataclasses.field(default_factory=list)
    free_us: int = 0
    """End of the latest response on it."""

    @property
    def opened_us(self) -> int | None:
        return None if self.opener is None else self.opener.began_us + (self.opener.dns_us or 0)

    @property
    def ready_us(self) -> int | None:
        opened = self.opened_us
        return None if self.opener is None or opened is None else opened + (self.opener.connect_us or 0)

    @property
    def connected_us(self) -> int | None:
        """End of the handshake of TCP or QUIC."""
        if self.ready_us is None or self.opener is None or not self.is_secure or self.protocol == "h3":
            return self.ready_us
        return self.ready_us - (self.opener.ssl_us or 0)

    @property
    def begins_us(self) -> int:
        return self.requests[0].began_us if self.opened_us is None else self.opened_us


@dataclasses.dataclass(frozen=True, slots=True)
class RebuiltTraffic:
    """The rebuilt connections of a page."""

    connections: list[RebuiltConnection]
    """The connections in the order of opening."""
    times: dict[int, RequestTimes]
    rules: dict[int, str]


def rebuild(requests: Sequence[NetworkRequest]) -> RebuiltTraffic:
    opened = {
        request.entry: open_connection(request, opener=request)
        for request in requests
        if request.connect_us is not None
    }
    connections = list(opened.values())
    times: dict[int, RequestTimes] = {}
    rules: dict[int, str] = {}
    for request in requests:
        own = opened.get(request.entry)
        connection, rule = (own, OPENED) if own else choose_connection(request, connections)
        if connection is None:
            connection = open_connection(request, opener=None)
            connections.append(connection)
        rules[request.entry] = rule
        times[request.entry] = put_on(connection, request)
    return RebuiltTraffic(sorted(connections, key=lambda connection: connection.begins_us), times, rules)


def open_connection(request: NetworkRequest, *, opener: NetworkRequest | None) -> RebuiltConnection:
    return RebuiltConnection(
        origin=request.origin,
        address=request.address,
        protocol=request.protocol,
        is_secure=request.is_secure,
        tls=request.tls,
        opener=opener,
    )


def choose_connection(
    request: NetworkRequest, connections: Sequence[RebuiltConnection]
) -> tuple[RebuiltConnection | None, str]:
    """Return the connection that a request without a connect time used, None if unseen, and the rule."""
    begun = [each for each in connections if each.protocol == request.protocol and is_begun(each, request)]
    own = [each for each in begun if each.origin == request.origin]
    if not request.is_multiplexed:
        return find_idle(request, own), REUSED if find_idle(request, own) else UNSEEN
    if own:
        return match_credentials(request, own), REUSED
    shared = [each for each in begun if request.address is not None and each.address == request.address]
    return (match_credentials(request, shared), COALESCED) if shared else (None, UNSEEN)


def is_begun(connection: RebuiltConnection, request: NetworkRequest) -> bool:
    return connection.opener is None or connection.opener.began_us <= request.began_us


def match_credentials(request: NetworkRequest, connections: Sequence[RebuiltConnection]) -> RebuiltConnection:
    """Return the first connection opened for a request with credentials as this one's, else the first."""
    alike = (
        each
        for each in connections
        if each.opener is not None and each.opener.is_anonymous == request.is_anonymous
    )
    return next(alike, connections[0])


def find_idle(request: NetworkRequest, own: Sequence[RebuiltConnection]) -> RebuiltConnection | None:
    """Return the HTTP/1.1 connection that a request used; None if a new one was quicker.

    Chromium takes the idle socket that was used last. While none is idle it opens a new one, up to six, and
    takes whichever is ready first.
    """
    ready = [each for each in own if each.free_us <= request.began_us and each.requests]
    if ready:
        return max(ready, key=lambda each: each.free_us)
    busy = min((each for each in own if each.requests), key=lambda each: each.free_us, default=None)
    if busy is None or len(own) >= MOST_HTTP1:
        return busy
    takes = [each.opener.connect_us or 0 for each in own if each.opener is not None]
    return busy if busy.free_us <= request.began_us + (min(takes) if takes else CONNECT_US) else None


def put_on(connection: RebuiltConnection, request: NetworkRequest) -> RequestTimes:
    connection.requests.append(request)
    connection.tls = connection.tls or request.tls
    connection.address = request.address if connection.address is None else connection.address
    ready = connection.ready_us
    sent = request.began_us if ready is None else max(request.began_us, ready)
    if not request.is_multiplexed:
        sent = max(sent, connection.free_us)
    if request.wait_us is None:
        return RequestTimes()
    first = sent + request.wait_us
    last = None if request.receive_us is None else first + request.receive_us
    connection.free_us = max(connection.free_us, first if last is None else last)
    return RequestTimes(sent_us=sent, first_us=first, last_us=last)
