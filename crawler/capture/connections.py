"""The connections in a capture: their first packets, and the payload that each received. No I/O.

All input is accepted, and memory is bounded. Not thread-safe.
"""

from collections.abc import Set

from crawler.capture.packets import ACK, PORT, SYN, TCP, Packet
from crawler.ranges import Ranges

PACKETS_LIMIT = 400
"""Most packets kept of a connection, the first ones: its handshakes and first flights."""
KEPT_LIMIT = 100_000
"""Most packets kept in all; the oldest connections are forgotten first."""
CONNECTIONS_LIMIT = 4096
"""Most connections, for the same reason."""
GAPS_LIMIT = 256
"""Most gaps in the received payload: a sender may leave one before each byte."""

SEQUENCES = 1 << 32
WINDOW = 1 << 30
"""Largest window (RFC 7323 §2.3): segments further ahead are not part of the stream."""

DNS = PORT.pack(53)

INITIAL_BYTES = 1200
"""Least datagram of a client that begins a QUIC connection (RFC 9000 §14.1)."""

FIRST_EPHEMERAL = 32_768
"""Least local port that Linux chooses for a connection; the crawler's own probes use lower ports."""


class Received:
    """Counts the payload in the segments of one direction of a TCP connection,
    each byte once (RFC 9293 §3.4)."""

    __slots__ = ("_arrived", "_first", "is_lost")

    def __init__(self, first: int) -> None:
        self.is_lost = False
        self._first = first
        self._arrived = Ranges()

    @property
    def payload_bytes(self) -> int:
        return self._arrived.whole

    def add(self, sequence: int, size: int) -> None:
        position = self.payload_bytes
        offset = (sequence - self._first - position + SEQUENCES // 2) % SEQUENCES - SEQUENCES // 2
        if offset < WINDOW and not self.is_lost:
            start = position + offset
            self._arrived.add(max(0, start), start + size)
            self.is_lost = self._arrived.gaps > GAPS_LIMIT


class CapturedConnection:
    """One TCP connection, or the UDP datagrams between two ends, from the first packet on."""

    __slots__ = (
        "_received", "client", "is_lost", "is_named", "last_ns", "min_rtt_us", "packets", "protocol", "server", "syn",  # noqa: E501
    )  # fmt: skip

    def __init__(self, first: Packet) -> None:
        self.protocol = first.protocol
        self.client, self.server = first.source, first.destination
        self.packets: list[Packet] = []
        """The first packets of both directions, PACKETS_LIMIT of them at most, in the order of capture."""
        self.syn = first.sequence
        self.last_ns: int | None = None
        """When payload last came from the server, in ns of CLOCK_MONOTONIC."""
        self.is_lost = False
        self.is_named = False
        self.min_rtt_us: int | None = None
        """Smallest round trip by the client's kernel (tcpi_min_rtt), in µs."""
        self._received = Received(0) if first.protocol != TCP else None

    @property
    def names(self) -> set[bytes]:
        """Names by either side, as by `packets.pack_name`: of UDP, the server may have sent first."""
        return {self.client[-PORT.size :] + self.server, self.server[-PORT.size :] + self.client}

    @property
    def began_ns(self) -> int:
        """Time of the first packet, in ns of CLOCK_MONOTONIC."""
        return self.packets[0].time_ns

    @property
    def round_trip_us(self) -> int | None:
        """The smaller of SYN to SYN-ACK and `min_rtt_us`; None if neither is known, and for UDP.

        The first is unknown if SYN was sent twice: either may be answered.
        """
        if self.protocol != TCP:
            return None
        asked = [packet.time_ns for packet in self.packets if packet.flags & (SYN | ACK) == SYN]
        answered = [packet.time_ns for packet in self.packets if packet.flags & (SYN | ACK) == SYN | ACK]
        known = [] if self.min_rtt_us is None else [self.min_rtt_us]
        if answered and len(asked) == 1:
            known.append((answered[0] - asked[0]) // 1000)
        return min(known, default=None)

    @property
    def received_bytes(self) -> int | None:
        """Payload from the server: of TCP each byte once, of UDP all datagrams; None if packets may be
        missing.
        """
        received = self._received
        return None if self.is_lost or received is None or received.is_lost else received.payload_bytes

    def add(self, packet: Packet) -> bool:
        if packet.source == self.server:
            self._receive(packet)
        if len(self.packets) < PACKETS_LIMIT:
            self.packets.append(packet)
            return True
        return False

    def _receive(self, packet: Packet) -> None:
        sequence, size = packet.sequence, packet.payload_bytes
        if packet.flags & SYN:
            sequence += 1
            if self._received is None and packet.flags & ACK:
                self._received = Received(sequence)
        if self._received is None or not size:
            return
        self.last_ns = packet.time_ns
        # The datagrams of UDP count in the order in which they come.
        self._received.add(sequence if packet.protocol == TCP else self._received.payload_bytes, size)


class CapturedConnections:
    """All connections whose beginning was captured, until they are taken or too many."""

    def __init__(self) -> None:
        self._by_ends: dict[bytes, CapturedConnection] = {}
        self._kept = 0
        self._taken: dict[bytes, None] = {}
        """Ends whose datagrams were taken, the oldest first: more may come."""

    def feed(self, packet: Packet) -> None:
        """Add a packet, unless it is DNS, or of a TCP connection whose SYN was not captured.

        A SYN with another sequence number than the last between the same ends begins another connection.
        """
        ends, flags = packet.source + packet.destination, packet.flags
        connection = self._by_ends.get(ends)
        if packet.protocol == TCP and flags & (SYN | ACK) == SYN:
            if connection is None or connection.syn != packet.sequence:
                connection = self._begin(ends, packet)
        elif connection is None:
            connection = self._by_ends.get(packet.destination + packet.source)
            if connection is None and packet.protocol != TCP and DNS not in (ends[-2:], packet.source[-2:]):
                connection = None if self._is_late(packet) else self._begin(ends, packet)
        if connection is not None:
            self._kept += connection.add(packet)
            if self._kept > KEPT_LIMIT:
                self._forget()

    def find(self, client: bytes, server: bytes) -> CapturedConnection | None:
        return self._by_ends.get(client + server)

    def take(self, client: bytes, server: bytes) -> CapturedConnection | None:
        """Take the newest connection between two ends; None if its beginning was not captured."""
        connection = self._by_ends.pop(client + server, None)
        if connection is not None:
            self._kept -= len(connection.packets)
            if connection.protocol != TCP:
                self._taken[client + server] = None
                if len(self._taken) > CONNECTIONS_LIMIT:
                    del self._taken[next(iter(self._taken))]
        return connection

    def list_unnamed(self, named: Set[bytes], *, since_ns: int, until_ns: int) -> list[CapturedConnection]:
        """Return connections of a time that received payload and were never `named`, each once."""
        unnamed = []
        for connection in self._by_ends.values():
            connection.is_named |= not named.isdisjoint(connection.names)
            is_browsers = PORT.unpack(connection.client[-PORT.size :])[0] >= FIRST_EPHEMERAL
            is_of_visit = connection.last_ns is not None and since_ns <= connection.began_ns <= until_ns
            if is_browsers and is_of_visit and not connection.is_named:
                connection.is_named = True
                unnamed.append(connection)
        return unnamed

    def _is_late(self, packet: Packet) -> bool:
        """Return whether a datagram is of a connection that was taken: either side still closes it, or
        repeats itself.
        """
        ends = packet.source + packet.destination
        if ends in self._taken and packet.payload_bytes >= INITIAL_BYTES:
            del self._taken[ends]
        return ends in self._taken or packet.destination + packet.source in self._taken

    def lose(self) -> None:
        for connection in self._by_ends.values():
            connection.is_lost = True

    def _begin(self, ends: bytes, packet: Packet) -> CapturedConnection:
        self.take(packet.source, packet.destination)
        begun = self._by_ends[ends] = CapturedConnection(packet)
        if len(self._by_ends) > CONNECTIONS_LIMIT:
            self._forget()
        return begun

    def _forget(self) -> None:
        oldest = next(iter(self._by_ends))
        self._kept -= len(self._by_ends.pop(oldest).packets)
