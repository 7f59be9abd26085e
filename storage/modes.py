"""Modes of folders: which of them another user of the machine could exchange, and which only their owner may read."""

from __future__ import annotations

import os
import stat
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from pathlib import Path


class UnsafeFolder(OSError):
    """What is written there could be exchanged or read by another user; the message says what to change."""


def check_above(folder: Path) -> None:
    """UnsafeFolder if anybody may rename what is in `folder`, or a folder above it.

    Whoever may write to a folder may rename what is in it, and put something else there, unless its sticky bit is set.
    """
    folder = folder.resolve()
    for above in (folder, *folder.parents):
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise UnsafeFolder(
                f"{above} can be written by everybody on this machine: run `chmod o-w {above}` first"
            )


def make_private(folder: Path) -> None:
    """Make a folder, unless it is there, that only its owner may enter; UnsafeFolder if it is another user's.

    Where everybody may make folders, as in /tmp, it could have been made by somebody who waits for what we put there.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():
        raise UnsafeFolder(f"{folder} belongs to another user: move it away, or run this as that user")
    folder.chmod(0o700)
