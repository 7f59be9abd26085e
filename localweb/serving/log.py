"""Truth log: what the server sent, by response and by connection."""

import asyncio
import dataclasses
import json
import time
import traceback
from collections.abc import Iterable, Iterator
from typing import Any, Self


def now_us() -> int:
    """Return the monotonic clock in microseconds, the same for all processes of the machine."""
    return time.monotonic_ns() // 1000


@dataclasses.dataclass(kw_only=True, slots=True)
class SentResponse:
    """One response as far as it was handed to TCP; times are microseconds of the monotonic clock."""

    connection_id: int
    position: int
    """Place among the requests of its connection, from 1."""
    stream_id: int | None
    protocol: str
    method: str
    scheme: str
    host: str
    path: str
    status: int | None = None
    page: int | None = None
    index: int | None = None
    """Number of the page and index of the object in it; None if no recipe has it."""
    wire_bytes: int = 0
    """Header, framing and encoded body, inside TLS."""
    header_bytes: int = 0
    body_bytes: int = 0
    is_complete: bool = False
    request_header_bytes: int = 0
    """Request line and header section of HTTP/1.1, HEADERS and CONTINUATION frames of HTTP/2,
    HEADERS frame of HTTP/3."""
    priority: str | None = None
    h2_priority: list[int] | None = None
    """Weight, stream depended on, and 1 if exclusively, in the request's HEADERS frame of HTTP/2."""
    request_received_us: int = 0
    """Time at which the whole request had arrived."""
    first_byte_us: int | None = None
    last_byte_us: int | None = None
    """Times at which the first byte and, so far, the last byte were handed to TCP."""

    def wrote(self, *, header: int, body: int, first_us: int, last_us: int) -> None:
        self.header_bytes += header
        self.body_bytes += body
        self.wire_bytes += header + body
        if self.first_byte_us is None:
            self.first_byte_us = first_us
        self.last_byte_us = last_us


@dataclasses.dataclass(kw_only=True, slots=True)
class SentConnection:
    """One TCP or QUIC connection."""

    id: int
    host: str
    server_address: str
    server_port: int
    client_address: str
    client_port: int
    sni: str | None = None
    """Server name that the client asked for; None in clear text, or if it named none."""
    protocol: str | None = None
    """http/1.1, h2 or h3; None if the connection ended before HTTP began."""
    tls_version: str | None = None
    tls_resumed: bool | None = None
    """None for clear text."""
    sent_bytes: int = 0
    unsent_bytes: int = 0
    """Part of sent_bytes that never left, because the client had gone."""
    plaintext_bytes: int = 0
    """Bytes sent inside TLS; sent_bytes in clear text."""
    received_bytes: int = 0
    tls_handshake_bytes: int = 0
    """TCP payload of the server's TLS flight; 0 for clear text."""
    tls_ticket_bytes: int = 0
    """TCP payload of session tickets after the handshake."""
    record_bytes: list[int] = dataclasses.field(default_factory=list)
    """Sizes of the first TLS records with application data, with their headers."""
    frame_bytes: int = 0
    """Bytes inside TLS that belong to no response: HTTP/2 frames, and what follows a response of HTTP/1.1."""
    opened_us: int = 0
    secured_us: int | None = None
    closed_us: int | None = None
    error: str | None = None
    """The client's fault that TLS or HTTP found."""


class TruthLog:
    """Everything sent since the server began."""

    def __init__(self) -> None:
        self.connections: list[SentConnection] = []
        self.responses: list[SentResponse] = []
        self.failures: list[str] = []
        """Tracebacks; the log of a run with any is worth nothing."""
        self._last_id = 0

    def connection_id(self) -> int:
        self._last_id += 1
        return self._last_id

    def watch_task(self, task: asyncio.Task[None]) -> asyncio.Task[None]:
        task.add_done_callback(self._note)
        return task

    def _note(self, task: asyncio.Task[None]) -> None:
        if not task.cancelled() and (error := task.exception()):
            self.failures.append("\n".join([task.get_name(), *traceback.format_exception(error)]))

    def lines(self) -> Iterator[str]:
        clocks = {"kind": "clocks", "monotonic_us": now_us(), "wall_us": time.time_ns() // 1000}
        yield json.dumps(clocks)
        kinds: tuple[tuple[str, list[Any]], ...] = (
            ("connection", self.connections),
            ("response", self.responses),
        )
        for kind, entries in kinds:
            for entry in entries:
                yield json.dumps({"kind": kind, **dataclasses.asdict(entry)})
        for failure in self.failures:
            yield json.dumps({"kind": "failure", "traceback": failure})

    @classmethod
    def read(cls, lines: Iterable[str]) -> Self:
        log = cls()
        for line in lines:
            entry: dict[str, Any] = json.loads(line)
            kind = entry.pop("kind")
            if kind == "connection":
                log.connections.append(SentConnection(**entry))
            elif kind == "response":
                log.responses.append(SentResponse(**entry))
            elif kind == "failure":
                log.failures.append(entry["traceback"])
        return log
