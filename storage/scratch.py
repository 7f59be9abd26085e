"""Temporary folders of runs, each gone when its run has ended, and at the latest when another begins."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = ".firstflight-scratch-"
"""Nobody's choice for a folder to keep."""

UNLOCKED = ".new-firstflight-scratch-"
"""A folder that is not locked yet must not look like one whose owner has died."""


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder in which everything temporary of this process and of those it starts is put down.

    It is locked (flock(2)) for as long as this process lives, and what dead ones left beside it is removed. All
    that it holds is lost with the process.
    """
    above = Path(tempfile.gettempdir())
    _sweep(above)
    made = Path(tempfile.mkdtemp(prefix=UNLOCKED, dir=above))
    handle = os.open(made, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        folder = made.rename(above / made.name.replace(UNLOCKED, PREFIX))
        with _temporary(folder):
            yield folder
    finally:
        shutil.rmtree(made, ignore_errors=True)
        shutil.rmtree(above / made.name.replace(UNLOCKED, PREFIX), ignore_errors=True)
        os.close(handle)


@contextlib.contextmanager
def _temporary(folder: Path) -> Iterator[None]:
    """Ours (tempfile.tempdir) and our children's (TMPDIR): Playwright's driver asks for no other."""
    kept = os.environ.get("TMPDIR")
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = None
        os.environ.pop("TMPDIR")
        if kept is not None:
            os.environ["TMPDIR"] = kept


def _sweep(above: Path) -> None:
    """Remove the folders of processes that were killed; a lock that can be had is nobody's."""
    for folder in above.glob(f"{PREFIX}*"):
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:  # another user's, another run has just swept it, or no folder at all
            continue
        try:
            if os.fstat(handle).st_uid == os.geteuid():
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(handle)
