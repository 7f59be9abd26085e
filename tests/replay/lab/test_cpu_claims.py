"""Guests of separate processes run on different CPUs while there are free ones."""

import contextlib
import os
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from replay.lab import guest_process
from replay.lab.guest_process import claim_cpu, usable_cpus
from tests.replay.lab.test_failing_guests import STARTER


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder of claims of the test's own: other runs on this machine hold CPUs too."""
    monkeypatch.setattr(guest_process, "claims_folder", lambda: tmp_path)
    return tmp_path


def test_guests_share_cpus_evenly_once_each_has_one(folder: Path) -> None:
    with contextlib.ExitStack() as held:
        took = [held.enter_context(claim_cpu([3, 1, 2])) for _ in range(5)]
    assert took == [3, 1, 2, 3, 1]
    with claim_cpu([2, 3]) as cpu:
        assert cpu == 2


def test_without_a_folder_for_claims_a_guest_takes_the_cpu_it_prefers(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(guest_process, "claims_folder", lambda: tmp_path / "none")
    with claim_cpu([1, 0]) as first, claim_cpu([1, 0]) as second:
        assert (first, second) == (1, 1)


def test_a_link_that_another_user_left_in_place_of_a_claim_is_not_followed(folder: Path) -> None:
    (folder / "0.0").symlink_to(folder / "elsewhere")
    with claim_cpu([0, 1]) as cpu:
        assert cpu == 1
    assert not (folder / "elsewhere").exists()


@contextlib.contextmanager
def replaying(folder: Path) -> Iterator[tuple[subprocess.Popen[str], int]]:
    """A process with a long replay, and the CPU of its guest, which has finished a load."""
    claims = (
        "from pathlib import Path\n"
        "from replay.lab import guest_process\n"
        f"guest_process.claims_folder = lambda: Path({str(folder)!r})\n"
    )
    with subprocess.Popen(
        [sys.executable, "-c", claims + STARTER], stdout=subprocess.PIPE, text=True
    ) as process:
        try:
            assert process.stdout
            (cpu,) = os.sched_getaffinity(int(process.stdout.readline()))
            yield process, cpu
        finally:
            process.kill()


@pytest.mark.lab
def test_two_replays_at_once_take_different_cpus_and_a_killed_one_leaves_its_own(folder: Path) -> None:
    with replaying(folder) as (first, cpu), replaying(folder) as (_, other):
        assert len({cpu, other}) == min(2, len(usable_cpus()))
        first.kill()
        first.wait()
        with replaying(folder) as (_, third):
            assert third == cpu
