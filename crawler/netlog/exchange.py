"""A connection, and a request with its response, as far as they have come."""

from __future__ import annotations

import dataclasses
import re

from crawler.netlog.http1 import BODILESS, MessageReader
from crawler.netlog.http2 import Http2Stream
from crawler.netlog.http3 import Http3Stream
from crawler.netlog.sending import Weight
from schema.http_caching import Freshness

MAIN_FRAME = "main frame"
"""Exchange.frame of the page's own document, and of a popup's."""

URL_LIMIT = 65_536

REQUEST_LIMIT = 50_000
URLS_LIMIT = 64 * 1024 * 1024

_CREDENTIALS = re.compile(r"(?<=://)[^/?#]*@")

NETWORK_CHANGED = -21
"""Chromium's error for requests in progress when a network interface comes or goes."""


@dataclasses.dataclass(slots=True, eq=False)
class Transport:
    """One TCP or QUIC connection."""

    opened_ms: int
    protocol: str
    is_late: bool = False
    """True if the log lacks the connection's beginning."""
    host: str | None = None
    local_address: str = ""
    local_port: int = 0
    remote_address: str = ""
    remote_port: int = 0
    connected_ms: int | None = None
    secured_ms: int | None = None
    last_byte_ms: int | None = None
    received_bytes: int = 0
    decrypted_bytes: int = 0
    handshake_bytes: int | None = None
    """TLS handshake of the server, set by `finish`; None without TLS, or if padding hides it."""
    ticket_bytes: int | None = None
    """Session tickets, set by `finish`; None as `handshake_bytes`."""
    frame_bytes: int = 0
    """HTTP/2 frames and HTTP/3 streams of no response, set by `finish`."""
    overhead_bytes: int = 0
    tls_version: str | None = None
    tls_resumed: bool | None = None
    round_trip_us: int | None = None
    """TCP's handshake, or QUIC's fastest handshake packet to its acknowledgement."""
    answer_after: int | None = None
    """Bytes received before the TLS record, read or datagram with a response's first byte."""
    first_record_bytes: list[int] = dataclasses.field(default_factory=list)
    """First TLS records with application data, set by `finish`."""
    exchanges: list[Exchange] = dataclasses.field(default_factory=list)
    """The exchanges in the order of the requests."""
    current: Exchange | None = None
    """The exchange that the next bytes of HTTP/1.1 are of."""

    @property
    def has_migrated(self) -> bool:
        """True if packets came between more than two ends (RFC 9000 §9)."""
        return False

    def count_received(self, size: int, time_ms: int) -> None:
        self.received_bytes += size
        self.last_byte_ms = time_ms

    def bind(self, exchange: Exchange) -> None:
        exchange.transport, exchange.sent_ms = self, None
        self.exchanges.append(exchange)

    def unbind(self, exchange: Exchange) -> None:
        """Take back a request without an answer, which keeps its place: the browser tries again elsewhere."""
        self.exchanges[self.exchanges.index(exchange)] = make_hidden_exchange(exchange.asked_ms)
        if self.current is exchange:
            self.current = None
        exchange.transport = exchange.message = exchange.stream_id = None
        exchange.first_byte_ms = exchange.last_byte_ms = None
        exchange.request_header_bytes = exchange.weight = None

    def stream(self, stream_id: int | None) -> Http2Stream | Http3Stream | None:
        raise NotImplementedError

    def request_header_bytes(self, stream_id: int) -> int | None:
        raise NotImplementedError

    def finish(self) -> None:
        raise NotImplementedError


@dataclasses.dataclass(slots=True, eq=False)
class Exchange:
    """One request and its response. A redirect ends an exchange and begins the next."""

    url: str
    method: str
    frame: str
    """Chromium's request type: `main frame`, `subframe` or `other`."""
    asked_ms: int
    redirected_from: Exchange | None = None
    transport: Transport | None = None
    stream_id: int | None = None
    message: MessageReader | None = None
    """Counts an HTTP/1.1 response; streams count others."""
    sent_ms: int | None = None
    first_byte_ms: int | None = None
    last_byte_ms: int | None = None
    status: int | None = None
    response_headers: dict[str, str] = dataclasses.field(default_factory=dict)
    """The few that are kept."""
    freshness: Freshness | None = None
    """None until the headers have come."""
    request_headers: dict[str, str] = dataclasses.field(default_factory=dict)
    request_header_bytes: int | None = None
    """Header section as sent, with request line or frame headers."""
    weight: Weight | None = None
    """Priority in HTTP/2's HEADERS frame."""
    decoded_bytes: int | None = None
    """Body that the page got."""
    error: int | None = None
    """Chromium's number."""
    finished: bool = False
    is_left: bool = False
    """True if the request was given up before the whole body was read."""
    is_hidden: bool = False
    """True without a row: a redirect that the browser makes up, and requests without a beginning in the log.
    """
    is_followed: bool = False
    repeats: Exchange | None = None
    """The same request, before the browser sent it again."""
    was_cached: bool = False
    """True if a cache gave part of the body before the request was sent again."""
    is_repeated: bool = False
    """True if the browser sent the request again, so that no page saw this response."""
    cached: bool = False
    reused: bool = False
    """True for a response from the renderer's memory, of which the network stack has no trace."""

    def note_byte(self, time_ms: int) -> None:
        if self.first_byte_ms is None:
            self.first_byte_ms = time_ms
        self.last_byte_ms = time_ms

    def sizes(self) -> tuple[int, int | None]:
        """Return the response's bytes on the wire and, if it can be told from the header, of its encoded
        body.
        """
        counted = self._counted
        return (0, 0) if counted is None else (counted.wire_bytes, counted.body_bytes)

    @property
    def is_read(self) -> bool:
        """True if the page got all of the body.

        A shared response's bytes go on to arrive once its first reader has left.
        """
        return self.finished and not self.is_left and self.error is None

    @property
    def is_passed_on(self) -> bool:
        """True if the page got the response, or part of its body."""
        return self.error is None or self.decoded_bytes is not None

    @property
    def has_ended(self) -> bool:
        return self._counted is not None and self._counted.is_whole

    @property
    def is_complete(self) -> bool:
        """True if the end arrived, after as much body as Content-Length states.

        A stream that ends earlier is malformed (RFC 9113 §8.1.1, RFC 9114 §4.1.2).
        """
        counted = self._counted
        if not self.has_ended or counted is None or isinstance(counted, MessageReader) or self._is_bodiless:
            return self.has_ended
        return counted.content_length is None or (counted.body_bytes or 0) >= counted.content_length

    @property
    def _is_bodiless(self) -> bool:
        """True if the Content-Length is not that of this response's body (RFC 9110 §8.6)."""
        is_tunnel = self.method == "CONNECT" and self.status is not None and self.status // 100 == 2
        return self.method == "HEAD" or is_tunnel or self.status in BODILESS

    @property
    def _counted(self) -> MessageReader | Http2Stream | Http3Stream | None:
        if self.message is not None or self.transport is None:
            return self.message
        return self.transport.stream(self.stream_id)

    def send_again(self) -> Exchange:
        """Return the same request, sent again by the browser (another range, a login, a retry)."""
        self.is_repeated = True
        again = Exchange(self.url, self.method, self.frame, self.asked_ms, self.redirected_from, repeats=self)
        again.is_hidden, again.was_cached = self.is_hidden, self.cached or self.was_cached
        return again

    @property
    def contradicted_bytes(self) -> int:
        """Difference of our count of the body and the browser's, where these must be equal.

        They must be for a complete response that is neither encoded nor mixed with a cached one. A page may
        leave the rest unread, but it cannot get more than came.
        """
        _, body = self.sizes()
        is_other = "content-encoding" in self.response_headers or self.cached or self.was_cached
        if body is None or self.decoded_bytes is None or is_other or not self.is_complete:
            return 0
        beyond = self.decoded_bytes - body
        return abs(beyond) if beyond > 0 or self.is_read else 0


def clean_url(url: str) -> str:
    """Leave user and password out of a URL, and cut it.

    >>> clean_url("https://user:pw@a.test/@b?c@d")
    'https://a.test/@b?c@d'
    """
    cut = url[:URL_LIMIT]
    return _CREDENTIALS.sub("", cut, count=1) if "@" in cut else cut


def make_hidden_exchange(time_ms: int) -> Exchange:
    """Make a request without a beginning in the log, which takes a place on a connection."""
    return Exchange("", "", "", time_ms, is_hidden=True)
