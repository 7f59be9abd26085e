"""Guests that die, hang or exceed their virtual time: each costs the cell in progress.

These tests boot the kernel.
"""

import contextlib
import fcntl
import os
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from crawler.browser.processes import is_running
from replay.errors import GuestFailed
from replay.lab import guest_process
from replay.lab.guest_process import Lab, run_guest
from replay.lab.scratch import PREFIX, guest_folder
from replay.networks.populations import profile
from replay.runs.cells import Cell, make_cells
from replay.runs.guests import guest_for
from replay.runs.policy import at_once
from replay.runs.run import ReplayResult, replay
from tests.factories.lab_networks import plain, single_response

pytestmark = pytest.mark.lab

MID, SLOW = profile("avgdc-2010-mid"), profile("slowdc-2010-median")


STARTER = """
from replay.lab import guest_process
from replay.runs.run import replay
from tests.replay.lab.test_failing_guests import cells
from tests.replay.conftest import built_lab

class Tell:
    start = staticmethod(guest_process.start)

    def __call__(self, *positional, **named):
        self.guest = self.start(*positional, **named)
        return self.guest

    def update(self, n=1):
        print(self.guest.pid, flush=True)

guest_process.start = tell = Tell()
replay(built_lab(), cells(seeds=100), guests=1, progress=tell)
"""
"""A program that starts a guest with much work, and prints its process id after each load."""


@pytest.fixture
def guests(monkeypatch: pytest.MonkeyPatch) -> list[subprocess.Popen[str]]:
    started: list[subprocess.Popen[str]] = []
    start = guest_process.start

    def remember(*positional: Any, **named: Any) -> subprocess.Popen[str]:
        process = start(*positional, **named)
        started.append(process)
        return process

    monkeypatch.setattr(guest_process, "start", remember)
    return started


def cells(*, windows: tuple[int, ...] = (3, 10, 16, 30), seeds: int = 1) -> list[Cell]:
    """Cells of a page so large that a signal reaches the guest before it is done."""
    return make_cells(
        [single_response(5_000_000)],
        [MID, SLOW],
        policies=at_once(*windows),
        seeds=seeds,
        conditions=[plain()],
    )


class SignalAt:
    """Sends a signal to the newest guest when the n-th cell is done."""

    def __init__(self, guests: list[subprocess.Popen[str]], number: int, which: signal.Signals) -> None:
        self.guests, self.number, self.which, self.done = guests, number, which, 0

    def update(self, n: float = 1, /) -> None:
        self.done += int(n)
        if self.done == self.number:
            os.killpg(self.guests[-1].pid, self.which)


def states(result: ReplayResult) -> list[str]:
    return [row["state"] for row in result.rows]


def lost_one(result: ReplayResult, calm: ReplayResult, why: str) -> bool:
    """Return whether one cell failed for this reason, and all others are as in the calm replay."""
    rows = result.rows
    (failed,) = [row for row in rows if row["state"] == "failed"]
    others = [row for row in calm.rows if (row["profile"], row["iw"]) != (failed["profile"], failed["iw"])]
    return why in failed["reason"] and [row for row in rows if row is not failed] == others


def test_a_guest_that_dies_or_hangs_costs_one_cell_and_another_does_the_rest(
    lab: Lab, guests: list[subprocess.Popen[str]]
) -> None:
    calm = replay(lab, cells(), guests=1)
    assert states(calm) == ["done"] * 8
    died = replay(lab, cells(), guests=1, progress=SignalAt(guests, 2, signal.SIGKILL))
    assert lost_one(died, calm, "ended before its work did")
    hung = replay(lab, cells(), guests=1, progress=SignalAt(guests, 5, signal.SIGSTOP), silence_s=5)
    assert lost_one(hung, calm, "said nothing for 5 s")
    assert len(guests) == 1 + 2 + 2
    assert all(process.poll() is not None for process in guests)


class NoteScheduling:
    """Notes after each cell how the CPU's time is given to the newest guest."""

    def __init__(self, guests: list[subprocess.Popen[str]]) -> None:
        self.guests = guests
        self.noted: set[int] = set()

    def update(self, n: float = 1, /) -> None:
        """Note it once; a guest that has ended is not asked."""
        with contextlib.suppress(ProcessLookupError):
            self.noted.add(os.sched_getscheduler(self.guests[-1].pid))


def test_other_programs_go_before_a_guest_whose_clock_is_virtual(
    lab: Lab, guests: list[subprocess.Popen[str]]
) -> None:
    scheduling = NoteScheduling(guests)
    replay(lab, cells(windows=(3, 10)), guests=1, progress=scheduling)
    assert scheduling.noted == {os.SCHED_BATCH}


def test_a_guest_ends_with_whoever_started_it_and_the_next_one_clears_up(lab: Lab) -> None:
    with subprocess.Popen([sys.executable, "-c", STARTER], stdout=subprocess.PIPE, text=True) as starter:
        assert starter.stdout
        guest = int(starter.stdout.readline())
        assert is_running(guest)
        command_line = Path(f"/proc/{guest}/cmdline").read_bytes()
        (scratch,) = [path for path in guest_folder().glob(f"{PREFIX}*") if os.fsencode(path) in command_line]
        ours = os.open(scratch, os.O_RDONLY)
        starter.kill()
    fcntl.flock(ours, fcntl.LOCK_EX)  # or a guest of another test's would clear it up
    deadline = time.monotonic() + 60
    while is_running(guest):
        assert time.monotonic() < deadline
        time.sleep(0.05)
    assert scratch.exists()
    os.close(ours)
    run_guest(lab, {"origins": 1, "windows": [10], "jobs": []}, [], lambda _answer: None)
    assert not scratch.exists()


def test_a_guest_whose_virtual_time_runs_away_is_ended_and_says_so(
    lab: Lab, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest_process, "VIRTUAL_SECONDS", 20)
    work = {"origins": 1, "windows": [10], "jobs": []}
    run_guest(lab, work, [], lambda _answer: None)
    with pytest.raises(GuestFailed, match="20 virtual seconds are over"):
        run_guest(lab, {**work, "jobs": [waiting()]}, [], lambda _answer: None)


def waiting() -> dict[str, Any]:
    """A job that waits for at least twenty seconds before each of its flights."""
    network = [f"delay {MID.rtt_us / 2} 0 1", "control cubic"]
    shape = {"id": "x", "shaper": "tbf", "down_bps": 10**6, "up_bps": 10**6, "queue_bytes": 10**5}
    flights = [f"flight {number} 2 10 1000" for number in range(5)]
    return {"profile": shape, "network": network, "flights": flights, "loads": []}


def test_a_player_that_ends_says_why(lab: Lab) -> None:
    work = {"origins": 1, "windows": [10], "jobs": [{**waiting(), "flights": ["flight without words"]}]}
    with pytest.raises(GuestFailed, match="player: what is this") as caught:
        run_guest(lab, work, [], lambda _answer: None)
    assert "ignoring cmd" not in caught.value.log


def test_a_failed_guest_has_no_checks_of_networks_that_it_left_whole() -> None:
    guest = guest_for(cells())
    guest.offloads_on, guest.failure = 0, GuestFailed("it died", "")
    begun, waiting_for_it = guest.jobs
    for flight in begun.flights:
        flight.facts = {"done": True}
    assert waiting_for_it.profile in {cell.profile for cell in guest.leave_to_another()}
    assert guest.jobs == [begun]


def test_what_a_failed_guest_leaves_is_found_without_comparing_cells(monkeypatch: pytest.MonkeyPatch) -> None:
    planned = cells(windows=tuple(range(1, 101)), seeds=10)
    guest = guest_for(planned)
    guest.offloads_on, guest.failure = 0, GuestFailed("it died", "")
    for job in guest.jobs:
        for flight in job.flights:
            flight.facts = {"done": True}
    compared: list[Cell] = []
    equal = Cell.__eq__

    def counted(cell: Cell, other: object) -> bool:
        compared.append(cell)
        return equal(cell, other)

    monkeypatch.setattr(Cell, "__eq__", counted)
    assert len(guest.leave_to_another()) == len(planned) - 1
    assert len(compared) < len(planned)
