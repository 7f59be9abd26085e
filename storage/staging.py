"""Putting files and folders in their place whole, or not at all; and removing what a killed process left half-made."""

from __future__ import annotations

import contextlib
import fcntl
import os
import shutil
import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from storage.modes import check_above

if TYPE_CHECKING:
    from collections.abc import Iterator

PREFIX = ".building-"
"""Of the hidden folders in which something is being made; each is locked (flock(2)) by its maker."""

HALF_MADE = (f"{PREFIX}*", "*.new")
"""Names of what is half-made; `*.new` are files that earlier versions left."""

ABANDONED_S = 600
"""Seconds without a write after which a stage that nobody holds is removed.

The lock alone would do on one machine; a file system shared by several may not share locks.
"""

NEW, OLD = "new", "old"


@contextlib.contextmanager
def staging(parent: Path) -> Iterator[Path]:
    """A hidden folder in `parent`, so on its file system, which is removed after the block with all that is left in it.

    What processes that were killed left in `parent` is removed before. Raises storage.modes.UnsafeFolder.
    """
    parent.mkdir(parents=True, exist_ok=True)
    check_above(parent)
    sweep(parent)
    stage = Path(tempfile.mkdtemp(prefix=PREFIX, dir=parent))
    handle = os.open(stage, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield stage
    finally:
        _remove(stage)
        os.close(handle)


@contextlib.contextmanager
def put_in_place(folder: Path) -> Iterator[Path]:
    """A new folder that takes the place of `folder` once the block has filled it, and not otherwise."""
    with staging(folder.parent) as stage:
        made, old = stage / NEW / folder.name, stage / OLD / folder.name
        made.mkdir(parents=True)
        made.chmod(0o755)  # whatever our umask: a server may be somebody else
        old.parent.mkdir()
        yield made
        if folder.exists():
            folder.rename(old)
        made.rename(folder)


@contextlib.contextmanager
def put_file_in_place(path: Path, *, mode: int = 0o644, beside: Path | None = None) -> Iterator[Path]:
    """Where to write a file that becomes `path` once the block has written it, and not otherwise.

    The file is written in a hidden folder beside it; or `beside` its own folder, if that must hold nothing else.
    """
    with staging((beside or path).parent) as stage:
        half = stage / path.name
        half.touch(mode=0o600)
        yield half
        half.chmod(mode)
        with half.open(
            "rb"
        ) as written:  # a name that outlives a power failure must not stand for an empty file
            os.fsync(written.fileno())
        half.replace(path)


def sweep(parent: Path) -> None:
    """Remove what killed processes left half-made in `parent`: nobody holds its lock, and nothing wrote to it lately."""
    for pattern in HALF_MADE:
        for left in parent.glob(pattern):
            with contextlib.suppress(
                OSError
            ):  # its maker lives, it is another user's, or it has just been swept
                _sweep(left)


def _sweep(left: Path) -> None:
    handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_uid == os.geteuid() and time.time() - _last_write(left) > ABANDONED_S:
            _remove(left)
    finally:
        os.close(handle)


def _last_write(left: Path) -> float:
    """When something was last written in a file or below a folder."""
    return max(path.lstat().st_mtime for path in (left, *left.rglob("*")))


def _remove(stage: Path) -> None:
    """Remove a stage; a folder that was moved aside for one that never came goes back to its place."""
    for old in stage.glob(f"{OLD}/*"):
        if not (stage.parent / old.name).exists():
            old.rename(stage.parent / old.name)
    if stage.is_dir():
        shutil.rmtree(stage, ignore_errors=True)
    else:
        stage.unlink()
