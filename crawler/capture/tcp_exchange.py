"""What packets' headers tell of a TCP connection: the server's data, the client's acknowledgments,
and the round trip."""

import bisect
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

from crawler.capture.packets import ACK, RST, SACK_PERMITTED, SYN, WINDOW_SCALE, Packet, option_kinds

PUSH = 0x08
SEQUENCES = 1 << 32
NEAR = 1 << 30
"""Bytes of a connection that are looked at: later sequence numbers could be those of earlier bytes."""
PACKETS_LIMIT = 2_000
"""Packets of a connection that are looked at: its first flights are among them."""

DEFAULT_MSS = 536
"""MSS of a peer that states none, in bytes (RFC 9293 §3.7.1)."""
TIMESTAMPS_BYTES = 12
"""Timestamps option in each segment, padded (RFC 7323 appendix A)."""
SILENT_ROUND_TRIPS = 1.75
"""Round trips without a word from the client after which more of a handshake's
flight may be a retransmission."""


class Data(NamedTuple):
    """Data from the server that had not arrived before; positions count from the first byte after the SYN."""

    time_ns: int
    start: int
    end: int
    segments: int
    segment_bytes: int
    acknowledgment: int
    """Position in the client's data up to which the server had received."""
    is_pushed: bool
    echo: int | None
    """The client's timestamp that it echoes (TSecr, RFC 7323 §4.3); None without timestamps."""
    stamp: int | None
    """The server's own timestamp (TSval), which Linux counts in milliseconds; None without timestamps."""

    @property
    def size(self) -> int:
        """Payload in bytes."""
        return self.end - self.start

    def is_full(self, segment_bytes: int) -> bool:
        """True if the last segment is of full size."""
        return self.segment_bytes >= segment_bytes and self.size % segment_bytes == 0


class Ack(NamedTuple):
    """A packet from the client."""

    time_ns: int
    position: int
    """Position in the server's data up to which the client has received."""
    right_edge: int
    """Position up to which the client's receive window allows data."""
    packet: Packet
    start: int
    """Position of its payload in the client's data."""
    end: int

    @property
    def is_selective(self) -> bool:
        """True if it has SACK blocks: after a gap it acknowledges more than `position`."""
        return bool(self.packet.sack_blocks)


@dataclass(kw_only=True, slots=True)
class Exchange:
    """One TCP connection from its SYN on, as far as it was looked at."""

    round_trip_ns: int
    """The shortest time between a packet of the client and the server's acknowledgment of it,
    in nanoseconds."""
    round_trip_error_ns: int
    """Bound of the difference between `round_trip_ns` and the round trip of the server's SYN-ACK,
    in nanoseconds."""
    segment_bytes: int
    """Payload of a full segment from the server, in bytes;
    the largest possible unless `is_segment_size_known`."""
    is_segment_size_known: bool
    is_linux: bool
    """True if the server's SYN-ACK has its options in Linux's order."""
    data: list[Data]
    acks: list[Ack]
    losses: list[int]
    """Times at which data arrived that was out of order or repeated, or the SYN was, in nanoseconds."""
    clock: list[int]
    """The client's timestamps in `acks` (TSval), without their wrap; empty if a packet has none."""

    def heard(self, one: Data) -> int:
        """How many of `acks` the server can have received when it sent this data,
        by the timestamp that it echoes; else 0.

        It received the first of those with that timestamp; those of the same tick,
        a millisecond in Linux, are counted too.
        """
        if one.echo is None or not self.clock:
            return 0
        ticks = (one.echo - self.clock[0] + SEQUENCES // 2) % SEQUENCES - SEQUENCES // 2
        told = bisect.bisect_right(self.clock, self.clock[0] + ticks)
        return min(told, bisect.bisect_right(self.acks, one.time_ns, key=lambda ack: ack.time_ns))

    def heard_up_to(self, one: Data) -> int:
        """Position in its data up to which the server can have had an acknowledgment when it sent this,
        by its echo."""
        heard = self.heard(one)
        return self.acks[heard - 1].position if heard else 0

    def answered(self, request_ns: int) -> int | None:
        """Index of the first data that acknowledges the client's first payload of `request_ns` or later."""
        request = next((ack for ack in self.acks if ack.time_ns >= request_ns and ack.end > ack.start), None)
        if request is None:
            return None
        return next(
            (
                n
                for n, one in enumerate(self.data)
                if one.time_ns > request.time_ns and one.acknowledgment > request.start
            ),
            None,
        )

    def acknowledged(self, time_ns: int) -> int:
        """Position up to which the client had acknowledged by a time."""
        known = bisect.bisect_right(self.acks, time_ns, key=lambda ack: ack.time_ns)
        return self.acks[known - 1].position if known else 0

    def right_edge(self, time_ns: int) -> int:
        """Position up to which the client had allowed data before a time."""
        known = bisect.bisect_left(self.acks, time_ns, key=lambda ack: ack.time_ns)
        return self.acks[known - 1].right_edge if known else 0

    def is_lossy_before(self, time_ns: int) -> bool:
        """True if a loss may have changed the window before a time."""
        silent_ns = SILENT_ROUND_TRIPS * self.round_trip_ns
        sent = [ack.time_ns for ack in self.acks if ack.end > ack.start]
        for one in self.data[1 : bisect.bisect_left(self.data, time_ns, key=lambda one: one.time_ns)]:
            asked = bisect.bisect_left(sent, one.time_ns)
            if asked and one.time_ns - sent[asked - 1] > silent_ns:
                return True
        return any(time <= time_ns for time in self.losses)


@dataclass(slots=True)
class _Reading:
    """State while packets are read."""

    client_first: int
    server_first: int
    shift: int
    data: list[Data] = field(default_factory=list)
    acks: list[Ack] = field(default_factory=list)
    losses: list[int] = field(default_factory=list)
    round_trips: list[int] = field(default_factory=list)
    highest: int = 0
    gaps: list[tuple[int, int]] = field(default_factory=list)
    """Ranges before `highest` that have not arrived."""
    awaiting: list[tuple[int, int]] = field(default_factory=list)
    """End and time of the client's payloads that the server has not acknowledged."""

    def from_server(self, packet: Packet) -> None:
        """Take a packet of the server."""
        acknowledgment = (packet.acknowledgment - self.client_first) % SEQUENCES
        answered = [time for end, time in self.awaiting if end <= acknowledgment < NEAR]
        if answered:
            self.round_trips.append(packet.time_ns - answered[-1])
            self.awaiting = [one for one in self.awaiting if one[0] > acknowledgment]
        start = (packet.sequence - self.server_first) % SEQUENCES
        end = start + packet.payload_bytes
        if not packet.payload_bytes or start >= NEAR:
            return
        if start != self.highest:
            self.losses.append(packet.time_ns)
        stamp, echo = packet.timestamps or (None, None)
        for first, last in self._missing(start, end):
            segments = -(-(last - first) // packet.segment_bytes)
            self.data.append(
                Data(
                    packet.time_ns,
                    first,
                    last,
                    segments,
                    packet.segment_bytes,
                    acknowledgment,
                    bool(packet.flags & PUSH),
                    echo,
                    stamp,
                )
            )

    def _missing(self, start: int, end: int) -> list[tuple[int, int]]:
        """What of a range had not arrived; it has now."""
        if start == self.highest and not self.gaps:
            self.highest = end
            return [(start, end)]
        if end > self.highest:
            self.gaps.append((self.highest, end))
            self.highest = end
        found, left = [], []
        for first, last in self.gaps:
            from_, to = max(first, start), min(last, end)
            if from_ >= to:
                left.append((first, last))
                continue
            found.append((from_, to))
            left += [one for one in ((first, from_), (to, last)) if one[0] < one[1]]
        self.gaps = left
        return found

    def from_client(self, packet: Packet) -> None:
        """Take a packet of the client."""
        position = (packet.acknowledgment - self.server_first) % SEQUENCES
        start = (packet.sequence - self.client_first) % SEQUENCES
        if position >= NEAR or start >= NEAR:
            return
        end = start + packet.payload_bytes
        right_edge = position + (packet.window << self.shift)
        if self.acks:
            position, right_edge = (
                max(position, self.acks[-1].position),
                max(right_edge, self.acks[-1].right_edge),
            )
        self.acks.append(Ack(packet.time_ns, position, right_edge, packet, start, end))
        if packet.payload_bytes:
            self.awaiting.append((end, packet.time_ns))


def read_exchange(packets: Iterable[Packet], *, client: bytes) -> Exchange | str:
    """The connection that the packets are of, or the reason why it cannot be read:
    `no_handshake` or `no_response`."""
    few = [packet for packet, _ in zip(packets, range(PACKETS_LIMIT), strict=False)]
    syns = [one for one in few if one.flags & (SYN | ACK) == SYN and one.source == client]
    answers = [one for one in few if one.flags & (SYN | ACK) == SYN | ACK and one.source != client]
    if not syns or not answers or answers[0].time_ns < syns[0].time_ns:
        return "no_handshake"
    syn, answer = syns[0], answers[0]
    shift = (syn.window_scale or 0) if answer.window_scale is not None else 0
    reading = _Reading((syn.sequence + 1) % SEQUENCES, (answer.sequence + 1) % SEQUENCES, shift)
    if len(syns) == len(answers) == 1:
        reading.round_trips.append(answer.time_ns - syn.time_ns)
    else:
        reading.losses.append(syn.time_ns)
    for packet in few:
        if packet.flags & (SYN | RST) or not packet.flags & ACK:
            continue
        if packet.source == client:
            reading.from_client(packet)
        else:
            reading.from_server(packet)
    if not reading.data or not reading.round_trips:
        return "no_response"
    segment_bytes, is_known = _segment_size(reading.data, syn, answer)
    shortest = max(1, min(reading.round_trips))
    return Exchange(
        round_trip_ns=shortest,
        # SYN-ACK travelled as in the first sample, and its acknowledgment as in the second,
        # beside the first data.
        round_trip_error_ns=sum(one - shortest for one in reading.round_trips[:2]),
        segment_bytes=segment_bytes,
        is_segment_size_known=is_known,
        is_linux=is_linux(answer),
        data=reading.data,
        acks=reading.acks,
        losses=reading.losses,
        clock=_clock(reading.acks),
    )


def _clock(acks: list[Ack]) -> list[int]:
    """The client's timestamps as a clock that never goes back; empty if one of its packets has none."""
    clock: list[int] = []
    for ack in acks:
        stamps = ack.packet.timestamps
        if stamps is None:
            return []
        last = clock[-1] if clock else stamps[0]
        ahead = (stamps[0] - last) % SEQUENCES
        clock.append(last + (ahead if ahead < SEQUENCES // 2 else 0))
    return clock


def is_linux(answer: Packet) -> bool:
    """True if a SYN-ACK has its options in the order of Linux (tcp_options_write):
    SACK permitted before the window scale."""
    kinds = option_kinds(answer.options)
    both = [one for one in kinds if one in {SACK_PERMITTED, WINDOW_SCALE}]
    return both == [SACK_PERMITTED, WINDOW_SCALE]


def _segment_size(data: list[Data], syn: Packet, answer: Packet) -> tuple[int, bool]:
    """Payload of a full segment, and whether it was seen: as the client allows,
    or as the sender cut what it had."""
    has_timestamps = syn.timestamps is not None and answer.timestamps is not None
    allowed = max(1, (syn.mss or DEFAULT_MSS) - (TIMESTAMPS_BYTES if has_timestamps else 0))
    largest = max(one.segment_bytes for one in data)
    is_cut = any(one.segment_bytes == largest and (one.segments > 1 or not one.is_pushed) for one in data)
    return (largest, True) if largest >= allowed or is_cut else (allowed, False)
