"""Writes files and folders whole or not at all, keeps temporary ones, and removes what was left half-made."""

import contextlib
import errno
import fcntl
import os
import shutil
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from storage.modes import check_above

PREFIX = ".building-"
"""Name prefix of staging folders; each is locked (flock(2)) by the process that uses it."""

ABANDONED_S = 600
"""Seconds without a write after which an unlocked staging folder is removed.

The lock alone would suffice on one machine; several that share a file system may not share locks.
"""

NEW, OLD = "new", "old"


@contextlib.contextmanager
def staging(parent: Path) -> Iterator[Path]:
    """Provide a hidden folder in `parent`, so on the same file system, for the block.

    What killed processes left is removed first. Raises storage.modes.UnsafeFolder.
    """
    parent.mkdir(parents=True, exist_ok=True)
    check_above(parent)
    with locked_folder(parent, prefix=PREFIX, abandoned_s=ABANDONED_S) as stage:
        yield stage


@contextlib.contextmanager
def locked_folder(parent: Path, *, prefix: str, abandoned_s: float = 0) -> Iterator[Path]:
    """Provide a folder in `parent` that is removed after the block.

    Those with this prefix that dead processes left go first, `abandoned_s` seconds after the last write.

    It is locked (flock(2)) while the process lives, and has another name until it is locked: an unlocked
    folder with the prefix counts as abandoned.
    """
    sweep(parent, prefix=prefix, abandoned_s=abandoned_s)
    sweep(parent, prefix=f".new{prefix}")
    unlocked = Path(tempfile.mkdtemp(prefix=f".new{prefix}", dir=parent))
    folder = parent / unlocked.name.removeprefix(".new")
    handle = os.open(unlocked, os.O_RDONLY | os.O_DIRECTORY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        unlocked.rename(folder)
        yield folder
    finally:
        for left in (unlocked, folder):
            _remove(left)
        os.close(handle)


@contextlib.contextmanager
def put_in_place(folder: Path) -> Iterator[Path]:
    """Provide a new folder that replaces `folder` when the block ends without an exception."""
    with staging(folder.parent) as stage:
        new, old = stage / NEW / folder.name, stage / OLD / folder.name
        new.mkdir(parents=True)
        old.parent.mkdir()
        yield new
        _settle(new)
        if folder.exists():
            folder.rename(old)
        new.rename(folder)
        flush(folder.parent)


@contextlib.contextmanager
def put_new(folder: Path) -> Iterator[Path]:
    """Provide a new folder that becomes `folder` when the block ends without an exception; FileExistsError if
    that is there: of two processes one fails.
    """
    with staging(folder.parent) as stage:
        new = stage / folder.name
        new.mkdir()
        yield new
        _settle(new)
        try:
            new.rename(folder)
        except OSError as exc:
            if exc.errno not in (errno.ENOTEMPTY, errno.EEXIST, errno.ENOTDIR):
                raise
            raise FileExistsError(f"{folder} is there already, and is never replaced") from exc
        flush(folder.parent)


def _settle(folder: Path) -> None:
    """Write a new folder to the disk itself, before it replaces anything; others may read it."""
    for path in [*folder.rglob("*"), folder]:
        if path.is_symlink():
            continue
        if path.is_dir():
            path.chmod(0o755)  # regardless of the umask: the service may run as another user
        flush(path)


@contextlib.contextmanager
def put_file_in_place(path: Path, *, mode: int = 0o644, beside: Path | None = None) -> Iterator[Path]:
    """Provide a path to write to; the file replaces `path` when the block ends without an exception.

    It is written in a hidden folder next to `path`, or next to `beside` if the folder of `path` must hold
    nothing else.
    """
    with staging((beside or path).parent) as stage:
        half = stage / path.name
        half.touch(mode=0o600)
        yield half
        half.chmod(mode)
        flush(half)  # or the file might be empty after a power failure
        half.replace(path)


def write_whole(path: Path, content: bytes, *, mode: int = 0o644) -> None:
    """Replace the file `path` in one step, so that readers see all of it or none.

    Quicker than `put_file_in_place`: for caches and states of which a power failure may leave an empty file.
    """
    half = path.with_name(f".{path.name}-{os.getpid()}-{threading.get_ident()}")
    try:
        with open(half, "xb", opener=lambda name, flags: os.open(name, flags, mode)) as file:
            file.write(content)
        half.replace(path)
    finally:
        half.unlink(missing_ok=True)


def flush(path: Path) -> None:
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def sweep(parent: Path, *, prefix: str = PREFIX, abandoned_s: float = ABANDONED_S) -> None:
    """Remove from `parent` what killed processes left half-made."""
    for left in parent.glob(f"{prefix}*"):
        with contextlib.suppress(OSError):  # in use, another user's, or just removed by another process
            _sweep(left, abandoned_s)


def _sweep(left: Path, abandoned_s: float) -> None:
    # In a folder of all users' it may be anybody's FIFO, which would wait for its writer.
    handle = os.open(left, os.O_RDONLY | os.O_NOFOLLOW | os.O_NONBLOCK)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
        if os.fstat(handle).st_uid == os.geteuid() and time.time() - _last_write(left) >= abandoned_s:
            _remove(left)
    finally:
        os.close(handle)


def _last_write(left: Path) -> float:
    return max(path.lstat().st_mtime for path in (left, *left.rglob("*")))


def _remove(stage: Path) -> None:
    """Remove a staging folder; a folder that was moved aside and not replaced is moved back."""
    for old in stage.glob(f"{OLD}/*"):
        if not (stage.parent / old.name).exists():
            old.rename(stage.parent / old.name)
    if stage.is_dir():
        shutil.rmtree(stage, ignore_errors=True)
    else:
        stage.unlink(missing_ok=True)


SCRATCH = ".firstflight-scratch-"


@contextlib.contextmanager
def scratch_folder() -> Iterator[Path]:
    """Provide a folder for everything temporary of this process (tempfile.tempdir) and of its children
    (TMPDIR, which Playwright's driver reads).

    It is removed after the block, or at the latest when another process makes its own.
    """
    with locked_folder(Path(tempfile.gettempdir()), prefix=SCRATCH) as folder:
        before = os.environ.get("TMPDIR")
        tempfile.tempdir = os.environ["TMPDIR"] = str(folder)
        try:
            yield folder
        finally:
            tempfile.tempdir = None
            os.environ.pop("TMPDIR")
            if before is not None:
                os.environ["TMPDIR"] = before
