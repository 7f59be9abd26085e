"""Lock of the data folder, so that nothing is derived from a site's data while the site is erased."""

import contextlib
import fcntl
import os
from collections.abc import Iterator
from pathlib import Path

LOCK = "erasure.lock"


class InUse(Exception):
    """The data folder is locked by another command; the message says to repeat this one."""


@contextlib.contextmanager
def making(folder: Path) -> Iterator[None]:
    """Share the lock while something is derived from measurements or verified; InUse while a site is
    erased."""
    try:
        handle = _open(folder)
    except OSError:
        # It is not there, and has nothing to erase, or cannot be written, which is for what is made to say.
        yield
        return
    with _locked(handle, fcntl.LOCK_SH, f"a site is erased from {folder}: wait for its end, and repeat this"):
        yield


@contextlib.contextmanager
def erasing(folder: Path) -> Iterator[None]:
    """Hold the lock alone; InUse while anybody shares it."""
    remedy = (
        f"a release, replay, report or copy is made or verified in {folder}, or another site is erased: "
        "wait for its end, and repeat this"
    )
    folder.mkdir(parents=True, exist_ok=True)
    with _locked(_open(folder), fcntl.LOCK_EX, remedy):
        yield


def _open(folder: Path) -> int:
    return os.open(folder / LOCK, os.O_RDONLY | os.O_CREAT | os.O_CLOEXEC, 0o644)


@contextlib.contextmanager
def _locked(handle: int, kind: int, remedy: str) -> Iterator[None]:
    try:
        try:
            fcntl.flock(handle, kind | fcntl.LOCK_NB)
        except BlockingIOError as exc:
            raise InUse(remedy) from exc
        yield
    finally:
        os.close(handle)
