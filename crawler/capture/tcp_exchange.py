"""What packets' headers tell of a TCP connection: the server's segments, the client's acknowledgments,
and which the server had heard.

The server had certainly heard a packet of the client when it sent a segment if it acknowledges the packet's
payload or echoes its timestamp (TSecr, RFC 7323 §4.3). It can have heard only what the client sent early
enough before the segment came. And it had not heard what carries a later timestamp than it echoes, provided
that it would have taken that timestamp over: it takes those of packets that begin where its last
acknowledgment ended, or before.
"""

from __future__ import annotations

import bisect
import functools
import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import NamedTuple

from crawler.capture.packets import ACK, RST, SACK_PERMITTED, SYN, WINDOW_SCALE, Packet, list_option_kinds
from crawler.ranges import Ranges

PUSH = 0x08
SEQUENCES = 1 << 32
NEVER_NS = 1 << 62
NEAR = 1 << 30
"""Bytes of a connection that are read: beyond them, sequence numbers could wrap onto those of earlier
bytes."""
PACKETS_LIMIT = 2_000
SEGMENTS_LIMIT = 1_000
"""Packets of a connection, and segments of its server, that are looked at:
its first flights are among them."""

TICK_NS = 1_000_000
"""Tick of Linux's timestamps (TCP_TS_HZ)."""
DEFAULT_MSS = 536
"""MSS of a peer that states none, in bytes (RFC 9293 §3.7.1)."""
TIMESTAMPS_BYTES = 12
"""Timestamps option in each segment, padded (RFC 7323 appendix A)."""

EARLIEST, EARLIEST_WITH_CLOCK, TAKEN_OVER = 7 / 8, 1 / 2, 3 / 4
"""Least time from a packet of the client to a segment that answers it, in the shortest round trip that was
seen: the true one may be shorter. Timestamps tell more, so that less needs to be taken from the times.
TAKEN_OVER is that to a packet which the server may have sent as it took over a timestamp."""
CLOCK_ERROR, LEAST_TICKS = 0.25, 20
"""Share by which a server's clock may differ from ours if it counts milliseconds, and ticks over which it is
compared, at least: other ticks are 4 ms and more, or microseconds."""
COARSE = 16
"""Ticks of the server's clock in a round trip from which on they measure times within one."""
STEADY_NS = 10_000_000_000
"""Time over which two machines' clocks drift apart by a tick at most."""
RTO_MIN_NS = 200_000_000
"""Linux's least retransmission timeout, beyond a round trip (TCP_RTO_MIN)."""
OTHER_RTO_MIN_NS = 20_000_000
"""The same for other stacks, if it is more than another round trip."""


class DataSegment(NamedTuple):
    """One segment of the server with bytes that had not arrived before;
    positions count from the first byte after the SYN."""

    time_ns: int
    start: int
    end: int
    acknowledgment: int
    """Position in the client's data that it acknowledges."""
    is_pushed: bool
    echo: int | None
    """The client's timestamp that it echoes (TSecr)."""
    stamp: int | None
    """The server's own timestamp (TSval), which Linux counts in milliseconds."""

    @property
    def size(self) -> int:
        return self.end - self.start

    def ticks_since(self, earlier: DataSegment) -> int:
        if self.stamp is None or earlier.stamp is None:
            return 0
        return _ticks_between(earlier.stamp, self.stamp)

    def elapsed_ns(self, earlier: DataSegment) -> int:
        """Return the time since an earlier segment, by arrival or by the server's clock: the longer,
        since networks hold packets back."""
        return max(self.time_ns - earlier.time_ns, self.ticks_since(earlier) * TICK_NS)


class Ack(NamedTuple):
    """A packet from the client."""

    time_ns: int
    position: int
    right_edge: int
    start: int
    end: int
    is_selective: bool
    """True if SACK blocks or a repeated position show that data beyond a gap had arrived."""
    timestamps: tuple[int, int] | None


class Heard(NamedTuple):
    """Bounds of the client's packets that the server had heard at a segment, and of the position that they
    acknowledged.
    """

    least: int
    most: int
    least_position: int
    most_position: int


@dataclass(kw_only=True)
class TcpExchange:
    """One TCP connection from its SYN on, up to the limits of what is read."""

    round_trip_ns: int
    """The shortest round trip that the packets allow, in nanoseconds: between a packet of the client and the
    server's acknowledgment of it; or the shortest way there and the shortest way back, of different packets,
    by the server's clock. The server's own round trips are made of other packets than the client's."""
    segment_bytes: int
    """Payload of a full segment from the server, in bytes;
    the largest possible unless `is_segment_size_known`."""
    is_segment_size_known: bool
    is_linux: bool
    """True if the server's SYN-ACK has its options in Linux's order."""
    data: list[DataSegment]
    acks: list[Ack]
    heard: list[Heard]
    ends: list[int]
    """Position after each segment; gaps in `data` count as full segments."""
    reached: list[int]
    """The highest position up to which data had come with each of `data`."""
    has_clock: bool
    """True if all packets have timestamps."""
    counts_milliseconds: bool
    """True if the server's timestamps count milliseconds, as Linux's do since 4.13, over LEAST_TICKS or
    more."""
    repeats: list[int]
    """Times at which segments came that had come before, in nanoseconds:
    their acknowledgment lets a window grow, too."""
    disturbed_ns: int
    """When something first came that a retransmission timeout,
    a repeated SYN or a long silence may explain, in nanoseconds."""

    def find_answer(self, request_ns: int, answer_after: int = 0) -> int | None:
        """Return the first data beyond a position that acknowledges the client's first payload of
        `request_ns` or later.
        """
        request = next((ack for ack in self.acks if ack.time_ns >= request_ns and ack.end > ack.start), None)
        if request is None:
            return None
        return next(
            (
                n
                for n, segment in enumerate(self.data)
                if segment.time_ns > request.time_ns
                and segment.acknowledgment > request.start
                and segment.end > answer_after
            ),
            None,
        )

    def segments(self, position: int) -> int:
        return bisect.bisect_right(self.ends, position)

    def is_full(self, segment: DataSegment) -> bool:
        return segment.size >= self.segment_bytes

    def oldest(self, n: int) -> DataSegment:
        """Return the oldest segment that may be in flight, or the one before it if that was lost."""
        position = self.heard[n].least_position
        first = min(n, bisect.bisect_right(self.reached, position))
        return self.data[first - (self.data[first].start > position and first > 0)]

    @functools.cached_property
    def packets_before_loss(self) -> int:
        """Number of the client's packets after which the server must have heard of a gap."""
        return next((n for n, ack in enumerate(self.acks, 1) if ack.is_selective), len(self.acks) + 1)


@dataclass(slots=True)
class _Reading:
    """State while packets are read."""

    client_first: int
    server_first: int
    shift: int
    is_linux: bool
    data: list[DataSegment] = field(default_factory=list)
    acks: list[Ack] = field(default_factory=list)
    answers: list[tuple[int, int]] = field(default_factory=list)
    """Times at which the server acknowledged more of the client's data, and its position."""
    repeats: list[int] = field(default_factory=list)
    repeated_ns: int | None = None
    """When the first segment came that had been sent again;
    a probe of Linux (RFC 8985 §7) is none if its original came too."""
    stamps: list[tuple[int, int, int]] = field(default_factory=list)
    """Time of arrival of each packet of the server, its timestamp (TSval), and that which it echoes."""
    round_trips: list[int] = field(default_factory=list)
    arrived: Ranges = field(default_factory=Ranges)
    awaiting: list[tuple[int, int]] = field(default_factory=list)
    """End and time of the client's payloads that the server has not acknowledged."""
    sent: int = 0

    def take_server_packet(self, packet: Packet) -> None:
        if packet.timestamps:
            self.stamps.append((packet.time_ns, *packet.timestamps))
        acknowledgment = (packet.acknowledgment - self.client_first) % SEQUENCES
        if acknowledgment < NEAR and (not self.answers or acknowledgment > self.answers[-1][1]):
            self.answers.append((packet.time_ns, acknowledgment))
        answered = [time for end, time in self.awaiting if end <= acknowledgment < NEAR]
        if answered:
            self.round_trips.append(packet.time_ns - answered[-1])
            self.awaiting = [payload for payload in self.awaiting if payload[0] > acknowledgment]
        first = (packet.sequence - self.server_first) % SEQUENCES
        if not packet.payload_bytes or first >= NEAR or len(self.data) >= SEGMENTS_LIMIT:
            return
        stamp, echo = packet.timestamps or (None, None)
        last = first + packet.payload_bytes
        for start in range(first, last, packet.segment_bytes):
            end = min(start + packet.segment_bytes, last)
            self._note_repeat(packet.time_ns, start, end)
            for begin, stop in self.arrived.add(start, end):
                is_pushed = bool(packet.flags & PUSH) and end == last
                self.data.append(
                    DataSegment(packet.time_ns, begin, stop, acknowledgment, is_pushed, echo, stamp)
                )

    def _note_repeat(self, time_ns: int, start: int, end: int) -> None:
        if start >= self.arrived.stop:
            return
        self.repeats.append(time_ns)
        if self.repeated_ns is not None:
            return
        original = next((segment for segment in reversed(self.data) if segment.end == end), None)
        is_probe = (
            self.is_linux
            and not self.arrived.gaps
            and original is not None
            and end == self.arrived.stop
            and time_ns - original.time_ns < RTO_MIN_NS
        )
        if not is_probe:
            self.repeated_ns = time_ns

    def take_client_packet(self, packet: Packet) -> None:
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
        self.acks.append(
            Ack(packet.time_ns, position, right_edge, start, end, self.arrived.gaps > 0, packet.timestamps)
        )
        if start < self.sent:  # sent again: which of the two is acknowledged is not known (Karn)
            self.awaiting = [payload for payload in self.awaiting if payload[0] <= start]
        elif packet.payload_bytes:
            self.awaiting.append((end, packet.time_ns))
        self.sent = max(self.sent, end)


def read_exchange(packets: Iterable[Packet], *, client: bytes) -> TcpExchange | str:
    """Return the connection that the packets are of, or the reason why it cannot be read:
    `no_handshake` or `no_response`."""
    few = list(itertools.islice(packets, PACKETS_LIMIT))
    syns = [packet for packet in few if packet.flags & (SYN | ACK) == SYN and packet.source == client]
    answers = [
        packet for packet in few if packet.flags & (SYN | ACK) == SYN | ACK and packet.source != client
    ]
    if not syns or not answers or answers[0].time_ns < syns[0].time_ns:
        return "no_handshake"
    syn, answer = syns[0], answers[0]
    shift = (syn.window_scale or 0) if answer.window_scale is not None else 0
    reading = _Reading(
        (syn.sequence + 1) % SEQUENCES, (answer.sequence + 1) % SEQUENCES, shift, is_linux(answer)
    )
    if len(syns) == len(answers) == 1:
        reading.round_trips.append(answer.time_ns - syn.time_ns)
    else:
        reading.repeated_ns = syn.time_ns
    if answer.timestamps:
        reading.stamps.append((answer.time_ns, *answer.timestamps))
    for packet in few:
        if packet.flags & (SYN | RST) or not packet.flags & ACK:
            continue
        if packet.source == client:
            reading.take_client_packet(packet)
        else:
            reading.take_server_packet(packet)
    if not reading.data or not reading.round_trips:
        return "no_response"
    segment_bytes, is_known = _measure_segments(reading.data, syn, answer)
    clock = _read_clock(reading)
    echoed = (
        (segment.time_ns - _sent_ns(reading, clock, segment.echo) for segment in reading.data)
        if clock
        else ()
    )
    round_trip_ns = max(1, min([*reading.round_trips, *echoed]))
    counts_milliseconds = bool(clock) and _counts_milliseconds(reading.data)
    if counts_milliseconds and reading.is_linux and round_trip_ns >= COARSE * TICK_NS:
        round_trip_ns = max(1, min(round_trip_ns, _join_ways(reading, clock)))
    heard = _list_heard(reading, clock, round_trip_ns)
    disturbed_ns = _find_disturbance(reading, answer.time_ns + round_trip_ns, round_trip_ns)
    return TcpExchange(
        round_trip_ns=round_trip_ns,
        segment_bytes=segment_bytes,
        is_segment_size_known=is_known,
        is_linux=reading.is_linux,
        data=reading.data,
        acks=reading.acks,
        heard=heard,
        ends=_list_ends(reading.data, segment_bytes),
        reached=list(itertools.accumulate((segment.end for segment in reading.data), max)),
        has_clock=bool(clock),
        counts_milliseconds=counts_milliseconds,
        repeats=reading.repeats,
        disturbed_ns=min(disturbed_ns, _find_timeout(reading, heard, round_trip_ns) if clock else NEVER_NS),
    )


def _list_heard(reading: _Reading, clock: Sequence[int], round_trip_ns: int) -> list[Heard]:
    acks, earliest_ns = reading.acks, int((EARLIEST_WITH_CLOCK if clock else EARLIEST) * round_trip_ns)
    times = [ack.time_ns for ack in acks]
    untold = _count_not_taken_over(reading, int(TAKEN_OVER * round_trip_ns))
    paying = [n for n, ack in enumerate(acks, 1) if ack.end > ack.start]
    paid = list(itertools.accumulate((acks[n - 1].end for n in paying), max))

    def position(count: int) -> int:
        return acks[count - 1].position if count else 0

    heard = []
    for segment in reading.data:
        most = bisect.bisect_right(times, segment.time_ns - earliest_ns)
        acknowledged = bisect.bisect_right(paid, segment.acknowledgment)
        least = paying[acknowledged - 1] if acknowledged else 0
        if clock and segment.echo is not None:
            echo = _unwrap(segment.echo, clock)
            taken_over = min(bisect.bisect_right(clock, echo), bisect.bisect_left(times, segment.time_ns))
            most = max(taken_over, untold[most])
            first = bisect.bisect_left(clock, echo)
            if first < len(clock) and clock[first] == echo:
                least = max(least, first + 1)
        most = max(most, least)
        heard.append(Heard(least, most, position(least), position(most)))
    return heard


def _count_not_taken_over(reading: _Reading, earliest_ns: int) -> list[int]:
    """Return, for each number of packets, the last whose timestamp the server may not have adopted."""
    untold, at, acknowledged = [0], 0, 0
    for n, ack in enumerate(reading.acks, 1):
        while at < len(reading.answers) and reading.answers[at][0] < ack.time_ns + earliest_ns:
            acknowledged = reading.answers[at][1]
            at += 1
        untold.append(n if ack.start > acknowledged else untold[-1])
    return untold


def _read_clock(reading: _Reading) -> list[int]:
    """Return the client's TSval as a clock that never goes back; empty if a packet has none."""
    if any(ack.timestamps is None for ack in reading.acks) or any(
        segment.echo is None for segment in reading.data
    ):
        return []
    clock: list[int] = []
    for ack in reading.acks:
        stamp = ack.timestamps[0] if ack.timestamps else 0
        clock.append(max(_unwrap(stamp, clock), clock[-1]) if clock else stamp)
    return clock


def _unwrap(stamp: int, clock: Sequence[int]) -> int:
    return clock[0] + _ticks_between(clock[0], stamp)


def _ticks_between(earlier: int, later: int) -> int:
    return (later - earlier + SEQUENCES // 2) % SEQUENCES - SEQUENCES // 2


def _counts_milliseconds(data: Sequence[DataSegment]) -> bool:
    came_ns = data[-1].time_ns - data[0].time_ns
    ticks_ns = data[-1].ticks_since(data[0]) * TICK_NS
    return came_ns >= LEAST_TICKS * TICK_NS and abs(ticks_ns - came_ns) <= CLOCK_ERROR * came_ns


def _join_ways(reading: _Reading, clock: Sequence[int]) -> int:
    """Return the sum of the shortest ways to the server and back, in ns by its clock of milliseconds; too
    long by less than a tick.
    """
    began_ns, first, _ = reading.stamps[0]
    there, back = [], []
    for time_ns, stamp, echo in reading.stamps:
        if time_ns - began_ns > STEADY_NS:
            break
        server_ns = _ticks_between(first, stamp) * TICK_NS
        there.append(server_ns - _sent_ns(reading, clock, echo))
        back.append(time_ns - server_ns)
    return min(there) + min(back) + TICK_NS


def _sent_ns(reading: _Reading, clock: Sequence[int], echo: int | None) -> int:
    """Return when the client first sent a timestamp, in ns; long ago if it sent none."""
    stamp = _unwrap(echo or 0, clock)
    first = bisect.bisect_left(clock, stamp)
    return reading.acks[first].time_ns if first < len(clock) and clock[first] == stamp else -NEVER_NS


def _list_ends(data: Sequence[DataSegment], segment_bytes: int) -> list[int]:
    ends: list[int] = []
    reached = 0
    for segment in sorted(data, key=lambda segment: segment.start):
        ends += [segment.start] * -(-(segment.start - reached) // segment_bytes)
        ends.append(segment.end)
        reached = segment.end
    return ends


def _find_disturbance(reading: _Reading, ready_ns: int, round_trip_ns: int) -> int:
    """Return when the window may first have changed for another reason than an acknowledgment; data come from
    `ready_ns` on.

    What comes after a silence may have been sent before, and lost: a timeout after what it answers, and by no
    other data.
    """
    timeout_ns = RTO_MIN_NS if reading.is_linux else max(OTHER_RTO_MIN_NS, EARLIEST * round_trip_ns)
    repeated_ns = (
        reading.data[-1].time_ns + RTO_MIN_NS if reading.repeated_ns is None else reading.repeated_ns
    )
    asked = [(ack.end, ack.time_ns) for ack in reading.acks if ack.end > ack.start]
    for n, segment in enumerate(reading.data):
        silence_ns = segment.elapsed_ns(reading.data[n - 1]) if n else segment.time_ns - ready_ns
        if silence_ns > timeout_ns + EARLIEST * round_trip_ns:
            answers_ns = max(
                (time_ns for end, time_ns in asked if end <= segment.acknowledgment), default=ready_ns
            )
            if segment.time_ns - answers_ns > timeout_ns + 2 * EARLIEST * round_trip_ns:
                return min(repeated_ns, segment.time_ns)
    return repeated_ns


def _find_timeout(reading: _Reading, heard: Sequence[Heard], round_trip_ns: int) -> int:
    """Return when the first segment came before which one may have waited until a timeout, in ns; NEVER_NS if
    none did.

    What was sent again then may have been lost too, as may early acknowledgments: those count which the
    server is known to have heard.
    """
    timeout_ns = RTO_MIN_NS if reading.is_linux else max(OTHER_RTO_MIN_NS, EARLIEST * round_trip_ns)
    known = sorted({entry.least for entry in heard if entry.least})
    covered = [reading.acks[count - 1].position for count in known]
    for segment in reading.data:
        first = bisect.bisect_left(covered, segment.end)
        if first == len(known):
            break
        acked_ns = reading.acks[known[first] - 1].time_ns
        if acked_ns - segment.time_ns > EARLIEST * timeout_ns:
            return next((later.time_ns for later in reading.data if later.time_ns > acked_ns), NEVER_NS)
    return NEVER_NS


def is_linux(answer: Packet) -> bool:
    kinds = list_option_kinds(answer.options)
    both = [kind for kind in kinds if kind in {SACK_PERMITTED, WINDOW_SCALE}]
    return both == [SACK_PERMITTED, WINDOW_SCALE]


def _measure_segments(data: Sequence[DataSegment], syn: Packet, answer: Packet) -> tuple[int, bool]:
    has_timestamps = syn.timestamps is not None and answer.timestamps is not None
    allowed = max(1, (syn.mss or DEFAULT_MSS) - (TIMESTAMPS_BYTES if has_timestamps else 0))
    largest = max(segment.size for segment in data)
    is_cut = any(segment.size == largest and not segment.is_pushed for segment in data)
    return (largest, True) if largest >= allowed or is_cut else (allowed, False)
