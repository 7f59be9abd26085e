"""What one QUIC connection received, counted by stream (RFC 9000, RFC 9114).

Chromium logs every packet and every frame of a session, so nothing has to be cut out of bytes here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from crawler.http2 import StreamBytes
from crawler.netlog import endpoint, headers

if TYPE_CHECKING:
    from collections.abc import Callable

    from crawler.exchange import Exchange, Transport
    from crawler.netlog import Event

PSEUDO_HEADERS = frozenset({":authority", ":path", ":scheme"})


class Session:
    """Accounts for the packets of one connection; feed it the events of its session in the order of the log."""

    def __init__(self, transport: Transport) -> None:
        self.streams: dict[int, StreamBytes] = {}
        """Of requests."""
        self.frame_bytes = 0
        """On streams that belong to no response: control and QPACK."""
        self.handshake_bytes = 0
        self._transport = transport
        self._unsent: list[Exchange] = []
        """Exchanges bound to the session that have no stream yet."""

    def bind(self, exchange: Exchange) -> None:
        """The exchange will be sent on this session."""
        self._unsent.append(exchange)

    def feed(self, event: Event) -> None:
        """The next event of the session."""
        HANDLERS[event.name](self, event)

    def _secured(self, event: Event) -> None:
        if self._transport.secured_ms is None:
            self._transport.secured_ms = event.time_ms
            self.handshake_bytes = self._transport.received_bytes

    def _packet(self, event: Event) -> None:
        transport = self._transport
        transport.received(event.number("size"), event.time_ms)
        if remote := event.text("peer_address"):
            transport.remote_address, transport.remote_port = endpoint(remote)
        if local := event.text("self_address"):
            transport.local_port = endpoint(local)[1]

    def _request(self, event: Event) -> None:
        pseudo = headers(event, PSEUDO_HEADERS)
        url = f"{pseudo.get(':scheme')}://{pseudo.get(':authority')}{pseudo.get(':path')}"
        exchange = next((one for one in self._unsent if one.url.partition("#")[0] == url), None)
        if exchange is not None:
            self._unsent.remove(exchange)
            exchange.stream_id = event.number("stream_id")
            exchange.sent_ms = event.time_ms
            self.streams.setdefault(exchange.stream_id, StreamBytes())

    def _stream_frame(self, event: Event) -> None:
        end = event.number("offset") + event.number("length")
        stream = self.streams.get(event.number("stream_id"))
        if stream is None:
            self.frame_bytes += event.number("length")
            self._transport.decrypted_bytes += event.number("length")
            return
        self._transport.decrypted_bytes += max(0, end - stream.wire_bytes)
        stream.wire_bytes = max(end, stream.wire_bytes)
        stream.first_byte_ms = event.time_ms if stream.first_byte_ms is None else stream.first_byte_ms
        stream.last_byte_ms = event.time_ms

    def _data(self, event: Event) -> None:
        stream = self.streams.get(event.number("stream_id"))
        if stream is not None:
            stream.body_bytes += event.number("payload_length")


HANDLERS: dict[str, Callable[[Session, Event], None]] = {
    "QUIC_SESSION_CRYPTO_HANDSHAKE_COMPLETE": Session._secured,
    "QUIC_SESSION_PACKET_RECEIVED": Session._packet,
    "QUIC_SESSION_STREAM_FRAME_RECEIVED": Session._stream_frame,
    "HTTP3_HEADERS_SENT": Session._request,
    "HTTP3_DATA_FRAME_RECEIVED": Session._data,
}
"""What each event of a session means."""
