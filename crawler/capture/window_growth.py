"""How acknowledgments of a handshake's flight may have grown a congestion
window before the response's flight.

Linux's Reno and CUBIC, like RFC 7661, let a window grow only if it was in use: in slow start, if twice the
segments in flight exceed it (tcp_is_cwnd_limited); idleness and remembered metrics may leave less than that
(tcp_cwnd_restart, tcp_cwnd_application_limited, tcp_init_metrics). BBR grows by every acknowledged segment at
first (bbr_set_cwnd). Of other stacks nothing is known: some let an idle window grow.
"""

from collections.abc import Set
from dataclasses import dataclass
from enum import Enum

LEAST_BBR_WINDOW = 4
"""Window of BBR after any acknowledgment, in segments, at least (bbr_cwnd_min_target)."""
BBR_GROWS = 8
"""Segments by whose acknowledgment a window of BBR grows in any case:
with SYN fewer than TCP_INIT_CWND are delivered."""


class Sender(Enum):
    """What decides how a server's window grows."""

    VALIDATING = "CUBIC or Reno of Linux"
    BBR = "BBR of Linux"
    OTHER = "another stack"


LINUX = frozenset({Sender.VALIDATING, Sender.BBR})
ANY = frozenset(Sender)


@dataclass(frozen=True, kw_only=True, slots=True)
class Before:
    """What had been acknowledged before a flight began."""

    segments: int
    acked: tuple[int, ...]
    """Segments that each acknowledgment covered anew, as the client sent them."""
    in_flight: int
    """Most segments in flight at once."""
    least: int = 1
    """Lower bound of the initial window by the connection's first flight, in segments."""


def initial_windows(window: int, before: Before, senders: Set[Sender] = ANY) -> set[int]:
    """Initial windows in segments from which one of the senders may come to `window`
    by the acknowledgments before.

    >>> handshake = Before(segments=3, acked=(2, 1), in_flight=3, least=3)
    >>> sorted(initial_windows(10, handshake, {Sender.VALIDATING}))
    [10]
    >>> sorted(initial_windows(10, handshake, {Sender.BBR}))
    [7]
    >>> sorted(initial_windows(10, handshake))
    [7, 8, 9, 10]
    >>> sorted(initial_windows(6, handshake, {Sender.VALIDATING}))
    [3, 4, 5, 6]
    """
    return {
        one
        for one in range(_lowest(window, before), window + 1)
        if any(window in _windows_after(one, before, sender) for sender in senders)
    }


def least_window(window: int, before: Before, senders: Set[Sender] = ANY) -> int:
    """The least initial window in segments from which one of the senders can come to `window` or more.

    >>> least_window(10, Before(segments=3, acked=(2, 1), in_flight=3), {Sender.VALIDATING})
    10
    """
    lowest = _lowest(window, before)
    return next(
        (
            one
            for one in range(lowest, window)
            if any(_windows_after(one, before, sender)[-1] >= window for sender in senders)
        ),
        max(lowest, window),
    )


def _lowest(window: int, before: Before) -> int:
    return max(before.least, window - before.segments - LEAST_BBR_WINDOW)


def _windows_after(initial: int, before: Before, sender: Sender) -> range:
    """Windows that a sender with an initial window may have after the acknowledgments."""
    if not before.segments:
        return range(initial, initial + 1)
    if sender is Sender.VALIDATING:
        return range(initial, grown(initial, before) + 1)
    most = initial + before.segments
    if sender is Sender.BBR:
        least = max(initial + min(before.segments, BBR_GROWS), LEAST_BBR_WINDOW)
        # Early acknowledgments may have raised a smaller window to the least before later ones were added.
        return range(least, max(most, LEAST_BBR_WINDOW + sum(before.acked[1:])) + 1)
    return range(initial, most + 1)


def grown(window: int, before: Before) -> int:
    """The largest window of a sender in slow start that lets it grow only while it is in use.

    How acknowledgments came to the server is not known: some may have been lost, and Linux joins those that
    come while the socket is in use (tcp_add_backlog). The last that found a window in use may have covered
    all segments.

    >>> grown(5, Before(segments=3, acked=(2, 1), in_flight=3)), grown(6, Before(segments=3, acked=(3,), in_flight=3))
    (8, 6)
    """  # noqa: E501
    return window + before.segments if window < 2 * before.in_flight else window
