"""A QUIC connection: its streams, handshake and packets (RFC 9000, RFC 9001, RFC 9114).

Chromium logs every datagram, packet and frame of a session, but no payload besides the handshake's.
"""

import dataclasses
from collections.abc import Callable
from typing import Any

from crawler.netlog import params
from crawler.netlog.event import Event, split_endpoint
from crawler.netlog.exchange import Exchange, Transport
from crawler.netlog.headers import read_content_length, read_final_status
from crawler.netlog.hello import HelloReader
from crawler.netlog.http3 import Http3Stream
from crawler.netlog.params import number
from crawler.netlog.quic_overhead import FRAMES, QuicOverhead, varint_bytes
from crawler.netlog.sending import SentPackets
from crawler.ranges import Ranges

INITIAL = "ENCRYPTION_INITIAL"
ONE_RTT = "ENCRYPTION_FORWARD_SECURE"


@dataclasses.dataclass(slots=True, eq=False)
class QuicTransport(Transport):
    """One QUIC connection; feed it the events of its session in the order of the log."""

    protocol: str = "h3"
    is_webtransport: bool = False
    """True for a WebTransport session, without requests that the log knows."""
    ticket_bytes: int | None = 0
    paths: set[tuple[str, str]] = dataclasses.field(default_factory=set)
    """Ends between which datagrams came."""
    streams: dict[int, Http3Stream] = dataclasses.field(default_factory=dict)
    packets: QuicOverhead = dataclasses.field(default_factory=QuicOverhead)
    sending: SentPackets = dataclasses.field(default_factory=SentPackets)
    _crypto: dict[str, Ranges] = dataclasses.field(default_factory=dict)
    _hello: HelloReader = dataclasses.field(default_factory=HelloReader)
    _sent: dict[int, Exchange] = dataclasses.field(default_factory=dict)
    _is_refused: bool = False
    _before_datagram: int = 0

    @property
    def has_migrated(self) -> bool:
        return len(self.paths) > 1

    def stream(self, stream_id: int | None) -> Http3Stream | None:
        return None if stream_id is None else self.streams.get(stream_id)

    def send(self, exchange: Exchange, stream_id: int) -> None:
        """Send a request on a stream, which carries one only."""
        if self._sent.setdefault(stream_id, exchange) is exchange:
            exchange.stream_id = stream_id
            self.bind(exchange)

    def feed(self, event: Event[Any]) -> None:
        if event.name in FRAMES:
            self.packets.frame(event)
        handler = HANDLERS.get(event.name)
        if handler is not None:
            handler(self, event)

    def request_header_bytes(self, stream_id: int) -> int | None:
        return self.sending.header_bytes(stream_id)

    def finish(self) -> None:
        trip_ms = self.sending.round_trip_ms
        self.round_trip_us = None if trip_ms is None else trip_ms * 1000
        self.handshake_bytes = None if self.is_late else self.packets.handshake_bytes
        self.ticket_bytes = None if self.is_late else self.ticket_bytes
        self.frame_bytes = sum(
            stream.wire_bytes for number, stream in self.streams.items() if number % 4 or self.is_webtransport
        )
        self.overhead_bytes = max(0, self.packets.explained_bytes - self.decrypted_bytes)
        # Frames arrive in datagrams alone. More bytes of frames than of datagrams mean that the log lacks
        # datagrams: these frames arrived all the same. Their packets' headers and tags stay unknown, so the
        # coverage says that something is missing: the frames' own headers, at least, are not explained.
        self.received_bytes = max(self.received_bytes, self.packets.frame_bytes)

    def _stream(self, event: Event[params.OfStream]) -> Http3Stream:
        return self.streams.setdefault(event.params["stream_id"], Http3Stream())

    def _on_sent_packet(self, event: Event[params.SentPacket]) -> None:
        self.sending.packet(event)
        # The keys of these packets are the browser's once the handshake is complete (RFC 9001 §4.1.1, §5.7).
        if self.secured_ms is None and event.params.get("encryption_level") == ONE_RTT:
            self.secured_ms = event.time_ms
            self.tls_version = "TLS 1.3"  # there is no other in QUIC (RFC 9001 §4.2)
            self.tls_resumed = self._hello.resumed
            if self._is_refused:  # the requests of 0-RTT are sent again with these keys (RFC 9001 §4.6.2)
                for exchange in self._sent.values():
                    exchange.sent_ms = exchange.sent_ms and event.time_ms

    def _on_refused(self, _: Event[params.NoParams]) -> None:
        self._is_refused = True

    def _on_datagram(self, event: Event[params.Datagram]) -> None:
        size, local, remote = event.params["size"], event.params["self_address"], event.params["peer_address"]
        self._before_datagram = self.received_bytes
        self.count_received(size, event.time_ms)
        self.packets.datagram(size)
        self.paths.add((local, remote))
        if not self.remote_address:  # after a migration it is still the connection that began here
            self.remote_address, self.remote_port = split_endpoint(remote)
            self.local_address, self.local_port = split_endpoint(local)

    def _on_packet(self, event: Event[params.PacketHeader]) -> None:
        is_long = "LONG" in event.params["header_format"]
        self.packets.packet(number(event.params["packet_number"]), long_header=is_long)

    def _on_acknowledged(self, event: Event[params.AckFrame]) -> None:
        self.sending.take_ack(number(event.params["largest_observed"]), self.last_byte_ms or event.time_ms)

    def _on_sent_stream_frame(self, event: Event[params.StreamFrame]) -> None:
        self.sending.stream_frame(event)

    def _on_sent_data_frame(self, event: Event[params.Http3Frame]) -> None:
        self.sending.data_frame(event)

    def _on_dropped(self, event: Event[params.DroppedPacket]) -> None:
        self.packets.drop_packet(long_header=event.params.get("encryption_level", "") not in ("", ONE_RTT))

    def _on_dropped_long(self, _: Event[params.NoParams]) -> None:
        self.packets.drop_packet(long_header=True)

    def _on_dropped_short(self, _: Event[params.NoParams]) -> None:
        self.packets.drop_packet(long_header=False)

    def _on_buffered(self, _: Event[params.NoParams]) -> None:
        self.packets.buffer_packet()

    def _on_unbuffered(self, _: Event[params.NoParams]) -> None:
        self.packets.unbuffer_packet()

    def _on_crypto_frame(self, event: Event[params.CryptoFrame]) -> None:
        level, start = event.params["encryption_level"], event.params["offset"]
        new = self._crypto.setdefault(level, Ranges()).count(start, start + event.params["data_length"])
        if level == ONE_RTT:
            self.ticket_bytes = (self.ticket_bytes or 0) + new
        elif level == INITIAL:
            self._hello.feed(start, event.content())

    def _on_request(self, event: Event[params.OfStream]) -> None:
        exchange = self._sent.get(event.params["stream_id"])
        if exchange is not None:
            exchange.sent_ms = event.time_ms

    def _on_stream_frame(self, event: Event[params.StreamFrame]) -> None:
        frame = event.params
        stop = frame["offset"] + frame["length"]
        stream = self.streams.setdefault(frame["stream_id"], Http3Stream())
        if frame["stream_id"] in self._sent and self.answer_after is None:
            self.answer_after = self._before_datagram
        # A frame is logged after its packet, perhaps in the next millisecond.
        self.decrypted_bytes += stream.count_received(
            frame["offset"], stop, self.last_byte_ms or event.time_ms
        )
        if frame["fin"]:
            stream.ends_at = stop

    def _on_stopped(self, event: Event[params.OfStream]) -> None:
        self._stream(event).is_stopped = True

    def _on_headers_frame(self, event: Event[params.Http3HeadersFrame]) -> None:
        self._stream(event).frame(event.params["compressed_headers_length"])

    def _on_headers(self, event: Event[params.StreamHeaders]) -> None:
        exchange = self._sent.get(event.params["stream_id"])
        if exchange is not None and exchange.status is None:
            exchange.status = read_final_status(event)
            self._stream(event).content_length = read_content_length(event)

    def _on_data_frame(self, event: Event[params.Http3Frame]) -> None:
        self._stream(event).frame(event.params["payload_length"], data=True)

    def _on_unknown_frame(self, event: Event[params.Http3UnknownFrame]) -> None:
        type_bytes = varint_bytes(event.params["frame_type"])
        self._stream(event).frame(event.params["payload_length"], type_bytes=type_bytes)


HANDLERS: dict[str, Callable[[QuicTransport, Event[Any]], None]] = {
    "QUIC_SESSION_PACKET_RECEIVED": QuicTransport._on_datagram,
    "QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED": QuicTransport._on_packet,
    "QUIC_SESSION_DROPPED_UNDECRYPTABLE_PACKET": QuicTransport._on_dropped,
    "QUIC_SESSION_VERSION_NEGOTIATION_PACKET_RECEIVED": QuicTransport._on_dropped_long,
    "QUIC_SESSION_DUPLICATE_PACKET_RECEIVED": QuicTransport._on_dropped_short,
    "QUIC_SESSION_PUBLIC_RESET_PACKET_RECEIVED": QuicTransport._on_dropped_short,
    "QUIC_SESSION_BUFFERED_UNDECRYPTABLE_PACKET": QuicTransport._on_buffered,
    "QUIC_SESSION_ATTEMPTING_TO_PROCESS_UNDECRYPTABLE_PACKET": QuicTransport._on_unbuffered,
    "QUIC_SESSION_CRYPTO_FRAME_RECEIVED": QuicTransport._on_crypto_frame,
    "QUIC_SESSION_STREAM_FRAME_RECEIVED": QuicTransport._on_stream_frame,
    "QUIC_SESSION_STOP_SENDING_FRAME_SENT": QuicTransport._on_stopped,
    "QUIC_SESSION_PACKET_SENT": QuicTransport._on_sent_packet,
    "QUIC_SESSION_ZERO_RTT_REJECTED": QuicTransport._on_refused,
    "QUIC_SESSION_ACK_FRAME_RECEIVED": QuicTransport._on_acknowledged,
    "QUIC_SESSION_STREAM_FRAME_SENT": QuicTransport._on_sent_stream_frame,
    "QUIC_SESSION_STREAM_FRAME_COALESCED": QuicTransport._on_sent_stream_frame,
    "HTTP3_DATA_SENT": QuicTransport._on_sent_data_frame,
    "HTTP3_HEADERS_SENT": QuicTransport._on_request,
    "HTTP3_HEADERS_RECEIVED": QuicTransport._on_headers_frame,
    "HTTP3_HEADERS_DECODED": QuicTransport._on_headers,
    "HTTP3_DATA_FRAME_RECEIVED": QuicTransport._on_data_frame,
    "HTTP3_UNKNOWN_FRAME_RECEIVED": QuicTransport._on_unknown_frame,
}

EVENTS = FRAMES | frozenset(HANDLERS)
