"""Counts each stream's bytes when aioquic builds a packet with them, each byte once."""

import asyncio
import dataclasses
from collections import deque
from collections.abc import Iterable
from typing import Any

from aioquic.buffer import encode_uint_var
from aioquic.quic.congestion.base import QuicCongestionControl, register_congestion_control
from aioquic.quic.connection import stream_is_unidirectional
from aioquic.quic.logger import QuicLogger, QuicLoggerTrace
from aioquic.quic.packet_builder import QuicSentPacket

from localweb.serving.log import SentConnection, now_us

LONG_HEADER = 0x80
"""Bit of a datagram's first byte that marks a packet of the handshake (RFC 9000 §17.2)."""

WINDOW = 400_000
"""Bytes in flight, less than the 1 MiB buffer of Chromium's socket, so that loopback loses nothing."""


LATE_S = 0.15
"""Delay of a late datagram in seconds: others overtake it,
so the server takes it for lost and repeats its data."""


@dataclasses.dataclass(frozen=True, kw_only=True, slots=True)
class Path:
    """Faults of the path to the client: every n-th datagram is lost, late or doubled; 0 for none."""

    lost: int = 0
    late: int = 0
    doubled: int = 0
    retry: bool = False
    """True if clients must prove their address first (RFC 9000 §8.1.2)."""
    datagram_bytes: int = 1452
    """UDP payload that fits into an Ethernet frame over IPv6; Chromium takes up to 1,472 bytes."""


CLEAN = Path()


@dataclasses.dataclass(slots=True)
class SentStream:
    """Bytes of one stream that have been in a packet."""

    sent_bytes: int = 0
    written_bytes: int = 0
    body_bytes: int = 0
    """DATA payload that was sent, except that in `bodies`."""
    bodies: deque[tuple[int, int]] = dataclasses.field(default_factory=deque)
    """Begin and end of DATA payloads that are not wholly sent."""
    first_byte_us: int | None = None
    last_byte_us: int | None = None
    is_over: bool = False
    progress: asyncio.Event = dataclasses.field(default_factory=asyncio.Event)

    def sent_until(self, offset: int) -> None:
        """A packet with bytes up to `offset` has been built."""
        if offset <= self.sent_bytes:
            return
        self.sent_bytes = offset
        self.last_byte_us = now_us()
        self.first_byte_us = self.first_byte_us or self.last_byte_us
        while self.bodies and self.bodies[0][1] <= offset:
            start, stop = self.bodies.popleft()
            self.body_bytes += stop - start
        self.progress.set()

    @property
    def sent_body_bytes(self) -> int:
        """DATA payload that was sent, including that of a frame sent in part."""
        started = sum(max(0, min(stop, self.sent_bytes) - start) for start, stop in self.bodies)
        return self.body_bytes + started

    async def flushed(self) -> None:
        """Wait until all written bytes are in packets; raise ConnectionError if they never will be."""
        while self.sent_bytes < self.written_bytes:
            if self.is_over:
                raise ConnectionResetError("the client wants no more of it")
            self.progress.clear()
            await self.progress.wait()

    def end(self) -> None:
        self.is_over = True
        self.progress.set()


class Counter(QuicLoggerTrace):
    """Counts the frames of the packets that aioquic says it has built for one connection,
    and keeps nothing else."""

    def __init__(self, *, is_client: bool, odcid: bytes) -> None:
        super().__init__(is_client=is_client, odcid=odcid)
        self.streams: dict[int, SentStream] = {}
        self.moved: set[int] = set()
        """Streams with bytes sent since the set was last cleared."""
        self.stream_bytes = 0
        """Bytes sent on all streams, each byte once."""
        self.frame_bytes = 0
        """Bytes sent on streams that belong to no request."""
        self.ticket_bytes = 0
        """Bytes of CRYPTO data after the handshake."""
        self.repeated_bytes = 0
        """Bytes of stream data that had been in a packet before."""
        self.request_header_bytes: dict[int, int] = {}
        """Sizes of the HEADERS frames that came, with their headers, by stream."""

    def stream(self, stream_id: int) -> SentStream:
        return self.streams.setdefault(stream_id, SentStream())

    def log_event(self, *, category: str, event: str, data: dict[str, Any]) -> None:
        """Count the frames of a packet that was sent."""
        if event == "packet_sent":
            for frame in data["frames"]:
                self._frame(data["header"]["packet_type"], frame)
        elif event == "frame_parsed" and "headers_bytes" in data:
            size = data["headers_bytes"]
            whole = 1 + len(encode_uint_var(size)) + size
            self.request_header_bytes.setdefault(data["stream_id"], whole)

    def _frame(self, packet_type: str, frame: dict[str, Any]) -> None:
        if frame["frame_type"] == "stream":
            self._stream_frame(frame["stream_id"], frame["offset"], frame["offset"] + frame["length"])
        elif frame["frame_type"] == "crypto" and packet_type == "1RTT":
            self.ticket_bytes = max(self.ticket_bytes, frame["offset"] + frame["length"])

    def _stream_frame(self, stream_id: int, start: int, stop: int) -> None:
        stream = self.stream(stream_id)
        self.repeated_bytes += max(0, min(stop, stream.sent_bytes) - start)
        new = max(0, stop - stream.sent_bytes)
        self.stream_bytes += new
        self.frame_bytes += new if stream_is_unidirectional(stream_id) else 0
        self.moved.add(stream_id)
        stream.sent_until(stop)

    def encode_http3_headers_frame(self, length: int, headers: Any, stream_id: int) -> dict[str, Any]:
        """Return sizes alone: names and values need not be UTF-8."""
        return {"headers_bytes": length, "stream_id": stream_id}


class Counters(QuicLogger):
    """A counter for each connection."""

    def start_trace(self, is_client: bool, odcid: bytes) -> QuicLoggerTrace:
        return Counter(is_client=is_client, odcid=odcid)

    def end_trace(self, trace: QuicLoggerTrace) -> None:
        """aioquic ends a connection; its counter stays readable."""


class HostSocket(asyncio.DatagramTransport):
    """The UDP socket of a host; what is sent on it directly belongs to no connection yet."""

    def __init__(self, transport: asyncio.DatagramTransport) -> None:
        super().__init__()
        self.transport = transport
        self.sent_bytes: dict[Any, int] = {}
        """Retry packets, by the client's address."""
        self.moved: dict[Any, asyncio.DatagramTransport] = {}
        """The host's other sockets, by addresses of clients that have migrated to them."""

    def sendto(self, data: Any, addr: Any = None) -> None:
        self.sent_bytes[addr] = self.sent_bytes.get(addr, 0) + len(data)
        self.pass_on(data, addr)

    def pass_on(self, data: Any, addr: Any) -> None:
        self.moved.get(addr, self.transport).sendto(data, addr)

    def close(self) -> None:
        self.transport.close()


class CountedSocket(asyncio.DatagramTransport):
    """The UDP socket of a host as one of its connections uses it:
    what is sent is what the path lets through."""

    def __init__(self, socket: HostSocket, entry: SentConnection, path: Path) -> None:
        super().__init__()
        self._socket = socket
        self._transport = socket.transport
        self._entry = entry
        self._path = path
        self._datagrams = 0
        self._late: list[asyncio.TimerHandle] = []

    def opened_by(self, client: Any) -> None:
        """Count what was sent to the client before the connection existed."""
        before = self._socket.sent_bytes.pop(client, 0)
        self._entry.sent_bytes += before
        self._entry.tls_handshake_bytes += before

    def end(self) -> None:
        """Send the next datagram exactly once: it ends the connection,
        and the client reads nothing after it."""
        self._path = CLEAN
        for late in self._late:
            late.cancel()

    def sendto(self, data: Any, addr: Any = None) -> None:
        """Send, lose, delay or double the datagram, as the path says."""
        self._datagrams += 1
        if self._is_due(self._path.lost):
            return
        if self._is_due(self._path.late):
            self._late.append(asyncio.get_running_loop().call_later(LATE_S, self._send, data, addr))
            return
        for _ in range(1 + self._is_due(self._path.doubled)):
            self._send(data, addr)

    def _is_due(self, every: int) -> bool:
        return every > 0 and self._datagrams % every == 0

    def _send(self, data: bytes, addr: Any) -> None:
        if self._transport.is_closing():
            return
        self._entry.sent_bytes += len(data)
        if data[0] & LONG_HEADER:
            self._entry.tls_handshake_bytes += len(data)
        self._socket.pass_on(data, addr)


class ConstantWindow(QuicCongestionControl):
    """As much in flight as the client's socket holds, whatever the round trips of a busy machine suggest."""

    def __init__(self, *, max_datagram_size: int) -> None:
        super().__init__(max_datagram_size=max_datagram_size)
        self.congestion_window = WINDOW

    def on_packet_acked(self, *, now: float, packet: QuicSentPacket) -> None:
        self.bytes_in_flight -= packet.sent_bytes

    def on_packet_sent(self, *, packet: QuicSentPacket) -> None:
        self.bytes_in_flight += packet.sent_bytes

    def on_packets_expired(self, *, packets: Iterable[QuicSentPacket]) -> None:
        self.bytes_in_flight -= sum(packet.sent_bytes for packet in packets)

    def on_packets_lost(self, *, now: float, packets: Iterable[QuicSentPacket]) -> None:
        self.bytes_in_flight -= sum(packet.sent_bytes for packet in packets)

    def on_persistent_congestion(self) -> None: ...

    def on_rtt_measurement(self, *, now: float, rtt: float) -> None: ...


register_congestion_control("constant", ConstantWindow)
