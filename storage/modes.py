"""Checks and sets modes of folders, so that other users of the machine cannot
replace or read their contents."""

import os
import stat
from pathlib import Path


class UnsafeFolder(OSError):
    """Another user could replace or read the contents of a folder; the message says what to change."""


def check_above(folder: Path) -> None:
    """Raise UnsafeFolder if every user may rename entries of `folder` or of a folder above it.

    Write permission on a folder allows replacing its entries, unless the sticky bit is set.
    """
    folder = folder.resolve()
    for above in (folder, *folder.parents):
        mode = above.stat().st_mode
        if mode & stat.S_IWOTH and not mode & stat.S_ISVTX:
            raise UnsafeFolder(
                f"{above} can be written by everybody on this machine: run `chmod o-w {above}` first"
            )


def make_private(folder: Path) -> None:
    """Make a folder, if missing, that only its owner may enter; UnsafeFolder if it belongs to another user.

    In /tmp, another user could have made it to obtain our files.
    """
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    if folder.stat().st_uid != os.geteuid():
        raise UnsafeFolder(f"{folder} belongs to another user: move it away, or run this as that user")
    folder.chmod(0o700)
