"""What one QUIC connection received: its streams, its handshake, its packets (RFC 9000, RFC 9001, RFC 9114).

Chromium logs every datagram, packet and frame of a session, but no payload except that of the handshake.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.netlog.http3 import Http3Stream, Ranges
from crawler.netlog.netlog import endpoint, final_status, headers
from crawler.netlog.quic_overhead import FRAMES, QuicOverhead, varint_bytes
from crawler.netlog.serverhello import HelloReader

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.netlog.exchange import Exchange, Transport
    from crawler.netlog.netlog import Event

CONTENT_LENGTH = frozenset({"content-length"})
LENGTH_DIGITS = 18

INITIAL = "ENCRYPTION_INITIAL"
ONE_RTT = "ENCRYPTION_FORWARD_SECURE"


class QuicSession:
    """Accounts for one connection; feed it the events of its session in the order of the log."""

    def __init__(self, transport: Transport) -> None:
        self.streams: dict[int, Http3Stream] = {}
        self.overhead = QuicOverhead()
        self.ticket_bytes = 0
        """CRYPTO data after the handshake."""
        self._crypto: dict[str, Ranges] = {}
        self._hello = HelloReader()
        self._transport = transport
        self._sent: dict[int, Exchange] = {}

    @property
    def handshake_bytes(self) -> int:
        """UDP payload of the datagrams with packets of the handshake."""
        return self.overhead.handshake_bytes

    @property
    def frame_bytes(self) -> int:
        """On streams that belong to no request: control and QPACK."""
        return sum(stream.wire_bytes for number, stream in self.streams.items() if number % 4)

    @property
    def overhead_bytes(self) -> int:
        """What is explained of all packets, without the data of streams: headers, tags, handshake, tickets,
        acknowledgements, padding, and what came twice."""
        return max(0, self.overhead.explained_bytes - self._transport.decrypted_bytes)

    def bind(self, exchange: Exchange, stream_id: int) -> bool:
        """The exchange goes out on this stream; False if another has: a stream carries one request."""
        if self._sent.setdefault(stream_id, exchange) is not exchange:
            return False
        exchange.stream_id = stream_id
        return True

    def feed(self, event: Event) -> None:
        """The next event of the session."""
        if event.name in FRAMES:
            self.overhead.frame(event)
        handler = HANDLERS.get(event.name)
        if handler is not None:
            handler(self, event)

    def finish(self) -> None:
        """No more will come."""
        # Frames arrive in datagrams alone. More bytes of frames than of datagrams mean that the log lacks datagrams:
        # these frames arrived all the same. Their packets' headers and tags stay unknown, so the coverage says that
        # something is missing: the frames' own headers, at least, are not explained.
        self._transport.received_bytes = max(self._transport.received_bytes, self.overhead.frame_bytes)

    def _stream(self, event: Event) -> Http3Stream:
        return self.streams.setdefault(event.number("stream_id"), Http3Stream())

    def _secured(self, event: Event) -> None:
        transport = self._transport
        if transport.secured_ms is None:
            transport.secured_ms = event.time_ms
            transport.tls_version = "TLS 1.3"  # there is no other in QUIC (RFC 9001 §4.2)
            transport.tls_resumed = self._hello.resumed

    def _datagram(self, event: Event) -> None:
        transport = self._transport
        transport.received(event.number("size"), event.time_ms)
        self.overhead.datagram(event.number("size"))
        if not transport.remote_address:  # after a migration it is still the connection that began here
            transport.remote_address, transport.remote_port = endpoint(event.text("peer_address"))
            transport.local_port = endpoint(event.text("self_address"))[1]

    def _packet(self, event: Event) -> None:
        is_long = "LONG" in event.text("header_format")
        self.overhead.packet(event.number("packet_number"), long_header=is_long)

    def _dropped(self, event: Event) -> None:
        self.overhead.dropped(long_header=event.text("encryption_level") not in ("", ONE_RTT))

    def _crypto_frame(self, event: Event) -> None:
        level, start = event.text("encryption_level"), event.number("offset")
        new = self._crypto.setdefault(level, Ranges()).add(start, start + event.number("data_length"))
        if level == ONE_RTT:
            self.ticket_bytes += new
        elif level == INITIAL:
            self._hello.feed(start, event.content())

    def _request(self, event: Event) -> None:
        exchange = self._sent.get(event.number("stream_id"))
        if exchange is not None:
            exchange.sent_ms = event.time_ms

    def _stream_frame(self, event: Event) -> None:
        start = event.number("offset")
        stop = start + event.number("length")
        stream = self._stream(event)
        # A frame is logged after the packet that it came in, which may be in the next millisecond.
        arrived_ms = self._transport.last_byte_ms or event.time_ms
        self._transport.decrypted_bytes += stream.received(start, stop, arrived_ms)
        if event.params.get("fin") is True:
            stream.ends_at = stop

    def _stopped(self, event: Event) -> None:
        self._stream(event).is_stopped = True

    def _headers(self, event: Event) -> None:
        self._stream(event).frame(event.number("compressed_headers_length"))

    def _fields(self, event: Event) -> None:
        exchange = self._sent.get(event.number("stream_id"))
        if exchange is not None:
            exchange.status = final_status(event) or exchange.status
        length = headers(event, CONTENT_LENGTH).get("content-length", "")
        if length.isascii() and length.isdecimal():
            self._stream(event).content_length = int(length[:LENGTH_DIGITS])

    def _data(self, event: Event) -> None:
        self._stream(event).frame(event.number("payload_length"), data=True)

    def _unknown_frame(self, event: Event) -> None:
        type_bytes = varint_bytes(event.number("frame_type"))
        self._stream(event).frame(event.number("payload_length"), type_bytes=type_bytes)


HANDLERS: dict[str, Callable[[QuicSession, Event], None]] = {
    "QUIC_SESSION_CRYPTO_HANDSHAKE_COMPLETE": QuicSession._secured,
    "QUIC_SESSION_PACKET_RECEIVED": QuicSession._datagram,
    "QUIC_SESSION_UNAUTHENTICATED_PACKET_HEADER_RECEIVED": QuicSession._packet,
    "QUIC_SESSION_DROPPED_UNDECRYPTABLE_PACKET": QuicSession._dropped,
    "QUIC_SESSION_VERSION_NEGOTIATION_PACKET_RECEIVED": lambda session, _: session.overhead.dropped(
        long_header=True
    ),
    "QUIC_SESSION_DUPLICATE_PACKET_RECEIVED": lambda session, _: session.overhead.dropped(long_header=False),
    "QUIC_SESSION_PUBLIC_RESET_PACKET_RECEIVED": lambda session, _: session.overhead.dropped(
        long_header=False
    ),
    "QUIC_SESSION_BUFFERED_UNDECRYPTABLE_PACKET": lambda session, _: session.overhead.kept(),
    "QUIC_SESSION_ATTEMPTING_TO_PROCESS_UNDECRYPTABLE_PACKET": lambda session, _: session.overhead.opened(),
    "QUIC_SESSION_CRYPTO_FRAME_RECEIVED": QuicSession._crypto_frame,
    "QUIC_SESSION_STREAM_FRAME_RECEIVED": QuicSession._stream_frame,
    "QUIC_SESSION_STOP_SENDING_FRAME_SENT": QuicSession._stopped,
    "HTTP3_HEADERS_SENT": QuicSession._request,
    "HTTP3_HEADERS_RECEIVED": QuicSession._headers,
    "HTTP3_HEADERS_DECODED": QuicSession._fields,
    "HTTP3_DATA_FRAME_RECEIVED": QuicSession._data,
    "HTTP3_UNKNOWN_FRAME_RECEIVED": QuicSession._unknown_frame,
}
"""What an event of a session means, besides the frames of its packets."""

EVENTS = FRAMES | frozenset(HANDLERS)
"""All that a session wants to be fed."""
