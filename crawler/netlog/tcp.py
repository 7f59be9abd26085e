"""A TCP connection: TLS records and HTTP/1.1 messages or HTTP/2 frames."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING

from crawler.netlog.exchange import Transport
from crawler.netlog.http2 import FrameReader
from crawler.netlog.tls import RecordReader, expansion

if TYPE_CHECKING:
    from crawler.netlog.event import Event
    from crawler.netlog.http2 import Http2Stream
    from crawler.netlog.params import ByteCount, Secured


@dataclasses.dataclass(slots=True, eq=False)
class TcpTransport(Transport):
    """One TCP connection."""

    protocol: str = "http/1.1"
    records: RecordReader | None = None
    """None without TLS."""
    frames: FrameReader | None = None
    """None unless the protocol is HTTP/2."""

    def secured(self, event: Event[Secured]) -> None:
        """Take over what the TLS handshake agreed."""
        params = event.params
        if (version := params.get("version")) and self.records is not None:
            self.secured_ms = event.time_ms
            self.tls_version = version
            self.tls_resumed = params.get("is_resumed", False)
            self.records.expansion = expansion(version, params.get("cipher_suite", 0))
            if params.get("next_proto") == "h2":
                self.protocol = "h2"
                self.frames = FrameReader()

    def socket_bytes(self, event: Event[ByteCount]) -> None:
        """Count TCP payload."""
        size = event.params["byte_count"]
        self.received(size, event.time_ms)
        if self.records is not None:
            self.records.feed(event.encoded())
        else:
            self.decrypted_bytes += size
            self._response_bytes(event, event.time_ms)

    def plain_bytes(self, event: Event[ByteCount]) -> None:
        """Count application data from inside TLS."""
        if self.records is None:
            return
        size = event.params["byte_count"]
        self.decrypted_bytes += size
        self.records.plaintext(size)
        # The browser may read decrypted data late: it arrived with the last bytes of the socket.
        arrived_ms = self.last_byte_ms or event.time_ms
        if self.frames is not None:
            self.frames.feed(event.encoded(), time_ms=arrived_ms)
        else:
            self._response_bytes(event, arrived_ms)

    def _response_bytes(self, event: Event[ByteCount], arrived_ms: int) -> None:
        """Count bytes of HTTP/1.1 for the response that is in progress."""
        exchange, size = self.current, event.params["byte_count"]
        if (
            exchange is None or exchange.message is None or not size
        ):  # an event of no bytes is the connection's end
            return
        exchange.touched(arrived_ms)
        if exchange.message.needs_bytes:
            exchange.message.feed(event.content())
        else:
            exchange.message.count(size)

    def finish(self) -> None:
        """Settle the count of the records."""
        if self.records is not None:
            self.records.finish()

    def stream(self, stream_id: int | None) -> Http2Stream | None:
        """An HTTP/2 stream; None if nothing has come on it."""
        return None if self.frames is None or stream_id is None else self.frames.streams.get(stream_id)

    @property
    def frame_bytes(self) -> int:
        """Bytes of HTTP/2 frames that belong to no response."""
        return 0 if self.frames is None else self.frames.frame_bytes

    @property
    def handshake_bytes(self) -> int | None:
        """Bytes of the server's handshake records; None without TLS."""
        return None if self.records is None else self.records.handshake_bytes

    @property
    def ticket_bytes(self) -> int | None:
        """Bytes of session tickets; None without TLS."""
        return None if self.records is None else self.records.ticket_bytes

    @property
    def overhead_bytes(self) -> int:
        """Bytes of handshake, tickets and records; those of records that were never opened, if that has a reason."""
        records = self.records
        if records is None:
            return 0
        counted = records.handshake_bytes + records.ticket_bytes + records.record_bytes
        # The browser never opens the last records of a connection that lost a race and got no request, or of a response
        # that it gave up. Where all responses are whole, neither is the reason, and the bytes stay unexplained.
        if not all(exchange.is_whole for exchange in self.exchanges) or not self.exchanges:
            counted += records.unread_bytes
        return counted
