"""The lab with the built guest kernel, for all tests of the replay."""

import pytest

from firstflight.settings import from_environment
from replay.lab import kernel, player
from replay.lab.guest_process import Lab


def built_lab() -> Lab:
    cache = from_environment().cache_dir
    return Lab(kernel=kernel.locate(cache), player=player.build_player(cache, lambda _line: None))


@pytest.fixture(scope="session")
def lab() -> Lab:
    """The lab; fails if the kernel is not built, and says how to build it."""
    return built_lab()
