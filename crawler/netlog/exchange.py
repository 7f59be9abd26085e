"""What the assembler knows about one connection and about one request with its response, while it is going on."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from crawler.netlog.http1 import MessageReader
    from crawler.netlog.http2 import FrameReader, Http2Stream
    from crawler.netlog.http3 import Http3Stream
    from crawler.netlog.quic import QuicSession
    from crawler.netlog.tls import RecordReader
    from schema.http_caching import Freshness


@dataclasses.dataclass(slots=True, eq=False)
class Transport:
    """One TCP or QUIC connection."""

    opened_ms: int
    protocol: str = "http/1.1"
    host: str | None = None
    local_port: int = 0
    remote_address: str = ""
    remote_port: int = 0
    connected_ms: int | None = None
    secured_ms: int | None = None
    last_byte_ms: int | None = None
    received_bytes: int = 0
    decrypted_bytes: int = 0
    tls_version: str | None = None
    tls_resumed: bool | None = None
    records: RecordReader | None = None
    """None for clear text and QUIC."""
    frames: FrameReader | None = None
    """None unless HTTP/2."""
    quic: QuicSession | None = None
    """None unless HTTP/3."""
    current: Exchange | None = None
    """HTTP/1.1: whose response the next bytes are."""
    exchanges: list[Exchange] = dataclasses.field(default_factory=list)
    """In the order of asking."""

    def received(self, size: int, time_ms: int) -> None:
        """TCP payload or a packet arrived."""
        self.received_bytes += size
        self.last_byte_ms = time_ms

    def stream(self, stream_id: int | None) -> Http2Stream | Http3Stream | None:
        """What an H2 or H3 stream received; None if it has not been asked for or heard of."""
        if stream_id is None:
            return None
        if self.quic is not None:
            return self.quic.streams.get(stream_id)
        return None if self.frames is None else self.frames.streams.get(stream_id)

    @property
    def frame_bytes(self) -> int:
        """Of H2 and H3, what belongs to no response."""
        counted = self.frames or self.quic
        return 0 if counted is None else counted.frame_bytes


@dataclasses.dataclass(slots=True, eq=False)
class Exchange:
    """One request and what came back for it. A redirect ends one and begins the next."""

    url: str
    method: str
    frame: str
    """`main frame`, `subframe` or `other`, as the browser says."""
    asked_ms: int
    redirected_from: Exchange | None = None
    transport: Transport | None = None
    stream_id: int | None = None
    message: MessageReader | None = None
    """The count of an HTTP/1.1 response; that of H2 and H3 is with the connection's streams."""
    sent_ms: int | None = None
    first_byte_ms: int | None = None
    last_byte_ms: int | None = None
    status: int | None = None
    response_headers: dict[str, str] = dataclasses.field(default_factory=dict)
    """Of the few names that become columns."""
    freshness: Freshness | None = None
    """By its header; None while none has come."""
    request_headers: dict[str, str] = dataclasses.field(default_factory=dict)
    decoded_bytes: int | None = None
    error: int | None = None
    """Chromium's number of what went wrong."""
    finished: bool = False
    internal: bool = False
    """A redirect that the browser made up itself: nothing of it left the machine."""
    cached: bool = False
    """The browser's own cache had it."""
    reused: bool = False
    """Taken from the renderer's memory: the network stack never heard of it."""

    def touched(self, time_ms: int) -> None:
        """A byte of the response arrived."""
        if self.first_byte_ms is None:
            self.first_byte_ms = time_ms
        self.last_byte_ms = time_ms

    def sizes(self) -> tuple[int, int | None]:
        """Bytes on the wire, and those of them that are encoded body; None where they cannot be told apart."""
        if self.message is not None:
            return self.message.wire_bytes, self.message.body_bytes
        stream = None if self.transport is None else self.transport.stream(self.stream_id)
        return (0, 0) if stream is None else (stream.wire_bytes, stream.body_bytes)

    @property
    def is_whole(self) -> bool:
        """Whether the end of the response arrived."""
        if self.message is not None:
            return self.message.is_whole
        stream = None if self.transport is None else self.transport.stream(self.stream_id)
        return stream is not None and stream.is_whole

    def again(self) -> Exchange:
        """The same request, sent once more by the browser itself (another range, a login, a retry)."""
        return Exchange(self.url, self.method, self.frame, self.asked_ms, self.redirected_from)
