"""The truth log: what the local web sent, a line a response and a line a connection."""

from __future__ import annotations

import dataclasses
import json
import time
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Iterator


def now_us() -> int:
    """The monotonic clock, shared by all processes of the machine."""
    return time.monotonic_ns() // 1000


@dataclasses.dataclass(kw_only=True, slots=True)
class SentResponse:
    """One response as far as it was handed to TCP; times by the monotonic clock, microseconds."""

    connection_id: int
    position: int
    """Place on its connection in the order of asking, from 1."""
    stream_id: int | None
    """None for HTTP/1.1."""
    protocol: str
    method: str
    scheme: str
    host: str
    path: str
    status: int | None = None
    """None where it was never answered."""
    page: int | None = None
    index: int | None = None
    """Number of the page and index of the object in it; None for what is in no recipe."""
    wire_bytes: int = 0
    """Header, framing and encoded body, inside TLS."""
    header_bytes: int = 0
    """wire_bytes less body_bytes: header and framing."""
    body_bytes: int = 0
    is_complete: bool = False
    request_received_us: int = 0
    """When the whole request was there."""
    first_byte_us: int | None = None
    last_byte_us: int | None = None
    """When its first and, so far, last byte was handed to TCP."""

    def wrote(self, *, header: int, body: int, first_us: int, last_us: int) -> None:
        """Count bytes, header and framing or body, that were handed to TCP between two times."""
        self.header_bytes += header
        self.body_bytes += body
        self.wire_bytes += header + body
        if self.first_byte_us is None:
            self.first_byte_us = first_us
        self.last_byte_us = last_us


@dataclasses.dataclass(kw_only=True, slots=True)
class SentConnection:
    """One TCP connection."""

    id: int
    host: str
    server_address: str
    server_port: int
    client_address: str
    client_port: int
    sni: str | None = None
    """Server name that the client asked for; None for clear text, or if it named none."""
    protocol: str | None = None
    """http/1.1 or h2; None if it never came to that."""
    tls_version: str | None = None
    tls_resumed: bool | None = None
    """None for clear text."""
    sent_bytes: int = 0
    """TCP payload that was written."""
    unsent_bytes: int = 0
    """What of it is known never to have left, since the client had gone."""
    plaintext_bytes: int = 0
    """The same inside TLS; equal for clear text."""
    received_bytes: int = 0
    """TCP payload that came from the client."""
    tls_handshake_bytes: int = 0
    """TCP payload of the server's TLS flight; 0 for clear text."""
    tls_ticket_bytes: int = 0
    """TCP payload of session tickets after the handshake."""
    frame_bytes: int = 0
    """H2 frames that belong to no response."""
    opened_us: int = 0
    secured_us: int | None = None
    closed_us: int | None = None
    error: str | None = None
    """What the TLS or HTTP layer found wrong with the client."""


class TruthLog:
    """What was sent since the local web began, or since it was last cleared."""

    def __init__(self) -> None:
        self.connections: list[SentConnection] = []
        self.responses: list[SentResponse] = []
        self._last_id = 0

    def connection_id(self) -> int:
        """The next one; never used twice."""
        self._last_id += 1
        return self._last_id

    def clear(self) -> None:
        """Forget everything so far; open connections no longer appear."""
        self.connections.clear()
        self.responses.clear()

    def lines(self) -> Iterator[str]:
        """JSON lines: the clocks, every connection, every response."""
        clocks = {"kind": "clocks", "monotonic_us": now_us(), "wall_us": time.time_ns() // 1000}
        yield json.dumps(clocks)
        kinds: tuple[tuple[str, list[Any]], ...] = (
            ("connection", self.connections),
            ("response", self.responses),
        )
        for kind, entries in kinds:
            for entry in entries:
                yield json.dumps({"kind": kind, **dataclasses.asdict(entry)})
