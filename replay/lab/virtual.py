"""The lab on our own user-mode kernel in virtual time, which replays use."""

from pathlib import Path

from replay.lab import kernel, player
from replay.lab.guest_process import Lab


def locate(cache: Path) -> Lab:
    """Return the lab of the programs that are built in a cache; LabMissing if they are not."""
    return Lab(kernel=kernel.locate(cache), player=player.locate(cache))
