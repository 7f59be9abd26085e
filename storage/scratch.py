"""Temporary folders that are removed when their process ends,
or at the latest when another process makes one."""

import contextlib
import fcntl
import os
import shutil
import tempfile
from collections.abc import Iterator
from pathlib import Path

PREFIX = ".firstflight-scratch-"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """A folder for everything temporary of this process and its children; it is removed after the block."""
    with locked_folder(Path(tempfile.gettempdir()), prefix=PREFIX) as folder, _temporary(folder):
        yield folder


@contextlib.contextmanager
def locked_folder(above: Path, *, prefix: str) -> Iterator[Path]:
    """A folder in `above` that is removed after the block;
    folders with this prefix that dead processes left go first.

    It is locked (flock(2)) while the process lives, and has another name until it is locked: an unlocked
    folder with the prefix counts as abandoned.
    """
    _sweep(above, prefix)
    unlocked = Path(tempfile.mkdtemp(prefix=f".new{prefix}", dir=above))
    folder = above / unlocked.name.removeprefix(".new")
    handle = os.open(unlocked, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        unlocked.rename(folder)
        yield folder
    finally:
        for left in (unlocked, folder):
            shutil.rmtree(left, ignore_errors=True)
        os.close(handle)


@contextlib.contextmanager
def _temporary(folder: Path) -> Iterator[None]:
    """Use `folder` for temporary files, here (tempfile.tempdir) and in children (TMPDIR,
    which Playwright's driver reads)."""
    kept = os.environ.get("TMPDIR")
    tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
    try:
        yield
    finally:
        tempfile.tempdir = None
        os.environ.pop("TMPDIR")
        if kept is not None:
            os.environ["TMPDIR"] = kept


def _sweep(above: Path, prefix: str) -> None:
    """Remove the folders of killed processes, whose locks are free."""
    for folder in above.glob(f"{prefix}*"):
        try:
            handle = os.open(folder, os.O_RDONLY | os.O_DIRECTORY | os.O_NOFOLLOW)
        except OSError:  # another user's, just removed by another process, or not a folder
            continue
        try:
            if os.fstat(handle).st_uid == os.geteuid():
                fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
                shutil.rmtree(folder, ignore_errors=True)
        except BlockingIOError:
            pass
        finally:
            os.close(handle)
