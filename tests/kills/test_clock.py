"""The machine's clock jumps while a command runs, and is wrong when the next one does: nothing is lost.

Leases of a crawl, on the clock of PostgreSQL, are in tests/crawler/worker/test_claims.py.
"""

import random
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.kills.commands import Commands, commands
from tests.kills.world import COMMANDS, World, named, verify

pytestmark = [pytest.mark.process, pytest.mark.slow]

LIBRARY = Path("/usr/lib/x86_64-linux-gnu/faketime/libfaketime.so.1")

LATER_S = 1.0
"""Longest time from the begin of a command until the clock jumps."""


@pytest.fixture(scope="module")
def clock(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("clock") / "offset"
    path.write_text("+0")
    return path


@pytest.fixture(scope="module")
def jumping(clock: Path, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Commands]:
    """Commands whose clock has the offset of the file."""
    if not LIBRARY.exists():
        pytest.fail("the Debian package libfaketime is missing: apt-get install libfaketime")
    environment = {
        "LD_PRELOAD": str(LIBRARY),
        "FAKETIME_TIMESTAMP_FILE": str(clock),
        "FAKETIME_NO_CACHE": "1",
        "FAKETIME_DONT_FAKE_MONOTONIC": "1",  # no clock that is set changes it
        "FAKETIME_DONT_RESET": "1",
    }
    with commands(tmp_path_factory.mktemp("jumping"), environment) as started:
        yield started


@pytest.mark.parametrize("jump", ["-1d", "+400d"])
@pytest.mark.parametrize("name", [named(name, is_sample=False) for name in COMMANDS])
def test_a_clock_that_jumps_loses_nothing(
    jumping: Commands, firstflight: Commands, clock: Path, world: World, name: str, jump: str
) -> None:
    call = world.arguments(name)
    kept = set(world.read_files()) if name != "erase" else set()
    clock.write_text("+0")
    command = jumping.start(call, world.environment)
    time.sleep(random.uniform(0, LATER_S))
    clock.write_text(jump)
    done = command.wait()
    assert done.code == 0, done.output
    again = jumping.run(call, world.environment)
    assert again.is_told, again.output
    clock.write_text("+0")
    last = firstflight.run(call, world.environment)
    assert last.is_told, last.output
    assert kept <= set(world.read_files())
    verify(firstflight, world)
    if name == "backup":
        assert Path(last.output.splitlines()[-1]).exists()
