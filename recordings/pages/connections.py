"""Rebuilds the connections of a recorded page from origins, addresses and connect times.

A request with a connect time opened a connection. Any other used one that was there: over HTTP/2 and HTTP/3
that of its origin, or of another origin at the same address over the same protocol (coalescing,
RFC 9113 §9.1.1); over HTTP/1.1 an idle one of its origin. If there is none, a connection was opened before it
was needed (preconnect), and its times are unknown.
"""

import dataclasses
from collections.abc import Iterable, Iterator, Sequence

from recordings.pages.request import PageRequest, alpn, microseconds

MOST_HTTP1 = 6
"""Connections that Chromium opens to one host over HTTP/1.1."""

CONNECT_US = 355_000
"""Time that a new connection takes where its origin shows none: the median of the bundled pages."""

ANONYMOUS = "font"
"""Destination whose requests carry no credentials, and so have a connection of their own in Chromium."""

OPENED, REUSED, COALESCED, UNSEEN = "opened", "same_origin", "coalesced", "opened_unseen"
"""Rules by which a request has its connection."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """Times of an exchange in µs since the page's first request; None if unknown."""

    sent_us: int | None = None
    """Time of sending: after the connection was there, and over HTTP/1.1 after the response before it."""
    first_us: int | None = None
    last_us: int | None = None


@dataclasses.dataclass(kw_only=True, slots=True, eq=False)
class Connection:
    """A connection, and the requests on it in the order of sending."""

    origin: int
    address: int | None
    protocol: str
    is_secure: bool
    tls: str | None
    """TLS version as recorded; None if no response on the connection names it."""
    opener: PageRequest | None
    """The request that it was opened for; None if it was opened unseen."""
    requests: list[PageRequest] = dataclasses.field(default_factory=list)
    free_us: int = 0
    """End of the latest response on it."""

    @property
    def opened_us(self) -> int | None:
        """First packet of the handshake."""
        return None if self.opener is None else self.opener.began_us + duration(self.opener.dns_ms)

    @property
    def ready_us(self) -> int | None:
        """End of all handshakes."""
        opened = self.opened_us
        return None if self.opener is None or opened is None else opened + duration(self.opener.connect_ms)

    @property
    def connected_us(self) -> int | None:
        """End of the TCP handshake, or for HTTP/3 of QUIC's."""
        if self.ready_us is None or self.opener is None or not self.is_secure or self.protocol == "h3":
            return self.ready_us
        return self.ready_us - duration(self.opener.ssl_ms)

    @property
    def begins_us(self) -> int:
        """Place among the page's connections in the order of opening."""
        return self.requests[0].began_us if self.opened_us is None else self.opened_us


@dataclasses.dataclass(frozen=True, slots=True)
class Traffic:
    """The rebuilt connections of a page."""

    connections: list[Connection]
    """In the order of opening."""
    times: dict[int, Times]
    """Times of each request by its entry."""
    rules: dict[int, str]
    """Rule by which each request that crossed the network has its connection, by its entry."""


def rebuild(requests: Sequence[PageRequest]) -> Traffic:
    """The connections of a page, and the times that follow from them."""
    network = [one for one in requests if one.crossed_network]
    opened = {one.entry: open_connection(one, opener=one) for one in network if one.opens_connection}
    found = list(opened.values())
    times: dict[int, Times] = {}
    rules: dict[int, str] = {}
    for one in network:
        own = opened.get(one.entry)
        connection, rule = (own, OPENED) if own else choose(one, found)
        if connection is None:
            connection = open_connection(one, opener=None)
            found.append(connection)
        rules[one.entry] = rule
        times[one.entry] = use(connection, one)
    return Traffic(sorted(found, key=lambda one: one.begins_us), times, rules)


def open_connection(one: PageRequest, *, opener: PageRequest | None) -> Connection:
    """A new connection to the request's origin."""
    return Connection(
        origin=one.origin,
        address=one.address,
        protocol=alpn(one.protocol),
        is_secure=one.scheme == "https",
        tls=one.tls,
        opener=opener,
    )


def choose(one: PageRequest, found: Sequence[Connection]) -> tuple[Connection | None, str]:
    """The connection that a request without a connect time used, and the rule.

    None if it was opened unseen.
    """
    there = [each for each in found if each.protocol == alpn(one.protocol) and was_begun(each, one)]
    own = [each for each in there if each.origin == one.origin]
    if not one.is_multiplexed:
        return idle(one, own), REUSED if idle(one, own) else UNSEEN
    if own:
        return same_credentials(one, own), REUSED
    shared = [each for each in there if one.address is not None and each.address == one.address]
    return (same_credentials(one, shared), COALESCED) if shared else (None, UNSEEN)


def was_begun(connection: Connection, one: PageRequest) -> bool:
    """Whether a connection was opened, or being opened, when the browser began a request."""
    return connection.opener is None or connection.opener.began_us <= one.began_us


def same_credentials(one: PageRequest, found: Sequence[Connection]) -> Connection:
    """The first connection that was opened for a request with credentials as this one's, else the first."""
    alike = (
        each
        for each in found
        if each.opener is not None
        and (each.opener.destination == ANONYMOUS) == (one.destination == ANONYMOUS)
    )
    return next(alike, found[0])


def idle(one: PageRequest, own: Sequence[Connection]) -> Connection | None:
    """The HTTP/1.1 connection that a request used: idle, or the first to become so.

    None if a new one was quicker. Chromium takes the socket that was used last. While none is idle it opens a
    new one, up to six, and takes whichever is ready first.
    """
    ready = [each for each in own if each.free_us <= one.began_us and each.requests]
    if ready:
        return max(ready, key=lambda each: each.free_us)
    busy = min((each for each in own if each.requests), key=lambda each: each.free_us, default=None)
    if busy is None or len(own) >= MOST_HTTP1:
        return busy
    takes = [duration(each.opener.connect_ms) for each in own if each.opener is not None]
    return busy if busy.free_us <= one.began_us + (min(takes) if takes else CONNECT_US) else None


def use(connection: Connection, one: PageRequest) -> Times:
    """Put a request on a connection; its times."""
    connection.requests.append(one)
    connection.tls = connection.tls or one.tls
    connection.address = one.address if connection.address is None else connection.address
    ready = connection.ready_us
    sent = one.began_us if ready is None else max(one.began_us, ready)
    if not one.is_multiplexed:
        sent = max(sent, connection.free_us)
    if one.wait_ms is None:
        return Times()
    first = sent + microseconds(one.wait_ms)
    last = None if one.receive_ms is None else first + microseconds(one.receive_ms)
    connection.free_us = max(connection.free_us, first if last is None else last)
    return Times(sent_us=sent, first_us=first, last_us=last)


def duration(milliseconds: float | None) -> int:
    """A phase in µs; a phase that did not take place took no time."""
    return microseconds(milliseconds or 0.0)


def shares(rules: Iterable[str]) -> Iterator[tuple[str, int]]:
    """Yield the number of requests by rule, in a fixed order."""
    every = list(rules)
    for rule in (OPENED, REUSED, COALESCED, UNSEEN):
        yield rule, every.count(rule)
