"""Where a guest's files and memory lie while it runs: gone when it has ended, and at the latest when another begins."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

from replay.errors import LabMissing

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = ".firstflight-guest-"
UNLOCKED = ".new-firstflight-guest-"
"""A folder that is not locked yet must not look like one whose owner was killed."""

FOLDERS = ("/dev/shm", "/var/tmp")  # noqa: S108  # a folder of our own is made below them


@contextlib.contextmanager
def guest_scratch() -> Iterator[Path]:
    """A folder on a file system that may hold executable memory: the guest's RAM is a file in it.

    It is locked (flock(2)) for as long as this process lives, and what dead ones left beside it is removed.
    """
    above = guest_folder()
    sweep(above)
    made = Path(tempfile.mkdtemp(prefix=UNLOCKED, dir=above))
    scratch = above / made.name.replace(UNLOCKED, PREFIX)
    handle = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        made.rename(scratch)
        yield scratch
    finally:
        shutil.rmtree(scratch, ignore_errors=True)
        os.close(handle)


def sweep(above: Path) -> None:
    """Remove what killed processes left; a lock that can be had is nobody's."""
    for folder in above.glob(f"{PREFIX}*"):
        with contextlib.suppress(OSError):  # its owner lives, or it is another user's, or has just been swept
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
            try:
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
            finally:
                os.close(handle)


def guest_folder() -> Path:
    """Where guests' memory goes on this machine; LabMissing says what to do where there is no place."""
    return executable_folder([*map(Path, FOLDERS), Path(tempfile.gettempdir())])


def executable_folder(candidates: list[Path]) -> Path:
    """The first of `candidates` that is writable, allows exec and has room for a guest."""
    for folder in candidates:
        if not (folder.is_dir() and os.access(folder, os.W_OK)):
            continue
        facts = os.statvfs(folder)
        if not facts.f_flag & os.ST_NOEXEC and facts.f_bavail * facts.f_frsize > 1 << 30:
            return folder
    named = ", ".join(map(str, candidates))
    raise LabMissing(f"no folder with 1 GB of room that allows exec among {named}: point TMPDIR at one")
