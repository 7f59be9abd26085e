"""Bounds a server's initial window (RFC 6928, RFC 9040) by what was in flight and by when the server waited.

No I/O. Which packets prove what, of senders that think, pause, pace and lose packets:

* **At least.** What no acknowledgment covers that the sender had heard was in flight, and the congestion
  window was as large. The least follows from all acknowledgments that it can have heard
  (`crawler.capture.tcp_exchange`). The window had grown by at most the segments that these covered. Linux's
  CUBIC and Reno let it grow only while it is in use, if twice the segments in flight exceed it
  (tcp_is_cwnd_limited); BBR and other stacks may let an idle window grow. A probe for lost acknowledgments
  (RFC 8985 §7) may exceed the window by a segment, after two of the server's round trips without a word.
* **At most.** The window is full while the sender has more to send and waits for an acknowledgment. That it
  had more shows by its last segment, which is full, so that no write ended there, and by the next, which is
  full too. That it waited shows by the next segment: by then, and not before, it had heard an acknowledgment,
  and it sent at once, after a pause longer than those of pacing. A window does not shrink without a loss or a
  long silence, so the initial window is at most what was in flight. A short segment proves nothing: a ticket,
  a header or a part of a page may end there, and then the server thinks. If more came later than such a
  window lets out, the sender had not waited for it. Where an acknowledgment is nearly due, Linux may hold
  back up to a third of the window (tcp_tso_should_defer).
* **BBR** is ruled out by the server's own clock alone, whatever networks and busy machines do to the times of
  arrival. Linux paces all segments of a connection but the first ten, by BBR at most 2.86 windows a round
  trip, and twice that after a delay.

The window is exact where both bounds meet. Linux counts small segments as others;
of other stacks it is not known.
"""

import bisect
import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from crawler.capture.tcp_exchange import (
    COARSE,
    EARLIEST,
    EARLIEST_WITH_CLOCK,
    RTO_MIN_NS,
    TICK_NS,
    DataSegment,
    TcpExchange,
)

LATEST, SLACK, SLACK_NS = 9 / 8, 1 / 8, 1_000_000
"""Time within which the segments that an acknowledgment allows arrive: so many round trips, and the smaller
of two allowances for the server's own work."""
LEAST_PAUSE = 1 / 16
"""Least pause of a sender that waits, in round trips."""
PAUSES_SEEN, PAUSES_PACED = 2.0, 1.5
"""Least pause of a sender that waits, in the longest between its last segments,
and in the longest of a paced sender."""

UNPACED_SEGMENTS = 10
"""Data segments at the beginning of a connection that Linux does not pace (tcp_update_skb_after_send)."""
SLOW_START_WINDOWS, BBR_WINDOWS = 2.0, 2.885 * 0.99
"""Windows a round trip that fq lets CUBIC and Reno send at least, and BBR at most at first
(tcp_pacing_ss_ratio; bbr_high_gain, bbr_pacing_margin_percent)."""
HASTE = 2.0
"""Factor by which Linux may pace faster after a delay (tcp_update_skb_after_send)."""
LEAST_BURST, BURST_NS, GSO_BYTES, ROUND_TRIP_LOG = 2, 1_024_000, 65_536, 9
"""Segments of a paced burst at least, and the time that it stands for;
bursts are longer on short paths (tcp_tso_autosize)."""
LEAST_BBR_WINDOW = 4
"""Window of BBR after any acknowledgment, in segments, at least (bbr_cwnd_min_target)."""
HEAD_AGE = 1 / 2 * EARLIEST
"""Round trips since the oldest segment in flight after which Linux may hold segments back."""

PROBE = 2 * EARLIEST_WITH_CLOCK
"""Round trips of silence after which a segment may be a probe: two of the server's own (RFC 8985 §7.2), which
may be longer than any that the packets show."""
LOOKED_AT = 300
"""Segments that the bounds are computed from, the first round trips' among them."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Window:
    """Bounds of an initial window, in full segments."""

    least: int
    most: int | None
    unknown: str
    """Reason why the bounds differ; empty if they are equal."""


class _InFlight(NamedTuple):
    """The segments in flight after a segment was sent."""

    least: int
    most: int
    acked_least: int
    acked_most: int
    """Most segments whose acknowledgments the sender had received."""
    repeated: int
    """Segments that arrived twice, which Linux counts as acknowledged too (tcp_dsack_seen)."""

    @property
    def growth(self) -> int:
        return self.acked_most + self.repeated


@dataclass(frozen=True, kw_only=True, slots=True)
class _Stop:
    """A place between two segments where the server may have waited for an acknowledgment."""

    last: int
    window: int
    """Most segments that were in flight."""
    most: int
    """Upper limit of the congestion window: in flight, or more if Linux may have held segments back."""
    reason: str


def bound_initial_window(exchange: TcpExchange, begin: int) -> Window:
    """Return the bounds of the initial window; without an upper one, with the reason of the first flight from
    segment `begin` on.
    """
    sent = _states_in_flight(exchange)
    stops = list(_find_stops(exchange, sent))
    waits = [stop for stop in stops if not stop.reason and _is_kept(sent, stop)]
    is_validating = exchange.is_linux and bool(waits) and not _may_be_bbr(exchange, waits[0])
    least = _least(sent, is_validating=is_validating)
    tightest = min(waits, key=lambda wait: wait.most, default=None)
    if tightest is None or tightest.most < least:
        reason = next((stop.reason for stop in stops if stop.last >= begin), "response_ended")
        return Window(least=least, most=None, unknown=reason or "sender_paused")
    if tightest.most == least:
        return Window(least=least, most=least, unknown="")
    return Window(least=least, most=tightest.most, unknown=_why_different(exchange, sent, tightest))


def _states_in_flight(exchange: TcpExchange) -> list[_InFlight]:
    """Return what was in flight at each segment, until the server can have learned of a loss."""
    sent = []
    for n, (segment, heard) in enumerate(zip(exchange.data[:LOOKED_AT], exchange.heard, strict=False)):
        if heard.most >= exchange.packets_before_loss:
            break
        reached = exchange.segments(segment.end)
        acked_least, acked_most = (
            exchange.segments(at) for at in (heard.least_position, heard.most_position)
        )
        least = reached - acked_most
        if not exchange.is_linux:
            least = min(least, -(-(segment.end - heard.most_position) // exchange.segment_bytes))
        repeated = bisect.bisect_right(exchange.repeats, segment.time_ns)
        sent.append(
            _InFlight(
                least - _may_be_probe(exchange, n), reached - acked_least, acked_least, acked_most, repeated
            )
        )
    return sent


def _may_be_probe(exchange: TcpExchange, n: int) -> bool:
    """Return whether a segment may have been sent for want of acknowledgments."""
    segment, silence_ns = exchange.data[n], PROBE * exchange.round_trip_ns
    is_silent = n > 0 and segment.elapsed_ns(exchange.data[n - 1]) >= silence_ns
    timeout_ns = max(silence_ns, RTO_MIN_NS if exchange.is_linux else 0)
    return is_silent or segment.elapsed_ns(exchange.oldest(n)) >= timeout_ns


def _least(sent: Sequence[_InFlight], *, is_validating: bool) -> int:
    unvalidated = max((_least_before_growth(state) for state in sent), default=1)
    if not is_validating:
        return unvalidated
    ungrown = max((state.least for state in sent), default=1)
    return next((window for window in range(unvalidated, ungrown) if _reaches(window, sent)), ungrown)


def _least_before_growth(state: _InFlight) -> int:
    """Return the smallest initial window that reaches this one by a segment for each acknowledged one, as in
    BBR.
    """
    if not state.growth:
        return max(1, state.least)
    before = state.least - state.growth
    return before if before >= LEAST_BBR_WINDOW else 1


def _reaches(window: int, sent: Sequence[_InFlight]) -> bool:
    """Return whether a window that grows only while it is in use may have reached all that was in flight.

    How acknowledgments came to the server is not known: some may have been lost, and Linux joins those that
    come while the socket is in use (tcp_add_backlog). All of them between two segments may count at once.
    """
    credited = in_flight = 0
    for state in sent:
        may_grow = window < 2 * in_flight
        if state.acked_least > credited:
            window += (state.acked_least - credited) * may_grow
            credited = state.acked_least
        if state.least > window + (state.growth - credited) * may_grow:
            return False
        in_flight = max(in_flight, state.most)
    return True


def _find_stops(exchange: TcpExchange, sent: Sequence[_InFlight]) -> Iterator[_Stop]:
    """Yield where the server may have waited: before a segment that is the first after a certain
    acknowledgment.
    """
    for n in range(min(len(sent), len(exchange.data) - 1)):
        heard, later = exchange.heard[n], exchange.heard[n + 1]
        heard_later = later.least if exchange.has_clock else later.most
        released = next(
            (
                ack
                for ack in exchange.acks[heard.most : heard_later]
                if ack.position > heard.most_position or ack.is_selective
            ),
            None,
        )
        if released is None:
            continue
        window = sent[n].most
        is_held = exchange.data[n].elapsed_ns(exchange.oldest(n)) >= HEAD_AGE * exchange.round_trip_ns
        yield _Stop(
            last=n,
            window=window,
            most=(3 * window - 1) // 2 if is_held else window,
            reason=_why_unproven(exchange, n, released.time_ns, window, is_held=is_held),
        )


def _why_unproven(exchange: TcpExchange, n: int, acked_ns: int, window: int, *, is_held: bool) -> str:
    """Return why it is not proven that the server waited after a segment; empty if it is."""
    last, following, heard = exchange.data[n], exchange.data[n + 1], exchange.heard[n]
    size, trip_ns = exchange.segment_bytes, exchange.round_trip_ns
    in_flight = [segment for segment in exchange.data[: n + 1] if segment.start >= heard.least_position]
    missing = last.end - heard.least_position - sum(segment.size for segment in in_flight)
    if following.time_ns >= exchange.disturbed_ns or following.start != last.end or missing % size:
        return "loss"
    edge = exchange.acks[max(0, heard.least - 1)].right_edge
    if last.end + size > edge or (is_held and 3 * (edge - last.end) < edge - heard.least_position):
        return "receive_window"
    if not exchange.is_segment_size_known:
        return "segment_size"
    is_short = not exchange.is_full(following) and not (
        exchange.is_linux
        and all(exchange.is_full(segment) for segment in in_flight)  # Nagle's algorithm, by Minshall
    )
    if not exchange.is_full(last) or is_short:
        return "sender_paused"
    if not heard.least_position and following.acknowledgment > last.acknowledgment:
        return "sender_paused"  # the end of a handshake's flight, perhaps of full segments alone
    if following.time_ns > acked_ns + LATEST * trip_ns + min(SLACK_NS, SLACK * trip_ns):
        return "sender_paused"
    if _pause_ns(exchange, last, following) < _least_pause_ns(exchange, in_flight, window):
        return "flights_merged"
    return ""


def _pause_ns(exchange: TcpExchange, segment: DataSegment, following: DataSegment) -> int:
    """Return the time between two segments, by the server's own clock if that is fine enough."""
    if not exchange.counts_milliseconds or exchange.round_trip_ns < COARSE * TICK_NS:
        return following.time_ns - segment.time_ns
    return (following.ticks_since(segment) - 1) * TICK_NS


def _least_pause_ns(exchange: TcpExchange, in_flight: Sequence[DataSegment], window: int) -> float:
    """Return a pause longer than those of the last segments, and of any paced sender with such a window."""
    trip_ns = exchange.round_trip_ns
    late = in_flight[
        (len(in_flight) - 1) // 2 :
    ]  # the server may have paused by itself before, and after short segments
    between = (
        _pause_ns(exchange, segment, following)
        for segment, following in itertools.pairwise(late)
        if exchange.is_full(segment)
    )
    least_ns = max(LEAST_PAUSE * trip_ns, PAUSES_SEEN * max(between, default=0))
    if exchange.is_linux and exchange.segments(in_flight[-1].end) < UNPACED_SEGMENTS:
        return least_ns
    segment_ns = trip_ns / (SLOW_START_WINDOWS * window)
    burst = min(len(in_flight), _burst(exchange, segment_ns))
    return max(least_ns, PAUSES_PACED * burst * segment_ns)


def _burst(exchange: TcpExchange, segment_ns: float) -> float:
    """Return the number of segments that Linux sends at once, if it paces a segment in `segment_ns`."""
    short_path = GSO_BYTES >> min(63, (exchange.round_trip_ns // 1000) >> ROUND_TRIP_LOG)
    return max(LEAST_BURST, BURST_NS / segment_ns + short_path / exchange.segment_bytes)


def _is_kept(sent: Sequence[_InFlight], stop: _Stop) -> bool:
    """Return whether the data that followed fit into a window that was full at this stop."""
    window, acked = max(stop.most, LEAST_BBR_WINDOW - 1), sent[stop.last].acked_least
    return all(state.least <= window + state.growth - acked for state in sent[stop.last + 1 :])


def _why_different(exchange: TcpExchange, sent: Sequence[_InFlight], stop: _Stop) -> str:
    if stop.most > stop.window:
        return "held_back"
    if not exchange.is_linux and sent[stop.last].least < stop.window:
        return "small_segments"
    return "growth"


def _may_be_bbr(exchange: TcpExchange, stop: _Stop) -> bool:
    """Return False if what was sent up to the wait, or the next flight, was faster than BBR paces."""
    if not exchange.counts_milliseconds:
        return True
    segment_ns = EARLIEST * exchange.round_trip_ns / (BBR_WINDOWS * max(stop.window, LEAST_BBR_WINDOW))
    burst = _burst(exchange, segment_ns)
    begin = exchange.data[stop.last + 1].time_ns
    later = [
        segment
        for segment in exchange.data[stop.last + 1 :]
        if segment.time_ns < begin + EARLIEST * exchange.round_trip_ns
    ]
    for flight in (exchange.data[: stop.last + 1], later):
        paced = [segment for segment in flight if exchange.segments(segment.end) > UNPACED_SEGMENTS]
        least_ns = (len(paced) - burst) * segment_ns / HASTE
        if paced and (paced[-1].ticks_since(paced[0]) + 1) * TICK_NS < least_ns:
            return False
    return True
