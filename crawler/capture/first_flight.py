"""Estimates a server's initial window from the headers of one TCP connection's packets,
as captured at the client.

The initial window (RFC 6928, RFC 9040) is the congestion window of a connection that has had no
acknowledgment. Every segment was sent while at most a window was in flight, and in flight is what no
acknowledgment that the server can have received covers: of the client's packets, those sent at least a round
trip before the segment arrived, and those whose timestamp it echoes (RFC 7323 §4.3), however much the round
trips differ. That bounds the window from below. It is known exactly if the sender then stopped, although it
had more to send and the receive window had room, until the first acknowledgment of the flight reached it.
Rüth et al. (IMC 2017) name these cares.

A handshake's flight that was acknowledged before may have grown the window: `crawler.capture.window_growth`.
"""

import bisect
import itertools
from collections.abc import Sequence
from dataclasses import dataclass

from crawler.capture.pacing import Flights, counts_milliseconds, may_be_bbr, sender_by_pace
from crawler.capture.packets import Packet
from crawler.capture.tcp_exchange import Ack, Data, Exchange, read_exchange
from crawler.capture.window_growth import ANY, LINUX, Before, Sender, initial_windows, least_window

EARLIEST, LATEST = 7 / 8, 9 / 8
"""Bounds of a later round trip, in the shortest round trip of the connection: what arrives before the
earliest was sent without an acknowledgment, and what a waiting sender sends arrives before the latest."""

SLACK_NS = 1_000_000
"""Time that ends may take to answer, in nanoseconds."""

LEAST_GAP = 1 / 16
"""Least pause after a flight, in round trips: a shorter one does not show that the sender stopped."""

QUIC_SHARE = 7 / 8
"""Share of the round trip within which nothing can answer the response's first datagram."""


@dataclass(frozen=True, kw_only=True, slots=True)
class FirstFlight:
    """What came within the first round trip of a response,
    and what it tells of the server's initial window."""

    bytes: int
    """TCP payload from the response's first packet on that was sent before any of it was acknowledged,
    each byte once."""
    packets: int
    """TCP segments of these bytes."""
    segment_bytes: int
    """Payload of a full segment as the server sent it, in bytes."""
    window_segments: int
    """Lower bound of the initial window, in full segments."""
    unknown: str = ""
    """Why the window may be larger; empty if it is exactly `window_segments`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Flight:
    """All that was in flight at once, from one segment to the last before an acknowledgment."""

    data: Sequence[Data]
    base: int
    """Position up to which the server may have had an acknowledgment."""
    first_ack: Ack | None
    following: Data | None
    """First data after the flight."""

    @property
    def end(self) -> int:
        """Position after the flight's last byte; bytes of the flight that were lost are within."""
        return max(one.end for one in self.data)


def first_flight(packets: Sequence[Packet], *, client: bytes, request_ns: int) -> FirstFlight | str:
    """The first flight of the response to the first request, or the reason why there is none.

    `packets` are those of one connection, in the order of their times. `client` is the browser's address and
    port as in `Packet.source`. The request is the first payload that the browser sends at `request_ns` or
    later.
    """
    exchange = read_exchange(packets, client=client)
    if isinstance(exchange, str):
        return exchange
    begin = exchange.answered(request_ns)
    if begin is None:
        return "no_response"
    flight = _flight_of(exchange, begin)
    if flight.data[0] is exchange.data[0]:
        low, unknown = _window(exchange, flight)
    else:
        low, unknown = _window(exchange, _flight_of(exchange, 0))
        if unknown:
            low, unknown = _window(exchange, flight, least=low)
    response = [one for one in flight.data if one.time_ns >= exchange.data[begin].time_ns]
    return FirstFlight(
        bytes=sum(one.size for one in response),
        packets=sum(one.segments for one in response),
        segment_bytes=exchange.segment_bytes,
        window_segments=low,
        unknown=unknown,
    )


def _flight_of(exchange: Exchange, index: int) -> Flight:
    """The flight that contains the data at `index`."""
    data, round_trip = exchange.data, exchange.round_trip_ns
    base = min(
        max(
            exchange.acknowledged(data[index].time_ns - int(EARLIEST * round_trip)),
            exchange.heard_up_to(data[index]),
        ),
        data[index].start,  # what arrives although it was acknowledged was missed by the capture before
    )
    first = next(n for n, one in enumerate(data) if one.end > base)
    answer, first_ack = next(
        (
            (n, ack)
            for n, ack in enumerate(exchange.acks)
            if ack.time_ns >= data[first].time_ns and (ack.position > base or ack.is_selective)
        ),
        (len(exchange.acks), None),
    )
    limit = first_ack.time_ns + int(EARLIEST * round_trip) if first_ack else None
    last = next(
        (
            n
            for n, one in enumerate(data)
            if n > index and limit is not None and (one.time_ns >= limit or exchange.heard(one) > answer)
        ),
        len(data),
    )
    flight = data[first : max(last, index + 1)]
    end = max(one.end for one in flight)
    return Flight(
        data=flight,
        base=base,
        first_ack=first_ack,
        following=next((one for one in data[max(last, index + 1) :] if one.end > end), None),
    )


def _window(exchange: Exchange, flight: Flight, *, least: int = 1) -> tuple[int, str]:
    """Lower bound of the initial window in full segments, and why it may be larger: empty if it is exact.

    `least` is a lower bound by an earlier flight.
    """
    size = flight.end - flight.base
    seen = -(-size // exchange.segment_bytes)
    unknown = _unended(exchange, flight)
    if not unknown and not exchange.is_segment_size_known:
        unknown = "segment_size"
    counted = sum(one.segments for one in flight.data)
    counted += -(-(size - sum(one.size for one in flight.data)) // exchange.segment_bytes)
    if counted != seen:
        if exchange.is_linux or (
            not unknown and _is_counted_in_segments(exchange, flight, seen * exchange.segment_bytes)
        ):
            seen = counted
        else:
            unknown = unknown or "small_segments"
    before = _before(exchange, flight, least)
    senders = _senders(exchange, flight, before, seen, is_ended=not unknown)
    windows = initial_windows(seen, before, senders)
    if not unknown and len(windows) == 1:
        return windows.pop(), ""
    return least_window(seen, before, senders), unknown or "growth"


def _senders(
    exchange: Exchange, flight: Flight, before: Before, window: int, *, is_ended: bool
) -> frozenset[Sender]:
    """Who may have sent a flight of `window` segments; `is_ended`: that is known to be the window."""
    if not exchange.is_linux:
        return ANY
    if not before.segments:
        return LINUX
    flights = Flights(
        first=flight.data,
        next=_next_flight(exchange, flight),
        window=window,
        sent=before.segments,
        round_trip_ns=exchange.round_trip_ns,
        round_trip_error_ns=exchange.round_trip_error_ns,
        has_clock=counts_milliseconds(exchange.data),
    )
    if not may_be_bbr(flights):
        return frozenset({Sender.VALIDATING})
    found = sender_by_pace(flights, initial_windows(window, before, {Sender.BBR})) if is_ended else None
    return frozenset({found}) if found else LINUX


def _next_flight(exchange: Exchange, flight: Flight) -> list[Data]:
    """The data that the flight's acknowledgments let out,
    before their own acknowledgments can have been answered."""
    if flight.following is None:
        return []
    begin = flight.following.time_ns
    limit = begin + EARLIEST * exchange.round_trip_ns
    return [one for one in exchange.data if begin <= one.time_ns < limit]


def _is_counted_in_segments(exchange: Exchange, flight: Flight, window_bytes: int) -> bool:
    """True if the sender's window is one of segments, whatever their size, as Linux's is.

    A window of bytes grows by no more than what is acknowledged (RFC 5681 §3.1,
    RFC 3465 with L=1 or more per byte).
    """
    waited = int(EARLIEST * exchange.round_trip_ns)
    return any(
        one.end - flight.base - 2 * max(0, exchange.acknowledged(one.time_ns - waited) - flight.base)
        > window_bytes
        for one in _next_flight(exchange, flight)
    )


def _unended(exchange: Exchange, flight: Flight) -> str:
    """Why the end of the flight may not be that of the window.

    Empty if the server waited for an acknowledgment.
    """
    following, first_ack, last = flight.following, flight.first_ack, flight.data[-1]
    if following is None or first_ack is None:
        return "response_ended"
    if exchange.is_lossy_before(flight.data[0].time_ns) or following.start != flight.end:
        return "loss"
    if flight.end + exchange.segment_bytes > exchange.right_edge(first_ack.time_ns):
        return "receive_window"
    is_short = not last.is_full(exchange.segment_bytes)
    is_handshake = flight.data[0] is exchange.data[0]  # perhaps of full segments alone
    if (is_short or is_handshake) and following.acknowledgment > last.acknowledgment:
        return "sender_paused"  # until the browser asked for more
    times = [one.time_ns for one in flight.data]
    gap = following.time_ns - times[-1]
    widest = max((later - earlier for earlier, later in itertools.pairwise(times)), default=0)
    if gap < max(LEAST_GAP * exchange.round_trip_ns, 2 * widest):
        return "flights_merged"
    if following.time_ns > first_ack.time_ns + LATEST * exchange.round_trip_ns + SLACK_NS:
        return "sender_paused"
    return ""


def _before(exchange: Exchange, flight: Flight, least: int) -> Before:
    """The segments that the server had acknowledged before the flight."""
    earlier = [one for one in exchange.data if one.end <= flight.base]
    sent = [0, *itertools.accumulate(one.segments for one in earlier)]
    ends = [one.end for one in earlier]

    def covered(position: int) -> int:
        return sent[bisect.bisect_right(ends, position)]

    marks = [covered(ack.position) for ack in exchange.acks]
    acked = tuple(later - before for before, later in itertools.pairwise([0, *marks]) if later > before)
    waited = int(EARLIEST * exchange.round_trip_ns)
    most = max(
        (covered(one.end) - covered(exchange.acknowledged(one.time_ns - waited)) for one in earlier),
        default=0,
    )
    return Before(segments=sent[-1], acked=acked, in_flight=most, least=least)


def quic_first_flight(packets: Sequence[Packet], *, client: bytes, request_ns: int) -> tuple[int, int] | None:
    """UDP payload in bytes, and datagrams, of the first flight that answers a request; None if there is none.

    Acknowledgments of QUIC are encrypted, so that no window follows. `packets` are those of one connection,
    in the order of their times. The round trip is the handshake's first: from the browser's first datagram to
    the server's. The request is the first datagram that the browser sends at `request_ns` or later; what
    comes a round trip later answers it, or came with the answer.
    """
    sent = [one.time_ns for one in packets if one.source == client]
    received = [one for one in packets if one.source != client]
    asked = next((time for time in sent if time >= request_ns), None)
    if asked is None or not received or received[0].time_ns <= sent[0]:
        return None
    waited = int(QUIC_SHARE * (received[0].time_ns - sent[0]))
    begin = next((one.time_ns for one in received if one.time_ns >= asked + waited), None)
    if begin is None:
        return None
    flight = [one for one in received if begin <= one.time_ns < begin + waited]
    return sum(one.payload_bytes for one in flight), sum(one.segments for one in flight)
