"""Packets of a connection as the client sees them. Times are in milliseconds, the round trip is 50."""

from crawler.capture.first_flight import CapturedFlight, measure_first_flight
from crawler.capture.packets import ACK, SYN, TCP, Packet, pack_end

CLIENT, SERVER = pack_end("192.0.2.1", 50_000), pack_end("192.0.2.2", 443)
MSS = 1460
OPTIONS = bytes.fromhex("020405b4 0101 0402 01 030307")
"""MSS 1460, SACK permitted, window scale 7, in Linux's order."""
PUSH = 0x08
CLIENT_FIRST, SERVER_FIRST = 4_294_967_000, 4_294_966_000
"""Sequence numbers that soon wrap around."""


class Wire:
    """Packets of a connection, as the client sees them."""

    def __init__(self) -> None:
        self.packets = [
            self.packet(0, CLIENT, -1, -1, 0, flags=SYN, options=OPTIONS),
            self.packet(50, SERVER, -1, 0, 0, flags=SYN | ACK, options=OPTIONS),
            self.packet(50, CLIENT, 0, 0, 0),
        ]

    @staticmethod
    def packet(
        ms: float,
        source: bytes,
        position: int,
        acknowledged: int,
        size: int,
        *,
        segment: int = MSS,
        flags: int = ACK,
        window: int = 1000,
        options: bytes = b"",
    ) -> Packet:
        own, other = (CLIENT_FIRST, SERVER_FIRST) if source == CLIENT else (SERVER_FIRST, CLIENT_FIRST)
        return Packet(
            round(ms * 1e6),
            TCP,
            source,
            SERVER if source == CLIENT else CLIENT,
            size,
            min(segment, size),
            (own + position) % 2**32,
            (other + acknowledged) % 2**32,
            flags,
            window,
            options,
        )

    def asks(
        self, ms: float, position: int, acknowledged: int, size: int = 300, *, window: int = 1000
    ) -> "Wire":
        self.packets.append(self.packet(ms, CLIENT, position, acknowledged, size, window=window))
        return self

    def acks(self, ms: float, acknowledged: int) -> "Wire":
        return self.asks(ms, 300, acknowledged, 0)

    def sends(
        self, ms: float, position: int, size: int, *, acknowledged: int = 300, apart_ms: float = 0.01
    ) -> "Wire":
        for at in range(position, position + size, MSS):
            length = min(MSS, position + size - at)
            self.packets.append(self.packet(ms, SERVER, at, acknowledged, length))
            ms += apart_ms
        return self

    def stamped(
        self,
        *,
        echo_of: dict[float, float] | None = None,
        left: dict[float, float] | None = None,
        tick_ms: float = 1,
        round_trip_ms: float = 50,
    ) -> "Wire":
        """Give all packets timestamps; the server's clock has ticks of `tick_ms`.

        A packet of the server left as it came, or when `left` says by the time at which it came. It echoes
        the newest of the client's that was sent a round trip before it left, or what `echo_of` says by the
        time at which it came.
        """

        def clock(ms: float) -> bytes:
            return ((2**32 - 60 + int(ms)) % 2**32).to_bytes(4, "big")  # wraps around soon

        self.packets.sort(key=lambda packet: packet.time_ns)
        sent = [packet.time_ns / 1e6 for packet in self.packets if packet.source == CLIENT]

        def stamps(packet: Packet) -> bytes:
            ms = packet.time_ns / 1e6
            if packet.source == CLIENT:
                return clock(ms) + bytes(4)
            left_ms = (left or {}).get(ms, ms)
            heard = max(time for time in sent if time <= max(0, left_ms - round_trip_ms))
            return clock(left_ms / tick_ms) + clock((echo_of or {}).get(ms, heard))

        self.packets = [
            packet._replace(options=packet.options + b"\x01\x01\x08\x0a" + stamps(packet))
            for packet in self.packets
        ]
        return self

    def estimate(self, *, request_ms: float = 50, answer_after: int = 0) -> CapturedFlight:
        self.packets.sort(key=lambda packet: packet.time_ns)
        flight = measure_first_flight(
            self.packets, client=CLIENT, request_ns=round(request_ms * 1e6), answer_after=answer_after
        )
        assert isinstance(flight, CapturedFlight)
        return flight

    def bounds(self, *, request_ms: float = 50) -> tuple[int, int | None, str]:
        flight = self.estimate(request_ms=request_ms)
        return flight.window_segments, flight.window_most_segments, flight.unknown


def clear(segments: int, *, window: int = 10) -> Wire:
    """A response in clear text, and the flight after its first."""
    wire = Wire().asks(50, 0, 0)
    wire.sends(100, 0, min(segments, window) * MSS).acks(100.1, 2 * MSS).acks(
        100.2, min(segments, window) * MSS
    )
    if segments > window:
        wire.sends(150.1, window * MSS, min(segments - window, 2 * window) * MSS)
    return wire


def exact(window: int, *, packets: int, size: int) -> CapturedFlight:
    return CapturedFlight(
        bytes=size, packets=packets, segment_bytes=MSS, window_segments=window, window_most_segments=window
    )


def secure(window: int, *, handshake: int = 3, gap_ms: float = 0.01) -> Wire:
    """A response after a handshake's flight, by a server whose window the handshake did not grow."""
    wire = Wire().asks(50, 0, 0).sends(100, 0, handshake * MSS - 500)
    base = handshake * MSS - 500
    wire.asks(100.5, 300, base).sends(150.5, base, window * MSS, acknowledged=600, apart_ms=gap_ms)
    wire.acks(150.6, base + MSS).acks(150.7, base + window * MSS)
    return wire.sends(200.6, base + window * MSS, 2 * window * MSS, acknowledged=600, apart_ms=gap_ms)
