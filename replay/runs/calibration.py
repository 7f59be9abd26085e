"""Gates: what a topology must show on a loss-free calibration before its cells count."""

from __future__ import annotations

import itertools
from dataclasses import asdict, dataclass, field
from typing import TYPE_CHECKING, Any

from releases.slow_start import FRAME_OVERHEAD, MSS_TIMESTAMPS

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from replay.networks.profiles import Profile

SEGMENT_BYTES = MSS_TIMESTAMPS
FRAME_BYTES = SEGMENT_BYTES + FRAME_OVERHEAD
"""A full segment on the wire, with its Ethernet header: what the shaper counts."""

RTT_TOLERANCE = 0.001
SERIALISATION_TOLERANCE = 0.01

RECEIVE_WINDOW_BYTES = 16_777_216
"""The client's from its first acknowledgement on, half of its tcp_rmem of 32 MB: it never limits a flight. (A stock
Linux client has 64,240 bytes, 44 segments: to it a larger initial window makes no difference.)"""


@dataclass(kw_only=True, slots=True)
class Flight:
    """One response over the idle network, as the client saw it."""

    id: str
    host: int
    iw: int
    bytes: int
    arrivals: list[tuple[int, int]] = field(default_factory=list)
    """Bytes received by then, and nanoseconds since the first SYN."""
    facts: dict[str, Any] = field(default_factory=dict)
    """What the player said at its end."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CalibrationCheck:
    """One thing measured against what it must be."""

    name: str
    measured: float
    expected: float
    tolerance: float
    """Of the expected value; 0 for exactly."""

    @property
    def passed(self) -> bool:
        """Within the tolerance."""
        return abs(self.measured - self.expected) <= self.tolerance * abs(self.expected)

    def to_dict(self) -> dict[str, Any]:
        """For replay.json and the selftest."""
        return {**asdict(self), "passed": self.passed}

    def __str__(self) -> str:
        """One line of the selftest."""
        mark = "ok  " if self.passed else "FAIL"
        allowed = f" ±{self.tolerance:.1%}" if self.tolerance else ""
        return f"{mark} {self.name}: {self.measured:g}, expected {self.expected:g}{allowed}"


def calibration_checks(
    profile: Profile, flights: Sequence[Flight], *, offloads_on: int
) -> list[CalibrationCheck]:
    """Every check of one topology under one profile."""
    return [
        CalibrationCheck(name="interfaces with an offload on", measured=offloads_on, expected=0, tolerance=0),
        *(check for flight in flights for check in flight_checks(profile, flight)),
    ]


def flight_checks(profile: Profile, flight: Flight) -> Iterator[CalibrationCheck]:
    """Those of one flight. The handshake is the first that is said to its host."""
    whose = f"IW {flight.iw} from host {flight.host}"
    if not flight.facts.get("done"):
        yield CalibrationCheck(name=f"{whose}: flight arrived", measured=0, expected=1, tolerance=0)
        return
    yield CalibrationCheck(
        name=f"{whose}: RTT of the handshake, ms",
        measured=flight.facts["handshake_ns"] / 1e6,
        expected=profile.rtt_us / 1e3,
        tolerance=RTT_TOLERANCE,
    )
    yield CalibrationCheck(
        name=f"{whose}: snd_cwnd", measured=flight.facts["snd_cwnd"], expected=flight.iw, tolerance=0
    )
    yield CalibrationCheck(
        name=f"{whose}: neighbours learned by ARP",
        measured=flight.facts["learned_neighbours"],
        expected=0,
        tolerance=0,
    )
    yield CalibrationCheck(
        name=f"{whose}: receive window, bytes",
        measured=flight.facts["first_window_bytes"],
        expected=RECEIVE_WINDOW_BYTES,
        tolerance=0,
    )
    lost = flight.facts["segments_retransmitted"] + flight.facts["bottleneck_drops"]
    yield CalibrationCheck(name=f"{whose}: segments lost", measured=lost, expected=0, tolerance=0)
    if flight.bytes > SEGMENT_BYTES:
        yield from shape_checks(profile, flight, whose)


def shape_checks(profile: Profile, flight: Flight, whose: str) -> Iterator[CalibrationCheck]:
    """One flight of as many packets as the window has: each seen by itself, at the bottleneck's pace."""
    packets = flight.bytes // SEGMENT_BYTES
    yield CalibrationCheck(
        name=f"{whose}: {packets} packets one after another, ms",
        measured=(flight.arrivals[-1][1] - flight.arrivals[0][1]) / 1e6,
        expected=(packets - 1) * FRAME_BYTES * 8e3 / profile.down_bps,
        tolerance=SERIALISATION_TOLERANCE,
    )
    yield CalibrationCheck(
        name=f"{whose}: packets apart", measured=len(flight.arrivals), expected=packets, tolerance=0
    )


def count_flights(flight: Flight, *, rtt_us: int) -> int:
    """Flights that the response came in: a new one after every pause of more than half a round trip.

    Only where the bottleneck sends a window in far less than that.
    """
    times = [time for _, time in flight.arrivals]
    return 1 + sum(after - before > rtt_us * 500 for before, after in itertools.pairwise(times))
