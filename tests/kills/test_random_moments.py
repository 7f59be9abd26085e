"""Commands are killed at random moments: nothing is lost, and the next run goes on.

Crawls through kills are in tests/crawler/worker/test_kills.py.
"""

import dataclasses
import os
import random
import secrets
import shutil
import time
from collections.abc import Iterator, Sequence
from pathlib import Path

import pytest

from storage.staging import ABANDONED_S
from tests.circles import ALL
from tests.factories.made_up_crawl import NAME
from tests.kills.commands import KILLED, Commands, Ended
from tests.kills.world import CRAWL, SMALL_PARTS, World, copy_world, verify

pytestmark = [pytest.mark.process, pytest.mark.slow]

KILLS = 40 if ALL else 3

AT_A_STRETCH = 3
"""Most kills of a command before it may end."""


@pytest.fixture
def chance() -> random.Random:
    """Random moments; the output of a failed test has the seed."""
    seed = int(os.environ.get("FIRSTFLIGHT_TEST_SEED") or secrets.randbelow(1_000_000))
    print(f"FIRSTFLIGHT_TEST_SEED={seed}")
    return random.Random(seed)


@dataclasses.dataclass
class Killer:
    """Kills a command at random moments of the time that it takes, and lets it end from time to time."""

    firstflight: Commands
    chance: random.Random
    kills: int = 0
    takes_s: float = 0.0

    def run_through_kills(self, arguments: Sequence[str], world: World, *, before: str = "") -> Ended:
        """Run a command that is killed a few times, and then to its end."""
        for _ in range(self.chance.randint(1, AT_A_STRETCH) if self.takes_s else 0):
            after_s = self.chance.uniform(0, self.takes_s)
            killed = self.firstflight.run_killed(arguments, world.environment, after_s, before=before)
            assert killed.code == KILLED or killed.is_told, killed.output
            self.kills += killed.code == KILLED
            if killed.code == 0:
                return killed
        began = time.monotonic()
        ended = self.firstflight.run(arguments, world.environment, before=before)
        self.takes_s = self.takes_s or time.monotonic() - began
        assert ended.code == 0, ended.output
        return ended


@pytest.fixture
def killer(firstflight: Commands, chance: random.Random) -> Iterator[Killer]:
    """Kills commands of `firstflight`; the output of the test has how many."""
    killer = Killer(firstflight, chance)
    yield killer
    print(f"{killer.kills} kills")


def grow_old(world: World) -> None:
    """Let what is left of killed commands look as old as that of which nobody writes any more."""
    long_ago = time.time() - 2 * ABANDONED_S
    for left in world.list_left():
        for path in (left, *left.rglob("*")):
            os.utime(path, (long_ago, long_ago), follow_symlinks=False)


BUILD = ["release", "build", "--crawl", CRAWL]


@pytest.mark.thorough
def test_a_release_that_is_built_through_kills_is_the_same_to_the_byte(killer: Killer, world: World) -> None:
    expected = world.read_files()
    while killer.kills < KILLS:
        shutil.rmtree(world.data / "releases")
        killer.run_through_kills(BUILD, world)
        assert world.read_files() == expected
    verify(killer.firstflight, world)
    grow_old(world)
    shutil.rmtree(NAME.path(world.data / "releases", version=1))
    assert killer.firstflight.run(BUILD, world.environment).code == 0
    assert world.list_left() == []


@pytest.mark.thorough
def test_a_report_that_is_built_through_kills_is_the_same_to_the_byte(killer: Killer, world: World) -> None:
    build = world.arguments("report")
    killer.run_through_kills(build, world)
    expected = world.read_files()
    while killer.kills < KILLS:
        shutil.rmtree(world.data / "reports")
        killer.run_through_kills(build, world)
        assert world.read_files() == expected
    verify(killer.firstflight, world)


def test_an_erasure_through_kills_leaves_no_byte_of_the_site_and_all_of_the_others(
    killer: Killer, filled: World, embedded_server: str, tmp_path: Path
) -> None:
    number, rows = 0, []
    while killer.kills < KILLS:
        number += 1
        with copy_world(filled, embedded_server, tmp_path / str(number)) as world:
            killer.run_through_kills(world.arguments("erase"), world)
            assert world.find_erased() == []
            assert not (world.data / "erasure.json").exists()
            (release,) = world.list_releases()
            assert release.manifest.version == 2
            rows.append(release.manifest.rows)
            verify(killer.firstflight, world)
    # The first was not killed.
    assert rows.count(rows[0]) == len(rows) > 1


@pytest.mark.lab
@pytest.mark.thorough
def test_a_replay_through_kills_ends_with_the_loads_of_one_that_was_left_alone(
    killer: Killer, world: World
) -> None:
    replay = world.arguments("replay")
    folder = world.data / "replays"
    shutil.rmtree(folder)
    killer.run_through_kills(replay, world, before=SMALL_PARTS)
    (stage,) = folder.glob(f"{CRAWL}.*/stage-01")
    expected = (stage / "cells.parquet").read_bytes()
    while killer.kills < KILLS:
        shutil.rmtree(folder)
        killer.run_through_kills(replay, world, before=SMALL_PARTS)
        assert (stage / "cells.parquet").read_bytes() == expected
        assert not stage.with_name("stage-01.parts").exists()
    verify(killer.firstflight, world)
