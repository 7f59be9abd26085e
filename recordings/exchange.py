"""One request and its response as a HAR file or a CDP log records them, and what initiated the request."""

from __future__ import annotations

import dataclasses
from urllib.parse import urldefrag, urlsplit

BODILESS = frozenset({204, 205, 304})
"""Statuses whose responses have no body (RFC 9110 §15)."""

FRAMED = frozenset({"spdy", "h2", "h3"})
"""Protocols that compress headers, so that a header's text does not tell its size."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """Times of an exchange in µs on the recording's clock; None if not recorded."""

    sent: int | None = None
    """Time of sending the request."""
    first_byte: int | None = None
    """Arrival of the first byte of the response's header."""
    last_byte: int | None = None
    opened: int | None = None
    """First SYN of the connection, if this exchange opened it."""
    connected: int | None = None
    """End of the TCP handshake."""


@dataclasses.dataclass(kw_only=True, slots=True, eq=False)
class RecordedExchange:
    """One request and its response in a recording, in the recorder's order."""

    url: str
    method: str
    status: int = 0
    """HTTP status; 0 if no response arrived."""
    mime_type: str = ""
    resource_type: str = ""
    """The browser's name for the type of resource, in lower case; empty if not recorded."""
    request_body_bytes: int | None = None
    body_bytes: int | None = None
    header_bytes: int | None = None
    """Size of the response's header on the wire; None if not recorded separately."""
    header_is_text: bool = False
    """True if `header_bytes` is the size of the header's text, where the protocol sends it compressed."""
    total_bytes: int | None = None
    """Size of header and body together, where they cannot be told apart; None otherwise."""
    decoded_bytes: int | None = None
    """Size of the body after decompression; None if not recorded."""
    is_complete: bool | None = None
    """Whether all of the response arrived; None if not recorded."""
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    """Response headers, names in lower case; repeated ones are joined by commas."""
    protocol: str = "http/1.1"
    initiator: str | None = None
    referer: str | None = None
    location: str | None = None
    """Target of a redirect, as an absolute URL."""
    redirected_from: RecordedExchange | None = None
    started_s: float = 0.0
    connection: str = ""
    """Identifies the connection within the recording; empty if not recorded."""
    address: str = ""
    """IP address of the server."""
    times: Times = dataclasses.field(default_factory=Times)
    is_cached: bool = False
    is_internal: bool = False
    """True for a redirect that the browser made itself (HSTS), which never crossed the network."""
    begins_load: bool = False
    """True for a new top-level navigation."""
    repairs: set[str] = dataclasses.field(default_factory=set)
    """Names of the repairs that were necessary."""

    @property
    def is_redirect(self) -> bool:
        """True if the response sends the browser elsewhere."""
        return 300 <= self.status < 400 and self.status != 304

    @property
    def host(self) -> str:
        """Host of the URL in lower case."""
        return (urlsplit(self.url).hostname or "").lower()


PORTS = frozenset({"", "0", "-1", "80", "443"})
"""Values of recorders that write the server's port, or nothing, instead of a connection."""


def connection_name(recorded: object) -> str:
    """The recorded name of a connection; empty if it does not distinguish connections."""
    word = "" if recorded is None else str(recorded)
    return "" if word in PORTS else word


def bare(url: str) -> str:
    """The URL without its fragment, which is never sent."""
    return urldefrag(url).url


def protocol_name(recorded: str | None) -> str:
    """The recorded protocol as one of recipes.PROTOCOLS."""
    word = (recorded or "").lower()
    if word.startswith(("h3", "http/3")) or "quic" in word:
        return "h3"
    if word.startswith("spdy"):
        return "spdy"
    if word.startswith(("h2", "http/2", "2.0", "2 ")):
        return "h2"
    return "http/1.0" if word.endswith("1.0") else "http/1.1"
