"""One request and its response as a HAR file or a CDP log records them, and what initiated the request."""

from __future__ import annotations

import dataclasses
from urllib.parse import urldefrag

DROPPED_SCHEMES = frozenset({"data", "about", "blob", "chrome-extension", "ws", "wss"})


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Times:
    """Microseconds on the recording's own clock; None where it does not tell."""

    sent: int | None = None
    """The request."""
    first_byte: int | None = None
    """Of the response's header."""
    last_byte: int | None = None
    opened: int | None = None
    """The connection's first SYN, where this exchange opened it."""
    connected: int | None = None
    """TCP alone."""


@dataclasses.dataclass(kw_only=True, slots=True, eq=False)
class RecordedExchange:
    """One entry of a recording, in the recorder's own order, before any repair."""

    url: str
    method: str
    status: int = 0
    """0 while no response has come."""
    mime_type: str = ""
    resource_type: str = ""
    """The browser's own word for what asked, lower case; empty where the recorder does not say."""
    request_body_bytes: int | None = None
    body_bytes: int | None = None
    header_bytes: int | None = None
    """Of the response on the wire; None where the recording has no size of its own for it."""
    headers: dict[str, str] = dataclasses.field(default_factory=dict)
    """Of the response, names in lower case; where one stands twice, joined by a comma."""
    protocol: str = "http/1.1"
    initiator: str | None = None
    referer: str | None = None
    location: str | None = None
    """Where a redirect leads, absolute."""
    redirected_from: RecordedExchange | None = None
    started_s: float = 0.0
    connection: str = ""
    """Names the connection within the recording; empty where it does not tell."""
    address: str = ""
    """Of the server."""
    times: Times = dataclasses.field(default_factory=Times)
    is_cached: bool = False
    is_internal: bool = False
    """A redirect that the browser made up (HSTS): it never crossed the network."""
    begins_load: bool = False
    """A new top-level navigation."""
    repairs: set[str] = dataclasses.field(default_factory=set)
    """What its reader had to mend."""


PORTS = frozenset({"", "0", "-1", "80", "443"})
"""What stands for a connection where a recorder wrote the server's port, or nothing."""


def connection_name(recorded: object) -> str:
    """The recorder's word for a connection, if it tells one from another."""
    word = "" if recorded is None else str(recorded)
    return "" if word in PORTS else word


def bare(url: str) -> str:
    """Without its fragment, which is never sent."""
    return urldefrag(url).url


def protocol_name(recorded: str | None) -> str:
    """The recorder's word for the protocol as one of recipes.PROTOCOLS."""
    word = (recorded or "").lower()
    if word.startswith(("h3", "http/3")) or "quic" in word:
        return "h3"
    if word.startswith("spdy"):
        return "spdy"
    if word.startswith(("h2", "http/2", "2.0", "2 ")):
        return "h2"
    return "http/1.0" if word.endswith("1.0") else "http/1.1"
