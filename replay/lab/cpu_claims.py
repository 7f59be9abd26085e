"""Claims on CPUs, so that guests of all processes on a machine run on different ones."""

from __future__ import annotations

import contextlib
import fcntl
import os
from collections.abc import Iterator, Sequence
from pathlib import Path

from replay.lab.scratch import FOLDERS

NAME = "firstflight-cpus"
"""Folder of the claims, below the first of scratch.FOLDERS that exists; all users of the machine share it."""

MOST = 16
"""Most guests that share a CPU by claims; further guests take the CPU that they prefer."""


@contextlib.contextmanager
def claimed_cpu(wanted: Sequence[int]) -> Iterator[int]:
    """The first CPU of `wanted` that no other guest holds; it is held until the block ends.

    Where guests hold all of them, each CPU gets a second guest before any gets a third. A claim is a lock (flock(2)) on a
    file, so that it ends with its process even if that is killed.
    """
    folder = claims_folder()
    for guests in range(MOST):
        for cpu in wanted:
            handle = lock(folder / f"{cpu}.{guests}")
            if handle is None:
                continue
            try:
                yield cpu
            finally:
                os.close(handle)
            return
    yield wanted[0]


def claims_folder() -> Path:
    """The folder of the claims; it is made if needed, so that every user can add to it."""
    folder = next((above for above in map(Path, FOLDERS) if above.is_dir()), Path("/tmp")) / NAME  # noqa: S108
    with contextlib.suppress(OSError):  # it is there, or nobody can have it: then there are no claims
        folder.mkdir()
        folder.chmod(0o1777)
    return folder


def lock(path: Path) -> int | None:
    """Descriptor of the locked file; None if another guest holds it, or it cannot be opened."""
    try:
        try:
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW)
        except FileNotFoundError:
            # Without O_CREAT first: a file of another user's in a sticky folder cannot be opened with it (fs.protected_regular).
            handle = os.open(path, os.O_RDONLY | os.O_NOFOLLOW | os.O_CREAT, 0o644)
    except OSError:
        return None
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except OSError:
        os.close(handle)
        return None
    return handle
