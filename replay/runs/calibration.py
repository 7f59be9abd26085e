"""Calibration checks: what a network must show without loss before its cells count."""

import itertools
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field

from releases.slow_start import MSS_TIMESTAMPS
from replay.lab.guest_process import GuestAnswer
from replay.networks.profiles import FRAME_BYTES, Profile
from replay.runs.facts import CheckFacts

RTT_TOLERANCE = 0.001
SERIALISATION_TOLERANCE = 0.01

RECEIVE_WINDOW_BYTES = 16_777_216
"""The client's window from its first acknowledgement on, half of its tcp_rmem of 32 MB, which never limits a
flight. (A stock Linux client has 64,240 bytes, 44 segments: a larger initial window makes no difference to
it.)
"""


@dataclass(kw_only=True, slots=True)
class Flight:
    """A response over the idle network, as the client received it."""

    id: str
    host: int
    iw: int
    bytes: int
    arrivals: list[tuple[int, int]] = field(default_factory=list)
    """Total bytes, and ns since the first SYN, at each arrival."""
    facts: GuestAnswer = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CalibrationCheck:
    """A measured value and the value that it must have."""

    name: str
    measured: float
    expected: float
    tolerance: float = 0
    """Allowed relative difference."""

    @property
    def passed(self) -> bool:
        return abs(self.measured - self.expected) <= self.tolerance * abs(self.expected)

    def to_dict(self) -> CheckFacts:
        return {
            "name": self.name,
            "measured": self.measured,
            "expected": self.expected,
            "tolerance": self.tolerance,
            "passed": self.passed,
        }

    def __str__(self) -> str:
        mark = "ok  " if self.passed else "FAIL"
        allowed = f" ±{self.tolerance:.1%}" if self.tolerance else ""
        return f"{mark} {self.name}: {self.measured:g}, expected {self.expected:g}{allowed}"


def calibration_checks(
    profile: Profile, flights: Sequence[Flight], *, offloads_on: int
) -> list[CalibrationCheck]:
    checks = [CalibrationCheck("interfaces with an offload on", offloads_on, expected=0)]
    for flight in flights:
        label = f"IW {flight.iw} from host {flight.host}"
        if flight.facts.get("done"):
            checks += flight_checks(profile, flight, label)
        else:
            checks.append(CalibrationCheck(f"{label}: flight arrived", 0, expected=1))
    return checks


def flight_checks(profile: Profile, flight: Flight, label: str) -> Iterator[CalibrationCheck]:
    """Yield the checks of a flight, whose handshake is the first packet to its host."""
    facts, rtt_ms = flight.facts, profile.rtt_us / 1e3
    handshake_ms, lost = (
        facts["handshake_ns"] / 1e6,
        facts["segments_retransmitted"] + facts["bottleneck_drops"],
    )
    yield CalibrationCheck(
        f"{label}: RTT of the handshake, ms", handshake_ms, expected=rtt_ms, tolerance=RTT_TOLERANCE
    )
    yield CalibrationCheck(f"{label}: snd_cwnd", facts["snd_cwnd"], expected=flight.iw)
    yield CalibrationCheck(f"{label}: neighbours learned by ARP", facts["learned_neighbours"], expected=0)
    window = facts["first_window_bytes"]
    yield CalibrationCheck(f"{label}: receive window, bytes", window, expected=RECEIVE_WINDOW_BYTES)
    yield CalibrationCheck(f"{label}: segments lost", lost, expected=0)
    if flight.bytes > MSS_TIMESTAMPS:  # packets of a full window arrive separately, at the bottleneck's rate
        packets = flight.bytes // MSS_TIMESTAMPS
        yield CalibrationCheck(
            f"{label}: {packets} packets one after another, ms",
            (flight.arrivals[-1][1] - flight.arrivals[0][1]) / 1e6,
            expected=(packets - 1) * FRAME_BYTES * 8e3 / profile.down_bps,
            tolerance=SERIALISATION_TOLERANCE,
        )
        yield CalibrationCheck(f"{label}: packets apart", len(flight.arrivals), expected=packets)


def count_flights(flight: Flight, *, rtt_us: int) -> int:
    """Return the flights of a response: a pause of over half a round trip begins one.

    Only valid if the bottleneck sends a window in much less than that.
    """
    times = [time for _, time in flight.arrivals]
    return 1 + sum(after - before > rtt_us * 500 for before, after in itertools.pairwise(times))
