"""Two commands of every pair over one data folder at the same time: each does its work, or says in one line
that it did not, and everything that is stored holds."""

import itertools
import random
import time

import pytest

from tests.kills.commands import Commands
from tests.kills.world import COMMANDS, World, named, verify

pytestmark = [pytest.mark.process, pytest.mark.slow]

SAMPLE = [("erase", "verify")]

PAIRS = [
    named(*pair, is_sample=pair in SAMPLE) for pair in itertools.combinations_with_replacement(COMMANDS, 2)
]

LATER_S = 0.5


@pytest.mark.parametrize(("first", "second"), PAIRS)
def test_two_commands_at_the_same_time_lose_nothing(
    firstflight: Commands, world: World, first: str, second: str
) -> None:
    calls = [world.arguments(name) for name in (first, second)]
    began = []
    for call in calls:
        began.append(firstflight.start(call, world.environment))
        time.sleep(random.uniform(0, LATER_S))
    ended = [command.wait() for command in began]
    for call, end in zip(calls, ended, strict=True):
        assert end.is_told, (call, end.output)
    for call, end in zip(calls, ended, strict=True):
        if end.code:
            again = firstflight.run(call, world.environment)
            assert again.is_told, (call, end.output, again.output)
    verify(firstflight, world)
    if "erase" in (first, second):
        assert world.find_erased() == []
