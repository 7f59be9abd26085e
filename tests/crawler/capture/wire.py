"""Packets of a connection as the client sees them. Times are in milliseconds, the round trip is 50."""

from crawler.capture.first_flight import FirstFlight, first_flight
from crawler.capture.packets import ACK, SYN, TCP, Packet, end

CLIENT, SERVER = end("192.0.2.1", 50_000), end("192.0.2.2", 443)
MSS = 1460
OPTIONS = bytes.fromhex("020405b4 0101 0402 01 030307")
"""MSS 1460, SACK permitted, window scale 7, in Linux's order."""
PUSH = 0x08
CLIENT_FIRST, SERVER_FIRST = 4_294_967_000, 4_294_966_000
"""Sequence numbers that soon wrap around."""

BBR = 2.885 * 0.99
"""Windows that BBR sends in a round trip at first."""


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

    def estimate(self, *, request_ms: float = 50) -> FirstFlight:
        self.packets.sort(key=lambda one: one.time_ns)
        found = first_flight(self.packets, client=CLIENT, request_ns=round(request_ms * 1e6))
        assert isinstance(found, FirstFlight)
        return found


def clear(segments: int, *, window: int = 10) -> Wire:
    """A response in clear text, and the flight after its first."""
    wire = Wire().asks(50, 0, 0)
    wire.sends(100, 0, min(segments, window) * MSS).acks(100.1, 2 * MSS).acks(
        100.2, min(segments, window) * MSS
    )
    if segments > window:
        wire.sends(150.1, window * MSS, min(segments - window, 2 * window) * MSS)
    return wire


def exact(window: int, *, packets: int, size: int) -> FirstFlight:
    return FirstFlight(bytes=size, packets=packets, segment_bytes=MSS, window_segments=window)


def secured(window: int, *, handshake: int = 3, gap_ms: float = 0.01) -> Wire:
    """A response after a handshake's flight, by a server whose window the handshake did not grow."""
    wire = Wire().asks(50, 0, 0).sends(100, 0, handshake * MSS - 500)
    base = handshake * MSS - 500
    wire.asks(100.5, 300, base).sends(150.5, base, window * MSS, acknowledged=600, apart_ms=gap_ms)
    wire.acks(150.6, base + MSS).acks(150.7, base + window * MSS)
    return wire.sends(200.6, base + window * MSS, 2 * window * MSS, acknowledged=600, apart_ms=gap_ms)


def paced(window: int, first: list[float], later: list[float]) -> Wire:
    """As `secured` with three segments, but in bursts of two behind the first ten,
    paced by windows a round trip."""
    wire = Wire().asks(50, 0, 0).sends(100, 0, 3 * MSS)
    wire.asks(100.5, 300, 3 * MSS).sends(150.5, 3 * MSS, 7 * MSS, acknowledged=600)
    at, ms = 10, 150.5
    for windows in first:
        ms += 2 * 50 / windows
        wire.sends(ms, at * MSS, 2 * MSS, acknowledged=600)
        at += 2
    assert at == window + 3
    wire.acks(150.6, 4 * MSS).acks(165, at * MSS)
    ms = 200.6
    for n, windows in enumerate(later):
        wire.sends(ms, at * MSS, 2 * MSS, acknowledged=600)
        ms += (1 if n == 0 else 2) * 50 / windows
        at += 2
    return wire
