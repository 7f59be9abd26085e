"""How acknowledgments of a handshake's flight may have grown a congestion window before the response's flight.

Linux's Reno and CUBIC, like RFC 7661, let a window grow only if it was in use: in slow start, if twice the segments in
flight exceed it (tcp_is_cwnd_limited). BBR grows by every acknowledged segment at first (bbr_set_cwnd). BBR paces what it
sends, from the eleventh data segment of a connection on.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from crawler.capture.tcp_exchange import Data

UNPACED_SEGMENTS = 10
"""Data segments at the beginning of a connection that Linux does not pace (tcp_update_skb_after_send)."""
STARTUP_GAIN = 2.89
"""Windows that BBR sends in a round trip at the start (bbr_high_gain), at most. Linux paces CUBIC at 2 windows a round
trip, which grow to 4 of the first in the second flight (tcp_pacing_ss_ratio)."""
BURST_NS, LEAST_BURST = 1_000_000, 2
"""Time that a burst of a paced sender stands for, and its least segments (tcp_tso_autosize)."""
FASTER, STEADILY_FASTER = 2.0, 1.2
"""Factors by which segments must come faster than BBR sends, to be somebody else's: a few, whose first may be due since
earlier (tcp_update_skb_after_send halves the pause after them), and those at the end of a flight of several bursts."""
STEADY_BURSTS = 2
"""Bursts at the end of a flight, at least, for the second factor."""
LEAST_BBR_WINDOW = 4
"""Window of BBR after any acknowledgment, in segments, at least (bbr_cwnd_min_target)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Before:
    """What had been acknowledged before a flight began."""

    segments: int
    acked: tuple[int, ...]
    """Segments that each acknowledgment covered anew."""
    in_flight: int
    """Most segments in flight at once."""


def initial_windows(window: int, before: Before, *, may_be_unvalidated: bool) -> set[int]:
    """Initial windows in segments from which a sender comes to `window` by the acknowledgments before.

    >>> handshake = Before(segments=3, acked=(2, 1), in_flight=3)
    >>> sorted(initial_windows(10, handshake, may_be_unvalidated=False))
    [10]
    >>> sorted(initial_windows(10, handshake, may_be_unvalidated=True))
    [7, 10]
    >>> sorted(initial_windows(6, handshake, may_be_unvalidated=False))
    [3, 4, 6]
    """
    lowest = max(1, window - before.segments)
    found = {one for one in range(lowest, window + 1) if grown(one, before) == window}
    return found | {_unvalidated(window, before)} if may_be_unvalidated else found


def least_window(window: int, before: Before, *, may_be_unvalidated: bool) -> int:
    """The least initial window in segments from which a sender can come to `window` or more.

    >>> least_window(10, Before(segments=3, acked=(2, 1), in_flight=3), may_be_unvalidated=False)
    10
    """
    if may_be_unvalidated:
        return _unvalidated(window, before)
    lowest = max(1, window - before.segments)
    return next(one for one in range(lowest, window + 1) if grown(one, before) >= window)


def _unvalidated(window: int, before: Before) -> int:
    """The least initial window from which BBR comes to `window`."""
    if before.segments and window <= LEAST_BBR_WINDOW + before.segments:
        return 1
    return window - before.segments


def grown(window: int, before: Before) -> int:
    """Window of a sender in slow start that lets it grow only while it is in use.

    >>> grown(5, Before(segments=3, acked=(2, 1), in_flight=3))
    7
    """
    for segments in before.acked:
        if window < 2 * before.in_flight:
            window += segments
    return window


def may_be_bbr(
    flight: Sequence[Data], next_flight: Sequence[Data], *, round_trip_ns: int, window: int, sent: int
) -> bool:
    """True unless the segments of a flight, or at the end of the next, came faster than BBR paces them.

    `window` is the congestion window of `flight`, in segments, and `sent` the number of segments that came before.
    """
    gap_ns = round_trip_ns / (STARTUP_GAIN * window)
    burst = max(LEAST_BURST, BURST_NS / gap_ns)
    paced = []
    for one in flight:
        sent += one.segments
        if sent > UNPACED_SEGMENTS:
            paced.append(one)
    if _is_faster(paced, gap_ns=gap_ns / FASTER, burst=burst):
        return False
    if _is_faster(next_flight, gap_ns=gap_ns / FASTER, burst=2 * burst):
        return False
    late = [one for n, one in enumerate(next_flight) if 3 * n >= 2 * len(next_flight)]
    is_steady = sum(one.segments for one in late) >= STEADY_BURSTS * burst
    return not (is_steady and _is_faster(late, gap_ns=gap_ns / STEADILY_FASTER, burst=burst))


def _is_faster(data: Sequence[Data], *, gap_ns: float, burst: float) -> bool:
    segments = sum(one.segments for one in data) - burst
    return segments >= 1 and data[-1].time_ns - data[0].time_ns < segments * gap_ns
