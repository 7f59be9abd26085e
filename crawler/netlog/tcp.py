"""A TCP connection: TLS records and HTTP/1.1 messages or HTTP/2 frames."""

import dataclasses
from collections.abc import Callable
from typing import Any

from crawler.netlog import params
from crawler.netlog.event import Event, split_endpoint
from crawler.netlog.exchange import Transport
from crawler.netlog.hello import expansion
from crawler.netlog.http2 import FrameReader, Http2Stream
from crawler.netlog.sending import SentFrames
from crawler.netlog.tls import RecordReader

CLOSE_NOTIFY = b"\0"
"""Description of the alert, its second byte (RFC 8446 §6)."""

UNKNOWN = "unknown"
"""Protocol, or TLS version, of a connection that is older than the log."""

SYN_TIMEOUT_MS = 1000
"""Time after which a SYN is sent again (RFC 6298 §2.1): a slower handshake does not show the round trip."""


@dataclasses.dataclass(slots=True, eq=False)
class TcpTransport(Transport):
    """One TCP connection; `HANDLERS` take its events."""

    protocol: str = "http/1.1"
    is_secure: bool = False
    records: RecordReader | None = None
    """None without TLS, or without its beginning."""
    frames: FrameReader | None = None
    sent_frames: SentFrames | None = None
    """None unless HTTP/2, and once the log lacks a byte that was sent."""
    is_notified: bool = False
    """True once close_notify has come (RFC 8446 §6.1)."""
    _attempt_ms: int | None = None

    def _on_attempted(self, event: Event[params.NoParams]) -> None:
        self._attempt_ms = event.time_ms

    def _on_answered(self, event: Event[params.OperationEnd]) -> None:
        if self._attempt_ms is not None and not event.params.get("net_error"):
            trip_ms = max(0, event.time_ms - self._attempt_ms)
            self.round_trip_us = trip_ms * 1000 if trip_ms < SYN_TIMEOUT_MS else None
        self._attempt_ms = None

    def _on_connected(self, event: Event[params.Connected]) -> None:
        if remote := event.params.get("remote_address"):
            self.connected_ms = event.time_ms
            self.remote_address, self.remote_port = split_endpoint(remote)
            self.local_address, self.local_port = split_endpoint(event.params.get("local_address", ""))

    def _on_tls_connect(self, _: Event[params.NoParams]) -> None:
        if not self.received_bytes:
            self.records = RecordReader()
        self._secure()

    def _secure(self) -> None:
        """Note that there is TLS: bytes that came before, where the log lacks its beginning, were
        encrypted."""
        if not self.is_secure:
            self.is_secure, self.decrypted_bytes = True, 0

    def _on_tls_connected(self, event: Event[params.Secured]) -> None:
        agreed = event.params
        if version := agreed.get("version"):
            self._secure()
            self.secured_ms = event.time_ms
            self.tls_version = version
            self.tls_resumed = agreed.get("is_resumed", False)
            if self.records is not None:
                self.records.expansion = expansion(version, agreed.get("cipher_suite", 0))
            if agreed.get("next_proto") == "h2":
                self.protocol = "h2"
                self.frames = FrameReader()
                self.sent_frames = SentFrames()

    def _on_handshake_message(self, event: Event[params.HandshakeMessage]) -> None:
        self._secure()
        if self.records is not None:
            self.records.handshake_message(event.params["type"], len(event.lazy_content()))

    def _on_alert(self, event: Event[params.NoParams]) -> None:
        self.is_notified |= event.content()[1:] == CLOSE_NOTIFY
        if self.records is not None:
            self.records.alert()

    def _on_socket_bytes(self, event: Event[params.ByteCount]) -> None:
        size = event.params["byte_count"]
        self.count_received(size, event.time_ms)
        if self.records is not None:
            self.records.feed(event.lazy_content())
        elif not self.is_secure:
            self.decrypted_bytes += size
            self._response_bytes(event, event.time_ms)

    def _on_plain_bytes_sent(self, event: Event[params.ByteCount]) -> None:
        self._secure()
        if self.sent_frames is None:
            return
        data = event.lazy_content()
        if len(data) == event.params["byte_count"]:
            self.sent_frames.feed(data)
        else:
            self.sent_frames = None

    def _on_plain_bytes(self, event: Event[params.ByteCount]) -> None:
        self._secure()
        size = event.params["byte_count"]
        self.decrypted_bytes += size
        if self.records is not None:
            self.records.plaintext(size)
        # The browser may read decrypted data late: it arrived with the last bytes of the socket.
        arrived_ms = self.last_byte_ms or event.time_ms
        if self.frames is not None:
            self.frames.feed(event.lazy_content(), time_ms=arrived_ms)
            if self.records is not None and self.frames.streams and self.answer_after is None:
                self.answer_after = self.records.fresh_from
        else:
            self._response_bytes(event, arrived_ms)

    def _response_bytes(self, event: Event[params.ByteCount], arrived_ms: int) -> None:
        exchange, size = self.current, event.params["byte_count"]
        if exchange is None or exchange.message is None:
            return
        if not size:
            exchange.message.end(clean=not self.is_secure or self.is_notified)
            return
        exchange.note_byte(arrived_ms)
        if self.answer_after is None:
            self.answer_after = (
                self.received_bytes - size if self.records is None else self.records.fresh_from
            )
        if exchange.message.needs_bytes:
            exchange.message.feed(event.content())
        else:
            exchange.message.count(size)

    def stream(self, stream_id: int | None) -> Http2Stream | None:
        return None if self.frames is None or stream_id is None else self.frames.streams.get(stream_id)

    def request_header_bytes(self, stream_id: int) -> int | None:
        return None if self.sent_frames is None else self.sent_frames.header_bytes.get(stream_id)

    def finish(self) -> None:
        messages = (exchange.message for exchange in self.exchanges)
        self.frame_bytes = sum(message.surplus_bytes for message in messages if message is not None)
        self.frame_bytes += 0 if self.frames is None else self.frames.frame_bytes
        records = self.records
        if records is None:
            self.received_bytes = max(
                self.received_bytes, self.decrypted_bytes
            )  # the log may begin between them
            if self.is_secure and self.decrypted_bytes and self.tls_version is None:
                self.tls_version = UNKNOWN
            if self.is_late and not self.exchanges and self.frames is None:
                self.protocol = UNKNOWN
            return
        records.finish()
        self.handshake_bytes = records.handshake_bytes if records.is_handshake_known else None
        self.ticket_bytes = records.ticket_bytes if records.are_tickets_known else None
        self.first_record_bytes = records.first_record_bytes
        self.overhead_bytes = records.handshake_bytes + records.ticket_bytes + records.record_bytes
        # The browser never opens the last records of a connection that lost a race and got no request, or of
        # a response that it gave up. Where all responses have ended, neither is the reason, and the bytes
        # stay unexplained.
        if not all(exchange.has_ended for exchange in self.exchanges) or not self.exchanges:
            self.overhead_bytes += records.unread_bytes


HANDLERS: dict[tuple[str, str], Callable[[TcpTransport, Event[Any]], None]] = {
    ("TCP_CONNECT_ATTEMPT", "BEGIN"): TcpTransport._on_attempted,
    ("TCP_CONNECT_ATTEMPT", "END"): TcpTransport._on_answered,
    ("TCP_CONNECT", "END"): TcpTransport._on_connected,
    ("SSL_CONNECT", "BEGIN"): TcpTransport._on_tls_connect,
    ("SSL_CONNECT", "END"): TcpTransport._on_tls_connected,
    ("SSL_HANDSHAKE_MESSAGE_RECEIVED", "NONE"): TcpTransport._on_handshake_message,
    ("SSL_ALERT_RECEIVED", "NONE"): TcpTransport._on_alert,
    ("SOCKET_BYTES_RECEIVED", "NONE"): TcpTransport._on_socket_bytes,
    ("SSL_SOCKET_BYTES_RECEIVED", "NONE"): TcpTransport._on_plain_bytes,
    ("SSL_SOCKET_BYTES_SENT", "NONE"): TcpTransport._on_plain_bytes_sent,
}
