"""Tells BBR from CUBIC and Reno by when a server's segments came.

Linux does not pace the first ten data segments of a connection (tcp_update_skb_after_send). After them BBR
sends 2.89 windows a round trip, from the initial window (bbr_init_pacing_rate_from_rtt), until
acknowledgments show a higher rate. CUBIC and Reno send as acknowledgments let them, or with fq at twice the
window a round trip, which grows with every acknowledgment (tcp_update_pacing_rate). Both send bursts of two
and more segments (tcp_tso_autosize), so that a pace of the sender differs from that of a slow link, where
segments come one by one.

A network that holds packets back and then hands them over together makes a sender seem faster than it is. The
server's own timestamps (RFC 7323 §3.2) tell how long it took.
"""

import itertools
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

from crawler.capture.tcp_exchange import SEQUENCES, Data
from crawler.capture.window_growth import Sender

UNPACED_SEGMENTS = 10
"""Data segments at the beginning of a connection that Linux does not pace (tcp_update_skb_after_send)."""
BBR_WINDOWS = 2.885 * 0.99
"""Windows that BBR sends in a round trip at the start (bbr_high_gain, bbr_pacing_margin_percent)."""
SLOW_START_WINDOWS = 2.0
"""Windows that CUBIC and Reno send in a round trip in slow start if fq paces them (tcp_pacing_ss_ratio)."""
BURST_NS, LEAST_BURST = 1_000_000, 2
"""Time that a burst of a paced sender stands for, and its least segments (tcp_tso_autosize)."""
JITTER_NS = 50_000
"""Time by which network cards may gather packets before they interrupt."""
TICK_NS = 1_000_000
"""Tick of Linux's timestamps, in nanoseconds (TCP_TS_HZ)."""
LEAST_TICKS, CLOCK_ERROR = 20, 0.25
"""Ticks over which a server's clock is compared with ours, at least, and the share by which it may differ:
other ticks are 4 ms and more, or microseconds."""
JITTERS = 3
"""Times that packets may be late, in differences between the round trips that were seen."""
FASTER, STEADILY_FASTER = 2.0, 1.2
"""Factors by which segments must come faster than BBR sends, to be somebody else's: a few, whose first may be
due since earlier (tcp_update_skb_after_send halves the pause after them), and those at the end of a flight of
several bursts."""
STEADY_BURSTS = 2
"""Bursts at the end of a flight, at least, for the second factor."""
STEADY = 0.03
"""Share by which pauses of a sender that keeps a pace may differ; without jitter they are the same."""
LEAST_PAUSES, AGREEING, DISAGREEING = 2, 0.8, 0.6
"""Pauses to know a paced sender by, at least, the share of them that its pace must explain, and the share
that the other sender's pace must not explain, jitter allowed."""
LEAST_MEAN_BURST = 1.5
"""Segments a burst, on average, at least: a slow link brings segments one by one."""


class Pause(NamedTuple):
    """The time between the beginnings of two bursts, for each segment of the first."""

    segment_ns: float
    begin: int
    """Segments of the two flights that came before the first burst."""
    segments: int
    """Segments of the first burst."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Flights:
    """A flight that ended because its window was full, and what its acknowledgments let out."""

    first: Sequence[Data]
    next: Sequence[Data]
    window: int
    """Congestion window of the first, in segments; at least, if it may have ended for another reason."""
    sent: int
    """Segments before the first flight."""
    round_trip_ns: int
    """The shortest round trip."""
    round_trip_error_ns: int
    """Bound of the difference between it and the round trip that the sender measured."""
    has_clock: bool
    """True if the server's timestamps are known to count milliseconds."""

    @property
    def jitter_ns(self) -> int:
        """Time by which the pause between two packets may differ from the sender's."""
        return JITTER_NS + JITTERS * self.round_trip_error_ns


def may_be_bbr(flights: Flights) -> bool:
    """True unless the segments of the first flight, or at the end of the next,
    came faster than BBR paces them."""
    gap_ns = flights.round_trip_ns / (BBR_WINDOWS * flights.window)
    burst = max(LEAST_BURST, BURST_NS / gap_ns)
    first, later = _paced(flights)
    late = [one for n, one in enumerate(later) if 3 * n >= 2 * len(later)]
    is_steady = sum(one.segments for one in late) >= STEADY_BURSTS * burst
    return not (
        any(_is_faster(data, flights, gap_ns=gap_ns / FASTER, burst=burst) for data in (first, later))
        or (is_steady and _is_faster(late, flights, gap_ns=gap_ns / STEADILY_FASTER, burst=burst))
    )


def _paced(flights: Flights) -> tuple[list[Data], list[Data]]:
    """The data of both flights behind the segments that Linux never paces."""
    paced: tuple[list[Data], list[Data]] = ([], [])
    sent = flights.sent
    for data, found in zip((flights.first, flights.next), paced, strict=True):
        for one in data:
            sent += one.segments
            if sent > UNPACED_SEGMENTS:
                found.append(one)
    return paced


def _is_faster(data: Sequence[Data], flights: Flights, *, gap_ns: float, burst: float) -> bool:
    """True if the segments behind the first burst were sent with smaller gaps.

    By the times at which they came, unless the server's timestamps say that sending took longer;
    or by its timestamps alone.
    """
    segments = sum(one.segments for one in data) - burst
    if segments < 1:
        return False
    came_ns = data[-1].time_ns - data[0].time_ns + flights.jitter_ns
    ticks = _ticks(data)
    if ticks is None:
        return came_ns < segments * gap_ns
    least_ns, most_ns = (ticks - 1) * TICK_NS, (ticks + 1) * TICK_NS
    return max(came_ns, least_ns) < segments * gap_ns or (flights.has_clock and most_ns < segments * gap_ns)


def _ticks(data: Sequence[Data]) -> int | None:
    """Ticks of the server's clock from the first to the last segment.

    None without timestamps, or if they go back.
    """
    first, last = data[0].stamp, data[-1].stamp
    ticks = None if first is None or last is None else (last - first) % SEQUENCES
    return ticks if ticks is not None and ticks < SEQUENCES // 2 else None


def counts_milliseconds(data: Sequence[Data]) -> bool:
    """True if the timestamps of a server's data count milliseconds, as Linux's do since 4.13,
    over 20 ms and more."""
    ticks = _ticks(data) if data else None
    if ticks is None:
        return False
    came_ns = data[-1].time_ns - data[0].time_ns
    return came_ns >= LEAST_TICKS * TICK_NS and abs(ticks * TICK_NS - came_ns) <= CLOCK_ERROR * came_ns


def sender_by_pace(flights: Flights, initial_windows: Iterable[int]) -> Sender | None:
    """The sender whose pace the pauses between bursts show, or None.

    The first flight must have ended with its window.
    `initial_windows` are those from which BBR comes to the first flight's window.
    """
    first, later = _pauses(flights)
    pauses = first + later
    if len(pauses) < LEAST_PAUSES or sum(one.segments for one in pauses) < LEAST_MEAN_BURST * len(pauses):
        return None
    fq = [[(one, *_slow_start_rates(one, flights.window)) for one in pauses]]
    bbr = [
        [(one, BBR_WINDOWS * initial, BBR_WINDOWS * initial) for one in first]
        + [(one, BBR_WINDOWS * initial, BBR_WINDOWS * flights.window) for one in later]
        for initial in initial_windows
    ]
    for sender, own, other in ((Sender.BBR, bbr, fq), (Sender.VALIDATING, fq, bbr)):
        if (
            max(_explained(flights, rates, jitter_ns=0) for rates in own) >= AGREEING
            and max(_explained(flights, rates, jitter_ns=flights.jitter_ns) for rates in other) <= DISAGREEING
        ):
            return sender
    return None


def _pauses(flights: Flights) -> tuple[list[Pause], list[Pause]]:
    """Pauses after the paced bursts of both flights.

    What comes before the first pause of a connection's pacing is not known, and Linux halves the first pause
    after it waited for acknowledgments.
    """
    least_ns = flights.round_trip_ns / (2 * SLOW_START_WINDOWS * flights.window)
    first = _between_bursts(flights.first, least_ns=least_ns, before=0)
    count = sum(one.segments for one in flights.first)
    later = _between_bursts(flights.next, least_ns=least_ns, before=count)
    halved = [later[0]._replace(segment_ns=2 * later[0].segment_ns), *later[1:]] if later else []
    unpaced = UNPACED_SEGMENTS - flights.sent - 1
    return [one for one in first[1:] if one.begin >= unpaced], [one for one in halved if one.begin >= unpaced]


def _between_bursts(data: Sequence[Data], *, least_ns: float, before: int) -> list[Pause]:
    """Pauses between the bursts of a flight, which are at least `least_ns` apart."""
    begins: list[tuple[int, int]] = []
    last_ns = None
    for one in data:
        if last_ns is None or one.time_ns - last_ns >= least_ns:
            begins.append((one.time_ns, before))
        before, last_ns = before + one.segments, one.time_ns
    return [
        Pause((later_ns - time_ns) / (end - begin), begin, end - begin)
        for (time_ns, begin), (later_ns, end) in itertools.pairwise(begins)
    ]


def _slow_start_rates(pause: Pause, window: int) -> tuple[float, float]:
    """Least and most segments a round trip at which fq timed a burst:
    each acknowledged segment lets two out, at most."""
    acknowledged = max(0, -(-(pause.begin - window) // 2))
    return SLOW_START_WINDOWS * (window + acknowledged), SLOW_START_WINDOWS * window * (
        2 if pause.begin >= window else 1
    )


def _explained(flights: Flights, rates: Sequence[tuple[Pause, float, float]], *, jitter_ns: int) -> float:
    """The largest share of pauses that come from rates within their bounds, in segments a round trip,
    by one round trip."""
    low = (1 - STEADY) * (flights.round_trip_ns - flights.round_trip_error_ns)
    high = (1 + STEADY) * (flights.round_trip_ns + flights.round_trip_error_ns)
    ends = []
    for pause, least, most in rates:
        error = STEADY * pause.segment_ns + jitter_ns / pause.segments
        begin = max(low, least * (pause.segment_ns - error))
        end = min(high, most * (pause.segment_ns + error))
        if begin <= end:
            ends += [(begin, 0, 1), (end, 1, -1)]
    return max(itertools.accumulate(change for _, _, change in sorted(ends)), default=0) / len(rates)
