"""Concurrent flows by direction, congestion control, pacing and kernel.

These tests boot the guest's kernel.
"""

import dataclasses
import math
import statistics
from pathlib import Path

import pytest

from releases.slow_start import MSS_TIMESTAMPS
from replay.errors import LabMissing
from replay.lab import debian
from replay.lab.guest_process import Lab
from replay.networks.profiles import Profile, symmetric
from replay.published import cs244
from replay.runs.calibration import Flight, count_flights
from replay.runs.guests import measure_flights
from replay.runs.network_jobs import FIRST_ORIGIN
from replay.runs.policy import PACED, Policy
from replay.runs.races import Flow, Race, RaceOutcome, race

pytestmark = pytest.mark.lab

TEN = Policy(10)

CONTROLS = (
    *("reno", "cubic", "bbr", "htcp", "hybla", "scalable"),
    *("yeah", "vegas", "westwood", "illinois", "fld", "rfc2581"),
)


ATTEMPTS = 6
"""Most measurements in real time."""


def network(*, mbps: int = 100, queue_bytes: int = 4_000_000, loss: float = 0.0) -> Profile:
    return symmetric(
        f"{mbps}-{queue_bytes}-{loss}",
        bps=mbps * 1_000_000,
        rtt_us=100_000,
        queue_bytes=queue_bytes,
        source="tests",
        loss=loss,
    )


def download(
    segments: int, *, policy: Policy = TEN, control: str | None = None, begins_s: float = 0.0
) -> Flow:
    return Flow(
        policy=policy,
        request_bytes=100,
        response_bytes=segments * MSS_TIMESTAMPS,
        congestion_control=control,
        begins_s=begins_s,
    )


def run(lab: Lab, races: list[Race]) -> list[RaceOutcome]:
    return race(lab, races, shaper="tbf", congestion_control="cubic")


def test_an_upload_leaves_in_the_clients_window(lab: Lab) -> None:
    def upload(iw: int) -> Race:
        flow = Flow(policy=Policy(iw), request_bytes=30 * MSS_TIMESTAMPS, response_bytes=1, upload=True)
        return Race(profile=network(), flows=(flow,))

    ten, thirty = (outcome.flows[0].seconds for outcome in run(lab, [upload(10), upload(30)]))
    assert ten == pytest.approx(0.3, rel=0.03)  # connect, ten segments, twenty more
    assert thirty == pytest.approx(0.2, rel=0.05)


def test_every_congestion_control_is_there_and_loses_its_own_way(lab: Lab) -> None:
    where = network(mbps=10, queue_bytes=65_536, loss=0.01)
    races = [Race(profile=where, flows=(download(700, control=name),), seed=7) for name in CONTROLS]
    seconds = {
        name: outcome.flows[0].seconds for name, outcome in zip(CONTROLS, run(lab, races), strict=True)
    }
    assert len(set(seconds.values())) >= 9, seconds
    assert all(outcome.flows[0].segments_retransmitted for outcome in run(lab, races[:2]))


def test_fld_tcp_triples_its_window(lab: Lab) -> None:
    cases = [
        Flight(id=str(n), host=FIRST_ORIGIN, iw=10, bytes=n * MSS_TIMESTAMPS)
        for n in (10, 11, 40, 41, 130, 131)
    ]
    measured = measure_flights(lab, network(), cases, congestion_control="fld")
    assert [count_flights(flight, rtt_us=100_000) for flight in measured] == [1, 2, 2, 3, 3, 4]


def test_a_flow_beside_another_takes_longer_than_alone(lab: Lab) -> None:
    where = network(mbps=2)
    alone, both = run(
        lab,
        [
            Race(profile=where, flows=(download(200),)),
            Race(profile=where, flows=(download(400), download(200, begins_s=0.5))),
        ],
    )
    assert both.flows[1].seconds > 1.3 * alone.flows[0].seconds


def test_pacing_spares_a_short_queue_the_burst_of_a_large_window(lab: Lab) -> None:
    where = network(mbps=20, queue_bytes=20 * 1514)
    flows = [download(45, policy=policy) for policy in (Policy(45), Policy(45, PACED))]
    burst, paced = run(lab, [Race(profile=where, flows=(flow,)) for flow in flows])
    assert burst.dropped > 0
    assert paced.dropped == 0


def in_real_time(lab: Lab) -> Lab:
    """Debian's kernel; on a CPU that it cannot run on, the lab's own in real time."""
    return debian.locate(lab.player) if debian.can_run() else dataclasses.replace(lab, is_virtual=False)


@pytest.mark.thorough
def test_a_kernel_in_real_time_says_the_same_within_two_percent(lab: Lab) -> None:
    files = [cs244.file_of(1200.0, 70.0, iw, size) for iw in (3, 10) for size in (137_060, 168_604, 399_644)]

    def seconds(which: Lab) -> list[float]:
        outcomes = race(which, files, shaper="netem", congestion_control="cubic")
        return [outcome.flows[0].seconds for outcome in outcomes]

    virtual, second_opinion = seconds(lab), in_real_time(lab)
    # Other load on this machine makes real time longer, never shorter.
    fastest = [math.inf] * len(files)
    for _ in range(ATTEMPTS):
        fastest = list(map(min, fastest, seconds(second_opinion)))
        apart = [abs(real / exact - 1) for exact, real in zip(virtual, fastest, strict=True)]
        if statistics.median(apart) <= 0.02:
            break
    assert statistics.median(apart) <= 0.02, apart


def test_without_debians_kernel_one_line_says_what_to_install(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debian, "can_run", lambda: True)
    with pytest.raises(LabMissing, match="apt-get install user-mode-linux"):
        debian.locate(lab.player, kernel=lab.player.with_name("absent"))


@pytest.mark.parametrize(
    ("flags", "runs"), [("fpu avx512f amx_bf16 amx_tile amx_int8", False), ("fpu avx512f avx512_fp16", True)]
)
def test_debians_kernel_does_not_run_on_a_cpu_with_amx(tmp_path: Path, flags: str, runs: bool) -> None:
    cpu = tmp_path / "cpuinfo"
    cpu.write_text(f"processor\t: 0\nflags\t\t: {flags}\n\n", encoding="ascii")
    assert debian.can_run(cpu) is runs


def test_where_debians_kernel_cannot_run_one_line_says_why(lab: Lab, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(debian, "can_run", lambda: False)
    with pytest.raises(LabMissing, match="a CPU without AMX"):
        debian.locate(lab.player)
